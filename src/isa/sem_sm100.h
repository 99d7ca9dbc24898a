/* What PTX ISA 8.6 and later have added for sm_100: included by sem.h. This is the ISA's text; no
 * answers of the hardware are recorded. Where the text says nothing, it is as instructions are that
 * were recorded: a NaN result of f32 is 0x7fffffff. Sums and products of .f32x2 and of mixed
 * precision that name no rounding are not contracted: what the vendor's assembler does is not
 * known.
 */

/* ---- two f32 in a register, each by itself (9.7.3), the lower half first ---- */

static inline u64 f32x2_of(f32 low, f32 high)
{
    return (u64)f32_bits(high) << 32 | f32_bits(low);
}

static inline f32 f32x2_low(u64 x)
{
    return f32_of((u32)x);
}

static inline f32 f32x2_high(u64 x)
{
    return f32_of((u32)(x >> 32));
}

static inline u64 sem_add_f32x2(u64 a, u64 b, enum rnd rnd, bool ftz)
{
    return f32x2_of(sem_add_f32(f32x2_low(a), f32x2_low(b), rnd, ftz, false),
                    sem_add_f32(f32x2_high(a), f32x2_high(b), rnd, ftz, false));
}

static inline u64 sem_sub_f32x2(u64 a, u64 b, enum rnd rnd, bool ftz)
{
    return sem_add_f32x2(a, b ^ 0x8000000080000000, rnd, ftz);
}

static inline u64 sem_mul_f32x2(u64 a, u64 b, enum rnd rnd, bool ftz)
{
    return f32x2_of(sem_mul_f32(f32x2_low(a), f32x2_low(b), rnd, ftz, false),
                    sem_mul_f32(f32x2_high(a), f32x2_high(b), rnd, ftz, false));
}

static inline u64 sem_fma_f32x2(u64 a, u64 b, u64 c, enum rnd rnd, bool ftz)
{
    return f32x2_of(sem_fma_f32(f32x2_low(a), f32x2_low(b), f32x2_low(c), rnd, ftz, false),
                    sem_fma_f32(f32x2_high(a), f32x2_high(b), f32x2_high(c), rnd, ftz, false));
}

/* ---- minimum and maximum of magnitudes (9.7.3.11, 9.7.3.12) ---- */

static inline f32 sem_minmax_abs_f32(f32 a, f32 b, bool max, bool ftz, bool nan)
{
    return sem_minmax_f32(__builtin_fabsf(a), __builtin_fabsf(b), max, ftz, nan, false);
}

/* ---- floats of 4 and 6 bits (5.2.3, 9.7.9.21): no infinity and no NaN, which becomes the largest
 * number ---- */

struct small_format {
    u8 mantissa_bits, sign_bit;
    s8 least; /* exponent of a normal number */
};

static const struct small_format small_e2m1 = {1, 3, 0}, small_e2m3 = {3, 5, 0}, small_e3m2 = {2, 5, -2};

static inline u32 small_of_f32(f32 x, struct small_format f, int flags)
{
    x = cvt_source(x, flags);
    u32 largest = (1u << f.sign_bit) - 1, m = sem_narrow(x, f.mantissa_bits, f.least, RND_rn);
    m = m > largest ? largest : m;
    return x == x ? m | f32_bits(x) >> 31 << f.sign_bit : largest;
}

/* Exact: as an f16 with the same fields, which is off by a power of two. */
static inline u16 f16_of_small(u32 code, struct small_format f, int flags)
{
    u32 magnitude = code & ((1u << f.sign_bit) - 1);
    f32 x = f32_of_f16((u16)(magnitude << (10 - f.mantissa_bits))) * f32_of((u32)(127 + 14 + f.least) << 23);
    x = code >> f.sign_bit & 1 ? -x : x;
    return f16_of_f32(cvt_source(x, flags), RND_rn);
}

/* ---- ue8m0, a power of two from 2^-127 on, or NaN: it has no sign, and takes no notice of one
 * ---- */

static inline u32 ue8m0_of_f32(f32 x, enum rnd rnd, int flags)
{
    const u32 least = 0x00400000, infinity = 0x7f800000;
    u32 magnitude = f32_bits(x) & INT32_MAX, field = magnitude >> 23;
    bool inexact = (magnitude & 0x7fffff) && magnitude > least && magnitude < infinity;
    field += rnd == RND_rp && inexact;
    return flags & CVT_SATFINITE && magnitude <= infinity && field == 0xff ? 0xfe : field;
}

static inline u16 bf16_of_ue8m0(u32 code)
{
    return (u16)(code == 0xff ? 0x7fff : code ? code << 7 : 0x40);
}
