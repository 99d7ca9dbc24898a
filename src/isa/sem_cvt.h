/* cvt (PTX ISA 9.7.9.21): included by sem.h. */

/* An integer into the range of another type; a bound past the end of this one's clamps nothing. */
static inline s64 sem_clamp_s64(s64 x, s64 lo, u64 hi)
{
    s64 top = hi > INT64_MAX ? INT64_MAX : (s64)hi;
    return x < lo ? lo : x > top ? top : x;
}

static inline u64 sem_clamp_u64(u64 x, u64 hi)
{
    return x > hi ? hi : x;
}

/* ---- to integers ---- */

enum irnd { RND_rni, RND_rzi, RND_rmi, RND_rpi };

static inline f32 f32_integral(f32 x, enum irnd rnd)
{
    switch (rnd) {
    case RND_rni: return __builtin_roundevenf(x);
    case RND_rzi: return __builtin_truncf(x);
    case RND_rmi: return __builtin_floorf(x);
    default: return __builtin_ceilf(x);
    }
}

static inline f64 f64_integral(f64 x, enum irnd rnd)
{
    switch (rnd) {
    case RND_rni: return __builtin_roundeven(x);
    case RND_rzi: return __builtin_trunc(x);
    case RND_rmi: return __builtin_floor(x);
    default: return __builtin_ceil(x);
    }
}

/* Integral values, clamped to the integer's range. Bounds that are no floating-point numbers round
 * up to a power of two, which is out of range. A NaN gives 0 between types of at most 32 bits, else
 * the top bit of the destination alone (`nan`), as an H200 does. */
static inline s32 s32_of_f32(f32 x, s32 lo, s32 hi)
{
    return x >= (f32)hi ? hi : x <= (f32)lo ? lo : x == x ? (s32)x : 0;
}

static inline u32 u32_of_f32(f32 x)
{
    return x >= 0x1p32f ? UINT32_MAX : x > 0 ? (u32)x : 0;
}

static inline s32 s32_of_f64(f64 x, s32 lo, s32 hi, s32 nan)
{
    return x >= hi ? hi : x <= lo ? lo : x == x ? (s32)x : nan;
}

static inline u32 u32_of_f64(f64 x)
{
    return x >= 0x1p32 ? UINT32_MAX : x > 0 ? (u32)x : x == x ? 0 : 1u << 31;
}

static inline s64 s64_of_f64(f64 x)
{
    return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (s64)x : INT64_MIN;
}

static inline u64 u64_of_f64(f64 x)
{
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (u64)x : x == x ? 0 : 1ull << 63;
}

/* ---- from integers ---- */

/* 64 bits in two halves that are exact in f64. */
static inline struct f64_sum f64_of_u64(u64 a)
{
    return f64_two_sum((f64)(u32)(a >> 32) * 0x1p32, (u32)a, RND_rn);
}

static inline struct f64_sum f64_of_s64(s64 a)
{
    return f64_two_sum((f64)(s32)(a >> 32) * 0x1p32, (u32)a, RND_rn);
}

static inline f32 f32_of_u64(u64 a, enum rnd rnd)
{
    struct f64_sum x = f64_of_u64(a);
    return f32_round(x.hi, x.lo, rnd, false);
}

static inline f32 f32_of_s64(s64 a, enum rnd rnd)
{
    struct f64_sum x = f64_of_s64(a);
    return f32_round(x.hi, x.lo, rnd, false);
}

static inline f64 f64_of_u64_rnd(u64 a, enum rnd rnd)
{
    struct f64_sum x = f64_of_u64(a);
    return f64_directed(x.hi, x.lo, rnd);
}

static inline f64 f64_of_s64_rnd(s64 a, enum rnd rnd)
{
    struct f64_sum x = f64_of_s64(a);
    return f64_directed(x.hi, x.lo, rnd);
}

/* What is past 2^20 rounds to f16 as 2^20 does. */
static inline u16 f16_of_s64(s64 a, enum rnd rnd)
{
    s64 bound = 1 << 20;
    return f16_of_f32((f32)(s32)(a > bound ? bound : a < -bound ? -bound : a), rnd);
}

static inline u16 f16_of_u64(u64 a, enum rnd rnd)
{
    u64 bound = 1 << 20;
    return f16_of_f32((f32)(s32)(a > bound ? bound : a), rnd);
}

/* ---- between floating-point types ---- */

/* To and from f64 a NaN keeps its sign and the top of its payload, and becomes quiet; between
 * narrower types it becomes the one NaN of the destination. */
static inline f32 f32_of_f64(f64 x, enum rnd rnd, bool ftz)
{
    u64 u = f64_bits(x);
    f32 nan = f32_of((u32)(u >> 32 & 0x80000000) | 0x7fc00000 | ((u32)(u >> 29) & 0x003fffff));
    return x == x ? f32_round(x, 0, rnd, ftz) : nan;
}

