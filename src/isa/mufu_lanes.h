/* mufu_below() of all lanes of a warp, for CPUs with vectors of 512 bits or 256: for compiled code
 * (lanes.c; AVX-512BW and DQ, or AVX2).
 *
 * With 512 bits segments of tables are found by permuting their numbers, 16 lanes at a time, or
 * words of these, 32 at a time (LANES_WORDS): gathers take longer. With 256 each lane loads its
 * own. Squares fit 16 bits and are made for two vectors of lanes at once: a lane's word is the
 * lower half of the lane's 32 bits for the first vector, and the upper half of the 32 bits of the
 * lane as far on in the first for the second. So the partial products of squares are products of
 * bytes.
 */
#define INLINE __attribute__((always_inline)) static inline
#ifdef __AVX512BW__
enum { MUFU_BYTES = 64, MUFU_LANES = 16 };
#define MUFU_BUILTIN(name) __builtin_ia32_##name##512
#else
enum { MUFU_BYTES = 32, MUFU_LANES = 8 };
#define MUFU_BUILTIN(name) __builtin_ia32_##name##256
#endif
typedef u32 mufu_vector __attribute__((vector_size(MUFU_BYTES)));
typedef s32 mufu_numbers __attribute__((vector_size(MUFU_BYTES)));
typedef u16 mufu_words __attribute__((vector_size(MUFU_BYTES)));
typedef short mufu_factors __attribute__((vector_size(MUFU_BYTES)));
typedef char mufu_bytes __attribute__((vector_size(MUFU_BYTES)));

/* The bits of a that `from_a` has, and else those of b. */
INLINE mufu_vector mufu_blend(mufu_vector a, mufu_vector b, u32 from_a)
{
    mufu_vector from = (mufu_vector){0} + from_a;
#ifdef __AVX512BW__
    return (mufu_vector)__builtin_ia32_pternlogd512_mask((mufu_numbers)a, (mufu_numbers)b, (mufu_numbers)from, 0xe4,
                                                         0xffff);
#else
    return (a & from) | (b & ~from);
#endif
}

/* Of 32 bits, the sum of the products of words; of words, that of the products of bytes, of which
 * b's have 7 bits. */
INLINE mufu_vector mufu_dot(mufu_vector a, mufu_vector b)
{
    return (mufu_vector)MUFU_BUILTIN(pmaddwd)((mufu_factors)a, (mufu_factors)b);
}

INLINE mufu_words mufu_dot_bytes(mufu_words a, mufu_words b)
{
    return (mufu_words)MUFU_BUILTIN(pmaddubsw)((mufu_bytes)a, (mufu_bytes)b);
}

/* mufu_square() of a number of which d has bits 2 to 16 (and one that does not count): byte 1 is h7
 * to h1 of the upper part, byte 0 that part's h0 and l8 to l2 of the lower part. Half of the upper
 * part's square, cut, is 2 m^2 + 2 m h0, with m its upper 7 bits. Else the products of h_i and l_j
 * with i + j >= 9 are added up, 2^6 times as much here: rectangles of bits, two at a time. h0 goes
 * with m as l8 does, and h2 l6, half a unit too much, saves a seventh rectangle: it is cut. */
INLINE mufu_words mufu_squares(mufu_words d)
{
    mufu_words turned = d << 8 | d >> 8, upper = d & 0x7f00; /* 2^8 m */
    /* h7 (l7 to l2), (h0 l8) m; h6 (l7 to l3), (l7 to l4) h5; h4 (l7 to l5), (l7 l6) (h3 h2) */
    mufu_words cross = mufu_dot_bytes(d & 0x40c0, turned & 0x3f7f) + mufu_dot_bytes(d & 0x203c, turned & 0x3e10) +
                       mufu_dot_bytes(d & 0x0830, turned & 0x3806);
    return (mufu_words)MUFU_BUILTIN(pmulhrsw)((mufu_factors)upper, (mufu_factors)upper) + (cross >> 6);
}

#ifdef __AVX512BW__
/* Numbers of a table's segments, their halves changed about where `turned`. What is permuted are
 * constants, two vectors at a time, for 5 bits of a number. */
