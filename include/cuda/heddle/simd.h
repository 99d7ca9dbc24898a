/* SIMD intrinsics on the two halfwords or four bytes of a word: CUDA Math API, "SIMD Intrinsics".
 * They are the SIMD video instructions of the PTX ISA, whose third operand is not used here (0). */
#ifndef HEDDLE_SIMD_H
#define HEDDLE_SIMD_H

#include "instruction.h"

#define HEDDLE_VIDEO(name, ptx)                                                                                        \
    HEDDLE_INLINE unsigned name(unsigned x, unsigned y)                                                                \
    {                                                                                                                  \
        unsigned result;                                                                                               \
        __asm__(ptx " %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(0));                                       \
        return result;                                                                                                 \
    }
/* The result is that of an instruction with the first operand's place taken by 0. */
#define HEDDLE_VIDEO1(name, binary)                                                                                    \
    HEDDLE_INLINE unsigned name(unsigned x)                                                                            \
    {                                                                                                                  \
        return binary(0, x);                                                                                           \
    }
/* vset gives 1 a lane; vcmp a lane of ones. */
#define HEDDLE_COMPARE(n, test, sign, ptx)                                                                             \
    HEDDLE_VIDEO(__vset##test##sign##n, "vset" #n "." ptx)                                                             \
    HEDDLE_INLINE unsigned __vcmp##test##sign##n(unsigned x, unsigned y)                                               \
    {                                                                                                                  \
        return __vset##test##sign##n(x, y) * (n == 2 ? 0xffffu : 0xffu);                                               \
    }
#define HEDDLE_COMPARES(n, sign, type)                                                                                 \
    HEDDLE_COMPARE(n, ge, sign, "ge." type)                                                                            \
    HEDDLE_COMPARE(n, gt, sign, "gt." type)                                                                            \
    HEDDLE_COMPARE(n, le, sign, "le." type)                                                                            \
    HEDDLE_COMPARE(n, lt, sign, "lt." type)

#define HEDDLE_VIDEOS(n)                                                                                               \
    HEDDLE_VIDEO(__vadd##n, "vadd" #n ".u32.u32.u32")                                                                  \
    HEDDLE_VIDEO(__vaddss##n, "vadd" #n ".s32.s32.s32.sat")                                                            \
    HEDDLE_VIDEO(__vaddus##n, "vadd" #n ".u32.u32.u32.sat")                                                            \
    HEDDLE_VIDEO(__vsub##n, "vsub" #n ".u32.u32.u32")                                                                  \
    HEDDLE_VIDEO(__vsubss##n, "vsub" #n ".s32.s32.s32.sat")                                                            \
    HEDDLE_VIDEO(__vsubus##n, "vsub" #n ".u32.u32.u32.sat")                                                            \
    HEDDLE_VIDEO(__vavgs##n, "vavrg" #n ".s32.s32.s32")                                                                \
    HEDDLE_VIDEO(__vavgu##n, "vavrg" #n ".u32.u32.u32")                                                                \
    HEDDLE_VIDEO(__vmaxs##n, "vmax" #n ".s32.s32.s32")                                                                 \
    HEDDLE_VIDEO(__vmaxu##n, "vmax" #n ".u32.u32.u32")                                                                 \
    HEDDLE_VIDEO(__vmins##n, "vmin" #n ".s32.s32.s32")                                                                 \
    HEDDLE_VIDEO(__vminu##n, "vmin" #n ".u32.u32.u32")                                                                 \
    HEDDLE_VIDEO(__vabsdiffs##n, "vabsdiff" #n ".s32.s32.s32")                                                         \
    HEDDLE_VIDEO(__vabsdiffu##n, "vabsdiff" #n ".u32.u32.u32")                                                         \
    HEDDLE_VIDEO(heddle_vabsdiffss##n, "vabsdiff" #n ".s32.s32.s32.sat")                                               \
    HEDDLE_VIDEO(__vsads##n, "vabsdiff" #n ".s32.s32.s32.add")                                                         \
    HEDDLE_VIDEO(__vsadu##n, "vabsdiff" #n ".u32.u32.u32.add")                                                         \
    HEDDLE_VIDEO1(__vneg##n, __vsub##n)                                                                                \
    HEDDLE_VIDEO1(__vnegss##n, __vsubss##n)                                                                            \
    HEDDLE_VIDEO1(__vabs##n, __vabsdiffs##n)                                                                           \
    HEDDLE_VIDEO1(__vabsss##n, heddle_vabsdiffss##n)                                                                   \
    HEDDLE_COMPARE(n, eq, , "eq.u32.u32")                                                                              \
    HEDDLE_COMPARE(n, ne, , "ne.u32.u32")                                                                              \
    HEDDLE_COMPARES(n, s, "s32.s32")                                                                                   \
    HEDDLE_COMPARES(n, u, "u32.u32")                                                                                   \
    /* halves of the sums, rounded down: no bit of a lane may reach its neighbour */                                   \
    HEDDLE_INLINE unsigned __vhaddu##n(unsigned x, unsigned y)                                                         \
    {                                                                                                                  \
        return (x & y) + (((x ^ y) & (n == 2 ? 0xfffefffeu : 0xfefefefeu)) >> 1);                                      \
    }
HEDDLE_VIDEOS(2)
HEDDLE_VIDEOS(4)

#undef HEDDLE_VIDEOS
#undef HEDDLE_COMPARES
#undef HEDDLE_COMPARE
#undef HEDDLE_VIDEO1
#undef HEDDLE_VIDEO

#endif
