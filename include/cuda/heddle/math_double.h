/* The elementary math functions in double precision, under the names of libdevice (__nv_sin ...)
 * that clang's own CUDA headers give the names of C to. Their errors in ulp: docs/MATH.md, measured
 * by `make ulp`.
 */
#ifndef HEDDLE_MATH_DOUBLE_H
#define HEDDLE_MATH_DOUBLE_H

#include "math_core.h"

/* ---- exp and its kind ---- */

HEDDLE_MATH double __nv_exp(double x)
{
    HEDDLE_EXACT
    if (!(__builtin_fabs(x) < 746))
        return x != x ? x + x : x > 0 ? HEDDLE_INF : 0;
    const double n = __builtin_rint(x * HEDDLE_LOG2_E_HI);
    const double a = __builtin_fma(-n, HEDDLE_LN2_SHORT_HI, x);
    const double r = __builtin_fma(-n, HEDDLE_LN2_SHORT_LO, a);
    const double lo = __builtin_fma(-n, HEDDLE_LN2_SHORT_LO, a - r);
    return heddle_scale(1 + __builtin_fma(r * r, heddle_poly_exp(r), lo + r), (int)n);
}

HEDDLE_MATH double __nv_exp2(double x)
{
    if (!(__builtin_fabs(x) < 1076))
        return x != x ? x + x : x > 0 ? HEDDLE_INF : 0;
    const double n = __builtin_rint(x), r = x - n;
    return heddle_scale(__builtin_fma(r, heddle_poly_exp2(r), 1), (int)n);
}

HEDDLE_MATH double __nv_exp10(double x)
{
    HEDDLE_EXACT
    if (!(__builtin_fabs(x) < 325))
        return x != x ? x + x : x > 0 ? HEDDLE_INF : 0;
    const double n = __builtin_rint(x * HEDDLE_LOG2_10);
    const double a = __builtin_fma(-n, HEDDLE_LOG10_2_SHORT_HI, x);
    const double r = __builtin_fma(-n, HEDDLE_LOG10_2_SHORT_LO, a);
    return heddle_scale(__builtin_fma(r, heddle_poly_exp10(r), 1), (int)n);
}

HEDDLE_MATH double __nv_expm1(double x)
{
    HEDDLE_EXACT
    if (!(__builtin_fabs(x) < 710))
        return x != x ? x + x : x > 0 ? HEDDLE_INF : -1;
    if (x < -40)
        return -1;
    const double n = __builtin_rint(x * HEDDLE_LOG2_E_HI);
    const heddle_double2 r = heddle_two_sum(__builtin_fma(-n, HEDDLE_LN2_SHORT_HI, x), -n * HEDDLE_LN2_SHORT_LO);
    if (x == 0) /* a sum would lose the sign of a zero, here and in the functions below */
        return x;
    if (n == 0)
        return __builtin_fma(x * x, heddle_poly_exp(x), x);
    /* 2^n * (1 + r + s) - 1 */
    const double s = __builtin_fma(r.hi * r.hi, heddle_poly_exp(r.hi), r.lo);
    if (n > 1000)
        return __builtin_fma(0x1p1000, r.hi + s, 0x1p1000) * heddle_power_of_2((int)n - 1000);
    const double t = heddle_power_of_2((int)n);
    const heddle_double2 one = heddle_two_sum(t, -1), h = heddle_two_sum(one.hi, t * r.hi);
    return h.hi + __builtin_fma(t, s, h.lo + one.lo);
}

/* ---- log and its kind ---- */

/* What every logarithm says of numbers without one: true where x is not positive and finite. */
HEDDLE_MATH bool heddle_no_log(double x, double *result)
{
    if (x > 0 && x < HEDDLE_INF)
        return false;
    *result = x == 0 ? -HEDDLE_INF : x > 0 ? x : HEDDLE_NAN;
    return true;
}

HEDDLE_MATH double __nv_log(double x)
{
    double special;
    return heddle_no_log(x, &special) ? special : heddle_log({x, 0}).hi;
}
HEDDLE_MATH double __nv_log2(double x)
{
    double special;
    if (heddle_no_log(x, &special))
        return special;
    /* the exponent is exact, whatever it is */
    int k;
    const double m = heddle_mantissa(x, &k);
    const heddle_double2 l = heddle_multiply(heddle_log({m, 0}), {HEDDLE_LOG2_E_HI, HEDDLE_LOG2_E_LO});
    return heddle_add({(double)k, 0}, l).hi;
}
HEDDLE_MATH double __nv_log10(double x)
{
    double special;
    if (heddle_no_log(x, &special))
        return special;
    return heddle_multiply(heddle_log({x, 0}), {HEDDLE_LOG10_E_HI, HEDDLE_LOG10_E_LO}).hi;
}
HEDDLE_MATH double __nv_log1p(double x)
{
    if (!(x > -1 && x < HEDDLE_INF))
        return x == -1 ? -HEDDLE_INF : x > 0 ? x : HEDDLE_NAN;
    if (__builtin_fabs(x) < 0x1p-54)
        return x;
    return heddle_log(heddle_two_sum(1, x)).hi;
}

