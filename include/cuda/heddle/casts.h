/* Type casts and arithmetic with a rounding of its own: CUDA Math API, "Type Casting Intrinsics"
 * and the _rn, _rz, _ru, _rd functions of "Single Precision Intrinsics" and "Double Precision
 * Intrinsics". Each is the PTX instruction of its row. */
#ifndef HEDDLE_CASTS_H
#define HEDDLE_CASTS_H

#include "instruction.h"

/* ---- reinterpreted bits ---- */

#define HEDDLE_BITS(name, R, A)                                                                                        \
    HEDDLE_INLINE R name(A x)                                                                                          \
    {                                                                                                                  \
        return __builtin_bit_cast(R, x);                                                                               \
    }
HEDDLE_BITS(__float_as_int, int, float)
HEDDLE_BITS(__float_as_uint, unsigned, float)
HEDDLE_BITS(__int_as_float, float, int)
HEDDLE_BITS(__uint_as_float, float, unsigned)
HEDDLE_BITS(__double_as_longlong, long long, double)
HEDDLE_BITS(__longlong_as_double, double, long long)
#undef HEDDLE_BITS

HEDDLE_INLINE int __double2hiint(double x)
{
    return (int)(__double_as_longlong(x) >> 32);
}
HEDDLE_INLINE int __double2loint(double x)
{
    return (int)__double_as_longlong(x);
}
HEDDLE_INLINE double __hiloint2double(int hi, int lo)
{
    return __longlong_as_double((long long)hi << 32 | (unsigned)lo);
}

/* ---- conversions: PTX ISA, "cvt"; a rounding to an integer is .rni .rzi .rpi .rmi ---- */

#define HEDDLE_CVT(name, R, r, A, a, to, from)                                                                         \
    HEDDLE_PTX1(name##_rn, R, r, A, a, "cvt.rn" to from)                                                               \
    HEDDLE_PTX1(name##_rz, R, r, A, a, "cvt.rz" to from)                                                               \
    HEDDLE_PTX1(name##_ru, R, r, A, a, "cvt.rp" to from)                                                               \
    HEDDLE_PTX1(name##_rd, R, r, A, a, "cvt.rm" to from)
HEDDLE_CVT(__float2int, int, "r", float, "f", "i.s32", ".f32")
HEDDLE_CVT(__float2uint, unsigned, "r", float, "f", "i.u32", ".f32")
HEDDLE_CVT(__float2ll, long long, "l", float, "f", "i.s64", ".f32")
HEDDLE_CVT(__float2ull, unsigned long long, "l", float, "f", "i.u64", ".f32")
HEDDLE_CVT(__double2int, int, "r", double, "d", "i.s32", ".f64")
HEDDLE_CVT(__double2uint, unsigned, "r", double, "d", "i.u32", ".f64")
HEDDLE_CVT(__double2ll, long long, "l", double, "d", "i.s64", ".f64")
HEDDLE_CVT(__double2ull, unsigned long long, "l", double, "d", "i.u64", ".f64")
HEDDLE_CVT(__int2float, float, "f", int, "r", ".f32", ".s32")
HEDDLE_CVT(__uint2float, float, "f", unsigned, "r", ".f32", ".u32")
HEDDLE_CVT(__ll2float, float, "f", long long, "l", ".f32", ".s64")
HEDDLE_CVT(__ull2float, float, "f", unsigned long long, "l", ".f32", ".u64")
HEDDLE_CVT(__ll2double, double, "d", long long, "l", ".f64", ".s64")
HEDDLE_CVT(__ull2double, double, "d", unsigned long long, "l", ".f64", ".u64")
HEDDLE_CVT(__double2float, float, "f", double, "d", ".f32", ".f64")
HEDDLE_PTX1(__int2double_rn, double, "d", int, "r", "cvt.rn.f64.s32")
HEDDLE_PTX1(__uint2double_rn, double, "d", unsigned, "r", "cvt.rn.f64.u32")
#undef HEDDLE_CVT

/* ---- arithmetic: never contracted to fma, as the documentation promises ---- */

#define HEDDLE_FTZ ""
#ifdef __CUDA_FTZ
#undef HEDDLE_FTZ
#define HEDDLE_FTZ ".ftz"
#endif

#define HEDDLE_ROUNDED(row) row(_rn, ".rn") row(_rz, ".rz") row(_ru, ".rp") row(_rd, ".rm")

#define HEDDLE_ROW(suffix, rounding)                                                                                   \
    HEDDLE_PTX2(__fadd##suffix, float, "f", float, "f", float, "f", "add" rounding HEDDLE_FTZ ".f32")                  \
    HEDDLE_PTX2(__fsub##suffix, float, "f", float, "f", float, "f", "sub" rounding HEDDLE_FTZ ".f32")                  \
    HEDDLE_PTX2(__fmul##suffix, float, "f", float, "f", float, "f", "mul" rounding HEDDLE_FTZ ".f32")                  \
    HEDDLE_PTX2(__fdiv##suffix, float, "f", float, "f", float, "f", "div" rounding HEDDLE_FTZ ".f32")                  \
    HEDDLE_PTX1(__frcp##suffix, float, "f", float, "f", "rcp" rounding HEDDLE_FTZ ".f32")                              \
    HEDDLE_PTX1(__fsqrt##suffix, float, "f", float, "f", "sqrt" rounding HEDDLE_FTZ ".f32")                            \
    HEDDLE_PTX3(__fmaf##suffix, float, "f", float, "f", float, "f", float, "f", "fma" rounding HEDDLE_FTZ ".f32")      \
    HEDDLE_PTX3(__fmaf_ieee##suffix, float, "f", float, "f", float, "f", float, "f", "fma" rounding ".f32")            \
    HEDDLE_PTX2(__dadd##suffix, double, "d", double, "d", double, "d", "add" rounding ".f64")                          \
    HEDDLE_PTX2(__dsub##suffix, double, "d", double, "d", double, "d", "sub" rounding ".f64")                          \
    HEDDLE_PTX2(__dmul##suffix, double, "d", double, "d", double, "d", "mul" rounding ".f64")                          \
    HEDDLE_PTX2(__ddiv##suffix, double, "d", double, "d", double, "d", "div" rounding ".f64")                          \
    HEDDLE_PTX1(__drcp##suffix, double, "d", double, "d", "rcp" rounding ".f64")                                       \
    HEDDLE_PTX1(__dsqrt##suffix, double, "d", double, "d", "sqrt" rounding ".f64")                                     \
    HEDDLE_PTX3(__fma##suffix, double, "d", double, "d", double, "d", double, "d", "fma" rounding ".f64")
HEDDLE_ROUNDED(HEDDLE_ROW)
#undef HEDDLE_ROW

HEDDLE_PTX1(__saturatef, float, "f", float, "f", "cvt.sat" HEDDLE_FTZ ".f32.f32")

#endif
