/* make_int2(x, y) and its kind: a constructor for each vector type (CUDA Math API, "Vector types"),
 * on host and device. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define HEDDLE_MAKE(name, T)                                                                                           \
    static __inline__ __host__ __device__ HEDDLE_NODEBUG name##1 make_##name##1(T x)                                   \
    {                                                                                                                  \
        name##1 v = {x};                                                                                               \
        return v;                                                                                                      \
    }                                                                                                                  \
    static __inline__ __host__ __device__ HEDDLE_NODEBUG name##2 make_##name##2(T x, T y)                              \
    {                                                                                                                  \
        name##2 v = {x, y};                                                                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    static __inline__ __host__ __device__ HEDDLE_NODEBUG name##3 make_##name##3(T x, T y, T z)                         \
    {                                                                                                                  \
        name##3 v = {x, y, z};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    HEDDLE_MAKE4(name##4, T)
#define HEDDLE_MAKE4(name, T)                                                                                          \
    static __inline__ __host__ __device__ HEDDLE_NODEBUG name make_##name(T x, T y, T z, T w)                          \
    {                                                                                                                  \
        name v = {x, y, z, w};                                                                                         \
        return v;                                                                                                      \
    }
HEDDLE_MAKE(char, signed char)
HEDDLE_MAKE(uchar, unsigned char)
HEDDLE_MAKE(short, short)
HEDDLE_MAKE(ushort, unsigned short)
HEDDLE_MAKE(int, int)
HEDDLE_MAKE(uint, unsigned)
HEDDLE_MAKE(long, long)
HEDDLE_MAKE(ulong, unsigned long)
HEDDLE_MAKE(longlong, long long)
HEDDLE_MAKE(ulonglong, unsigned long long)
HEDDLE_MAKE(float, float)
HEDDLE_MAKE(double, double)
HEDDLE_MAKE4(long4_16a, long)
HEDDLE_MAKE4(long4_32a, long)
HEDDLE_MAKE4(ulong4_16a, unsigned long)
HEDDLE_MAKE4(ulong4_32a, unsigned long)
HEDDLE_MAKE4(longlong4_16a, long long)
HEDDLE_MAKE4(longlong4_32a, long long)
HEDDLE_MAKE4(ulonglong4_16a, unsigned long long)
HEDDLE_MAKE4(ulonglong4_32a, unsigned long long)
HEDDLE_MAKE4(double4_16a, double)
HEDDLE_MAKE4(double4_32a, double)
#undef HEDDLE_MAKE4
#undef HEDDLE_MAKE

#endif
