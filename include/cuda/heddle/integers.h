/* Integer intrinsics: CUDA Math API, "Integer Intrinsics". */
#ifndef HEDDLE_INTEGERS_H
#define HEDDLE_INTEGERS_H

#include "../vector_types.h"
#include "instruction.h"

HEDDLE_INLINE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
HEDDLE_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
HEDDLE_PTX1(__clz, int, "r", int, "r", "clz.b32")
HEDDLE_PTX1(__clzll, int, "r", long long, "l", "clz.b64")
HEDDLE_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}
HEDDLE_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
HEDDLE_INLINE unsigned __brev(unsigned x)
{
    return __builtin_bitreverse32(x);
}
HEDDLE_INLINE unsigned long long __brevll(unsigned long long x)
{
    return __builtin_bitreverse64(x);
}

HEDDLE_PTX3(heddle_prmt, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "prmt.b32")
/* The fourth bit of a selector counts in PTX alone, where it copies the byte's sign (9.7.9.7). */
HEDDLE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    return heddle_prmt(x, y, s & 0x7777);
}
HEDDLE_PTX3(__funnelshift_l, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "shf.l.wrap.b32")
HEDDLE_PTX3(__funnelshift_lc, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "shf.l.clamp.b32")
HEDDLE_PTX3(__funnelshift_r, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "shf.r.wrap.b32")
HEDDLE_PTX3(__funnelshift_rc, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "shf.r.clamp.b32")

HEDDLE_PTX2(__mulhi, int, "r", int, "r", int, "r", "mul.hi.s32")
HEDDLE_PTX2(__umulhi, unsigned, "r", unsigned, "r", unsigned, "r", "mul.hi.u32")
HEDDLE_PTX2(__mul64hi, long long, "l", long long, "l", long long, "l", "mul.hi.s64")
HEDDLE_PTX2(__umul64hi, unsigned long long, "l", unsigned long long, "l", unsigned long long, "l", "mul.hi.u64")
HEDDLE_PTX2(__mul24, int, "r", int, "r", int, "r", "mul24.lo.s32")
HEDDLE_PTX2(__umul24, unsigned, "r", unsigned, "r", unsigned, "r", "mul24.lo.u32")
HEDDLE_PTX3(__sad, unsigned, "r", int, "r", int, "r", unsigned, "r", "sad.s32")
HEDDLE_PTX3(__usad, unsigned, "r", unsigned, "r", unsigned, "r", unsigned, "r", "sad.u32")

/* Averages without an overflow: halves of x + y, rounded down or up. */
HEDDLE_INLINE int __hadd(int x, int y)
{
    return (x & y) + ((x ^ y) >> 1);
}
HEDDLE_INLINE int __rhadd(int x, int y)
{
    return (x | y) - ((x ^ y) >> 1);
}
HEDDLE_INLINE unsigned __uhadd(unsigned x, unsigned y)
{
    return (x & y) + ((x ^ y) >> 1);
}
HEDDLE_INLINE unsigned __urhadd(unsigned x, unsigned y)
{
    return (x | y) - ((x ^ y) >> 1);
}

HEDDLE_PTX3(__fns, unsigned, "r", unsigned, "r", unsigned, "r", int, "r", "fns.b32")

/* ---- dot products of bytes: PTX ISA, "dp4a", "dp2a" (sm_61) ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
#define HEDDLE_DOT(name, T, small, smaller, ptx)                                                                       \
    HEDDLE_PTX3(name, T, "r", T, "r", T, "r", T, "r", ptx)                                                             \
    HEDDLE_INLINE T name(small x, smaller y, T z)                                                                      \
    {                                                                                                                  \
        return name(__builtin_bit_cast(T, x), __builtin_bit_cast(T, y), z);                                            \
    }
HEDDLE_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
HEDDLE_DOT(__dp4a, unsigned, uchar4, uchar4, "dp4a.u32.u32")
HEDDLE_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
HEDDLE_DOT(__dp2a_lo, unsigned, ushort2, uchar4, "dp2a.lo.u32.u32")
HEDDLE_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
HEDDLE_DOT(__dp2a_hi, unsigned, ushort2, uchar4, "dp2a.hi.u32.u32")
#undef HEDDLE_DOT
#endif

#endif