/* ---- powers and roots ---- */

/* |x|^y for finite x that is not 0 and finite y. */
HEDDLE_MATH double heddle_power(double x, double y)
{
    HEDDLE_EXACT
    const heddle_double2 l = heddle_log({__builtin_fabs(x), 0});
    const double estimate = l.hi * y;
    if (!(__builtin_fabs(estimate) < 746))
        return estimate > 0 ? HEDDLE_INF : 0;
    const heddle_double2 p = heddle_multiply(l, {y, 0});
    int k;
    const heddle_double2 e = heddle_exp(p, &k);
    return heddle_scale(e.hi, k);
}

HEDDLE_MATH double __nv_pow(double x, double y)
{
    const double magnitude = __builtin_fabs(x);
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    const bool integer = __builtin_trunc(y) == y;
    const bool odd = integer && __builtin_fabs(y) < 0x1p53 && ((long long)y & 1);
    if (__builtin_fabs(y) == HEDDLE_INF)
        return magnitude == 1 ? 1 : (magnitude > 1) == (y > 0) ? HEDDLE_INF : 0;
    double result;
    if (magnitude == 0 || magnitude == HEDDLE_INF)
        result = (magnitude == 0) == (y < 0) ? HEDDLE_INF : 0;
    else if (x < 0 && !integer)
        return HEDDLE_NAN;
    else
        result = heddle_power(x, y);
    return odd ? __builtin_copysign(result, x) : result;
}

HEDDLE_MATH double __nv_powi(double x, int n)
{
    return __nv_pow(x, n);
}

HEDDLE_MATH double __nv_sqrt(double x)
{
    return __builtin_sqrt(x);
}

/* 1 / sqrt(x.hi + x.lo) for normal positive x: a step of Newton's on the nearly right result. */
HEDDLE_MATH double heddle_reciprocal_root(heddle_double2 x)
{
    HEDDLE_EXACT
    const double y = 1 / __builtin_sqrt(x.hi);
    const heddle_double2 h = heddle_two_product(x.hi, y);
    const double e = __builtin_fma(-h.hi, y, 1) - __builtin_fma(x.lo, y, h.lo) * y;
    return __builtin_fma(0.5 * y, e, y);
}

HEDDLE_MATH double __nv_rsqrt(double x)
{
    if (!(x > 0 && x < HEDDLE_INF))
        return 1 / __builtin_sqrt(x);
    if (x < 0x1p-1000)
        return heddle_reciprocal_root({x * 0x1p100, 0}) * 0x1p50;
    return heddle_reciprocal_root({x, 0});
}

/* The cube root of m in [1/4, 4]: Halley's iteration from a linear guess, the last step on an exact
 * cube. */
HEDDLE_MATH heddle_double2 heddle_cube_root(double m)
{
    HEDDLE_EXACT
    double t = __builtin_fma(m, 0.28, 0.72);
    for (int i = 0; i < 4; i++) {
        const double cube = t * t * t;
        t = t * (cube + 2 * m) / (2 * cube + m);
    }
    const heddle_double2 square = heddle_two_product(t, t), cube = heddle_multiply(square, {t, 0});
    return heddle_fast_sum(t, ((m - cube.hi) - cube.lo) / (3 * square.hi));
}

/* x = 8^*k * m, m within [1/4, 4]. */
HEDDLE_MATH double heddle_cubic_part(double x, int *k)
{
    int e;
    const double m = heddle_mantissa(x, &e);
    const int third = (e + 3072) / 3 - 1024;
    *k = third;
    return heddle_scale(m, e - 3 * third);
}

HEDDLE_MATH double __nv_cbrt(double x)
{
    if (x == 0 || !(__builtin_fabs(x) < HEDDLE_INF))
        return x + x;
    int k;
    const double m = heddle_cubic_part(x, &k);
    return __builtin_copysign(heddle_cube_root(m).hi * heddle_power_of_2(k), x);
}
HEDDLE_MATH double __nv_rcbrt(double x)
{
    if (x == 0 || !(__builtin_fabs(x) < HEDDLE_INF))
        return 1 / x;
    int k;
    const double m = heddle_cubic_part(x, &k);
    return __builtin_copysign(heddle_divide({1, 0}, heddle_cube_root(m)).hi * heddle_power_of_2(-k), x);
}