INLINE mufu_vector mufu_look_up(const s32 *table, u32 segments, bool turned, mufu_vector segment)
{
    mufu_vector found[4];
    _Pragma("unroll") for (u32 n = 0; n < segments / 32; n++)
    {
        mufu_vector part[2];
        _Pragma("unroll") for (u32 k = 0; k < 32; k++)
        {
            u32 number = (u32)table[32 * n + k];
            part[k / 16][k % 16] = turned ? number << 16 | number >> 16 : number;
        }
        found[n] = (mufu_vector)__builtin_ia32_vpermi2vard512((mufu_numbers)part[0], (mufu_numbers)segment,
                                                              (mufu_numbers)part[1]);
    }
    mufu_vector odd = (mufu_vector)((segment & 32) != 0), upper = (mufu_vector)((segment & 64) != 0);
    _Pragma("unroll") for (u32 n = 0; n < segments / 32; n += 2) found[n] = (found[n + 1] & odd) | (found[n] & ~odd);
    return segments == 64 ? found[0] : (found[2] & upper) | (found[0] & ~upper);
}

/* Of a row of f32, the lanes that are positive and normal: that are of
 * none of the other classes. */
INLINE u32 mufu_normals(const void *row)
{
    fma_lanes x;
    __builtin_memcpy(&x, row, sizeof x);
    u32 first = (u16)__builtin_ia32_fpclassps512_mask(fma_part(x, false), 0xff, 0xffff);
    return ~(first | (u32)(u16)__builtin_ia32_fpclassps512_mask(fma_part(x, true), 0xff, 0xffff) << 16);
}

#ifdef LANES_WORDS /* AMD's processors permute words in one operation, Intel's in three */
/* Words of the numbers of a table's segments, those from bit `from` on, for all lanes: two vectors
 * at a time, for 6 bits of a number. */
INLINE mufu_words mufu_look_up_words(const s32 *table, u32 segments, u32 from, mufu_words segment)
{
    mufu_words found[2], upper = (mufu_words)((segment & 64) != 0);
    _Pragma("unroll") for (u32 n = 0; n < segments / 64; n++)
    {
        mufu_words part[2];
        _Pragma("unroll") for (u32 k = 0; k < 64; k++) part[k / 32][k % 32] = (u16)((u32)table[64 * n + k] >> from);
        found[n] = (mufu_words)__builtin_ia32_vpermi2varhi512((mufu_factors)part[0], (mufu_factors)segment,
                                                              (mufu_factors)part[1]);
    }
    return segments == 64 ? found[0] : (found[1] & upper) | (found[0] & ~upper);
}

/* Of words of all lanes, `low` and `high`, the numbers of 32 bits: of the first 16 lanes, and of
 * the others changed about. */
INLINE void mufu_join(mufu_vector out[2], mufu_words low, mufu_words high, bool turned)
{
    mufu_vector l = (mufu_vector)low, h = (mufu_vector)high;
    out[0] = mufu_blend(l, h << 16, 0xffff);
    out[1] = turned ? mufu_blend(h >> 16, l, 0xffff) : mufu_blend(l >> 16, h, 0xffff);
}

/* Numbers of the tables' segments of the first 16 lanes, and of the others: of these C1 and C2 are
 * changed about. */
INLINE void mufu_coefficients(mufu_vector c12[2], mufu_vector c0[2], mufu_vector a, mufu_vector b,
                              const struct mufu_table *t)
{
    mufu_words segment = (mufu_words)mufu_blend(a >> 17, b >> 1, 0xffff), word[4];
    _Pragma("unroll") for (u32 k = 0; k < 4; k++) word[k] =
        mufu_look_up_words(k < 2 ? t->c12 : t->c0, t->segments, k % 2 * 16, segment);
    mufu_join(c12, word[0], word[1], true);
    mufu_join(c0, word[2], word[3], false);
}
#else
INLINE void mufu_coefficients(mufu_vector c12[2], mufu_vector c0[2], mufu_vector a, mufu_vector b,
                              const struct mufu_table *t)
{
    c12[0] = mufu_look_up(t->c12, t->segments, false, a >> 17);
    c12[1] = mufu_look_up(t->c12, t->segments, true, b >> 17);
    c0[0] = mufu_look_up(t->c0, t->segments, false, a >> 17);
    c0[1] = mufu_look_up(t->c0, t->segments, false, b >> 17);
}
#endif
#else
typedef u64 mufu_pairs __attribute__((vector_size(MUFU_BYTES)));

