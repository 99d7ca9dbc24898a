/* mufu_square() of all lanes of a warp, for CPUs with products of bytes: for compiled code (lanes.c; AVX-512BW).
 *
 * The partial products are bits of d's upper part times the highest bits of its lower part: two instructions make all of them,
 * and the tests, shifts and additions of mufu_square() are twice as many instructions.
 */
typedef u32 mufu_lanes __attribute__((vector_size(4 * WARP_LANES)));
typedef u32 mufu_half __attribute__((vector_size(64)));
typedef char mufu_bytes __attribute__((vector_size(64)));
typedef short mufu_words __attribute__((vector_size(64)));

/* The same four bytes for each lane. */
static inline mufu_bytes mufu_each(u32 bytes)
{
    return (mufu_bytes)((mufu_half){0} + bytes);
}

/* Byte n of each lane, four times. */
static inline mufu_bytes mufu_spread(mufu_half v, u32 n)
{
    mufu_half from = (mufu_half){0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12} + n;
    return __builtin_ia32_pshufb512((mufu_bytes)v, (mufu_bytes)(from * 0x01010101));
}

/* Of d >> 2, byte 1 is its upper 7 bits, byte 0 the 7 of the lower part that count, and one that does not. Bit i of the upper part
 * (from 1 on) goes with the i highest of the lower: 2^6 times what mufu_square() adds up. */
static inline mufu_half mufu_square_half(mufu_half d)
{
    mufu_bytes high = mufu_spread(d >> 2, 1), low = mufu_spread(d >> 2, 0);
    mufu_words a = __builtin_ia32_pmaddubsw512(high & mufu_each(0x08040201), low & mufu_each(0x78706040));
    mufu_words b = __builtin_ia32_pmaddubsw512(high & mufu_each(0x00402010), low & mufu_each(0x007f7e7c));
    mufu_half cross = (mufu_half)__builtin_ia32_pmaddwd512(a + b, (mufu_words)mufu_each(0x00010001)) >> 6;
    mufu_half upper = d >> 9;
    return ((upper * upper >> 1) + cross) & 0x7fff; /* which it is, but that is not to be seen */
}

static inline void mufu_squares(u32 out[WARP_LANES], const u32 of[WARP_LANES])
{
    mufu_lanes all;
    mufu_half half[2];
    __builtin_memcpy(&all, of, sizeof all);
    for (int i = 0; i < 2; i++)
        half[i] = mufu_square_half(
            i ? __builtin_shufflevector(all, all, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
              : __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    all = __builtin_shufflevector(half[0], half[1], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                  19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    __builtin_memcpy(out, &all, sizeof all);
}
