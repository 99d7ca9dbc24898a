/* The vector types of CUDA C and dim3 (CUDA Programming Guide, "Built-in vector types"): structures
 * of 1 to 4 components x, y, z, w. Those of 2 and 4 components have the alignment of one vector
 * load, up to 16 bytes. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define HEDDLE_ALIGN(bytes) __attribute__((aligned(bytes)))

/* NAME1 to NAME3 of components of TYPE; NAME2 is aligned to its size. */
#define HEDDLE_VECTORS(type, name, align2)                                                                             \
    struct name##1                                                                                                     \
    {                                                                                                                  \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct HEDDLE_ALIGN(align2) name##2                                                                                \
    {                                                                                                                  \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct name##3                                                                                                     \
    {                                                                                                                  \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    typedef struct name##1 name##1;                                                                                    \
    typedef struct name##2 name##2;                                                                                    \
    typedef struct name##3 name##3;

#define HEDDLE_VECTOR4(type, name, align)                                                                              \
    struct HEDDLE_ALIGN(align) name {                                                                                  \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    typedef struct name name;

HEDDLE_VECTORS(signed char, char, 2)
HEDDLE_VECTORS(unsigned char, uchar, 2)
HEDDLE_VECTORS(short, short, 4)
HEDDLE_VECTORS(unsigned short, ushort, 4)
HEDDLE_VECTORS(int, int, 8)
HEDDLE_VECTORS(unsigned int, uint, 8)
HEDDLE_VECTORS(long int, long, 16)
HEDDLE_VECTORS(unsigned long int, ulong, 16)
HEDDLE_VECTORS(long long int, longlong, 16)
HEDDLE_VECTORS(unsigned long long int, ulonglong, 16)
HEDDLE_VECTORS(float, float, 8)
HEDDLE_VECTORS(double, double, 16)

HEDDLE_VECTOR4(signed char, char4, 4)
HEDDLE_VECTOR4(unsigned char, uchar4, 4)
HEDDLE_VECTOR4(short, short4, 8)
HEDDLE_VECTOR4(unsigned short, ushort4, 8)
HEDDLE_VECTOR4(int, int4, 16)
HEDDLE_VECTOR4(unsigned int, uint4, 16)
HEDDLE_VECTOR4(float, float4, 16)
/* Those of 32 bytes: aligned to 16, and since CUDA 13 with the alignment in the name. */
HEDDLE_VECTOR4(long int, long4, 16)
HEDDLE_VECTOR4(long int, long4_16a, 16)
HEDDLE_VECTOR4(long int, long4_32a, 32)
HEDDLE_VECTOR4(unsigned long int, ulong4, 16)
HEDDLE_VECTOR4(unsigned long int, ulong4_16a, 16)
HEDDLE_VECTOR4(unsigned long int, ulong4_32a, 32)
HEDDLE_VECTOR4(long long int, longlong4, 16)
HEDDLE_VECTOR4(long long int, longlong4_16a, 16)
HEDDLE_VECTOR4(long long int, longlong4_32a, 32)
HEDDLE_VECTOR4(unsigned long long int, ulonglong4, 16)
HEDDLE_VECTOR4(unsigned long long int, ulonglong4_16a, 16)
HEDDLE_VECTOR4(unsigned long long int, ulonglong4_32a, 32)
HEDDLE_VECTOR4(double, double4, 16)
HEDDLE_VECTOR4(double, double4_16a, 16)
HEDDLE_VECTOR4(double, double4_32a, 32)

#undef HEDDLE_VECTOR4
#undef HEDDLE_VECTORS

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
#endif
};
typedef struct dim3 dim3;

#endif
