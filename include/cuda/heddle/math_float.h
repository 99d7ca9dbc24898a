/* The math functions in single precision. They compute in double and round once, which is within an
 * ulp; those that kernels use most have short polynomials of their own. The fast ones (__sinf ...)
 * are approximate instructions: CUDA C++ Programming Guide, "Intrinsic Functions".
 */
#ifndef HEDDLE_MATH_FLOAT_H
#define HEDDLE_MATH_FLOAT_H

#include "math_special.h"

#define HEDDLE_SINGLE1(name)                                                                                           \
    HEDDLE_MATH float __nv_##name##f(float x)                                                                          \
    {                                                                                                                  \
        return (float)__nv_##name(x);                                                                                  \
    }
#define HEDDLE_SINGLE2(name)                                                                                           \
    HEDDLE_MATH float __nv_##name##f(float x, float y)                                                                 \
    {                                                                                                                  \
        return (float)__nv_##name(x, y);                                                                               \
    }
HEDDLE_SINGLE1(expm1)
HEDDLE_SINGLE1(log1p)
HEDDLE_SINGLE1(cbrt)
HEDDLE_SINGLE1(rcbrt)
HEDDLE_SINGLE1(tan)
HEDDLE_SINGLE1(sinpi)
HEDDLE_SINGLE1(cospi)
HEDDLE_SINGLE1(asin)
HEDDLE_SINGLE1(acos)
HEDDLE_SINGLE1(atan)
HEDDLE_SINGLE1(sinh)
HEDDLE_SINGLE1(cosh)
HEDDLE_SINGLE1(tanh)
HEDDLE_SINGLE1(asinh)
HEDDLE_SINGLE1(acosh)
HEDDLE_SINGLE1(atanh)
HEDDLE_SINGLE1(erf)
HEDDLE_SINGLE1(erfc)
HEDDLE_SINGLE1(erfcx)
HEDDLE_SINGLE1(erfinv)
HEDDLE_SINGLE1(erfcinv)
HEDDLE_SINGLE1(normcdf)
HEDDLE_SINGLE1(normcdfinv)
HEDDLE_SINGLE1(tgamma)
HEDDLE_SINGLE1(lgamma)
HEDDLE_SINGLE1(j0)
HEDDLE_SINGLE1(j1)
HEDDLE_SINGLE1(y0)
HEDDLE_SINGLE1(y1)
HEDDLE_SINGLE1(cyl_bessel_i0)
HEDDLE_SINGLE1(cyl_bessel_i1)
HEDDLE_SINGLE2(atan2)
#undef HEDDLE_SINGLE1
#undef HEDDLE_SINGLE2

HEDDLE_MATH float __nv_jnf(int n, float x)
{
    return (float)__nv_jn(n, x);
}
HEDDLE_MATH float __nv_ynf(int n, float x)
{
    return (float)__nv_yn(n, x);
}
HEDDLE_MATH void __nv_sincospif(float x, float *sine, float *cosine)
{
    double s, c;
    __nv_sincospi(x, &s, &c);
    *sine = (float)s;
    *cosine = (float)c;
}

/* ---- exp ---- */

/* exp(n log 2 + r), |r| <= log(2) / 2. */
HEDDLE_MATH float heddle_expf(double n, double r)
{
    return (float)(__builtin_fma(r, heddle_poly_expf(r), 1) * heddle_power_of_2((int)n));
}
HEDDLE_MATH float __nv_expf(float x)
{
    if (!(__builtin_fabsf(x) < 104))
        return x != x ? x + x : x > 0 ? __builtin_inff() : 0;
    const double n = __builtin_rint(x * HEDDLE_LOG2_E_HI);
    return heddle_expf(n, __builtin_fma(-n, HEDDLE_LN2_HI, (double)x));
}
HEDDLE_MATH float __nv_exp2f(float x)
{
    if (!(__builtin_fabsf(x) < 150))
        return x != x ? x + x : x > 0 ? __builtin_inff() : 0;
    const double n = __builtin_rint((double)x);
    return heddle_expf(n, (x - n) * HEDDLE_LN2_HI);
}
HEDDLE_MATH float __nv_exp10f(float x)
{
    if (!(__builtin_fabsf(x) < 46))
        return x != x ? x + x : x > 0 ? __builtin_inff() : 0;
    const double t = x * HEDDLE_LOG2_10, n = __builtin_rint(t);
    return heddle_expf(n, (t - n) * HEDDLE_LN2_HI);
}

