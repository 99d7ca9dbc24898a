/* Brain floats: __nv_bfloat16, __nv_bfloat162 and their functions (CUDA Math API, "Bfloat16
 * Precision Intrinsics"). */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#ifndef __cplusplus /* C has the types alone */
typedef struct {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct {
    unsigned short x, y;
} __nv_bfloat162_raw;
typedef __nv_bfloat16_raw __nv_bfloat16, nv_bfloat16;
typedef __nv_bfloat162_raw __nv_bfloat162, nv_bfloat162;
#else

#include "cuda_fp16.h"

#define __CUDA_BF16_TYPES_EXIST__

/* The upper half of a float's bits. */
HEDDLE_BOTH float heddle_bfloat16_widen(unsigned short x)
{
    return __builtin_bit_cast(float, (unsigned)x << 16);
}
HEDDLE_BOTH unsigned short heddle_bfloat16_narrow(float f)
{
    const unsigned bits = __builtin_bit_cast(unsigned, f);
    return f != f ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#define HEDDLE_HALF     __nv_bfloat16
#define HEDDLE_HALF2    __nv_bfloat162
#define HEDDLE_RAW      __nv_bfloat16_raw
#define HEDDLE_RAW2     __nv_bfloat162_raw
#define HEDDLE_OTHER    __half
#define HEDDLE_WORD     bfloat16
#define HEDDLE_MANTISSA 7
#define HEDDLE_EXPONENT 8
#define HEDDLE_WIDEN    heddle_bfloat16_widen
#define HEDDLE_NARROW   heddle_bfloat16_narrow
#define HEDDLE_PTX_TYPE "bf16"
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define HEDDLE_PTX_OF_DOUBLE
#define HEDDLE_TANH_APPROX
#endif
/* Of all inputs, those whose results an H200 does not round to the nearest. */
#define HEDDLE_EXP_BUT
#define HEDDLE_EXP2_BUT
#define HEDDLE_EXP10_BUT HEDDLE_BUT(0xbc95, 0x3f75)
#define HEDDLE_LOG_BUT
#define HEDDLE_LOG10_BUT
#define HEDDLE_SIN_BUT
#define HEDDLE_COS_BUT
#define HEDDLE_ADD1_SM 900
#define HEDDLE_ADD2_SM 900
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define HEDDLE_NO_CONVERSIONS
#endif
#if defined __CUDA_BF16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__ && !defined __CUDACC__
#define HEDDLE_NO_INTEGERS
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define HEDDLE_NO_OPERATORS
#endif
#ifdef __CUDA_NO_BFLOAT162_OPERATORS__
#define HEDDLE_NO_OPERATORS2
#endif
#include "heddle/half_type.h"
#include "heddle/half_end.h"

#ifndef __CUDA_NO_HALF_CONVERSIONS__
inline __host__ __device__ __half::__half(__nv_bfloat16 x) : __x(heddle_half_narrow(heddle_bfloat16_widen(x.__x))) {}
#endif
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
inline __host__ __device__ __nv_bfloat16::__nv_bfloat16(__half x)
    : __x(heddle_bfloat16_narrow(heddle_half_widen(x.__x)))
{
}
#endif

#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif

#endif
#endif
