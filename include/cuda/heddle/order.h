/* min() and max() of all types of numbers, on the host and the device: CUDA Math API, "Single
 * Precision", "Double Precision" and "Integer Mathematical Functions". clang has those of two ints
 * for the device. Of a number and a NaN, the number.
 */
#ifndef HEDDLE_ORDER_H
#define HEDDLE_ORDER_H

#include "define.h"

#define HEDDLE_ORDER static __host__ __device__ __inline__ __attribute__((nodebug))

/* An entry for each pair of types: that of the result is the one that C converts both to. */
#define HEDDLE_INTEGER_ORDER(X, Y, R)                                                                                  \
    HEDDLE_ORDER R min(X x, Y y)                                                                                       \
    {                                                                                                                  \
        return (R)y < (R)x ? (R)y : (R)x;                                                                              \
    }                                                                                                                  \
    HEDDLE_ORDER R max(X x, Y y)                                                                                       \
    {                                                                                                                  \
        return (R)x < (R)y ? (R)y : (R)x;                                                                              \
    }
#define HEDDLE_SIGNS_ORDER(S, U)                                                                                       \
    HEDDLE_INTEGER_ORDER(U, U, U) HEDDLE_INTEGER_ORDER(S, U, U) HEDDLE_INTEGER_ORDER(U, S, U)
HEDDLE_SIGNS_ORDER(int, unsigned)
HEDDLE_INTEGER_ORDER(long, long, long)
HEDDLE_SIGNS_ORDER(long, unsigned long)
HEDDLE_INTEGER_ORDER(long long, long long, long long)
HEDDLE_SIGNS_ORDER(long long, unsigned long long)
#undef HEDDLE_SIGNS_ORDER
#undef HEDDLE_INTEGER_ORDER

#define HEDDLE_FLOAT_ORDER(X, Y, R, least, most)                                                                       \
    HEDDLE_ORDER R min(X x, Y y)                                                                                       \
    {                                                                                                                  \
        return least(x, y);                                                                                            \
    }                                                                                                                  \
    HEDDLE_ORDER R max(X x, Y y)                                                                                       \
    {                                                                                                                  \
        return most(x, y);                                                                                             \
    }
HEDDLE_FLOAT_ORDER(float, float, float, fminf, fmaxf)
HEDDLE_FLOAT_ORDER(double, double, double, fmin, fmax)
HEDDLE_FLOAT_ORDER(float, double, double, fmin, fmax)
HEDDLE_FLOAT_ORDER(double, float, double, fmin, fmax)
#undef HEDDLE_FLOAT_ORDER
#undef HEDDLE_ORDER

/* What clang has for the device already. */
#define HEDDLE_HOST_ORDER(least, most, T)                                                                              \
    static __host__ __inline__ T least(T x, T y)                                                                       \
    {                                                                                                                  \
        return y < x ? y : x;                                                                                          \
    }                                                                                                                  \
    static __host__ __inline__ T most(T x, T y)                                                                        \
    {                                                                                                                  \
        return x < y ? y : x;                                                                                          \
    }
HEDDLE_HOST_ORDER(min, max, int)
HEDDLE_HOST_ORDER(umin, umax, unsigned)
HEDDLE_HOST_ORDER(llmin, llmax, long long)
HEDDLE_HOST_ORDER(ullmin, ullmax, unsigned long long)
#undef HEDDLE_HOST_ORDER

#endif
