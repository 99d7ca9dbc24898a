/* The approximate functions (PTX ISA 9.7.3, "approx" and "full"), to the bit of an H200: included
 * by sem.h.
 *
 * The hardware interpolates: the segment that the operand lies in has three coefficients, and
 *     C0 + C1 * d + C2 * d^2,
 * with d the place in the segment, is computed in integers with a truncated square. The forms with
 * .ftz are these operations alone; the others scale subnormals into range and back. The models were
 * compared with the hardware on all 2^32 operands of each function of one operand (tests/oracle).
 */
#include "isa/sem_mufu_tables.h"

/* d^2 / 2^19 of the lower 17 bits, each partial product cut at the last place of d^2 / 2^18: of the
 * product of the upper 8 of them by themselves nothing is lost, of that of the lower 9 by
 * themselves all, of the other half. */
static inline u32 mufu_square(u32 d)
{
    u32 high = d >> 9 & 0xff, low = d & 0x1ff;
#define MUFU_PART(i) ((0 - (high >> (i) & 1)) & low >> (9 - (i)))
    u32 cross = MUFU_PART(1) + MUFU_PART(2) + MUFU_PART(3) + MUFU_PART(4) + MUFU_PART(5) + MUFU_PART(6) + MUFU_PART(7);
#undef MUFU_PART
    return (high * high >> 1) + cross;
}

/* A polynomial of the place in a segment, 17 bits, with the segment's number in the bits above;
 * what it gives, and `low`, its lower 32 bits, are cut at `shift` or not yet. The product with C1
 * is made of the upper 2 bits and the lower 15 by themselves: factors of 16 bits are multiplied in
 * half the time, and 32 bits do. */
static inline s32 mufu_polynomial(const struct mufu_table *t, u32 place, u32 *low)
{
    u32 segment = place >> 17 & (t->segments - 1);
    s32 c1 = t->c12[segment] >> 16, c2 = (s16)t->c12[segment], upper = (s32)(place >> 15 & 3),
        lower = (s32)(place & 0x7fff);
    s32 whole = t->c0[segment] + c1 * (upper << (15 - t->shift)),
        rest = c1 * lower + c2 * (s32)mufu_square(place) + t->bias;
    *low = ((u32)whole << t->shift) + (u32)rest;
    return whole + (rest >> t->shift);
}

/* The bits of a result are those of the operand, or half as many, added to that number or taken
 * from it, less so many quarters. */
static inline s32 mufu_below(const struct mufu_table *t, u32 place)
{
    u32 low;
    return mufu_polynomial(t, place, &low);
}

/* The polynomial of a table's segment. Its terms are integers below 2^53: arithmetic in f64 is
 * exact. */
static inline f64 mufu_interpolate(const s32 *table, u32 segment, u32 d, u32 square, f64 k0, s32 k1, s32 k2)
{
    s32 at = 3 * (s32)segment;
    return table[at] * k0 + (f64)(table[at + 1] * k1) * (s32)d + (f64)(table[at + 2] * k2) * (s32)square;
}

/* Bits of a result that may be too small: a zero. */
static inline u32 mufu_flush(u32 y)
{
    return (s32)y < 1 << 23 ? 0 : y;
}

/* v / 2^scale cut to 24 bits, for an integer v >= 0; 0 gives 0. */
static inline u32 mufu_cut(f64 v, u32 scale)
{
    u32 u = (u32)(f64_bits(v) >> 29);
    return u ? u - ((1023 - 127 + scale) << 23) : 0;
}

static inline u32 mufu_exponent(f32 x)
{
    return f32_bits(x) >> 23 & 255;
}

/* ---- the operations: subnormal operands are zeros ---- */

/* What numbers within reach give, of what mufu_below() says of mufu_NAME_place(); then the
 * operation for all. */
static inline u32 mufu_rcp_place(u32 u)
{
    return 2 * u;
}

static inline u32 mufu_rcp_bits(u32 u, s32 below)
{
    return 0x7f000000 - (u & INT32_MAX) - (u32)(below >> 2);
}

static inline f32 mufu_rcp(f32 x)
{
    u32 u = f32_bits(x), y = mufu_flush(mufu_rcp_bits(u, mufu_below(&mufu_rcp_table, mufu_rcp_place(u))));
    y = mufu_exponent(x) == 0 ? 0x7f800000 : mufu_exponent(x) == 255 ? 0 : y;
    return x == x ? f32_of(y | (u & 0x80000000)) : f32_of(0x7fffffff);
}

/* Of powers of 4 the polynomial, which is C0 of segment 64 there, gives the number below. */
static inline u32 mufu_rsqrt_bits(u32 u, s32 below)
{
    below = (u & 0xffffff) == 0x800000 ? mufu_rsqrt_c0[64] - 4 : below;
    return 0x5f400000 - ((2 * u + (u32)below) >> 2);
}

