/* Half precision: __half, __half2 and their functions (CUDA Math API,
 * "Half Precision Intrinsics"). */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#ifndef __cplusplus /* C has the types alone */
typedef struct {
    unsigned short x;
} __half_raw;
typedef struct {
    unsigned short x, y;
} __half2_raw;
typedef __half_raw __half, half, nv_half;
typedef __half2_raw __half2, half2, nv_half2;
#else

#include "heddle/half_core.h"

#define __CUDA_FP16_TYPES_EXIST__

HEDDLE_BOTH float heddle_half_widen(unsigned short x)
{
#ifdef __CUDA_ARCH__
    float f;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
    return f;
#else
    const unsigned sign = (x & 0x8000u) << 16, rest = x & 0x7fff;
    const float normal = __builtin_bit_cast(float, rest << 13) * 5.192296858534828e33f; /* 2^112; subnormal ones, too */
    const unsigned bits = rest >= 0x7c00 ? rest << 13 | 0x7f800000u : __builtin_bit_cast(unsigned, normal);
    return __builtin_bit_cast(float, rest > 0x7c00 ? 0x7fffffffu : sign | bits); /* NaN as the instruction has it */
#endif
}
HEDDLE_BOTH unsigned short heddle_half_narrow(float f)
{
#ifdef __CUDA_ARCH__
    unsigned short x;
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(f));
    return x;
#else
    return heddle_narrow<10, 5>(f, HEDDLE_RN);
#endif
}

struct __nv_bfloat16;

#define HEDDLE_HALF     __half
#define HEDDLE_HALF2    __half2
#define HEDDLE_RAW      __half_raw
#define HEDDLE_RAW2     __half2_raw
#define HEDDLE_OTHER    __nv_bfloat16
#define HEDDLE_WORD     half
#define HEDDLE_MANTISSA 10
#define HEDDLE_EXPONENT 5
#define HEDDLE_WIDEN    heddle_half_widen
#define HEDDLE_NARROW   heddle_half_narrow
#define HEDDLE_PTX_TYPE "f16"
#define HEDDLE_PTX_OF_DOUBLE
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 750
#define HEDDLE_TANH_APPROX
#endif
/* Of all inputs, those whose results an H200 does not round to the nearest. */
#define HEDDLE_EXP_BUT  HEDDLE_BUT(0x1f79, 0x3c07) HEDDLE_BUT(0x25cf, 0x3c17)
#define HEDDLE_EXP2_BUT HEDDLE_BUT(0x11c5, 0x3c01)
#define HEDDLE_EXP10_BUT
#define HEDDLE_LOG_BUT HEDDLE_BUT(0x1d78, 0xc53b)
#define HEDDLE_LOG10_BUT                                                                                               \
    HEDDLE_BUT(0x338f, 0xb903)                                                                                         \
    HEDDLE_BUT(0x33f8, 0xb8d5) HEDDLE_BUT(0x57e1, 0x4033) HEDDLE_BUT(0x69d0, 0x42f3) HEDDLE_BUT(0x719d, 0x440f)
#define HEDDLE_SIN_BUT                                                                                                 \
    HEDDLE_BUT(0x32b3, 0x32a7) HEDDLE_BUT(0x5cb0, 0xbbff) HEDDLE_BUT(0xb2b3, 0xb2a7) HEDDLE_BUT(0xdcb0, 0x3bff)
#define HEDDLE_COS_BUT HEDDLE_BUT(0x2b7c, 0x3bfd) HEDDLE_BUT(0xab7c, 0x3bfd)
#define HEDDLE_ADD1_SM 700
#define HEDDLE_ADD2_SM 600
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define HEDDLE_NO_CONVERSIONS
#endif
#if defined __CUDA_FP16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__ && !defined __CUDACC__
#define HEDDLE_NO_INTEGERS
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define HEDDLE_NO_OPERATORS
#endif
#ifdef __CUDA_NO_HALF2_OPERATORS__
#define HEDDLE_NO_OPERATORS2
#endif
#include "heddle/half_type.h"
#include "heddle/half_end.h"

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

#endif
#endif
