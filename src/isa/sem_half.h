/* f16 and bf16 (PTX ISA 9.7.4): included by sem.h. A half is held as its 16 bits.
 *
 * Halves are widened to f32, which is exact, computed there, and narrowed. One rounding to f32
 * before the one to the half is harmless for a sum of two (24 bits are at least 2 * 11 + 2); what
 * is less simple is rounded to f32 by RND_odd, which any later rounding sees through. NaN results
 * are 0x7fff.
 */

/* ---- widening ---- */

static inline u16 f16_flush(u16 h, bool ftz)
{
    return ftz && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

static inline f32 f32_of_f16(u16 h)
{
    u32 magnitude = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 normal = magnitude + (112u << 23), special = magnitude + (224u << 23);
    u32 subnormal = f32_bits(f32_of(magnitude + (113u << 23)) - 0x1p-14f);
    u32 u = magnitude < 0x400 << 13 ? subnormal : magnitude < 0x7c00 << 13 ? normal : special;
    return f32_of(u | sign);
}

static inline f32 f32_of_bf16(u16 h)
{
    return f32_of((u32)h << 16);
}

/* ---- narrowing ---- */

/* |x| rounded to a format of `bits` bits of mantissa and the least normal number 2^emin: its
 * exponent and mantissa fields, as if the exponent had no upper bound; NaN and infinity are the
 * caller's. Below 2^emin the sum with `quantum` has the format's last bit in its own last place. */
static inline u32 sem_narrow(f32 x, int bits, int emin, enum rnd rnd)
{
    u32 u = f32_bits(x), magnitude = u & INT32_MAX, dropped = (1u << (23 - bits)) - 1;
    bool negative = u >> 31, away = rnd == RND_rm ? negative : rnd == RND_rp ? !negative : false;
    u32 half = (dropped >> 1) + (magnitude >> (23 - bits) & 1);
    u32 normal = (magnitude + (rnd == RND_rn ? half : away ? dropped : 0)) >> (23 - bits);
    if (emin == -126)
        return normal;
    f32 least = f32_of((u32)(emin + 127) << 23), quantum = f32_of((u32)(emin + 127 + 23 - bits) << 23);
    f32 sum = f32_of(magnitude) + quantum, error = f32_of(magnitude) - (sum - quantum);
    u32 subnormal = f32_bits(sum) - f32_bits(quantum);
    if (rnd != RND_rn)
        subnormal += (error > 0 && away) - (u32)(error < 0 && !away);
    return f32_of(magnitude) < least ? subnormal : normal - ((u32)(emin + 126) << bits);
}

/* What a magnitude past the largest finite one (`limit` - 1) becomes. */
static inline u32 overflow(u32 magnitude, u32 limit, bool negative, enum rnd rnd)
{
    bool finite = rnd == RND_rz || (rnd == RND_rm && !negative) || (rnd == RND_rp && negative);
    return magnitude < limit ? magnitude : finite ? limit - 1 : limit;
}

static inline u16 f16_of_f32(f32 x, enum rnd rnd)
{
    u32 sign = f32_bits(x) >> 16 & 0x8000;
    u32 m = overflow(sem_narrow(x, 10, -14, rnd), 0x7c00, sign, rnd);
    m = __builtin_fabsf(x) == __builtin_inff() ? 0x7c00 : m;
    return (u16)(x == x ? m | sign : 0x7fff);
}

static inline u16 bf16_of_f32(f32 x, enum rnd rnd)
{
    u32 sign = f32_bits(x) >> 16 & 0x8000;
    u32 m = __builtin_fabsf(x) == __builtin_inff() ? 0x7f80 : sem_narrow(x, 7, -126, rnd);
    return (u16)(x == x ? m | sign : 0x7fff);
}

/* ---- arithmetic ---- */

enum half { F16, BF16 };

/* Modifiers of f16 and bf16 arithmetic. */
enum half_flags { HALF_FTZ = 1, HALF_SAT = 2, HALF_RELU = 4, HALF_OOB = 8 };

static inline f32 sem_widen(u16 h, enum half type, int flags)
{
    return type == F16 ? f32_of_f16(f16_flush(h, flags & HALF_FTZ)) : f32_of_bf16(h);
}

static inline u16 half_finish(f32 x, enum half type, int flags)
{
    if (flags & HALF_SAT)
        x = f32_saturate(x);
    if (flags & HALF_RELU)
        x = x < 0 || x == 0 ? 0 : x;
    if (type == BF16)
        return bf16_of_f32(x, RND_rn);
    bool tiny = flags & HALF_FTZ && __builtin_fabsf(x) < 0x1p-14f - 0x1p-26f;
    return f16_of_f32(tiny ? f32_zero_like(x) : x, RND_rn);
}

static inline u16 sem_add_half(u16 a, u16 b, enum half type, int flags)
{
    return half_finish(sem_widen(a, type, flags) + sem_widen(b, type, flags), type, flags);
}

static inline u16 sem_sub_half(u16 a, u16 b, enum half type, int flags)
{
    return half_finish(sem_widen(a, type, flags) - sem_widen(b, type, flags), type, flags);
}

/* a * b + c: a product of halves is exact in f32 for f16, and in f64 for bf16 with its larger
 * exponents. */
static inline f32 half_fma(f32 a, f32 b, f32 c, enum half type)
{
    if (type == F16) {
        f32 product = a * b, sum = product + c, part = sum - product;
        return f32_directed(sum, f32_sign((product - (sum - part)) + (c - part)), RND_odd);
    }
    struct f64_sum sum = f64_two_sum((f64)a * b, c, RND_rn);
    return f32_round(sum.hi, sum.lo, RND_odd, false);
}

static inline u16 sem_fma_half(u16 a, u16 b, u16 c, enum half type, int flags)
{
    f32 r = half_fma(sem_widen(a, type, flags), sem_widen(b, type, flags), sem_widen(c, type, flags), type);
    u16 h = half_finish(r, type, flags);
    return flags & HALF_OOB && (a == 0xffff || b == 0xffff) ? 0 : h;
}

static inline u16 sem_mul_half(u16 a, u16 b, enum half type, int flags)
{
    f32 x = sem_widen(a, type, flags), y = sem_widen(b, type, flags);
    f32 r = type == F16 ? x * y : f32_round((f64)x * y, 0, RND_odd, false);
    return half_finish(r, type, flags);
}

/* ---- sign, minimum, maximum ---- */

static inline bool half_is_nan(u16 h, enum half type)
{
    return (h & 0x7fff) > (type == F16 ? 0x7c00 : 0x7f80);
}

static inline u16 sem_abs_half(u16 a, enum half type, bool ftz)
{
    return half_is_nan(a, type) ? 0x7fff : f16_flush(a, ftz) & 0x7fff;
}

static inline u16 sem_neg_half(u16 a, enum half type, bool ftz)
{
    return half_is_nan(a, type) ? 0x7fff : f16_flush(a, ftz) ^ 0x8000;
}

/* As sem_minmax_f32, with the halves at the top of 32 bits: the compiler vectorises no choice
 * between widths. */
static inline u16 sem_minmax_half(u16 a, u16 b, enum half type, bool max, bool ftz, bool nan, bool xorsign)
{
    const u32 infinity = type == F16 ? 0x7c000000 : 0x7f800000, least = 0x04000000;
    u32 x = (u32)a << 16, y = (u32)b << 16, sign = (x ^ y) & 0x80000000;
    if (xorsign) {
        x &= INT32_MAX;
        y &= INT32_MAX;
    }
    if (ftz) {
        x &= (0 - (u32)((x & INT32_MAX) >= least)) | 0x80000000;
        y &= (0 - (u32)((y & INT32_MAX) >= least)) | 0x80000000;
    }
    bool first = (f32_key(f32_of(x)) < f32_key(f32_of(y))) != max;
    u32 x_nan = (x & INT32_MAX) > infinity, y_nan = (y & INT32_MAX) > infinity;
    u32 r = y_nan | (first & !x_nan) ? x : y;
    r = xorsign ? r | sign : r;
    return (u16)((nan ? x_nan | y_nan : x_nan & y_nan) ? 0x7fff : r >> 16);
}

/* Two halves in a register: f(low halves) below f(high halves). */
#define HALVES_1(f, a, ...) ((u32)f((u16)((a) >> 16), __VA_ARGS__) << 16 | f((u16)(a), __VA_ARGS__))
#define HALVES_2(f, a, b, ...)                                                                                         \
    ((u32)f((u16)((a) >> 16), (u16)((b) >> 16), __VA_ARGS__) << 16 | f((u16)(a), (u16)(b), __VA_ARGS__))
#define HALVES_3(f, a, b, c, ...)                                                                                      \
    ((u32)f((u16)((a) >> 16), (u16)((b) >> 16), (u16)((c) >> 16), __VA_ARGS__) << 16 |                                 \
     f((u16)(a), (u16)(b), (u16)(c), __VA_ARGS__))
