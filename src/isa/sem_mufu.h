/* The approximate functions (PTX ISA 9.7.3, "approx" and "full"), to the bit of an H200: included by sem.h.
 *
 * The hardware interpolates: the segment that the operand lies in has three coefficients, and
 *     C0 + C1 * d + C2 * d^2,
 * with d the place in the segment, is computed in integers with a truncated square. The forms with .ftz are
 * these operations alone; the others scale subnormals into range and back. The models were compared with the
 * hardware on all 2^32 operands of each function of one operand (tests/oracle).
 */
#include "isa/sem_mufu_tables.h"

/* d^2 / 2^19 of a d of 17 bits, each partial product cut at the last place of d^2 / 2^18: of the product of the
 * upper 8 bits by themselves nothing is lost, of that of the lower 9 by themselves all, of the other half. */
static inline u32 mufu_square(u32 d)
{
    u32 high = d >> 9, low = d & 0x1ff, cross = 0;
    for (u32 i = 1; i < 8; i++)
        cross += (0 - (high >> i & 1)) & low >> (9 - i);
    return (high * high >> 1) + cross;
}

static inline s64 mufu_interpolate(const s32 c[3], u32 d, u32 square, s32 k0, s32 k1, s32 k2)
{
    return (s64)c[0] * (1 << k0) + (s64)(c[1] * k1) * (s64)d + (s64)(c[2] * k2) * (s64)square;
}

/* A significand in [2^23, 2^24] and a biased exponent: too small gives a zero. */
static inline u32 mufu_pack(s32 exponent, s64 significand)
{
    s32 u = exponent * (1 << 23) + ((s32)significand - (1 << 23));
    return u < 1 << 23 ? 0 : (u32)u;
}

/* v / 2^scale cut to 24 bits, for v < 2^52; 0 gives 0. */
static inline u32 mufu_cut(u64 v, u32 scale)
{
    u64 u = f64_bits(f64_of(v | 0x433ull << 52) - 0x1p52);
    return v ? (u32)(u >> 29) - ((1023 - 127 + scale) << 23) : 0;
}

static inline u32 mufu_exponent(f32 x)
{
    return f32_bits(x) >> 23 & 255;
}

/* ---- the operations: subnormal operands are zeros ---- */

static inline f32 mufu_rcp(f32 x)
{
    u32 u = f32_bits(x), m = u & 0x7fffff, d = m & 0xffff;
    s64 r = mufu_interpolate(mufu_rcp_table[m >> 16], d, mufu_square(2 * d), 13, 1, 1);
    u32 y = mufu_pack(253 - (s32)mufu_exponent(x), (r + 0x47e7) >> 15);
    y = mufu_exponent(x) == 0 ? 0x7f800000 : mufu_exponent(x) == 255 ? 0 : y;
    return x == x ? f32_of(y | (u & 0x80000000)) : f32_of(0x7fffffff);
}

