/* Floats of 4 bits: e2m1 (CUDA Math API, "FP4 Intrinsics"). One stands in 8 bits, two in 8, four in
 * 16. */
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__

#ifndef __cplusplus /* C has the types alone */
typedef unsigned char __nv_fp4_storage_t, __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
#else

#include "cuda_fp8.h"

#define __CUDA_FP4_TYPES_EXIST__

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

#define HEDDLE_FP             fp4
#define HEDDLE_PAIR           fp4x2
#define HEDDLE_STORAGE        __nv_fp4_storage_t
#define HEDDLE_STORAGE2       __nv_fp4x2_storage_t
#define HEDDLE_INTERPRETATION __nv_fp4_interpretation_t
#define HEDDLE_BITS           4
#define HEDDLE_OPTIONS        const __nv_fp4_interpretation_t, const cudaRoundMode rounding
#define HEDDLE_TINY_NARROW(x) heddle_tiny_narrow<1, 2, 8>(x, true, rounding)
#define HEDDLE_TINY_WIDEN(x)  heddle_tiny_widen<1, 2, 8>(x)
#include "heddle/tiny_conversions.h"

#ifdef __CUDA_NO_FP4_CONVERSIONS__
#define HEDDLE_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_FP4_CONVERSION_OPERATORS__
#define HEDDLE_NO_CONVERSION_OPERATORS
#endif
#define HEDDLE_TINY           __nv_fp4_e2m1
#define HEDDLE_TINY2          __nv_fp4x2_e2m1
#define HEDDLE_TINY4          __nv_fp4x4_e2m1
#define HEDDLE_STORAGE1       __nv_fp4_storage_t
#define HEDDLE_STORAGE2       __nv_fp4x2_storage_t
#define HEDDLE_STORAGE4       __nv_fp4x4_storage_t
#define HEDDLE_BITS           4
#define HEDDLE_TINY_NARROW(x) heddle_tiny_narrow<1, 2, 8>(x, true, cudaRoundNearest)
#define HEDDLE_TINY_WIDEN(x)  heddle_tiny_widen<1, 2, 8>(x)
#include "heddle/tiny_type.h"

#undef HEDDLE_NO_CONVERSIONS
#undef HEDDLE_NO_CONVERSION_OPERATORS

#endif
#endif
