/* Video instructions (PTX ISA 9.7.18): included by sem.h.
 *
 * Scalar ones take a byte, half or word of each source, extended by zeros or the sign, operate on
 * the integers themselves, clamp (.sat), and then add, min or max with c, or put the low bits into
 * a part of c. SIMD ones do so with two halves or four bytes at once. The selectors come in the
 * constant; see video.h.
 */
#include "isa/video.h"

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_AVRG,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_EQ,
    VIDEO_NE,
    VIDEO_LT,
    VIDEO_LE,
    VIDEO_GT,
    VIDEO_GE,
};

static inline s64 video_value(s64 a, s64 b, enum video_op op)
{
    switch (op) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_EQ: return a == b;
    case VIDEO_NE: return a != b;
    case VIDEO_LT: return a < b;
    case VIDEO_LE: return a <= b;
    case VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

/* `bits` bits of x from bit `at` on, as a number. */
static inline s64 video_part(u32 x, u32 at, u32 bits, bool sign)
{
    u32 top = x << (32 - bits - at);
    return sign ? (s64)((s32)top >> (32 - bits)) : (s64)(top >> (32 - bits));
}

static inline s64 video_clamp(s64 x, u32 bits, bool sign)
{
    s64 high = (1ll << (bits - sign)) - 1, low = sign ? -high - 1 : 0;
    return x > high ? high : x < low ? low : x;
}

static inline s64 video_a(u32 a, struct video v)
{
    return video_part(a, v.a & 31, v.a >> 8, v.flags & VIDEO_A_SIGNED);
}

static inline s64 video_b(u32 b, struct video v)
{
    return video_part(b, v.b & 31, v.b >> 8, v.flags & VIDEO_B_SIGNED);
}

/* 9.7.18.1: optSaturate, optSecOp, optMerge. */
static inline u32 video_finish(s64 t, u32 c, struct video v)
{
    bool sign = v.flags & VIDEO_D_SIGNED;
    u32 bits = 8 * (u32)__builtin_popcount(v.bytes), at = 8 * (u32)__builtin_ctz(v.bytes);
    u32 part = UINT32_MAX >> (32 - bits) << at;
    s64 third = sign ? (s64)(s32)c : (s64)c;
    if (v.flags & VIDEO_SAT)
        t = video_clamp(t, bits, sign);
    switch (v.second) {
    case VIDEO_SECOND_ADD: return (u32)(t + third);
    case VIDEO_SECOND_MIN: return (u32)(t < third ? t : third);
    case VIDEO_SECOND_MAX: return (u32)(t > third ? t : third);
    default: return ((u32)t << at & part) | (c & ~part);
    }
}

/* 9.7.18.1.1 vadd, vsub, vabsdiff, vmin, vmax; 9.7.18.1.4 vset. The H200 does not clamp a word's
 * result at the top of u32, only at zero: sums and differences from 2^32 on wrap (recorded). */
static inline u32 sem_video(u32 a, u32 b, u32 c, u64 imm, enum video_op op)
{
    struct video v = video_of_imm(imm);
    s64 t = video_value(video_a(a, v), video_b(b, v), op);
    bool wraps = (v.flags & (VIDEO_SAT | VIDEO_D_SIGNED)) == VIDEO_SAT && v.bytes == 15 && t > 0;
    return video_finish(wraps ? (u32)t : t, c, v);
}

/* 9.7.18.1.2 vshl, vshr: clamped amounts end at 32. A number shifted left by 32 may not fit 64
 * bits: one that is as far out of every range, with the same low bits, stands for it. */
static inline u32 sem_video_shift(u32 a, u32 b, u32 c, u64 imm, bool left)
{
    struct video v = video_of_imm(imm);
    s64 x = video_a(a, v), by = video_part(b, v.b & 31, v.b >> 8, false);
    by = v.flags & VIDEO_WRAP ? by & 31 : by > 32 ? 32 : by;
    s64 shifted = by < 32 ? (s64)((u64)x << by) : ((x > 0) - (x < 0)) * (1ll << 62);
    return video_finish(left ? shifted : x >> by, c, v);
}

/* 9.7.18.1.3 vmad: the type of the result comes from the sources, not from the instruction's first
 * type. */
static inline u32 sem_video_mad(u32 a, u32 b, u32 c, u64 imm)
{
    struct video v = video_of_imm(imm);
    bool sign = v.flags & (VIDEO_A_SIGNED | VIDEO_B_SIGNED | VIDEO_NEGATE_PRODUCT | VIDEO_NEGATE_C);
    __int128 product = (__int128)video_a(a, v) * video_b(b, v), third = sign ? (__int128)(s32)c : (__int128)c;
    __int128 sum = (v.flags & VIDEO_NEGATE_PRODUCT ? -product : product) + (v.flags & VIDEO_NEGATE_C ? -third : third) +
                   (v.flags & VIDEO_PO ? 1 : 0);
    sum >>= v.scale;
    __int128 high = sign ? INT32_MAX : UINT32_MAX, low = sign ? INT32_MIN : 0;
    if (v.flags & VIDEO_SAT)
        sum = sum > high ? high : sum < low ? low : sum;
    return (u32)sum;
}

/* 9.7.18.2 SIMD: `bits` is the width of an element. Sums with c (.add) take the elements' whole
 * values. */
static inline u32 sem_video_simd(u32 a, u32 b, u32 c, u64 imm, u32 bits, enum video_op op)
{
    struct video v = video_of_imm(imm);
    u32 x = sem_prmt(a, b, v.a), y = sem_prmt(a, b, v.b), sum = c, merged = 0;
    for (u32 at = 0; at < 32; at += bits) {
        u32 part = UINT32_MAX >> (32 - bits) << at;
        bool chosen = v.bytes >> at / 8 & 1;
        s64 t = video_value(video_part(x, at, bits, v.flags & VIDEO_A_SIGNED),
                            video_part(y, at, bits, v.flags & VIDEO_B_SIGNED), op);
        if (v.flags & VIDEO_SAT)
            t = video_clamp(t, bits, v.flags & VIDEO_D_SIGNED);
        sum += chosen ? (u32)t : 0;
        merged |= chosen ? (u32)t << at & part : c & part;
    }
    return v.second == VIDEO_SECOND_ADD ? sum : merged;
}