/* ---- lengths: squares summed in two doubles, scaled so that none overflows ---- */

/* The sum of squares of n components * 2^*k, to be multiplied by 2^(-2 *k). */
HEDDLE_MATH heddle_double2 heddle_squares(int n, const double *v, int *k)
{
    HEDDLE_EXACT
    double greatest = 0;
    for (int i = 0; i < n; i++)
        greatest = __builtin_fmax(greatest, __builtin_fabs(v[i]));
    *k = 0;
    if (greatest == 0)
        return {0, 0};
    heddle_mantissa(greatest, k);
    /* Either way the squares are normal, or too small to count. */
    *k = *k < -1000 ? 1000 : *k > 1000 ? -1000 : -*k;
    const double scale = heddle_power_of_2(*k);
    heddle_double2 sum = {0, 0};
    for (int i = 0; i < n; i++) {
        const double c = v[i] * scale;
        sum = heddle_add(sum, heddle_two_product(c, c));
    }
    return sum;
}
/* NaN or infinity of a length with such a component; true where there is one. */
HEDDLE_MATH bool heddle_no_length(int n, const double *v, double *result)
{
    bool nan = false;
    for (int i = 0; i < n; i++) {
        if (__builtin_fabs(v[i]) == HEDDLE_INF) {
            *result = HEDDLE_INF;
            return true;
        }
        nan |= v[i] != v[i];
    }
    *result = HEDDLE_NAN;
    return nan;
}
HEDDLE_MATH double __nv_norm(int n, const double *v)
{
    double special;
    if (heddle_no_length(n, v, &special))
        return special;
    int k;
    const heddle_double2 sum = heddle_squares(n, v, &k);
    return sum.hi == 0 ? 0 : heddle_square_root(sum).hi * heddle_power_of_2(-k);
}
HEDDLE_MATH double __nv_rnorm(int n, const double *v)
{
    double special;
    if (heddle_no_length(n, v, &special))
        return 1 / special;
    int k;
    const heddle_double2 sum = heddle_squares(n, v, &k);
    return sum.hi == 0 ? HEDDLE_INF : heddle_reciprocal_root(sum) * heddle_power_of_2(k);
}
HEDDLE_MATH double __nv_hypot(double x, double y)
{
    const double v[] = {x, y};
    return __nv_norm(2, v);
}
HEDDLE_MATH double __nv_rhypot(double x, double y)
{
    const double v[] = {x, y};
    return __nv_rnorm(2, v);
}
HEDDLE_MATH double __nv_norm3d(double x, double y, double z)
{
    const double v[] = {x, y, z};
    return __nv_norm(3, v);
}
HEDDLE_MATH double __nv_rnorm3d(double x, double y, double z)
{
    const double v[] = {x, y, z};
    return __nv_rnorm(3, v);
}
HEDDLE_MATH double __nv_norm4d(double x, double y, double z, double w)
{
    const double v[] = {x, y, z, w};
    return __nv_norm(4, v);
}
HEDDLE_MATH double __nv_rnorm4d(double x, double y, double z, double w)
{
    const double v[] = {x, y, z, w};
    return __nv_rnorm(4, v);
}

/* ---- sine, cosine, tangent ---- */

/* Both, of r plus `quadrant` right angles. */
HEDDLE_MATH void heddle_sincos(heddle_angle a, double *sine, double *cosine)
{
    const double s = heddle_sine(a.r), c = heddle_cosine(a.r);
    const bool swap = a.quadrant & 1;
    const double x = swap ? c : s, y = swap ? s : c;
    *sine = a.quadrant & 2 ? -x : x;
    *cosine = (a.quadrant + 1) & 2 ? -y : y;
}

HEDDLE_MATH void __nv_sincos(double x, double *sine, double *cosine)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF)) {
        *sine = *cosine = HEDDLE_NAN;
        return;
    }
    heddle_sincos(heddle_reduce(x), sine, cosine);
    if (x == 0)
        *sine = x;
}
HEDDLE_MATH double __nv_sin(double x)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF))
        return HEDDLE_NAN;
    if (x == 0)
        return x;
    const heddle_angle a = heddle_reduce(x);
    const double s = a.quadrant & 1 ? heddle_cosine(a.r) : heddle_sine(a.r);
    return a.quadrant & 2 ? -s : s;
}
HEDDLE_MATH double __nv_cos(double x)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF))
        return HEDDLE_NAN;
    const heddle_angle a = heddle_reduce(x);
    const double c = a.quadrant & 1 ? heddle_sine(a.r) : heddle_cosine(a.r);
    return (a.quadrant + 1) & 2 ? -c : c;
}
HEDDLE_MATH double __nv_tan(double x)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF))
        return HEDDLE_NAN;
    if (x == 0)
        return x;
    const heddle_angle a = heddle_reduce(x);
    const double s = heddle_sine(a.r), c = heddle_cosine(a.r);
    return a.quadrant & 1 ? -c / s : s / c;
}

