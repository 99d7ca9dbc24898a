/* Floats of 6 bits: e2m3 and e3m2 (CUDA Math API, "FP6 Intrinsics"). Each stands in 8 bits. */
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__

#ifndef __cplusplus /* C has the types alone */
typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned __nv_fp6x4_storage_t;
#else

#include "cuda_fp8.h"

#define __CUDA_FP6_TYPES_EXIST__

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

HEDDLE_BOTH unsigned char heddle_fp6_narrow(double x, __nv_fp6_interpretation_t kind, cudaRoundMode rounding)
{
    return kind == __NV_E2M3 ? heddle_tiny_narrow<3, 2, 0x20>(x, true, rounding)
                             : heddle_tiny_narrow<2, 3, 0x20>(x, true, rounding);
}
HEDDLE_BOTH float heddle_fp6_widen(unsigned char x, __nv_fp6_interpretation_t kind)
{
    return kind == __NV_E2M3 ? heddle_tiny_widen<3, 2, 0x20>(x) : heddle_tiny_widen<2, 3, 0x20>(x);
}

#define HEDDLE_FP             fp6
#define HEDDLE_PAIR           fp6x2
#define HEDDLE_STORAGE        __nv_fp6_storage_t
#define HEDDLE_STORAGE2       __nv_fp6x2_storage_t
#define HEDDLE_INTERPRETATION __nv_fp6_interpretation_t
#define HEDDLE_BITS           8
#define HEDDLE_OPTIONS        const __nv_fp6_interpretation_t interpretation, const cudaRoundMode rounding
#define HEDDLE_TINY_NARROW(x) heddle_fp6_narrow(x, interpretation, rounding)
#define HEDDLE_TINY_WIDEN(x)  heddle_fp6_widen(x, interpretation)
#include "heddle/tiny_conversions.h"

#ifdef __CUDA_NO_FP6_CONVERSIONS__
#define HEDDLE_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_FP6_CONVERSION_OPERATORS__
#define HEDDLE_NO_CONVERSION_OPERATORS
#endif
#define HEDDLE_TINY           __nv_fp6_e2m3
#define HEDDLE_TINY2          __nv_fp6x2_e2m3
#define HEDDLE_TINY4          __nv_fp6x4_e2m3
#define HEDDLE_STORAGE1       __nv_fp6_storage_t
#define HEDDLE_STORAGE2       __nv_fp6x2_storage_t
#define HEDDLE_STORAGE4       __nv_fp6x4_storage_t
#define HEDDLE_BITS           8
#define HEDDLE_TINY_NARROW(x) heddle_fp6_narrow(x, __NV_E2M3, cudaRoundNearest)
#define HEDDLE_TINY_WIDEN(x)  heddle_fp6_widen(x, __NV_E2M3)
#include "heddle/tiny_type.h"

#define HEDDLE_TINY           __nv_fp6_e3m2
#define HEDDLE_TINY2          __nv_fp6x2_e3m2
#define HEDDLE_TINY4          __nv_fp6x4_e3m2
#define HEDDLE_STORAGE1       __nv_fp6_storage_t
#define HEDDLE_STORAGE2       __nv_fp6x2_storage_t
#define HEDDLE_STORAGE4       __nv_fp6x4_storage_t
#define HEDDLE_BITS           8
#define HEDDLE_TINY_NARROW(x) heddle_fp6_narrow(x, __NV_E3M2, cudaRoundNearest)
#define HEDDLE_TINY_WIDEN(x)  heddle_fp6_widen(x, __NV_E3M2)
#include "heddle/tiny_type.h"

#undef HEDDLE_NO_CONVERSIONS
#undef HEDDLE_NO_CONVERSION_OPERATORS

#endif
#endif