static inline f64 f64_of_f32(f32 x)
{
    u32 u = f32_bits(x);
    u64 nan = (u64)(u & 0x80000000) << 32 | 0x7ff8ull << 48 | (u64)(u & 0x003fffff) << 29;
    return x == x ? (f64)x : f64_of(nan);
}

static inline f64 f64_of_f16(u16 h)
{
    return f64_of_f32(f32_of_f16(h));
}

/* f64 to the neighbour that a second rounding sees through. */
static inline f32 f32_odd_of_f64(f64 x)
{
    return f32_round(x, 0, RND_odd, false);
}

static inline u16 f16_of_f64(f64 x, enum rnd rnd)
{
    u64 u = f64_bits(x);
    u64 nan = (u >> 48 & 0x8000) | 0x7e00 | (u >> 42 & 0x1ff);
    return x == x ? f16_of_f32(f32_odd_of_f64(x), rnd) : (u16)nan;
}

static inline u16 bf16_of_f64(f64 x, enum rnd rnd)
{
    u64 u = f64_bits(x);
    u64 nan = (u >> 48 & 0x8000) | 0x7fc0 | (u >> 45 & 0x3f);
    return x == x ? bf16_of_f32(f32_odd_of_f64(x), rnd) : (u16)nan;
}

enum cvt_flags { CVT_FTZ = 1, CVT_SAT = 2, CVT_RELU = 4, CVT_SATFINITE = 8 };

static inline f32 cvt_source(f32 x, int flags)
{
    x = f32_flush(x, flags & CVT_FTZ);
    if (flags & CVT_SAT)
        x = f32_saturate(x);
    if (flags & CVT_RELU)
        x = x < 0 || x == 0 ? 0 : x;
    return x;
}

static inline u16 sem_cvt_f16(f32 x, enum rnd rnd, int flags)
{
    u16 h = f16_of_f32(cvt_source(x, flags), rnd);
    return flags & CVT_SATFINITE && (h & 0x7fff) == 0x7c00 ? h - 1 : h;
}

static inline u16 sem_cvt_bf16(f32 x, enum rnd rnd, int flags)
{
    u16 h = bf16_of_f32(cvt_source(x, flags), rnd);
    return flags & CVT_SATFINITE && (h & 0x7fff) == 0x7f80 ? h - 1 : h;
}

/* tf32 is an f32 whose mantissa has 10 bits. */
static inline u32 sem_cvt_tf32(f32 x, enum rnd rnd, int flags)
{
    x = cvt_source(x, flags);
    u32 magnitude = f32_bits(x) & INT32_MAX, sign = f32_bits(x) & 0x80000000;
    u32 r = magnitude == 0x7f800000 ? magnitude : sem_narrow(x, 10, -126, rnd) << 13;
    r = flags & CVT_SATFINITE && r == 0x7f800000 ? r - 0x2000 : r;
    return x == x ? r | sign : 0x7fffe000;
}

/* .rna rounds halves away from zero, and cuts NaNs like numbers. */
static inline u32 sem_cvt_tf32_rna(u32 u, bool satfinite)
{
    u32 magnitude = u & INT32_MAX, r = (magnitude + (magnitude < 0x7f800000 ? 0x1000 : 0)) & ~0x1fffu;
    return (r - (satfinite && r >= 0x7f800000 ? 0x2000 : 0)) | (u & 0x80000000);
}

/* ---- 8-bit floats: e4m3 has no infinity, and one NaN; e5m2 is the top of an f16 ---- */

static inline u32 e4m3_of_f32(f32 x, int flags)
{
    x = cvt_source(x, flags);
    u32 m = sem_narrow(x, 3, -6, RND_rn);
    m = m > 0x7e ? 0x7e : m;
    return x == x ? m | (f32_bits(x) >> 24 & 0x80) : 0x7f;
}

static inline u32 e5m2_of_f32(f32 x, int flags)
{
    x = cvt_source(x, flags);
    u32 m = sem_narrow(x, 2, -14, RND_rn);
    m = m > 0x7b ? 0x7b : m;
    return x == x ? m | (f32_bits(x) >> 24 & 0x80) : 0x7f;
}

static inline u16 f16_of_e4m3(u32 e, int flags)
{
    f32 x = f32_of_f16((u16)((e & 0x7f) << 7)) * 256;
    x = e & 0x80 ? -x : x;
    u16 h = f16_of_f32(cvt_source(x, flags), RND_rn);
    return (e & 0x7f) == 0x7f ? 0x7fff : h;
}

static inline u16 f16_of_e5m2(u32 e, int flags)
{
    u16 h = (u16)((e & 0xff) << 8);
    h = half_is_nan(h, F16) ? 0x7fff : h;
    return flags & CVT_RELU && h & 0x8000 ? 0 : h;
}