/* x * pi, less the right angles in it: exact up to the product. */
HEDDLE_MATH heddle_angle heddle_reduce_pi(double x)
{
    HEDDLE_EXACT
    const double n = __builtin_rint(x * 2);
    const double r = __builtin_fma(n, -0.5, x);
    return {heddle_multiply({r, 0}, {HEDDLE_PI_HI, HEDDLE_PI_LO}), (int)(long long)(n - 4 * __builtin_floor(n * 0.25))};
}
HEDDLE_MATH void __nv_sincospi(double x, double *sine, double *cosine)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF)) {
        *sine = *cosine = HEDDLE_NAN;
        return;
    }
    heddle_sincos(heddle_reduce_pi(x), sine, cosine);
    if (__builtin_trunc(x) == x)
        *sine = x * 0;
    *cosine += 0.0; /* no -0 */
}
HEDDLE_MATH double __nv_sinpi(double x)
{
    double s, c;
    __nv_sincospi(x, &s, &c);
    return s;
}
HEDDLE_MATH double __nv_cospi(double x)
{
    double s, c;
    __nv_sincospi(x, &s, &c);
    return c;
}

/* ---- their inverses ---- */

/* atan(x) for |x| <= 1. */
HEDDLE_MATH double heddle_arctangent(double x)
{
    const double z = x * x;
    return __builtin_fma(x * z, heddle_poly_atan(z), x);
}
HEDDLE_MATH double __nv_atan(double x)
{
    if (__builtin_fabs(x) <= 1)
        return x == 0 ? x : heddle_arctangent(x);
    if (x != x)
        return x + x;
    const double t = HEDDLE_PI_2_HI - (heddle_arctangent(1 / __builtin_fabs(x)) - HEDDLE_PI_2_LO);
    return __builtin_copysign(t, x);
}

HEDDLE_MATH double __nv_atan2(double y, double x)
{
    HEDDLE_EXACT
    if (x != x || y != y)
        return x + y;
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    if (a == b) { /* both may be zero or infinite */
        const double diagonal = a == 0 ? 0 : HEDDLE_PI_4_HI;
        return __builtin_copysign(__builtin_signbit(x) ? HEDDLE_PI_HI - diagonal : diagonal, y);
    }
    const bool steep = b > a;
    if (steep) {
        const double t = a;
        a = b;
        b = t;
    }
    if (a > 0x1p1000) { /* the quotient's rest must not overflow or underflow */
        a *= 0x1p-100;
        b *= 0x1p-100;
    } else if (a < 0x1p-900) {
        a *= 0x1p100;
        b *= 0x1p100;
    }
    const double q = b / a;
    const double rest = a == HEDDLE_INF ? 0 : __builtin_fma(-q, a, b) / a;
    const double z = q * q;
    /* atan(q + rest) */
    heddle_double2 t = heddle_fast_sum(q, __builtin_fma(q * z, heddle_poly_atan(z), rest / (1 + z)));
    if (steep)
        t = heddle_add({HEDDLE_PI_2_HI, HEDDLE_PI_2_LO}, {-t.hi, -t.lo});
    if (__builtin_signbit(x))
        t = heddle_add({HEDDLE_PI_HI, HEDDLE_PI_LO}, {-t.hi, -t.lo});
    return __builtin_copysign(t.hi, y);
}