/* Both numbers of the segments of a vector of lanes. */
INLINE void mufu_load(mufu_vector *c12, mufu_vector *c0, mufu_vector segment, const u64 *pairs)
{
    mufu_pairs x = {pairs[segment[0]], pairs[segment[1]], pairs[segment[4]], pairs[segment[5]]};
    mufu_pairs y = {pairs[segment[2]], pairs[segment[3]], pairs[segment[6]], pairs[segment[7]]};
    *c0 = __builtin_shufflevector((mufu_vector)x, (mufu_vector)y, 0, 2, 8, 10, 4, 6, 12, 14);
    *c12 = __builtin_shufflevector((mufu_vector)x, (mufu_vector)y, 1, 3, 9, 11, 5, 7, 13, 15);
}

/* Numbers of the tables' segments of two vectors of lanes: of the second, C1 and C2 are changed
 * about. */
INLINE void mufu_coefficients(mufu_vector c12[2], mufu_vector c0[2], mufu_vector a, mufu_vector b,
                              const struct mufu_table *t)
{
    mufu_vector c21;
    mufu_load(&c12[0], &c0[0], a >> 17 & (t->segments - 1), t->pairs);
    mufu_load(&c21, &c0[1], b >> 17 & (t->segments - 1), t->pairs);
    c12[1] = c21 << 16 | c21 >> 16;
}
#endif

/* Of two vectors of lanes, which become what lies below; and its lower bits. */
INLINE void mufu_below_pair(mufu_vector place[2], mufu_vector low[2], const struct mufu_table *t)
{
    mufu_vector a = place[0], b = place[1];
    /* C1 is the upper factor of the first lanes, the lower one of the others; C2 is the other.
     * (They come first, as the code's order is this one: to permute takes longest.) */
    mufu_vector c12[2], c0[2];
    mufu_coefficients(c12, c0, a, b, t);
    /* Of 15 bits. */
    mufu_vector square = (mufu_vector)mufu_squares((mufu_words)mufu_blend(a >> 2, b << 14, 0xffff));
    u32 fine = t->shift, coarse = 15 - t->shift;
    mufu_vector rest_a = mufu_dot(c12[0], mufu_blend(a << 16, square, 0x7fff0000));
    mufu_vector rest_b = mufu_dot(c12[1], mufu_blend(b, square, 0x7fff));
    a = mufu_dot(c12[0], a << (1 + coarse) & 3u << (16 + coarse)) + c0[0];
    b = mufu_dot(c12[1], b >> fine & 3u << coarse) + c0[1];
    place[0] = a + (mufu_vector)((mufu_numbers)(rest_a + t->bias) >> fine);
    place[1] = b + (mufu_vector)((mufu_numbers)(rest_b + t->bias) >> fine);
    low[0] = (a << fine) + rest_a + t->bias;
    low[1] = (b << fine) + rest_b + t->bias;
}

INLINE void mufu_belows(u32 out[WARP_LANES], u32 lows[WARP_LANES], const u32 places[WARP_LANES],
                        const struct mufu_table *t)
{
    mufu_vector v[WARP_LANES / MUFU_LANES], low[WARP_LANES / MUFU_LANES];
    __builtin_memcpy(v, places, sizeof v);
    _Pragma("unroll") for (u32 k = 0; k < WARP_LANES / MUFU_LANES; k += 2) mufu_below_pair(&v[k], &low[k], t);
    __builtin_memcpy(out, v, sizeof v);
    __builtin_memcpy(lows, low, sizeof low);
}
#undef MUFU_BUILTIN
#undef INLINE
