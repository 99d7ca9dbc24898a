/* mufu_below() of all lanes of a warp, for CPUs that permute words of 16 bits: for compiled code (lanes.c; AVX-512BW).
 *
 * What fits 16 bits is done for 32 lanes at once: a lane's word is the lower half of the lane's 32 bits for the first 16 lanes, and
 * the upper half of the 32 bits of the lane 16 before for the others. So rows of tables are found by permuting their words,
 * which takes half as long as gathers, and the partial products of squares are products of bytes.
 */
#define INLINE __attribute__((always_inline)) static inline
typedef u32 mufu_half __attribute__((vector_size(64)));
typedef s32 mufu_numbers __attribute__((vector_size(64)));
typedef u16 mufu_words __attribute__((vector_size(64)));
typedef short mufu_factors __attribute__((vector_size(64)));
typedef char mufu_bytes __attribute__((vector_size(64)));

/* The bits of a that `from_a` has, and else those of b. */
INLINE mufu_half mufu_blend(mufu_half a, mufu_half b, u32 from_a)
{
    return (a & from_a) | (b & ~from_a);
}

/* Of 32 bits, the sum of the products of words; of words, that of the products of bytes, whose highest bits are 0. */
INLINE mufu_half mufu_dot(mufu_half a, mufu_half b)
{
    return (mufu_half)__builtin_ia32_pmaddwd512((mufu_factors)a, (mufu_factors)b);
}

INLINE mufu_words mufu_dot_bytes(mufu_words a, mufu_words b)
{
    return (mufu_words)__builtin_ia32_pmaddubsw512((mufu_bytes)a, (mufu_bytes)b);
}

/* mufu_square() of a number of which d has bits 2 to 16 (and one that does not count): byte 1 is the upper 7 bits of the upper
 * part, byte 0 the 7 of the lower part that count. Bit i of the upper part (from 1 on) goes with the i highest of the lower: two such
 * products at a time, 2^6 times what mufu_square() adds up. */
INLINE mufu_words mufu_squares(mufu_words d)
{
    mufu_words turned = d << 8 | d >> 8, upper = d & 0x7f80; /* 2^7 times the upper part */
    mufu_words cross = mufu_dot_bytes(d & 0x0240, turned & 0x6001) + mufu_dot_bytes(d & 0x0870, turned & 0x7804) +
                       mufu_dot_bytes(d & 0x207c, turned & 0x7e10) + mufu_dot_bytes(d & 0x007f, turned & 0x0040);
    return (mufu_words)__builtin_ia32_pmulhuw512((mufu_factors)upper, (mufu_factors)(upper + upper)) + (cross >> 6);
}

/* Words of a table's rows: (row + round) >> shift. The vectors that are permuted are constants; a permutation looks at 5 bits. */
INLINE mufu_half mufu_look_up(const s32 *table, u32 rows, s32 round, u32 shift, mufu_words row)
{
    mufu_words found = {0};
    _Pragma("unroll") for (u32 end = rows; end; end -= WARP_LANES)
    {
        mufu_words words;
        _Pragma("unroll") for (u32 k = 0; k < WARP_LANES; k++) words[k] =
            (u16)((table[end - WARP_LANES + k] + round) >> shift);
        mufu_words there = (mufu_words)__builtin_ia32_permvarhi512((mufu_factors)words, (mufu_factors)row);
        mufu_words below = (mufu_words)(row < (u16)end);
        found = (there & below) | (found & ~below);
    }
    return (mufu_half)found;
}

INLINE void mufu_belows(u32 out[WARP_LANES], const u32 places[WARP_LANES], const struct mufu_table *t)
{
    mufu_half a, b; /* of the first 16 lanes, and of the others */
    __builtin_memcpy(&a, places, sizeof a);
    __builtin_memcpy(&b, places + 16, sizeof b);
    mufu_half square = (mufu_half)mufu_squares((mufu_words)mufu_blend(a >> 2, b << 14, 0xffff));
    mufu_words row = (mufu_words)mufu_blend(a >> 17, b >> 1, 0xffff) & (u16)(t->rows - 1);
    mufu_half c1 = mufu_look_up(t->c12, t->rows, 0, 16, row), c2 = mufu_look_up(t->c12, t->rows, 0, 0, row);
    mufu_half c0 = mufu_look_up(t->c0, t->rows, 1 << 15, 16, row), low = mufu_look_up(t->c0, t->rows, 0, 0, row);
    /* C1 is the upper factor of the first lanes, the lower one of the others: beside C2, and beside the lower half of C0. */
    c1 = c1 << 16 | c1 >> 16;
    u32 upper = 0xffff0000, lower = 0xffff, fine = t->shift, coarse = 15 - t->shift;
    mufu_half rest_a =
        mufu_dot(mufu_blend(c1, c2, upper), mufu_blend(a << 16, square, 0x7fff0000)); /* squares have 15 bits */
    mufu_half rest_b = mufu_dot(mufu_blend(c1, c2, lower), mufu_blend(b, square, 0x7fff));
    mufu_half a0 = mufu_dot(mufu_blend(c1, low, upper), (a << (1 + coarse) & 3u << (16 + coarse)) | 1) + (c0 << 16);
    mufu_half b0 = mufu_dot(mufu_blend(c1, low, lower), (b >> fine & 3u << coarse) | 1 << 16) + (c0 & upper);
    a = a0 + (mufu_half)((mufu_numbers)(rest_a + t->bias) >> fine);
    b = b0 + (mufu_half)((mufu_numbers)(rest_b + t->bias) >> fine);
    __builtin_memcpy(out, &a, sizeof a);
    __builtin_memcpy(out + 16, &b, sizeof b);
}
#undef INLINE