/* asin(x) - x for |x| <= 1/2. */
HEDDLE_MATH double heddle_arcsine_rest(double x)
{
    const double z = x * x;
    return x * z * heddle_poly_asin(z);
}
/* asin(x) for 1/2 < x <= 1 is pi / 2 - 2 * this. */
HEDDLE_MATH heddle_double2 heddle_arcsine_half(double x)
{
    HEDDLE_EXACT
    const double h = (1 - x) * 0.5; /* exact */
    const heddle_double2 s = heddle_square_root({h, 0});
    return heddle_fast_sum(s.hi, s.lo + s.hi * h * heddle_poly_asin(h));
}
HEDDLE_MATH double __nv_asin(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (a <= 0.5)
        return x + heddle_arcsine_rest(x);
    if (!(a <= 1))
        return HEDDLE_NAN;
    const heddle_double2 t = heddle_arcsine_half(a);
    return __builtin_copysign(heddle_add({HEDDLE_PI_2_HI, HEDDLE_PI_2_LO}, {-2 * t.hi, -2 * t.lo}).hi, x);
}
HEDDLE_MATH double __nv_acos(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (a <= 0.5) {
        const heddle_double2 t = heddle_fast_sum(x, heddle_arcsine_rest(x));
        return heddle_add({HEDDLE_PI_2_HI, HEDDLE_PI_2_LO}, {-t.hi, -t.lo}).hi;
    }
    if (!(a <= 1))
        return HEDDLE_NAN;
    const heddle_double2 t = heddle_arcsine_half(a);
    if (x > 0)
        return 2 * t.hi;
    return heddle_add({HEDDLE_PI_HI, HEDDLE_PI_LO}, {-2 * t.hi, -2 * t.lo}).hi;
}

/* ---- hyperbolic functions ---- */

HEDDLE_MATH double __nv_sinh(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (a < 1) {
        const double z = x * x;
        return __builtin_fma(x * z, heddle_poly_sinh(z), x);
    }
    if (!(a < 711))
        return x + x == x ? x : x * HEDDLE_INF;
    int k;
    const heddle_double2 e = heddle_exp({a, 0}, &k);
    const double inverse = k > 60 ? 0 : heddle_power_of_2(-2 * k) / e.hi;
    return __builtin_copysign(heddle_scale(e.hi + (e.lo - inverse), k - 1), x);
}
HEDDLE_MATH double __nv_cosh(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (!(a < 711))
        return a * HEDDLE_INF;
    int k;
    const heddle_double2 e = heddle_exp({a, 0}, &k);
    const double inverse = k > 60 ? 0 : heddle_power_of_2(-2 * k) / e.hi;
    const heddle_double2 sum = heddle_fast_sum(e.hi, inverse);
    return heddle_scale(sum.hi + (sum.lo + e.lo), k - 1);
}
HEDDLE_MATH double __nv_tanh(double x)
{
    const double a = __builtin_fabs(x);
    if (x == 0)
        return x;
    if (a < 0.55) {
        const double z = x * x;
        return __builtin_fma(x * z, heddle_poly_tanh(z), x);
    }
    if (x != x)
        return x + x;
    return __builtin_copysign(a > 20 ? 1 : 1 - 2 / (__nv_exp(2 * a) + 1), x);
}

HEDDLE_MATH double __nv_asinh(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (!(a < HEDDLE_INF) || a < 0x1p-28)
        return x;
    double l;
    if (a > 0x1p28) {
        l = heddle_add(heddle_log({a, 0}), {HEDDLE_LN2_HI, HEDDLE_LN2_LO}).hi;
    } else { /* log(1 + t), t = a + a^2 / (1 + sqrt(1 + a^2)) */
        const double square = a * a;
        const heddle_double2 t = heddle_two_sum(a, square / (1 + __builtin_sqrt(1 + square)));
        const heddle_double2 one = heddle_two_sum(1, t.hi);
        l = heddle_log(heddle_fast_sum(one.hi, one.lo + t.lo)).hi;
    }
    return __builtin_copysign(l, x);
}
HEDDLE_MATH double __nv_acosh(double x)
{
    HEDDLE_EXACT
    if (!(x >= 1))
        return HEDDLE_NAN;
    if (x > 0x1p28)
        return x == HEDDLE_INF ? x : heddle_add(heddle_log({x, 0}), {HEDDLE_LN2_HI, HEDDLE_LN2_LO}).hi;
    const double t = x - 1;
    const heddle_double2 u = heddle_two_sum(t, __builtin_sqrt(__builtin_fma(t, t, 2 * t)));
    const heddle_double2 one = heddle_two_sum(1, u.hi);
    return heddle_log(heddle_fast_sum(one.hi, one.lo + u.lo)).hi;
}
HEDDLE_MATH double __nv_atanh(double x)
{
    HEDDLE_EXACT
    const double a = __builtin_fabs(x);
    if (a <= 0.25) {
        const double z = x * x;
        return __builtin_fma(x * z, heddle_poly_atanh(z), x);
    }
    if (!(a < 1))
        return a == 1 ? x * HEDDLE_INF : HEDDLE_NAN;
    const heddle_double2 quotient = heddle_divide(heddle_two_sum(1, a), heddle_two_sum(1, -a));
    return __builtin_copysign(0.5 * heddle_log(quotient).hi, x);
}

#endif
