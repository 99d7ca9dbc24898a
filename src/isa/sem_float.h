/* f32 arithmetic (PTX ISA 9.7.3), and rounding in a direction: included by sem.h.
 *
 * Rounding to nearest is the host's own arithmetic. Another direction is reached from there by the
 * sign of the exact error, which a double holds: a product of two f32 is exact in f64, and a sum in
 * f64 has an error that is an f64 (two-sum). The floating-point environment stays as the C standard
 * starts it.
 *
 * .ftz takes subnormal inputs as zeros of their sign and turns a subnormal result into one. As the
 * hardware does, a result is subnormal where it is below 2^-126 after rounding to 24 bits with no
 * bound to the exponent.
 */

/* RND_odd keeps what is inexact visible for a second rounding: the
 * neighbour whose last bit is 1. */
enum rnd { RND_rn, RND_rz, RND_rm, RND_rp, RND_odd };

/* Does the host's fma() run as one instruction? */
#if defined __FMA__ || defined __FP_FAST_FMA || defined __aarch64__
enum { HOST_HAS_FMA = 1 };
#else
enum { HOST_HAS_FMA = 0 };
#endif

/* The one NaN that f32 instructions give. */
static inline f32 f32_canonical(f32 x)
{
    return x != x ? f32_of(0x7fffffff) : x;
}

static inline f32 f32_zero_like(f32 x)
{
    return f32_of(f32_bits(x) & 0x80000000);
}

static inline f32 f32_flush(f32 x, bool ftz)
{
    return ftz && __builtin_fabsf(x) < 0x1p-126f ? f32_zero_like(x) : x;
}