/* ---- log ---- */

/* x = 2^*k * m; returns (m - 1) / (m + 1). */
HEDDLE_MATH double heddle_log_argument(float x, int *k)
{
    const double m = heddle_mantissa(x, k);
    return (m - 1) / (m + 1);
}
HEDDLE_MATH bool heddle_no_logf(float x, float *result)
{
    double special;
    if (!heddle_no_log(x, &special))
        return false;
    *result = (float)special;
    return true;
}
HEDDLE_MATH double heddle_logf(float x)
{
    int k;
    const double s = heddle_log_argument(x, &k);
    return __builtin_fma((double)k, HEDDLE_LN2_HI, s * heddle_poly_logf(s * s));
}
HEDDLE_MATH double heddle_log2f(float x)
{
    int k;
    const double s = heddle_log_argument(x, &k);
    return __builtin_fma(s, heddle_poly_log2f(s * s), (double)k);
}
HEDDLE_MATH float __nv_logf(float x)
{
    float special;
    return heddle_no_logf(x, &special) ? special : (float)heddle_logf(x);
}
HEDDLE_MATH float __nv_log2f(float x)
{
    float special;
    return heddle_no_logf(x, &special) ? special : (float)heddle_log2f(x);
}
HEDDLE_MATH float __nv_log10f(float x)
{
    float special;
    return heddle_no_logf(x, &special) ? special : (float)(heddle_logf(x) * HEDDLE_LOG10_E_HI);
}

HEDDLE_MATH float __nv_powf(float x, float y)
{
    if (!(x > 0 && x < __builtin_inff() && __builtin_fabsf(y) < __builtin_inff()))
        return (float)__nv_pow(x, y);
    const double t = y * heddle_log2f(x);
    if (!(__builtin_fabs(t) < 150))
        return t > 0 ? __builtin_inff() : 0;
    const double n = __builtin_rint(t);
    return heddle_expf(n, (t - n) * HEDDLE_LN2_HI);
}
HEDDLE_MATH float __nv_powif(float x, int n)
{
    return (float)__nv_pow(x, n);
}

/* ---- sine and cosine ---- */

/* x = *r + the result * pi / 2. */
HEDDLE_MATH int heddle_reducef(float x, double *r)
{
    if (__builtin_fabsf(x) < 0x1p20f) {
        const double n = __builtin_rint(x * HEDDLE_2_PI);
        *r = __builtin_fma(-n, HEDDLE_PI_2_LO, __builtin_fma(-n, HEDDLE_PI_2_HI, (double)x));
        return (int)n;
    }
    const heddle_angle a = heddle_reduce(x);
    *r = a.r.hi;
    return a.quadrant;
}
HEDDLE_MATH float heddle_sinef(double r, int quadrant)
{
    const double z = r * r, y = quadrant & 1 ? heddle_poly_cosf(z) : r * heddle_poly_sinf(z);
    return (float)(quadrant & 2 ? -y : y);
}
HEDDLE_MATH void __nv_sincosf(float x, float *sine, float *cosine)
{
    if (!(__builtin_fabsf(x) < __builtin_inff())) {
        *sine = *cosine = __builtin_nanf("");
        return;
    }
    double r;
    const int quadrant = heddle_reducef(x, &r);
    *sine = x == 0 ? x : heddle_sinef(r, quadrant);
    *cosine = heddle_sinef(r, quadrant + 1);
}
HEDDLE_MATH float __nv_sinf(float x)
{
    float s, c;
    __nv_sincosf(x, &s, &c);
    return s;
}
HEDDLE_MATH float __nv_cosf(float x)
{
    float s, c;
    __nv_sincosf(x, &s, &c);
    return c;
}

/* ---- roots and lengths ---- */

HEDDLE_PTX1(__nv_rsqrtf, float, "f", float, "f", "rsqrt.approx" HEDDLE_FTZ ".f32")

