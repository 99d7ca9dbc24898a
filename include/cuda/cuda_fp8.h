/* Floats of 8 bits: e4m3, e5m2, and e8m0, which is a power of two (CUDA Math API, "FP8
 * Intrinsics"). */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#ifndef __cplusplus /* C has the types alone */
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
typedef struct {
    __nv_fp8_storage_t __x;
} __nv_fp8_e4m3, __nv_fp8_e5m2, __nv_fp8_e8m0;
#else

#include "heddle/tiny_core.h"

#define __CUDA_FP8_TYPES_EXIST__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

HEDDLE_BOTH unsigned char heddle_fp8_narrow(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return kind == __NV_E4M3 ? heddle_tiny_narrow<3, 4, 0x7f>(x, saturate == __NV_SATFINITE, cudaRoundNearest)
                             : heddle_tiny_narrow<2, 5, 0x7c>(x, saturate == __NV_SATFINITE, cudaRoundNearest);
}
/* Of a double: no instruction converts it, and a NaN keeps its sign. */
HEDDLE_BOTH unsigned char heddle_fp8_narrow_double(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    const unsigned sign = (unsigned)(__builtin_bit_cast(unsigned long long, x) >> 63) << 7;
    return x == x ? heddle_fp8_narrow(x, saturate, kind) : sign | (kind == __NV_E4M3 ? 0x7f : 0x7e);
}
HEDDLE_BOTH float heddle_fp8_widen(unsigned char x, __nv_fp8_interpretation_t kind)
{
    return kind == __NV_E4M3 ? heddle_tiny_widen<3, 4, 0x7f>(x) : heddle_tiny_widen<2, 5, 0x7c>(x);
}

#define HEDDLE_FP                    fp8
#define HEDDLE_PAIR                  fp8x2
#define HEDDLE_STORAGE               __nv_fp8_storage_t
#define HEDDLE_STORAGE2              __nv_fp8x2_storage_t
#define HEDDLE_INTERPRETATION        __nv_fp8_interpretation_t
#define HEDDLE_BITS                  8
#define HEDDLE_OPTIONS               const __nv_saturation_t saturate, const __nv_fp8_interpretation_t interpretation
#define HEDDLE_TINY_NARROW(x)        heddle_fp8_narrow(x, saturate, interpretation)
#define HEDDLE_TINY_NARROW_DOUBLE(x) heddle_fp8_narrow_double(x, saturate, interpretation)
#define HEDDLE_TINY_WIDEN(x)         heddle_fp8_widen(x, interpretation)
#include "heddle/tiny_conversions.h"

/* ---- e8m0: 2 to the power of code - 127 ---- */

HEDDLE_BOTH unsigned char heddle_e8m0_narrow(double x, __nv_saturation_t saturate, cudaRoundMode rounding)
{
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x) & ~(1ull << 63);
    const bool up = rounding == cudaRoundPosInf && (bits & 0xfffffffffffff);
    const int code = (int)(bits >> 52) - 1023 + 127 + up;
    if (x != x)
        return 0xff;
    const bool stays_finite = saturate == __NV_SATFINITE || (rounding == cudaRoundZero && bits < 0x7ffull << 52);
    return code < 0 ? 0 : code < 0xff ? code : stays_finite ? 0xfe : 0xff;
}
HEDDLE_BOTH float heddle_e8m0_widen(unsigned char x)
{
    return __builtin_bit_cast(float, x == 0xff ? 0x7fffffffu : x == 0 ? 0x400000u : (unsigned)x << 23);
}

#define HEDDLE_TO_E8M0(type, from, x_of)                                                                               \
    HEDDLE_BOTH __nv_fp8_storage_t __nv_cvt_##type##_to_e8m0(const from v, const __nv_saturation_t saturate,           \
                                                             const cudaRoundMode rounding)                             \
    {                                                                                                                  \
        return heddle_e8m0_narrow(x_of, saturate, rounding);                                                           \
    }
#define HEDDLE_TO_E8M0X2(type, from, x_of, y_of)                                                                       \
    HEDDLE_BOTH __nv_fp8x2_storage_t __nv_cvt_##type##_to_e8m0x2(const from v, const __nv_saturation_t saturate,       \
                                                                 const cudaRoundMode rounding)                         \
    {                                                                                                                  \
        return heddle_e8m0_narrow(x_of, saturate, rounding) | heddle_e8m0_narrow(y_of, saturate, rounding) << 8;       \
    }