static inline f32 mufu_rsqrt(f32 x)
{
    u32 u = f32_bits(x), y = mufu_rsqrt_bits(u, mufu_below(&mufu_rsqrt_table, u));
    y = mufu_exponent(x) == 0 ? 0x7f800000 | (u & 0x80000000) : mufu_exponent(x) == 255 ? 0 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

static inline u32 mufu_sqrt_bits(u32 u, s32 below)
{
    return 0x1fc00000 + ((2 * u - (u32)below) >> 2);
}

static inline f32 mufu_sqrt(f32 x)
{
    u32 u = f32_bits(x), y = mufu_sqrt_bits(u, mufu_below(&mufu_sqrt_table, u));
    y = mufu_exponent(x) == 0 ? u & 0x80000000 : mufu_exponent(x) == 255 ? 0x7f800000 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

/* In units of 2^-23, |x| < 128: of a negative fraction the ones' complement. */
static inline u32 mufu_ex2_place(f32 x)
{
    u32 t = (u32)(s32)(x * 0x1p23f);
    return t - (((t & 0x7fffff) != 0) & f32_bits(x) >> 31);
}

static inline u32 mufu_ex2_bits(f32 x, s32 below)
{
    return 0x3f800000 + mufu_ex2_place(x) - (u32)(below >> 2);
}

static inline f32 mufu_ex2(f32 x)
{
    u32 u = f32_bits(x), small = (u & INT32_MAX) < 0x43000000; /* 128 */
    /* No choice: loops stay without branches. */
    f32 k = f32_of(u & (0 - small));
    u32 y = mufu_flush(mufu_ex2_bits(k, mufu_below(&mufu_ex2_table, mufu_ex2_place(k))));
    y = small ? y : x < 0 ? 0 : 0x7f800000;
    return x == x ? f32_of(y) : f32_of(0x7fffffff);
}

/* A number >= 0 of at most 31 bits, cut to 24: of those below, the first one is no 1 any more, so
 * that nothing is rounded up. */
static inline f32 mufu_cut_word(u32 u)
{
    return (f32)(s32)(u & ~(u >> 24));
}

/* The logarithm of the mantissa, less the mantissa's place in its segment; in units of 2^-31, and
 * of 2^-38 the lower bits. With the exponent it is an integer, of which negative ones are
 * complemented: in units of 2^-23, or where the exponent is 0 or -1, in those of 2^-31, or where
 * these do not give 24 bits, of 2^-36. */
static inline f32 mufu_lg2_of(f32 x, s32 below, u32 low)
{
    u32 u = f32_bits(x), place = u & 0x1ffff, exponent = u >> 23 & 255, sign = 0 - (exponent < 127);
    u32 mantissa = (u32)below + (place << 8), near = exponent - 126 < 2;
    u32 coarse = ((mantissa >> 8) + ((exponent - 127) << 23)) ^ sign, fine = (mantissa ^ sign) & INT32_MAX;
    u32 finest = ((low + (place << 15)) ^ sign) & ~3u, small = near && fine < 1 << 23;
    f32 y = mufu_cut_word(small ? finest : near ? fine : coarse) * (small ? 0x1p-38f : near ? 0x1p-31f : 0x1p-23f);
    return x == 1 ? 0 : f32_of(f32_bits(y) | (sign & 0x80000000));
}

static inline f32 mufu_lg2(f32 x)
{
    u32 low, y;
    s32 below = mufu_polynomial(&mufu_lg2_table, f32_bits(x), &low);
    y = f32_bits(mufu_lg2_of(x, below, low));
    y = mufu_exponent(x) == 0 ? 0xff800000 : mufu_exponent(x) == 255 ? 0x7f800000 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

/* The angle is multiplied by 1 / 2 pi, rounded towards zero, to have the place in a turn; x is
 * finite. */
static inline u32 mufu_turns(f32 x)
{
#ifdef __FMA__
    f32 angle = __builtin_fabsf(x), turns = angle * 0x1.45f306p-3f;
    turns = f32_of(f32_bits(turns) - (__builtin_fmaf(angle, 0x1.45f306p-3f, -turns) < 0));
    return (u32)(s32)((turns - __builtin_floorf(turns)) * 0x1p25f);
#else
    f64 turns = __builtin_fabs((f64)x * 0x1.45f306p-3); /* exact */
    turns = f64_of(f64_bits(turns) & ~0x1fffffffull);
    return (u32)(s32)((turns - __builtin_floor(turns)) * 0x1p25);
#endif
}

/* The place in its quarter of a turn, in units of 2^-25 turns: an odd quarter runs backwards. */
static inline u32 mufu_sincos_place(f32 x, bool cosine)
{
    u32 turns = mufu_turns(x), backwards = (turns >> 23 & 1) ^ cosine;
    return (turns & 0x7fffff) ^ ((0 - backwards) & 0x7fffff);
}

/* The polynomial is the result in units of 2^-30, or where that does not give 24 bits, of 2^-37. */
static inline f32 mufu_sincos_of(f32 x, bool cosine, s32 below, u32 low)
{
    u32 sign = (cosine ? 0 : f32_bits(x) >> 31) ^ (((mufu_turns(x) >> 23) + cosine) >> 1 & 1), small = below < 1 << 23;
    f32 y = mufu_cut_word(small ? low : (u32)below) * (small ? 0x1p-37f : 0x1p-30f);
    return f32_of(f32_bits(y) | sign << 31);
}

static inline f32 sem_sincos_approx(f32 x, bool cosine)
{
    u32 u = f32_bits(x), finite = (u & INT32_MAX) < 0x7f800000, low;
    f32 k = f32_of(u & (0 - finite));
    s32 below = mufu_polynomial(&mufu_sin_table, mufu_sincos_place(k, cosine), &low);
    return finite ? mufu_sincos_of(k, cosine, below, low) : f32_of(0x7fffffff);
}

static inline f32 mufu_tanh(f32 x)
{
    u32 u = f32_bits(x), m = u & 0x7fffff, sign = u & 0x80000000, magnitude = u & INT32_MAX;
    u32 octave = u32_min(mufu_exponent(x) - 119, 10), place = m * mufu_tanh_segments[octave], d = place >> 6 & 0x1ffff;
    u32 segment = u32_min(mufu_tanh_first[octave] + (place >> 23), 50);
    u32 y = mufu_cut(mufu_interpolate(mufu_tanh_table, segment, d, mufu_square(d), 1 << 17, 1, 4), 41);
    y = magnitude < 0x3b800000 ? magnitude : magnitude < 0x41000000 ? y : 0x3f800000; /* 2^-8, 8 */
    return x == x ? f32_of(y | sign) : f32_of(0x7fffffff);
}

/* ---- numbers within reach: of these the operations, with .ftz or without, are the polynomial
 * alone ---- */

static inline bool mufu_rcp_is_plain(f32 x)
{
    return (f32_bits(x) & INT32_MAX) - 0x00800000 <= 0x7e000000; /* 2^-126 .. 2^126 */
}

static inline f32 mufu_rcp_plain(f32 x, s32 below)
{
    return f32_of(mufu_rcp_bits(f32_bits(x), below) | (f32_bits(x) & 0x80000000));
}

/* Of roots. */
static inline bool mufu_sqrt_is_plain(f32 x)
{
    return f32_bits(x) - 0x00800000 < 0x7f000000; /* positive, no subnormal */
}

/* Of powers of 4 alone the polynomial gives a number with no 0 in its mantissa, which this sum
 * rounds up, and no other. */
static inline f32 mufu_rsqrt_plain(f32 x, s32 below)
{
#ifdef __FMA__
    f32 y = f32_of(0x5f400000 - ((2 * f32_bits(x) + (u32)below) >> 2));
    return __builtin_fmaf(y, 0x1.000002p-25f, y);
#else
    return f32_of(mufu_rsqrt_bits(f32_bits(x), below));
#endif
}

static inline bool mufu_sincos_is_plain(f32 x)
{
    return (f32_bits(x) & INT32_MAX) < 0x7f800000;
}

static inline bool mufu_ex2_is_plain(f32 x)
{
    return x >= -126 && x < 128;
}

/* ---- the instructions: with .ftz the operation alone ---- */

static inline f32 sem_rcp_approx_f32(f32 x)
{
    f32 t = __builtin_fabsf(x), k = t < 0x1p-126f ? 0x1p24f : t > 0x1p126f ? 0.25f : 1;
    return f32_canonical(k * mufu_rcp(x * k));
}

static inline f32 sem_rsqrt_approx_f32(f32 x)
{
    bool small = __builtin_fabsf(x) < 0x1p-126f;
    return f32_canonical(mufu_rsqrt(x * (small ? 0x1p24f : 1)) * (small ? 0x1p12f : 1));
}

static inline f32 sem_sqrt_approx_f32(f32 x)
{
    bool small = __builtin_fabsf(x) < 0x1p-126f;
    return f32_canonical(mufu_sqrt(x * (small ? 0x1p24f : 1)) * (small ? 0x1p-12f : 1));
}

static inline f32 sem_lg2_approx_f32(f32 x)
{
    bool small = __builtin_fabsf(x) < 0x1p-126f;
    return f32_canonical(mufu_lg2(x * (small ? 0x1p24f : 1)) - (small ? 24 : 0));
}

static inline f32 sem_ex2_approx_f32(f32 x)
{
    f32 y = mufu_ex2(x < -126 ? x * 0.5f : x);
    return f32_canonical(x < -126 ? y * y : y);
}

static inline f32 sem_div_approx_f32(f32 x, f32 y, bool ftz)
{
    f32 k = !ftz && __builtin_fabsf(y) < 0x1p-126f ? 0x1p24f : 1;
    return sem_mul_f32(x * k, mufu_rcp(y * k), RND_rn, ftz, false);
}

static inline f32 sem_div_full_f32(f32 x, f32 y, bool ftz)
{
    f32 t = __builtin_fabsf(y), k = t > 0x1p126f ? 0.25f : !ftz && t < 0x1p-126f ? 0x1p24f : 1;
    return sem_mul_f32(f32_flush(x, ftz) * k, mufu_rcp(y * k), RND_rn, ftz, false);
}

/* ---- f64: the upper half goes through the table of f32 ---- */

static inline f64 sem_rcp_approx_f64(f64 x)
{
    u32 u = (u32)(f64_bits(x) >> 32), m = (u & 0xfffff) << 3;
    s32 exponent = (s32)(u >> 20 & 0x7ff);
    u32 v = (1 << 24) - m - (u32)(mufu_below(&mufu_rcp_table, mufu_rcp_place(m)) >> 2);
    s32 y = (2045 - exponent) * (1 << 20) + ((s32)v >> 3) - (1 << 20);
    y = y < 1 << 20 ? 0 : y;
    y = exponent == 0 ? 0x7ff00000 : exponent == 0x7ff ? 0 : y;
    u32 high = (u & 0x7fffffff) > 0x7ff00000 ? 0x7fffffff : (u32)y | (u & 0x80000000);
    return f64_of((u64)high << 32);
}

static inline f64 sem_rsqrt_approx_ftz_f64(f64 x)
{
    u32 u = (u32)(f64_bits(x) >> 32), m = (u & 0xfffff) << 3;
    s32 exponent = (s32)(u >> 20 & 0x7ff), half = (exponent - 1023) >> 1;
    u32 even = ~(u32)(exponent - 1023) & 1;
    u32 one = 0x3f000000 + (even << 23) + m; /* in [0.5, 2) */
    u32 v = mufu_rsqrt_bits(one, mufu_below(&mufu_rsqrt_table, one)) - ((126 - even) << 23);
    u32 y = (u32)((1022 - half) * (1 << 20)) + ((v - (1 << 23)) >> 3);
    y = exponent == 0 ? 0x7ff00000 | (u & 0x80000000) : exponent == 0x7ff ? 0 : y;
    bool valid = exponent == 0 || u <= 0x7ff00000;
    return f64_of((u64)(valid ? y : 0x7fffffff) << 32);
}

/* One step of Newton's iteration in f64 behind it. */
static inline f64 sem_rsqrt_approx_f64(f64 x)
{
    bool small = __builtin_fabs(x) < 0x1p-1022;
    f64 s = x * (small ? 0x1p54 : 1), y = sem_rsqrt_approx_ftz_f64(s);
    f64 e = sem_fma_f64(s, -(y * y), 1, RND_rn), p = sem_fma_f64(e, 0.375, 0.5, RND_rn);
    f64 r = sem_fma_f64(p, y * e, y, RND_rn) * (small ? 0x1p27 : 1);
    r = x == 0 || x == __builtin_inf() ? y : r;
    return x < 0 ? f64_of(0xfff8000000000000) : x == x ? r : f64_quiet(x);
}

/* ---- halves: the operation on f32, cut ---- */

static inline u16 sem_mufu_f16(f32 y)
{
    return f16_of_f32(y >= 0x1p16f ? __builtin_inff() : y, RND_rz);
}

static inline u16 sem_mufu_bf16(f32 y)
{
    return y == y ? (u16)(f32_bits(y) >> 16) : 0x7fff;
}

static inline u16 sem_ex2_f16(u16 h)
{
    return sem_mufu_f16(mufu_ex2(f32_of_f16(h)));
}

static inline u16 sem_ex2_bf16(u16 h)
{
    return sem_mufu_bf16(mufu_ex2(f32_of_bf16(h)));
}

static inline u16 sem_tanh_f16(u16 h)
{
    return sem_mufu_f16(mufu_tanh(f32_of_f16(h)));
}

static inline u16 sem_tanh_bf16(u16 h)
{
    return sem_mufu_bf16(mufu_tanh(f32_of_bf16(h)));
}
