/* The math functions that are exact: parts of a number, roundings, remainders, least and greatest
 * (C11 7.12.6, 7.12.9 to 7.12.12), in both precisions. A row of the macro makes both.
 */
#ifndef HEDDLE_MATH_PARTS_H
#define HEDDLE_MATH_PARTS_H

#include "casts.h"
#include "math_core.h"

#define HEDDLE_BOTH1(name, builtin)                                                                                    \
    HEDDLE_MATH double __nv_##name(double x)                                                                           \
    {                                                                                                                  \
        return __builtin_##builtin(x);                                                                                 \
    }                                                                                                                  \
    HEDDLE_MATH float __nv_##name##f(float x)                                                                          \
    {                                                                                                                  \
        return __builtin_##builtin##f(x);                                                                              \
    }
#define HEDDLE_BOTH2(name, builtin)                                                                                    \
    HEDDLE_MATH double __nv_##name(double x, double y)                                                                 \
    {                                                                                                                  \
        return __builtin_##builtin(x, y);                                                                              \
    }                                                                                                                  \
    HEDDLE_MATH float __nv_##name##f(float x, float y)                                                                 \
    {                                                                                                                  \
        return __builtin_##builtin##f(x, y);                                                                           \
    }
HEDDLE_BOTH1(fabs, fabs)
HEDDLE_BOTH1(ceil, ceil)
HEDDLE_BOTH1(floor, floor)
HEDDLE_BOTH1(trunc, trunc)
HEDDLE_BOTH1(rint, rint)
HEDDLE_BOTH1(nearbyint, nearbyint)
HEDDLE_BOTH2(copysign, copysign)
HEDDLE_BOTH2(fmax, fmax)
HEDDLE_BOTH2(fmin, fmin)
#undef HEDDLE_BOTH1
#undef HEDDLE_BOTH2

HEDDLE_MATH double __nv_fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
HEDDLE_MATH float __nv_fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
#if defined(__CUDA_ARCH__) && defined(__CUDA_PREC_SQRT) && !__CUDA_PREC_SQRT /* -prec-sqrt=false */
HEDDLE_PTX1(__nv_sqrtf, float, "f", float, "f", "sqrt.approx" HEDDLE_FTZ ".f32")
#else
HEDDLE_MATH float __nv_sqrtf(float x)
{
    return __builtin_sqrtf(x);
}
#endif

/* ---- kinds of numbers: what isnan() and its kind are made of ---- */