/* 1 / sqrt(x), rounded to nearest: in double it is too exact to lie between the wrong two
 * floats. A NaN is that of the approximate instruction, as of nvcc's function. */
HEDDLE_INLINE float __frsqrt_rn(float x)
{
    return x >= 0 ? (float)__nv_rsqrt(x) : __nv_rsqrtf(x);
}

/* A float's square is exact in double, and no sum of a few overflows. */
HEDDLE_MATH double heddle_squaresf(int n, const float *v)
{
    double sum = 0;
    bool infinite = false;
    for (int i = 0; i < n; i++) {
        infinite |= __builtin_fabsf(v[i]) == __builtin_inff();
        sum = __builtin_fma((double)v[i], (double)v[i], sum);
    }
    return infinite ? HEDDLE_INF : sum;
}
HEDDLE_MATH float __nv_normf(int n, const float *v)
{
    return (float)__builtin_sqrt(heddle_squaresf(n, v));
}
HEDDLE_MATH float __nv_rnormf(int n, const float *v)
{
    return (float)(1 / __builtin_sqrt(heddle_squaresf(n, v)));
}
HEDDLE_MATH float __nv_hypotf(float x, float y)
{
    const float v[] = {x, y};
    return __nv_normf(2, v);
}
HEDDLE_MATH float __nv_rhypotf(float x, float y)
{
    const float v[] = {x, y};
    return __nv_rnormf(2, v);
}
HEDDLE_MATH float __nv_norm3df(float x, float y, float z)
{
    const float v[] = {x, y, z};
    return __nv_normf(3, v);
}
HEDDLE_MATH float __nv_rnorm3df(float x, float y, float z)
{
    const float v[] = {x, y, z};
    return __nv_rnormf(3, v);
}
HEDDLE_MATH float __nv_norm4df(float x, float y, float z, float w)
{
    const float v[] = {x, y, z, w};
    return __nv_normf(4, v);
}
HEDDLE_MATH float __nv_rnorm4df(float x, float y, float z, float w)
{
    const float v[] = {x, y, z, w};
    return __nv_rnormf(4, v);
}

/* ---- fast and approximate ---- */

HEDDLE_PTX1(__sinf, float, "f", float, "f", "sin.approx" HEDDLE_FTZ ".f32")
HEDDLE_PTX1(__cosf, float, "f", float, "f", "cos.approx" HEDDLE_FTZ ".f32")
HEDDLE_PTX1(__log2f, float, "f", float, "f", "lg2.approx" HEDDLE_FTZ ".f32")
HEDDLE_PTX1(heddle_ex2, float, "f", float, "f", "ex2.approx" HEDDLE_FTZ ".f32")
HEDDLE_PTX2(__fdividef, float, "f", float, "f", float, "f", "div.approx" HEDDLE_FTZ ".f32")

HEDDLE_INLINE float __expf(float x)
{
    return heddle_ex2(__fmul_rn(x, 1.44269504088896341f));
}
HEDDLE_INLINE float __exp10f(float x)
{
    return heddle_ex2(__fmul_rn(x, 3.32192809488736235f));
}
HEDDLE_INLINE float __logf(float x)
{
    return __fmul_rn(__log2f(x), 0.693147180559945309f);
}
HEDDLE_INLINE float __log10f(float x)
{
    return __fmul_rn(__log2f(x), 0.301029995663981195f);
}
HEDDLE_INLINE float __powf(float x, float y)
{
    return heddle_ex2(__fmul_rn(y, __log2f(x)));
}
HEDDLE_INLINE float __tanf(float x)
{
    return __fdividef(__sinf(x), __cosf(x));
}
HEDDLE_INLINE void __sincosf(float x, float *sine, float *cosine)
{
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
HEDDLE_PTX1(__tanhf, float, "f", float, "f", "tanh.approx.f32")
#endif

/* What --use_fast_math puts in the place of sinf and its kind. */
#define __nv_fast_sinf     __sinf
#define __nv_fast_cosf     __cosf
#define __nv_fast_sincosf  __sincosf
#define __nv_fast_logf     __logf
#define __nv_fast_log2f    __log2f
#define __nv_fast_fdividef __fdividef

#endif
