/* Lane functions, compiled from one of the lanes_*.def files for one CPU level.
 *
 * The build compiles this file for each pair, with LANES_DEF the file to include and LANES_PREFIX
 * the start of the names, e.g. lanes_v3_ (see meson.build). What an entry means: lanes.def.
 *
 * For the JIT it is compiled to bitcode, too, twice a CPU level: with LANES_BITCODE 32, whose loops
 * become single operations on vectors of 32 lanes, and with LANES_BITCODE 1, the meaning for one
 * lane, for values that are the same in all lanes.
 */
#include "isa/lanes.h"
#include "isa/sem.h"

#ifdef LANES_BITCODE
#define LANES LANES_BITCODE
#define INDEPENDENT_LANES                                                                                              \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(32) interleave(disable) unroll(disable)")
#else
#define LANES WARP_LANES
#endif
#if defined LANES_BITCODE
#elif defined __clang__
#define INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#else
#define INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define ROW(type, p) ((type *)__builtin_assume_aligned((p), 64))

/* Before the loop, in it, and after it, by type of operand. */
#define PRE__(v) (void)v##_;
#define PRE_p(v) const uint32_t v##_mask = *(const uint32_t *)v##_;
#define PRE_u8(v)
#define PRE_s8(v)
#define PRE_u16(v)
#define PRE_s16(v)
#define PRE_u32(v)
#define PRE_s32(v)
#define PRE_u64(v)
#define PRE_s64(v)
#define PRE_f32(v)
#define PRE_f64(v)
#define PRE_b128(v)
#define IN__(v)
#define IN_p(v)    const bool v = (v##_mask & 1u << l) != 0;
#define IN_u8(v)   const u8 v = (u8)ROW(const u16, v##_)[l];
#define IN_s8(v)   const s8 v = (s8)ROW(const u16, v##_)[l];
#define IN_u16(v)  const uint16_t v = ROW(const uint16_t, v##_)[l];
#define IN_s16(v)  const int16_t v = ROW(const int16_t, v##_)[l];
#define IN_u32(v)  const uint32_t v = ROW(const uint32_t, v##_)[l];
#define IN_s32(v)  const int32_t v = ROW(const int32_t, v##_)[l];
#define IN_u64(v)  const uint64_t v = ROW(const uint64_t, v##_)[l];
#define IN_s64(v)  const int64_t v = ROW(const int64_t, v##_)[l];
#define IN_f32(v)  const float v = ROW(const float, v##_)[l];
#define IN_f64(v)  const double v = ROW(const double, v##_)[l];
#define IN_b128(v) const b128 v = ROW(const b128, v##_)[l];
#define CIN__
#define CIN_ci  const uint32_t e = ROW(const uint32_t, e_)[l];
#define CIN_co  uint32_t e;
#define CIN_cio uint32_t e = ROW(const uint32_t, e_)[l];
#define CIN_u4  const uint32_t e = ROW(const uint32_t, e_)[l];
#define COUT__
#define COUT_ci
#define COUT_u4
#define COUT_co  ROW(uint32_t, e_)[l] = e;
#define COUT_cio ROW(uint32_t, e_)[l] = e;
#define DPRE_p   uint8_t holds[LANES] __attribute__((aligned(64)));
#define DPRE_u8
#define DPRE_s8
#define DPRE_u16
#define DPRE_s16
#define DPRE_u32
#define DPRE_s32
#define DPRE_u64
#define DPRE_s64
#define DPRE_f32
#define DPRE_f64
#define DPRE_b128
#define DOUT_p(x)    holds[l] = (x);
#define DOUT_u8(x)   ROW(u16, d_)[l] = (u8)(x);
#define DOUT_s8(x)   ROW(u16, d_)[l] = (u16)(s8)(x);
#define DOUT_u16(x)  ROW(uint16_t, d_)[l] = (uint16_t)(x);
#define DOUT_s16(x)  ROW(int16_t, d_)[l] = (int16_t)(x);
#define DOUT_u32(x)  ROW(uint32_t, d_)[l] = (uint32_t)(x);
#define DOUT_s32(x)  ROW(int32_t, d_)[l] = (int32_t)(x);
#define DOUT_u64(x)  ROW(uint64_t, d_)[l] = (uint64_t)(x);
#define DOUT_s64(x)  ROW(int64_t, d_)[l] = (int64_t)(x);
#define DOUT_f32(x)  ROW(float, d_)[l] = (x);
#define DOUT_f64(x)  ROW(double, d_)[l] = (x);
#define DOUT_b128(x) ROW(b128, d_)[l] = (x);
#define DPOST_p      *(uint32_t *)d_ = pack_holds(holds);
#define DPOST_u8
#define DPOST_s8
#define DPOST_u16
#define DPOST_s16
#define DPOST_u32
#define DPOST_s32
#define DPOST_u64
#define DPOST_s64
#define DPOST_f32
#define DPOST_f64
#define DPOST_b128

/* 32 bytes of 0 or 1 to a mask. */
__attribute__((unused)) static inline uint32_t pack_holds(const uint8_t *holds)
{
#if defined LANES_BITCODE && LANES_BITCODE == 1
    return holds[0];
#elif defined LANES_BITCODE
    typedef uint8_t bytes __attribute__((ext_vector_type(WARP_LANES)));
    typedef bool bits __attribute__((ext_vector_type(WARP_LANES)));
    bytes each;
    uint32_t mask;
    __builtin_memcpy(&each, holds, WARP_LANES);
    bits all = __builtin_convertvector(each, bits);
    __builtin_memcpy(&mask, &all, 4);
    return mask;
#else
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t eight;
        __builtin_memcpy(&eight, holds + 8 * i, 8);
        mask |= (uint32_t)(eight * 0x0102040810204080u >> 56) << 8 * i;
    }
    return mask;