/* .sat: to [0, 1], a NaN to 0. */
static inline f32 f32_saturate(f32 x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

static inline f32 f32_finish(f32 x, bool sat)
{
    return sat ? f32_saturate(x) : f32_canonical(x);
}

/* ---- rounding in a direction ---- */

/* -1, 0 or 1; 0 for a NaN. (Selected as f64: the compiler vectorises no choice of 32 bits by a
 * condition on 64.) */
static inline s32 f64_sign(f64 x)
{
    return (s32)(x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0);
}

static inline s32 f32_sign(f32 x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* x is a neighbour of the exact value, or is it; `error` is the sign of exact - x, and 0 where x is
 * to stay. */
static inline f32 f32_directed(f32 x, s32 error, enum rnd rnd)
{
    u32 u = f32_bits(x);
    s32 negative = (s32)u >> 31, outward = (s32)u32_negate_if(error, negative);
    switch (rnd) {
    case RND_rm: return f32_of(u + u32_negate_if(error >> 31, negative));
    case RND_rp: return f32_of(u - u32_negate_if(-error >> 31, negative));
    case RND_odd: return f32_of((u + (u32)(outward >> 31)) | (error & 1));
    default: return f32_of(u + (u32)(outward >> 31));
    }
}

static inline f64 f64_odd(f64 hi, f64 lo)
{
    u64 u = f64_bits(hi);
    bool below = lo < 0, above = lo > 0, even = !(u & 1), shrink = hi < 0 ? above : below;
    return f64_of(((below | above) & even) ? (shrink ? u - 1 : u + 1) : u);
}

/* An f64 sum without loss: hi is a + b rounded to nearest and lo the error of that. Where hi is
 * infinite, lo points to what it should have been where a and b are finite, and is NaN elsewhere. A
 * zero of RND_rm from operands of both signs is negative. */
struct f64_sum {
    f64 hi, lo;
};

static inline struct f64_sum f64_two_sum(f64 a, f64 b, enum rnd rnd)
{
    f64 hi = rnd == RND_rm ? -(-a - b) : a + b;
    f64 part = hi - a, lo = (a - (hi - part)) + (b - part);
    return (struct f64_sum){hi, __builtin_fabs(hi) == __builtin_inf() ? (a - a) + (b - b) - hi : lo};
}

/* hi + lo as an f32, rounded once. */
static inline f32 f32_round(f64 hi, f64 lo, enum rnd rnd, bool ftz)
{
    f64 scale = ftz && __builtin_fabs(hi) < 0x1p-100 ? 0x1p32 : 1;
    hi *= scale;
    lo *= scale;
    f32 x = rnd == RND_rn ? (f32)f64_odd(hi, lo) : (f32)hi;
    if (rnd != RND_rn)
        x = f32_directed(x, f64_sign((hi - x) + lo), rnd);
    if (!ftz)
        return x;
    f32 unscale = (f32)(1 / scale); /* 1 or 2^-32 */
    return __builtin_fabsf(x) < 0x1p-126f * (f32)scale ? f32_zero_like(x) : x * unscale;
}

/* ---- arithmetic ---- */

static inline f32 sem_add_f32(f32 a, f32 b, enum rnd rnd, bool ftz, bool sat)
{
    a = f32_flush(a, ftz);
    b = f32_flush(b, ftz);
    f32 r;
    if (rnd == RND_rn) {
        r = a + b;
    } else {
        struct f64_sum sum = f64_two_sum(a, b, rnd);
        r = f32_round(sum.hi, sum.lo, rnd, false);
    }
    return f32_finish(f32_flush(r, ftz), sat); /* a subnormal sum is exact */
}

static inline f32 sem_mul_f32(f32 a, f32 b, enum rnd rnd, bool ftz, bool sat)
{
    a = f32_flush(a, ftz);
    b = f32_flush(b, ftz);
    f32 r = rnd == RND_rn ? a * b : f32_round((f64)a * b, 0, rnd, ftz);
    if (ftz && rnd == RND_rn && __builtin_fabsf(a * 0x1p24f * b) < 0x1p-102f)
        r = f32_zero_like(r);
    return f32_finish(r, sat);
}

static inline f32 sem_fma_f32(f32 a, f32 b, f32 c, enum rnd rnd, bool ftz, bool sat)
{
    a = f32_flush(a, ftz);
    b = f32_flush(b, ftz);
    c = f32_flush(c, ftz);
    f32 r;
    if (rnd == RND_rn && HOST_HAS_FMA) {
        r = __builtin_fmaf(a, b, c);
        if (ftz && __builtin_fabsf(__builtin_fmaf(a * 0x1p24f, b, c * 0x1p24f)) < 0x1p-102f)
            r = f32_zero_like(r);
    } else {
        struct f64_sum sum = f64_two_sum((f64)a * b, c, rnd);
        r = f32_round(sum.hi, sum.lo, rnd, ftz);
    }
    return f32_finish(r, sat);
}

static inline f32 sem_div_f32(f32 a, f32 b, enum rnd rnd, bool ftz)
{
    a = f32_flush(a, ftz);
    b = f32_flush(b, ftz);
    if (rnd == RND_rn) {
        f32 r = a / b;
        /* exact. */
        bool tiny = f64_sign(__builtin_fabs(a) - __builtin_fabs(b) * (0x1p-126 - 0x1p-151)) < 0;
        return f32_canonical(ftz && tiny ? f32_zero_like(r) : r);
    }
    f64 q = (f64)a / b, scale = ftz && __builtin_fabs(q) < 0x1p-100 ? 0x1p32 : 1;
    f32 r = (f32)(q * scale);
    f64 rest = a * scale - (f64)r * b;
    r = f32_directed(r, f64_sign(b < 0 ? -rest : rest), rnd);
    f32 unscale = (f32)(1 / scale); /* 1 or 2^-32 */
    if (ftz)
        r = __builtin_fabsf(r) < 0x1p-126f * (f32)scale ? f32_zero_like(r) : r * unscale;
    return f32_canonical(r);
}

static inline f32 sem_sqrt_f32(f32 a, enum rnd rnd, bool ftz)
{
    a = f32_flush(a, ftz);
    f32 r = __builtin_sqrtf(a);
    if (rnd != RND_rn)
        r = f32_directed(r, f64_sign(a - (f64)r * r), rnd);
    return f32_canonical(r);
}

static inline f32 sem_abs_f32(f32 a, bool ftz)
{
    return f32_canonical(__builtin_fabsf(f32_flush(a, ftz)));
}

static inline f32 sem_neg_f32(f32 a, bool ftz)
{
    return f32_canonical(-f32_flush(a, ftz));
}

/* ---- minimum, maximum (9.7.3.11, 9.7.3.12) ---- */

/* Numbers in order, -0 before +0. */
static inline s32 f32_key(f32 x)
{
    s32 s = (s32)f32_bits(x);
    return s ^ (s >> 31 & INT32_MAX);
}

/* The smaller or larger: a NaN loses, or wins where NaN is asked for. .xorsign.abs compares
 * magnitudes and gives the product of the signs. */
static inline f32 sem_minmax_f32(f32 a, f32 b, bool max, bool ftz, bool nan, bool xorsign)
{
    u32 sign = (f32_bits(a) ^ f32_bits(b)) & 0x80000000;
    a = f32_flush(a, ftz);
    b = f32_flush(b, ftz);
    if (xorsign) {
        a = __builtin_fabsf(a);
        b = __builtin_fabsf(b);
    }
    bool first = (f32_key(a) < f32_key(b)) != max;
    first = nan ? first : b != b || (first && a == a);
    f32 r = first ? a : b;
    r = nan && (a != a || b != b) ? f32_of(0x7fffffff) : f32_canonical(r);
    return xorsign && r == r ? f32_of(f32_bits(r) | sign) : r;
}

/* ---- comparison, selection, classes ---- */

/* 9.7.3.1 testp: zeros are normal. */
static inline bool sem_normal_f32(f32 a)
{
    return a == 0 || (__builtin_fabsf(a) >= 0x1p-126f && __builtin_fabsf(a) < __builtin_inff());
}

static inline bool sem_subnormal_f32(f32 a)
{
    return __builtin_fabsf(a) < 0x1p-126f && a != 0;
}

/* The magnitude of b with the sign of a. */
static inline u32 sem_copysign_f32(u32 a, u32 b)
{
    return (a & 0x80000000) | (b & INT32_MAX);
}