static inline f32 mufu_rsqrt(f32 x)
{
    u32 u = f32_bits(x), m = u & 0x7fffff, d = m & 0x1ffff;
    s32 exponent = (s32)mufu_exponent(x) - 127, half = exponent >> 1;
    u32 odd = (u32)exponent & 1;
    s64 r = mufu_interpolate(mufu_rsqrt_table[64 * odd + (m >> 17)], d, mufu_square(d), 14, 1, 4);
    u32 y = (m | odd) == 0 ? (u32)(127 - half) << 23 : mufu_pack(126 - half, (r + 0x7fff) >> 16);
    y = mufu_exponent(x) == 0 ? 0x7f800000 | (u & 0x80000000) : mufu_exponent(x) == 255 ? 0 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

static inline f32 mufu_sqrt(f32 x)
{
    u32 u = f32_bits(x), m = u & 0x7fffff, d = m & 0x1ffff;
    s32 exponent = (s32)mufu_exponent(x) - 127, half = exponent >> 1;
    u32 odd = (u32)exponent & 1;
    s64 r = mufu_interpolate(mufu_sqrt_table[64 * odd + (m >> 17)], d, mufu_square(d), 15, 1 + (s32)odd, 2);
    u32 y = mufu_pack(127 + half, (r + 0x7fff) >> 17);
    y = mufu_exponent(x) == 0 ? u & 0x80000000 : mufu_exponent(x) == 255 ? 0x7f800000 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

static inline f32 mufu_ex2(f32 x)
{
    bool negative = x < 0, large = !(__builtin_fabsf(x) < 128);
    u32 fixed = (u32)(s32)(large ? 0 : __builtin_fabsf(x) * 0x1p23f), f = fixed & 0x7fffff;
    s32 whole = (s32)(fixed >> 23);
    whole = !negative ? whole : f ? -whole - 1 : -whole;
    f = negative && f ? 0x7fffff - f : f;
    u32 d = f & 0x1ffff;
    s64 r = mufu_interpolate(mufu_ex2_table[f >> 17], d, mufu_square(d), 13, 1, 1);
    u32 y = mufu_pack(127 + whole, (r + 0x77e2) >> 15);
    y = !large ? y : negative ? 0 : 0x7f800000;
    return x == x ? f32_of(y) : f32_of(0x7fffffff);
}

static inline f32 mufu_lg2(f32 x)
{
    u32 m = f32_bits(x) & 0x7fffff, d = m & 0x1ffff;
    s64 r = mufu_interpolate(mufu_lg2_table[m >> 17], d, mufu_square(d), 12, 1, 2);
    s64 v = ((r + 0x3345) >> 2) + ((s64)mufu_exponent(x) - 127) * (1ll << 36);
    u32 y = v < 0 ? mufu_cut((u64)~v, 36) | 0x80000000 : mufu_cut((u64)v, 36);
    y = x == 1 ? 0 : mufu_exponent(x) == 0 ? 0xff800000 : mufu_exponent(x) == 255 ? 0x7f800000 : y;
    return x >= -0x1.fffffcp-127f ? f32_of(y) : f32_of(0x7fffffff);
}

/* sin, or cos, of `turns` turns. */
static inline f32 mufu_turns(f64 turns, bool cosine)
{
    f64 t = __builtin_fabs(turns), part = t - __builtin_floor(t);
    u32 fixed = (u32)(s32)(part * 0x1p25), quarter = (fixed >> 23) + cosine, f = fixed & 0x7fffff;
    f = quarter & 1 ? 0x7fffff - f : f;
    u32 sign = (turns < 0 && !cosine) ^ (quarter >> 1 & 1), d = f & 0x1ffff;
    s64 r = mufu_interpolate(mufu_sin_table[f >> 17], d, mufu_square(d), 11, 1, 1);
    return f32_of(mufu_cut((u64)r, 37) | sign << 31);
}

/* The angle is multiplied by 1 / 2 pi, rounded towards zero, first. */
static inline f32 sem_sincos_approx(f32 x, bool cosine)
{
    bool finite = __builtin_fabsf(x) < __builtin_inff();
    f64 turns = finite ? (f64)x * 0x1.45f306p-3 : 0; /* exact */
    f32 y = mufu_turns(f64_of(f64_bits(turns) & ~0x1fffffffull), cosine);
    y = x == 0 && !cosine ? x : y;
    return finite ? y : f32_of(0x7fffffff);
}

static inline f32 mufu_tanh(f32 x)
{
    u32 u = f32_bits(x), m = u & 0x7fffff, sign = u & 0x80000000;
    f32 t = __builtin_fabsf(x);
    u32 octave = t >= 0x1p-8f && t < 8 ? mufu_exponent(x) - 119 : 0;
    s32 bits = mufu_tanh_octaves[octave][1];
    u32 row = (u32)mufu_tanh_octaves[octave][0] + (m >> (23 - bits)), d = m >> (6 - bits) & 0x1ffff;
    row = row < 51 ? row : 50;
    u64 r = (u64)mufu_interpolate(mufu_tanh_table[row], d, mufu_square(d), 17, 1, 4);
    u32 y = mufu_cut(r, 41) | sign;
    y = t < 0x1p-8f ? u : t < 8 ? y : 0x3f800000 | sign;
    return x == x ? f32_of(y) : f32_of(0x7fffffff);
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
    u32 u = (u32)(f64_bits(x) >> 32), m = (u & 0xfffff) << 3, d = m & 0xffff;
    s32 exponent = (s32)(u >> 20 & 0x7ff);
    s64 r = mufu_interpolate(mufu_rcp_table[m >> 16], d, mufu_square(2 * d), 13, 1, 1);
    s32 y = (2045 - exponent) * (1 << 20) + ((s32)((r + 0x47e7) >> 18) - (1 << 20));
    y = y < 1 << 20 ? 0 : y;
    y = exponent == 0 ? 0x7ff00000 : exponent == 0x7ff ? 0 : y;
    u32 high = (u & 0x7fffffff) > 0x7ff00000 ? 0x7fffffff : (u32)y | (u & 0x80000000);
    return f64_of((u64)high << 32);
}

static inline f64 sem_rsqrt_approx_ftz_f64(f64 x)
{
    u32 u = (u32)(f64_bits(x) >> 32), m = (u & 0xfffff) << 3, d = m & 0x1ffff;
    s32 exponent = (s32)(u >> 20 & 0x7ff), half = (exponent - 1023) >> 1;
    u32 odd = (u32)(exponent - 1023) & 1;
    s64 r = mufu_interpolate(mufu_rsqrt_table[64 * odd + (m >> 17)], d, mufu_square(d), 14, 1, 4);
    u32 y = (u32)((1022 - half) * (1 << 20) + ((s32)((r + 0x7fff) >> 19) - (1 << 20)));
    y = (m | odd) == 0 ? (u32)(1023 - half) << 20 : y;
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