#endif
}

#define LANE(name, D, E, A, B, C, is, unit, expr)                                                                      \
    lane_fn PASTE(LANES_PREFIX, name);                                                                                 \
    void PASTE(LANES_PREFIX, name)(void *d_, void *e_, const void *a_, const void *b_, const void *c_, uint64_t imm)   \
    {                                                                                                                  \
        (void)imm, (void)e_;                                                                                           \
        PRE_##A(a) PRE_##B(b) PRE_##C(c) DPRE_##D INDEPENDENT_LANES for (int l = 0; l < LANES; l++){                   \
            IN_##A(a) IN_##B(b) IN_##C(c) CIN_##E DOUT_##D(expr) COUT_##E} DPOST_##D                                   \
    }
#define MASK_A_p *(const uint32_t *)a_
#define MASK_A__ 0
#define MASK_B_p *(const uint32_t *)b_
#define MASK_B__ 0
#define MASK(name, A, B, expr)                                                                                         \
    lane_fn PASTE(LANES_PREFIX, name);                                                                                 \
    void PASTE(LANES_PREFIX, name)(void *d_, void *e_, const void *a_, const void *b_, const void *c_, uint64_t imm)   \
    {                                                                                                                  \
        (void)e_, (void)b_, (void)c_, (void)imm;                                                                       \
        const uint32_t a = MASK_A_##A, b = MASK_B_##B;                                                                 \
        (void)b;                                                                                                       \
        *(uint32_t *)d_ = expr;                                                                                        \
    }
#if defined LANES_BITCODE && LANES_BITCODE > 1 && defined __AVX512BW__
#include "isa/fma_lanes.h"
#define FMA(name, rnd, ftz, sat)                                                                                       \
    lane_fn PASTE(LANES_PREFIX, name);                                                                                 \
    void PASTE(LANES_PREFIX, name)(void *d_, void *e_, const void *a_, const void *b_, const void *c_, uint64_t imm)   \
    {                                                                                                                  \
        const bool directed = rnd != RND_rn && !ftz;                                                                   \
        float results[LANES] __attribute__((aligned(64)));                                                             \
        (void)imm, (void)e_;                                                                                           \
        if (directed)                                                                                                  \
            fmas(results, a_, b_, c_, rnd);                                                                            \
        INDEPENDENT_LANES for (int l = 0; l < LANES; l++)                                                              \
        {                                                                                                              \
            IN_f32(a) IN_f32(b) IN_f32(c)                                                                              \
                DOUT_f32(directed ? f32_finish(results[l], sat) : sem_fma_f32(a, b, c, rnd, ftz, sat))                 \
        }                                                                                                              \
    }
#define NORMAL(name, expr)                                                                                             \
    lane_fn PASTE(LANES_PREFIX, name);                                                                                 \
    void PASTE(LANES_PREFIX, name)(void *d_, void *e_, const void *a_, const void *b_, const void *c_, uint64_t imm)   \
    {                                                                                                                  \
        (void)imm, (void)e_, (void)b_, (void)c_;                                                                       \
        *(uint32_t *)d_ = mufu_normals(a_);                                                                            \
    }
#endif
#if defined LANES_BITCODE && LANES_BITCODE > 1 && defined __AVX2__
#include "isa/mufu_lanes.h"
#define BELOW(name, D, table, place, expr)                                                                             \
    lane_fn PASTE(LANES_PREFIX, name);                                                                                 \
    void PASTE(LANES_PREFIX, name)(void *d_, void *e_, const void *a_, const void *b_, const void *c_, uint64_t imm)   \
    {                                                                                                                  \
        uint32_t belows[LANES] __attribute__((aligned(64))), lows[LANES] __attribute__((aligned(64)));                 \
        (void)imm, (void)e_;                                                                                           \
        PRE_f32(a) PRE__(b) PRE__(c) DPRE_##D INDEPENDENT_LANES for (int l = 0; l < LANES; l++)                        \
        {                                                                                                              \
            IN_f32(a) belows[l] = place;                                                                               \
        }                                                                                                              \
        mufu_belows(belows, lows, belows, &table);                                                                     \
        INDEPENDENT_LANES for (int l = 0; l < LANES; l++)                                                              \
        {                                                                                                              \
            IN_f32(a) const int32_t below = (int32_t)belows[l];                                                        \
            const uint32_t low = lows[l];                                                                              \
            (void)low;                                                                                                 \
            DOUT_##D(expr)                                                                                             \
        }                                                                                                              \
        DPOST_##D                                                                                                      \
    }
#else
#define BELOW(name, D, table, place, expr)                                                                             \
    static inline f32 PASTE(name, _of)(f32 a)                                                                          \
    {                                                                                                                  \
        uint32_t low;                                                                                                  \
        const int32_t below = mufu_polynomial(&table, place, &low);                                                    \
        return expr;                                                                                                   \
    }                                                                                                                  \
    LANE(name, D, _, f32, _, _, _, _, PASTE(name, _of)(a))
#endif
#define SAME(name, as)
#include LANES_DEF