HEDDLE_TO_E8M0(double, double, v)
HEDDLE_TO_E8M0(float, float, v)
HEDDLE_TO_E8M0(bfloat16raw, __nv_bfloat16_raw, heddle_bfloat16_widen(v.x))
HEDDLE_TO_E8M0X2(double2, double2, v.x, v.y)
HEDDLE_TO_E8M0X2(float2, float2, v.x, v.y)
HEDDLE_TO_E8M0X2(bfloat162raw, __nv_bfloat162_raw, heddle_bfloat16_widen(v.x), heddle_bfloat16_widen(v.y))
#undef HEDDLE_TO_E8M0
#undef HEDDLE_TO_E8M0X2

HEDDLE_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x)
{
    return {(unsigned short)(__builtin_bit_cast(unsigned, heddle_e8m0_widen(x)) >> 16)};
}
HEDDLE_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x)
{
    return {__nv_cvt_e8m0_to_bf16raw(x & 0xff).x, __nv_cvt_e8m0_to_bf16raw(x >> 8).x};
}

/* ---- the types ---- */

#ifdef __CUDA_NO_FP8_CONVERSIONS__
#define HEDDLE_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_FP8_CONVERSION_OPERATORS__
#define HEDDLE_NO_CONVERSION_OPERATORS
#endif
#define HEDDLE_TINY                  __nv_fp8_e4m3
#define HEDDLE_TINY2                 __nv_fp8x2_e4m3
#define HEDDLE_TINY4                 __nv_fp8x4_e4m3
#define HEDDLE_STORAGE1              __nv_fp8_storage_t
#define HEDDLE_STORAGE2              __nv_fp8x2_storage_t
#define HEDDLE_STORAGE4              __nv_fp8x4_storage_t
#define HEDDLE_BITS                  8
#define HEDDLE_TINY_NARROW(x)        heddle_fp8_narrow(x, __NV_SATFINITE, __NV_E4M3)
#define HEDDLE_TINY_NARROW_DOUBLE(x) heddle_fp8_narrow_double(x, __NV_SATFINITE, __NV_E4M3)
#define HEDDLE_TINY_WIDEN(x)         heddle_fp8_widen(x, __NV_E4M3)
#include "heddle/tiny_type.h"

#define HEDDLE_TINY                  __nv_fp8_e5m2
#define HEDDLE_TINY2                 __nv_fp8x2_e5m2
#define HEDDLE_TINY4                 __nv_fp8x4_e5m2
#define HEDDLE_STORAGE1              __nv_fp8_storage_t
#define HEDDLE_STORAGE2              __nv_fp8x2_storage_t
#define HEDDLE_STORAGE4              __nv_fp8x4_storage_t
#define HEDDLE_BITS                  8
#define HEDDLE_TINY_NARROW(x)        heddle_fp8_narrow(x, __NV_SATFINITE, __NV_E5M2)
#define HEDDLE_TINY_NARROW_DOUBLE(x) heddle_fp8_narrow_double(x, __NV_SATFINITE, __NV_E5M2)
#define HEDDLE_TINY_WIDEN(x)         heddle_fp8_widen(x, __NV_E5M2)
#include "heddle/tiny_type.h"

#define HEDDLE_TINY           __nv_fp8_e8m0
#define HEDDLE_TINY2          __nv_fp8x2_e8m0
#define HEDDLE_TINY4          __nv_fp8x4_e8m0
#define HEDDLE_STORAGE1       __nv_fp8_storage_t
#define HEDDLE_STORAGE2       __nv_fp8x2_storage_t
#define HEDDLE_STORAGE4       __nv_fp8x4_storage_t
#define HEDDLE_BITS           8
#define HEDDLE_TINY_NARROW(x) heddle_e8m0_narrow(x, __NV_SATFINITE, cudaRoundPosInf)
#define HEDDLE_TINY_WIDEN(x)  heddle_e8m0_widen(x)
#define HEDDLE_MAKES_BFLOAT162
#include "heddle/tiny_type.h"

#undef HEDDLE_NO_CONVERSIONS
#undef HEDDLE_NO_CONVERSION_OPERATORS

#endif
#endif
