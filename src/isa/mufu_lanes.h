/* mufu_below() of all lanes of a warp, for CPUs with vectors of 512 bits: for compiled code (lanes.c; AVX-512BW and DQ).
 *
 * Rows of tables are found by permuting their numbers, 16 lanes at a time: gathers take longer. Squares fit 16 bits and are made
 * for 32 lanes at once: a lane's word is the lower half of the lane's 32 bits for the first 16 lanes, and the upper half of the
 * 32 bits of the lane 16 before for the others. So the partial products of squares are products of bytes.
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
    mufu_half from = (mufu_half){0} + from_a;
    return (mufu_half)__builtin_ia32_pternlogd512_mask((mufu_numbers)a, (mufu_numbers)b, (mufu_numbers)from, 0xe4,
                                                       0xffff);
}

/* Of 32 bits, the sum of the products of words; of words, that of the products of bytes, of which b's have 7 bits. */
INLINE mufu_half mufu_dot(mufu_half a, mufu_half b)
{
    return (mufu_half)__builtin_ia32_pmaddwd512((mufu_factors)a, (mufu_factors)b);
}

INLINE mufu_words mufu_dot_bytes(mufu_words a, mufu_words b)
{
    return (mufu_words)__builtin_ia32_pmaddubsw512((mufu_bytes)a, (mufu_bytes)b);
}

/* mufu_square() of a number of which d has bits 2 to 16 (and one that does not count): byte 1 is h7 to h1 of the upper part, byte 0
 * that part's h0 and l8 to l2 of the lower part. Half of the upper part's square, cut, is 2 m^2 + 2 m h0, with m its upper 7 bits.
 * Else the products of h_i and l_j with i + j >= 9 are added up, 2^6 times as much here: rectangles of bits, two at a time. h0 goes
 * with m as l8 does, and h2 l6, half a unit too much, saves a seventh rectangle: it is cut. */
INLINE mufu_words mufu_squares(mufu_words d)
{
    mufu_words turned = d << 8 | d >> 8, upper = d & 0x7f00;         /* 2^8 m */
    mufu_words cross = mufu_dot_bytes(d & 0x40c0, turned & 0x3f7f) + /* h7 (l7 to l2), (h0 l8) m */
                       mufu_dot_bytes(d & 0x203c, turned & 0x3e10) + /* h6 (l7 to l3), (l7 to l4) h5 */
                       mufu_dot_bytes(d & 0x0830, turned & 0x3806);  /* h4 (l7 to l5), (l7 l6) (h3 h2) */
    return (mufu_words)__builtin_ia32_pmulhrsw512((mufu_factors)upper, (mufu_factors)upper) + (cross >> 6);
}

/* Numbers of a table's rows, their halves changed about where `turned`. What is permuted are constants, two vectors at a time, for
 * 5 bits of a row. (To permute words takes twice as many operations.) */
INLINE mufu_half mufu_look_up(const s32 *table, u32 rows, bool turned, mufu_half row)
{
    mufu_half found[4];
    _Pragma("unroll") for (u32 n = 0; n < rows / 32; n++)
    {
        mufu_half part[2];
        _Pragma("unroll") for (u32 k = 0; k < 32; k++)
        {
            u32 number = (u32)table[32 * n + k];
            part[k / 16][k % 16] = turned ? number << 16 | number >> 16 : number;
        }
        found[n] =
            (mufu_half)__builtin_ia32_vpermi2vard512((mufu_numbers)part[0], (mufu_numbers)row, (mufu_numbers)part[1]);
    }
    mufu_half odd = (mufu_half)((row & 32) != 0), upper = (mufu_half)((row & 64) != 0);
    _Pragma("unroll") for (u32 n = 0; n < rows / 32; n += 2) found[n] = (found[n + 1] & odd) | (found[n] & ~odd);
    return rows == 64 ? found[0] : (found[2] & upper) | (found[0] & ~upper);
}

/* Of a row of f32, the lanes that are positive and normal: that are of none of the other classes. */
INLINE u32 mufu_normals(const void *row)
{
    fma_lanes x;
    __builtin_memcpy(&x, row, sizeof x);
    u32 first = (u16)__builtin_ia32_fpclassps512_mask(fma_part(x, false), 0xff, 0xffff);
    return ~(first | (u32)(u16)__builtin_ia32_fpclassps512_mask(fma_part(x, true), 0xff, 0xffff) << 16);
}

INLINE void mufu_belows(u32 out[WARP_LANES], const u32 places[WARP_LANES], const struct mufu_table *t)
{
    mufu_half a, b; /* of the first 16 lanes, and of the others */
    __builtin_memcpy(&a, places, sizeof a);
    __builtin_memcpy(&b, places + 16, sizeof b);
    mufu_half row_a = a >> 17, row_b = b >> 17;
    mufu_half square = (mufu_half)mufu_squares((mufu_words)mufu_blend(a >> 2, b << 14, 0xffff)); /* of 15 bits */
    /* C1 is the upper factor of the first lanes, the lower one of the others; C2 is the other. */
    mufu_half c_a = mufu_look_up(t->c12, t->rows, false, row_a), c_b = mufu_look_up(t->c12, t->rows, true, row_b);
    u32 fine = t->shift, coarse = 15 - t->shift;
    mufu_half rest_a = mufu_dot(c_a, mufu_blend(a << 16, square, 0x7fff0000));
    mufu_half rest_b = mufu_dot(c_b, mufu_blend(b, square, 0x7fff));
    a = mufu_dot(c_a, a << (1 + coarse) & 3u << (16 + coarse)) + mufu_look_up(t->c0, t->rows, false, row_a);
    b = mufu_dot(c_b, b >> fine & 3u << coarse) + mufu_look_up(t->c0, t->rows, false, row_b);
    a += (mufu_half)((mufu_numbers)(rest_a + t->bias) >> fine);
    b += (mufu_half)((mufu_numbers)(rest_b + t->bias) >> fine);
    __builtin_memcpy(out, &a, sizeof a);
    __builtin_memcpy(out + 16, &b, sizeof b);
}
#undef INLINE
