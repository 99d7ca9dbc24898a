/* Device functions that are one PTX instruction, made from rows of tables: HEDDLE_PTXn(name,
 * result, operand types..., instruction). The letters are those of inline PTX (NVIDIA's "Inline PTX
 * Assembly in CUDA", "Constraints"). */
#ifndef HEDDLE_INSTRUCTION_H
#define HEDDLE_INSTRUCTION_H

#include "define.h"

#define HEDDLE_PTX1(name, R, r, A, a, ptx)                                                                             \
    HEDDLE_INLINE R name(A x)                                                                                          \
    {                                                                                                                  \
        R result;                                                                                                      \
        __asm__(ptx " %0, %1;" : "=" r(result) : a(x));                                                                \
        return result;                                                                                                 \
    }
#define HEDDLE_PTX2(name, R, r, A, a, B, b, ptx)                                                                       \
    HEDDLE_INLINE R name(A x, B y)                                                                                     \
    {                                                                                                                  \
        R result;                                                                                                      \
        __asm__(ptx " %0, %1, %2;" : "=" r(result) : a(x), b(y));                                                      \
        return result;                                                                                                 \
    }
#define HEDDLE_PTX3(name, R, r, A, a, B, b, C, c, ptx)                                                                 \
    HEDDLE_INLINE R name(A x, B y, C z)                                                                                \
    {                                                                                                                  \
        R result;                                                                                                      \
        __asm__(ptx " %0, %1, %2, %3;" : "=" r(result) : a(x), b(y), c(z));                                            \
        return result;                                                                                                 \
    }

#endif
