/* What clang's headers leave out of the math functions: nan() and overloads of float on the device;
 * the functions that C does not have on the host, by the same code ("Mathematical Functions" of the
 * CUDA C++ Programming Guide: the standard functions are for host and device code).
 */
#ifndef HEDDLE_MATH_MORE_H
#define HEDDLE_MATH_MORE_H

#include "math_float.h"

/* The payload of a NaN, as strtoull reads it; 0 where there is something else in the text. */
HEDDLE_MATH unsigned long long heddle_nan_tag(const char *text)
{
    unsigned base = 10;
    unsigned long long tag = 0;
    if (text[0] == '0') {
        base = text[1] == 'x' || text[1] == 'X' ? 16 : 8;
        text += base == 16 ? 2 : 1;
    }
    for (; *text; text++) {
        const char c = *text | 32;
        const unsigned digit = c >= 'a' ? c - 'a' + 10 : c - '0';
        if (digit >= base)
            return 0;
        tag = tag * base + digit;
    }
    return tag;
}
static __device__ __inline__ __attribute__((nodebug)) double nan(const char *tag)
{
    return __builtin_bit_cast(double, 0x7ff8000000000000ull | (heddle_nan_tag(tag) & 0x7ffffffffffffull));
}
static __device__ __inline__ __attribute__((nodebug)) float nanf(const char *tag)
{
    return __builtin_bit_cast(float, 0x7fc00000u | ((unsigned)heddle_nan_tag(tag) & 0x3fffffu));
}

/* Of C's functions: clang declares these overloads for the device, and leaves their definition to
 * CUDA's headers. */
#define HEDDLE_DEVICE(R, name, parameters, arguments)                                                                  \
    static __device__ __inline__ __attribute__((nodebug)) R name parameters                                            \
    {                                                                                                                  \
        return name##f arguments;                                                                                      \
    }
#define HEDDLE_DEVICE1(R, name) HEDDLE_DEVICE(R, name, (float x), (x))
#define HEDDLE_DEVICE2(name)    HEDDLE_DEVICE(float, name, (float x, float y), (x, y))
HEDDLE_DEVICE1(float, acosh)
HEDDLE_DEVICE1(float, asinh)
HEDDLE_DEVICE1(float, atanh)
HEDDLE_DEVICE1(float, cbrt)
HEDDLE_DEVICE1(float, erf)
HEDDLE_DEVICE1(float, erfc)
HEDDLE_DEVICE1(float, exp2)
HEDDLE_DEVICE1(float, expm1)
HEDDLE_DEVICE1(float, lgamma)
HEDDLE_DEVICE1(float, log1p)
HEDDLE_DEVICE1(float, log2)
HEDDLE_DEVICE1(float, logb)
HEDDLE_DEVICE1(float, nearbyint)
HEDDLE_DEVICE1(float, rint)
HEDDLE_DEVICE1(float, round)
HEDDLE_DEVICE1(float, tgamma)
HEDDLE_DEVICE1(float, trunc)
HEDDLE_DEVICE1(int, ilogb)
HEDDLE_DEVICE1(long, lrint)
HEDDLE_DEVICE1(long, lround)
HEDDLE_DEVICE1(long long, llrint)
HEDDLE_DEVICE1(long long, llround)
HEDDLE_DEVICE2(copysign)
HEDDLE_DEVICE2(fdim)
HEDDLE_DEVICE2(fmax)
HEDDLE_DEVICE2(fmin)
HEDDLE_DEVICE2(hypot)
HEDDLE_DEVICE2(nextafter)
HEDDLE_DEVICE2(remainder)
HEDDLE_DEVICE(float, fma, (float x, float y, float z), (x, y, z))
HEDDLE_DEVICE(float, remquo, (float x, float y, int *quotient), (x, y, quotient))
HEDDLE_DEVICE(float, scalbn, (float x, int n), (x, n))
HEDDLE_DEVICE(float, scalbln, (float x, long n), (x, n))
#undef HEDDLE_DEVICE2
#undef HEDDLE_DEVICE1
#undef HEDDLE_DEVICE

/* rsqrt.approx on the device. */
static __host__ __inline__ float __nv_rsqrtf(float x)
{
    return (float)(1 / __builtin_sqrt((double)x));
}

/* name(float) of both sides, by the function of the host or the device that has the name. */
#define HEDDLE_OF_FLOAT(name)                                                                                          \
    static __host__ __device__ __inline__ __attribute__((nodebug)) float name(float x)                                 \
    {                                                                                                                  \
        return name##f(x);                                                                                             \
    }