#define HEDDLE_KIND(suffix, suffix_d, T)                                                                               \
    HEDDLE_INLINE int __isnan##suffix(T x)                                                                             \
    {                                                                                                                  \
        return x != x;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_INLINE int __isinf##suffix(T x)                                                                             \
    {                                                                                                                  \
        return __nv_fabs##suffix(x) == HEDDLE_INF;                                                                     \
    }                                                                                                                  \
    HEDDLE_INLINE int __finite##suffix(T x)                                                                            \
    {                                                                                                                  \
        return __nv_fabs##suffix(x) < HEDDLE_INF;                                                                      \
    }                                                                                                                  \
    HEDDLE_INLINE int __signbit##suffix_d(T x)                                                                         \
    {                                                                                                                  \
        return __nv_copysign##suffix((T)1, x) < 0;                                                                     \
    }
HEDDLE_KIND(, d, double)
HEDDLE_KIND(f, f, float)
#undef HEDDLE_KIND
HEDDLE_INLINE int __isfinited(double x)
{
    return __finite(x);
}

/* ---- integers ---- */

#define HEDDLE_ORDER(min, max, T)                                                                                      \
    HEDDLE_MATH T min(T x, T y)                                                                                        \
    {                                                                                                                  \
        return y < x ? y : x;                                                                                          \
    }                                                                                                                  \
    HEDDLE_MATH T max(T x, T y)                                                                                        \
    {                                                                                                                  \
        return x < y ? y : x;                                                                                          \
    }
HEDDLE_ORDER(__nv_min, __nv_max, int)
HEDDLE_ORDER(__nv_umin, __nv_umax, unsigned)
HEDDLE_ORDER(__nv_llmin, __nv_llmax, long long)
HEDDLE_ORDER(__nv_ullmin, __nv_ullmax, unsigned long long)
#undef HEDDLE_ORDER

HEDDLE_MATH int __nv_abs(int x)
{
    return x < 0 ? -x : x;
}
HEDDLE_MATH long long __nv_llabs(long long x)
{
    return x < 0 ? -x : x;
}

/* ---- rounding half away from zero, and to integers ---- */

HEDDLE_MATH double __nv_round(double x)
{
    const double t = __builtin_trunc(x);
    return __builtin_fabs(x - t) >= 0.5 ? t + __builtin_copysign(1.0, x) : t;
}
HEDDLE_MATH float __nv_roundf(float x)
{
    const float t = __builtin_truncf(x);
    return __builtin_fabsf(x - t) >= 0.5f ? t + __builtin_copysignf(1.0f, x) : t;
}
HEDDLE_MATH long long __nv_llround(double x)
{
    return __double2ll_rz(__nv_round(x));
}
HEDDLE_MATH long long __nv_llroundf(float x)
{
    return __float2ll_rz(__nv_roundf(x));
}
HEDDLE_MATH long long __nv_llrint(double x)
{
    return __double2ll_rn(x);
}
HEDDLE_MATH long long __nv_llrintf(float x)
{
    return __float2ll_rn(x);
}

HEDDLE_MATH double __nv_fdim(double x, double y)
{
    return x != x || y != y ? x + y : x > y ? x - y : 0;
}
HEDDLE_MATH float __nv_fdimf(float x, float y)
{
    return x != x || y != y ? x + y : x > y ? x - y : 0;
}

/* ---- exponent and mantissa; a float's are those of the equal double ---- */

HEDDLE_MATH double __nv_frexp(double x, int *exponent)
{
    *exponent = 0;
    if (x == 0 || !(__builtin_fabs(x) < HEDDLE_INF))
        return x;
    long long bits = heddle_bits(x);
    int e = (int)(bits >> 52 & 2047);
    if (e == 0) {
        bits = heddle_bits(x * 0x1p54);
        e = (int)(bits >> 52 & 2047) - 54;
    }
    *exponent = e - 1022;
    return heddle_number((bits & ~(2047ll << 52)) | 1022ll << 52);
}
HEDDLE_MATH float __nv_frexpf(float x, int *exponent)
{
    return (float)__nv_frexp(x, exponent);
}

/* One rounding: where the result is subnormal, the steps before the last are exact. */
HEDDLE_MATH double __nv_ldexp(double x, int n)
{
    if (n > 1023) {
        x *= 0x1p1023;
        n = n > 3 * 1023 ? 2 * 1023 : n - 1023;
        if (n > 1023) {
            x *= 0x1p1023;
            n -= 1023;
        }
    } else if (n < -1022) { /* 2^-969 leaves 53 bits of the last step's result */
        x *= 0x1p-969;
        n = n < -3 * 969 ? -2 * 969 : n + 969;
        if (n < -1022) {
            x *= 0x1p-969;
            n += 969;
        }
    }
    return x * heddle_power_of_2(n);
}
HEDDLE_MATH float __nv_ldexpf(float x, int n)
{
    return (float)((double)x * heddle_power_of_2(n > 400 ? 400 : n < -400 ? -400 : n));
}
HEDDLE_MATH double __nv_scalbn(double x, int n)
{
    return __nv_ldexp(x, n);
}
HEDDLE_MATH float __nv_scalbnf(float x, int n)
{
    return __nv_ldexpf(x, n);
}

HEDDLE_MATH int __nv_ilogb(double x)
{
    if (x == 0)
        return -2147483647 - 1;
    if (!(__builtin_fabs(x) < HEDDLE_INF))
        return x != x ? -2147483647 - 1 : 2147483647;
    int e;
    __nv_frexp(x, &e);
    return e - 1;
}
HEDDLE_MATH int __nv_ilogbf(float x)
{
    return __nv_ilogb(x);
}
HEDDLE_MATH double __nv_logb(double x)
{
    if (x == 0)
        return -HEDDLE_INF;
    return __builtin_fabs(x) < HEDDLE_INF ? __nv_ilogb(x) : x * x;
}
HEDDLE_MATH float __nv_logbf(float x)
{
    return (float)__nv_logb(x);
}

HEDDLE_MATH double __nv_modf(double x, double *whole)
{
    *whole = __builtin_trunc(x);
    return __builtin_copysign(__builtin_fabs(x) == HEDDLE_INF ? 0 : x - *whole, x);
}
HEDDLE_MATH float __nv_modff(float x, float *whole)
{
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(__builtin_fabsf(x) == __builtin_inff() ? 0 : x - *whole, x);
}

/* The neighbour: the bits of a positive number count upwards. */
HEDDLE_MATH double __nv_nextafter(double x, double y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return __builtin_copysign(0x1p-1074, y);
    return heddle_number(heddle_bits(x) + ((x < y) == (x > 0) ? 1 : -1));
}
HEDDLE_MATH float __nv_nextafterf(float x, float y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return __builtin_copysignf(0x1p-149f, y);
    return heddle_number(heddle_bits(x) + ((x < y) == (x > 0) ? 1 : -1));
}

/* ---- remainders: long division of the mantissas, 11 bits a step ---- */

/* |x| modulo |y| for finite x and y that are not 0; *quotient gets the last 32
 * bits of the whole quotient. */
HEDDLE_MATH double heddle_modulo(double x, double y, unsigned *quotient)
{
    int ex, ey;
    const double fx = __nv_frexp(__builtin_fabs(x), &ex), fy = __nv_frexp(__builtin_fabs(y), &ey);
    *quotient = 0;
    if (ex < ey)
        return __builtin_fabs(x);
    const unsigned long long d = (unsigned long long)(fy * 0x1p53);
    unsigned long long r = (unsigned long long)(fx * 0x1p53);
    unsigned q = (unsigned)(r / d);
    r %= d;
    for (int left = ex - ey; left > 0;) {
        const int step = left < 11 ? left : 11;
        r <<= step;
        q = q << step | (unsigned)(r / d);
        r %= d;
        left -= step;
    }
    *quotient = q;
    return __nv_ldexp((double)r, ey - 53);
}
HEDDLE_MATH double __nv_fmod(double x, double y)
{
    if (x != x || y != y || __builtin_fabs(x) == HEDDLE_INF || y == 0)
        return HEDDLE_NAN;
    if (x == 0 || __builtin_fabs(y) == HEDDLE_INF)
        return x;
    unsigned quotient;
    return __builtin_copysign(heddle_modulo(x, y, &quotient), x);
}
HEDDLE_MATH double __nv_remquo(double x, double y, int *quotient)
{
    *quotient = 0;
    if (x != x || y != y || __builtin_fabs(x) == HEDDLE_INF || y == 0)
        return HEDDLE_NAN;
    if (x == 0 || __builtin_fabs(y) == HEDDLE_INF)
        return x;
    const double d = __builtin_fabs(y);
    unsigned q;
    double r = heddle_modulo(x, y, &q);
    /* to the nearest, halves to the even quotient; d - r cannot overflow, 2 * r could */
    if (r > d - r || (r == d - r && (q & 1))) {
        r -= d;
        q++;
    }
    q &= 7;
    *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -(int)q : (int)q;
    return r == 0 ? __builtin_copysign(0.0, x) : __builtin_signbit(x) ? -r : r;
}
HEDDLE_MATH double __nv_remainder(double x, double y)
{
    int quotient;
    return __nv_remquo(x, y, &quotient);
}
HEDDLE_MATH float __nv_fmodf(float x, float y)
{
    return (float)__nv_fmod(x, y);
}
HEDDLE_MATH float __nv_remquof(float x, float y, int *quotient)
{
    return (float)__nv_remquo(x, y, quotient);
}
HEDDLE_MATH float __nv_remainderf(float x, float y)
{
    return (float)__nv_remainder(x, y);
}

#endif