#define HEDDLE_OF_ORDER(name)                                                                                          \
    static __host__ __device__ __inline__ __attribute__((nodebug)) float name(int n, float x)                          \
    {                                                                                                                  \
        return name##f(n, x);                                                                                          \
    }
/* On the host: T is double, then float. */
#define HEDDLE_ON_HOST(name, parameters, arguments)                                                                    \
    static __host__ __inline__ __attribute__((nodebug)) double name parameters(double)                                 \
    {                                                                                                                  \
        return __nv_##name arguments;                                                                                  \
    }                                                                                                                  \
    static __host__ __inline__ __attribute__((nodebug)) float name##f parameters(float)                                \
    {                                                                                                                  \
        return __nv_##name##f arguments;                                                                               \
    }
#define HEDDLE_1(T) (T x)
#define HEDDLE_2(T) (T x, T y)
#define HEDDLE_3(T) (T x, T y, T z)
#define HEDDLE_4(T) (T x, T y, T z, T w)
#define HEDDLE_N(T) (int n, const T *x)
HEDDLE_ON_HOST(cospi, HEDDLE_1, (x))
HEDDLE_ON_HOST(sinpi, HEDDLE_1, (x))
HEDDLE_ON_HOST(rsqrt, HEDDLE_1, (x))
HEDDLE_ON_HOST(rcbrt, HEDDLE_1, (x))
HEDDLE_ON_HOST(erfinv, HEDDLE_1, (x))
HEDDLE_ON_HOST(erfcinv, HEDDLE_1, (x))
HEDDLE_ON_HOST(erfcx, HEDDLE_1, (x))
HEDDLE_ON_HOST(normcdf, HEDDLE_1, (x))
HEDDLE_ON_HOST(normcdfinv, HEDDLE_1, (x))
HEDDLE_ON_HOST(cyl_bessel_i0, HEDDLE_1, (x))
HEDDLE_ON_HOST(cyl_bessel_i1, HEDDLE_1, (x))
HEDDLE_ON_HOST(rhypot, HEDDLE_2, (x, y))
HEDDLE_ON_HOST(norm3d, HEDDLE_3, (x, y, z))
HEDDLE_ON_HOST(rnorm3d, HEDDLE_3, (x, y, z))
HEDDLE_ON_HOST(norm4d, HEDDLE_4, (x, y, z, w))
HEDDLE_ON_HOST(rnorm4d, HEDDLE_4, (x, y, z, w))
HEDDLE_ON_HOST(norm, HEDDLE_N, (n, x))
HEDDLE_ON_HOST(rnorm, HEDDLE_N, (n, x))
#undef HEDDLE_N
#undef HEDDLE_4
#undef HEDDLE_3
#undef HEDDLE_2
#undef HEDDLE_1
#undef HEDDLE_ON_HOST
static __host__ __inline__ __attribute__((nodebug)) double fdivide(double x, double y)
{
    return x / y;
}
static __host__ __inline__ __attribute__((nodebug)) float fdividef(float x, float y)
{
    return x / y;
}
static __host__ __inline__ void sincospi(double x, double *sine, double *cosine)
{
    __nv_sincospi(x, sine, cosine);
}
static __host__ __inline__ void sincospif(float x, float *sine, float *cosine)
{
    __nv_sincospif(x, sine, cosine);
}

HEDDLE_OF_FLOAT(cospi)
HEDDLE_OF_FLOAT(sinpi)
HEDDLE_OF_FLOAT(rsqrt)
HEDDLE_OF_FLOAT(rcbrt)
HEDDLE_OF_FLOAT(erfinv)
HEDDLE_OF_FLOAT(erfcinv)
HEDDLE_OF_FLOAT(erfcx)
HEDDLE_OF_FLOAT(normcdf)
HEDDLE_OF_FLOAT(normcdfinv)
HEDDLE_OF_FLOAT(cyl_bessel_i0)
HEDDLE_OF_FLOAT(cyl_bessel_i1)
HEDDLE_OF_FLOAT(exp10)
HEDDLE_OF_FLOAT(j0)
HEDDLE_OF_FLOAT(j1)
HEDDLE_OF_FLOAT(y0)
HEDDLE_OF_FLOAT(y1)
HEDDLE_OF_ORDER(jn)
HEDDLE_OF_ORDER(yn)
#undef HEDDLE_OF_ORDER
#undef HEDDLE_OF_FLOAT
static __host__ __device__ __inline__ __attribute__((nodebug)) void sincos(float x, float *sine, float *cosine)
{
    sincosf(x, sine, cosine);
}
static __host__ __device__ __inline__ __attribute__((nodebug)) void sincospi(float x, float *sine, float *cosine)
{
    sincospif(x, sine, cosine);
}

#endif
