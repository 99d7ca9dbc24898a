/* The error function, the gamma function and the Bessel functions, with their inverses, in double
 * precision (names as in math_double.h). Where a function has zeros, a polynomial round each of
 * them keeps the relative error; see scripts/fit-math. Sources: Abramowitz and Stegun, chapters 6,
 * 7, 9; Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981);
 * Miller's backward recurrence for J_n.
 */
#ifndef HEDDLE_MATH_SPECIAL_H
#define HEDDLE_MATH_SPECIAL_H

#include "math_double.h"
#include "math_parts.h"

/* ---- the error function ---- */

/* erfcx(x) = exp(x^2) erfc(x) for x >= 0. */
HEDDLE_MATH double heddle_erfcx(double x)
{
    return x > 0x1p60 ? 1 / (x * 2 * HEDDLE_SQRT_PI_2) : heddle_poly_erfcx((x - 4) / (x + 4)) / (1 + 2 * x);
}
/* exp(-(x.hi + x.lo)^2) as e * 2^*k. */
HEDDLE_MATH double heddle_gauss(heddle_double2 x, int *k)
{
    HEDDLE_EXACT
    const heddle_double2 square = heddle_two_product(x.hi, x.hi);
    return heddle_exp({-square.hi, -(square.lo + 2 * x.hi * x.lo)}, k).hi;
}
HEDDLE_MATH double heddle_erf_small(double x)
{
    const double z = x * x;
    return __builtin_fma(x, HEDDLE_2_SQRT_PI, x * z * heddle_poly_erf(z));
}
/* erfc(x.hi + x.lo) */
HEDDLE_MATH double heddle_erfc(heddle_double2 x)
{
    const double a = __builtin_fabs(x.hi);
    if (a < 0.5)
        return 1 - (heddle_erf_small(x.hi) + HEDDLE_2_SQRT_PI * x.lo);
    if (!(a < 28))
        return x.hi != x.hi ? x.hi + x.hi : x.hi > 0 ? 0 : 2;
    int k;
    const double e = heddle_gauss(x, &k);
    const double c = heddle_scale(e * heddle_erfcx(a), k);
    return x.hi > 0 ? c : 2 - c;
}
HEDDLE_MATH double __nv_erfc(double x)
{
    return heddle_erfc({x, 0});
}
HEDDLE_MATH double __nv_erf(double x)
{
    const double a = __builtin_fabs(x);
    if (x == 0) /* a sum would lose the sign of a zero */
        return x;
    if (a < 1)
        return heddle_erf_small(x);
    return x != x ? x + x : __builtin_copysign(a > 6 ? 1 : 1 - __nv_erfc(a), x);
}
HEDDLE_MATH double __nv_erfcx(double x)
{
    HEDDLE_EXACT
    if (x != x)
        return x + x;
    if (x >= 0.5)
        return heddle_erfcx(x);
    const heddle_double2 square = heddle_two_product(x, x);
    if (square.hi > 709.5)
        return HEDDLE_INF;
    int k;
    const heddle_double2 e = heddle_exp(square, &k);
    if (x > -0.5) {
        const heddle_double2 rest = heddle_fast_sum(1, -heddle_erf_small(x));
        return heddle_power_of_2(k) * (e.hi * rest.hi + (e.hi * rest.lo + e.lo));
    }
    return heddle_scale(2 * e.hi, k) - heddle_erfcx(-x);
}
HEDDLE_MATH double __nv_normcdf(double x)
{
    const heddle_double2 t = heddle_multiply({-x, 0}, {HEDDLE_SQRT_1_2_HI, HEDDLE_SQRT_1_2_LO});
    return 0.5 * (__builtin_fabs(x) < 60 ? heddle_erfc(t) : __nv_erfc(-x));
}

/* ---- its inverse: a guess from a polynomial, made right by two of Halley's steps on erfc ---- */

/* erfcinv(c) for 0 < c < 1/2. */
HEDDLE_MATH double heddle_erfcinv(double c)
{
    const double w = __builtin_sqrt(-__nv_log(c));
    double x = w * heddle_poly_erfcinv(1 / w);
    for (int i = 0; i < 2; i++) {
        /* (erfc(x) - c) / erfc'(x), both divided by exp(-x^2), which may be subnormal */
        int k;
        const double e = heddle_gauss({x, 0}, &k);
        const double scaled = c * heddle_power_of_2(-k / 2) * heddle_power_of_2(-k - -k / 2) / e;
        const double d = (heddle_erfcx(x) - scaled) * HEDDLE_SQRT_PI_2;
        x += d / (1 - x * d);
    }
    return x;
}
HEDDLE_MATH double __nv_erfinv(double x)
{
    const double a = __builtin_fabs(x);
    if (a < 0.7)
        return x * heddle_poly_erfinv(x * x);
    if (!(a < 1))
        return a == 1 ? x * HEDDLE_INF : HEDDLE_NAN;
    return __builtin_copysign(heddle_erfcinv(1 - a), x);
}
HEDDLE_MATH double __nv_erfcinv(double x)
{
    if (!(x >= 0 && x <= 2))
        return HEDDLE_NAN;
    if (x == 0 || x == 2)
        return x == 0 ? HEDDLE_INF : -HEDDLE_INF;
    if (x < 0.3)
        return heddle_erfcinv(x);
    return x > 1.7 ? -heddle_erfcinv(2 - x) : __nv_erfinv(1 - x);
}
HEDDLE_MATH double __nv_normcdfinv(double x)
{
    HEDDLE_EXACT
    if (x < 0x1p-1000 && x > 0) /* 2 x has no bits to lose, and erfcinv takes any */
        return -2 * HEDDLE_SQRT_1_2_HI * heddle_erfcinv(2 * x);
    return 0 - 2 * HEDDLE_SQRT_1_2_HI * __nv_erfcinv(2 * x); /* +0 for 0.5 */
}

/* ---- the gamma function ---- */

/* log of gamma(x) for x >= 8, by Stirling's series. */
HEDDLE_MATH heddle_double2 heddle_stirling(double x)
{
    HEDDLE_EXACT
    const heddle_double2 t = heddle_multiply(heddle_log({x, 0}), heddle_two_sum(x, -0.5));
    const heddle_double2 s = heddle_add(heddle_add(t, {-x, 0}), {HEDDLE_LOG_2PI_2_HI, HEDDLE_LOG_2PI_2_LO});
    return heddle_add(s, {heddle_poly_stirling(1 / (x * x)) / x, 0});
}
/* gamma(x) for 0 < x < 172. */
HEDDLE_MATH double heddle_gamma(double x)
{
    if (x >= 8) {
        int k;
        const heddle_double2 e = heddle_exp(heddle_stirling(x), &k);
        return heddle_scale(e.hi, k);
    }
    if (x < 1)
        return heddle_poly_gamma(x) / x;
    double product = 1;
    for (; x >= 2; x -= 1)
        product *= x - 1;
    return product * heddle_poly_gamma(x - 1);
}
HEDDLE_MATH double __nv_tgamma(double x)
{
    if (x >= 0 || x != x)
        return x == 0 ? 1 / x : x < 172 ? heddle_gamma(x) : x + HEDDLE_INF;
    if (__builtin_trunc(x) == x)
        return HEDDLE_NAN; /* a pole, and -infinity */
    if (x > -1)
        return heddle_poly_gamma(x + 1 < 1 ? x + 1 : 1) / (x * (x + 1));
    /* gamma(x) = -pi / (x sin(pi x) gamma(-x)), where gamma(-x) may be greater than any double */
    const double s = x * __nv_sinpi(x);
    if (x > -8)
        return -HEDDLE_PI_HI / (s * heddle_gamma(-x));
    if (x < -186)
        return s > 0 ? -0.0 : 0.0;
    int k;
    const heddle_double2 e = heddle_exp(heddle_stirling(-x), &k);
    return heddle_scale(-HEDDLE_PI_HI / (s * e.hi), -k);
}

/* log of gamma(x) for x > 0. */
HEDDLE_MATH double heddle_lgamma(double x)
{
    HEDDLE_EXACT
    if (x >= 8)
        return x > 0x1.74c20ac27a4c4p+1014 ? HEDDLE_INF : heddle_stirling(x).hi;
    if (x < 0.5) { /* gamma(x) = gamma(2 + x) / (x (1 + x)) */
        if (x < 0x1p-60)
            return -__nv_log(x);
        const heddle_double2 p = heddle_multiply({x, 0}, heddle_two_sum(1, x)), l = heddle_log(p);
        return heddle_add({-l.hi, -l.lo}, {x * heddle_poly_lgamma(x), 0}).hi;
    }
    if (x < 1.25) {
        const double t = x - 1;
        const heddle_double2 l = heddle_log({x, 0});
        return heddle_add({-l.hi, -l.lo}, heddle_two_product(t, heddle_poly_lgamma(t))).hi;
    }
    double product = 1;
    for (; x >= 3; x -= 1)
        product *= x - 1;
    const double t = x - 2, l = t * heddle_poly_lgamma(t);
    return product == 1 ? l : __nv_log(product) + l;
}
HEDDLE_MATH double __nv_lgamma(double x)
{
    if (!(__builtin_fabs(x) < HEDDLE_INF))
        return x * x;
    if (x > 0)
        return heddle_lgamma(x);
    if (__builtin_trunc(x) == x)
        return HEDDLE_INF;
    if (x > -0x1p-60)
        return -__nv_log(-x);
    const double s = __builtin_fabs(x * __nv_sinpi(x));
    const heddle_double2 l = heddle_log(heddle_divide({HEDDLE_PI_HI, HEDDLE_PI_LO}, {s, 0}));
    return heddle_add(l, {-heddle_lgamma(-x), 0}).hi;
}

/* ---- Bessel functions of the first and second kind ---- */

#define HEDDLE_ROUND_ZERO(zero, ZERO)                                                                                  \
    (((x - HEDDLE_##ZERO##_HI) - HEDDLE_##ZERO##_LO) * heddle_poly_##zero(x - HEDDLE_##ZERO##_HI))

/* x >= 8: sqrt(2 / (pi x)) (P cos c - Q sin c), or with the second kind's signs; c = x - (2 n + 1)
 * pi / 4. */
HEDDLE_MATH double heddle_hankel(int n, bool second, double x)
{
    if (x == HEDDLE_INF)
        return 0;
    double s, c;
    __nv_sincos(x, &s, &c);
    /* Times sqrt(2). */
    const double cosine = (n == 0 ? c + s : s - c), sine = n == 0 ? s - c : -s - c;
    const double z = 1 / (x * x);
    const double p = n == 0 ? heddle_poly_j0_p(z) : heddle_poly_j1_p(z);
    const double q = (n == 0 ? heddle_poly_j0_q(z) : heddle_poly_j1_q(z)) / x;
    const double sum = second ? p * sine + q * cosine : p * cosine - q * sine;
    return sum / (2 * HEDDLE_SQRT_PI_2 * __builtin_sqrt(x));
}
HEDDLE_MATH double __nv_j0(double x)
{
    x = __builtin_fabs(x);
    if (x != x)
        return x;
    if (x < 2)
        return heddle_poly_j0_small(x * x);
    if (x < 4)
        return HEDDLE_ROUND_ZERO(j0_zero1, J0_ZERO1);
    if (x < 7.125)
        return HEDDLE_ROUND_ZERO(j0_zero2, J0_ZERO2);
    return x < 8 ? HEDDLE_ROUND_ZERO(j0_zero3, J0_ZERO3) : heddle_hankel(0, false, x);
}
HEDDLE_MATH double __nv_j1(double signed_x)
{
    const double x = __builtin_fabs(signed_x);
    if (x != x)
        return x;
    double y;
    if (x < 3)
        y = x * heddle_poly_j1_small(x * x);
    else if (x < 5.5)
        y = HEDDLE_ROUND_ZERO(j1_zero1, J1_ZERO1);
    else
        y = x < 8 ? HEDDLE_ROUND_ZERO(j1_zero2, J1_ZERO2) : heddle_hankel(1, false, x);
    return __builtin_signbit(signed_x) ? -y : y;
}
HEDDLE_MATH double __nv_y0(double x)
{
    if (!(x > 0))
        return x == 0 ? -HEDDLE_INF : HEDDLE_NAN;
    if (x < 0.6)
        return __builtin_fma(HEDDLE_2_PI * (__nv_log(x) - HEDDLE_LN2_HI), heddle_poly_j0_small(x * x),
                             heddle_poly_y0_small(x * x));
    if (x < 1.5)
        return HEDDLE_ROUND_ZERO(y0_zero1, Y0_ZERO1);
    if (x < 2.5)
        return heddle_poly_y0_middle(x - 2);
    if (x < 5.5)
        return HEDDLE_ROUND_ZERO(y0_zero2, Y0_ZERO2);
    return x < 8 ? HEDDLE_ROUND_ZERO(y0_zero3, Y0_ZERO3) : heddle_hankel(0, true, x);
}
HEDDLE_MATH double __nv_y1(double x)
{
    if (!(x > 0))
        return x == 0 ? -HEDDLE_INF : HEDDLE_NAN;
    if (x < 1.5) {
        const double z = x * x, j = x * heddle_poly_j1_small(z);
        return HEDDLE_2_PI * ((__nv_log(x) - HEDDLE_LN2_HI) * j - 1 / x) + x * heddle_poly_y1_small(z);
    }
    if (x < 4)
        return HEDDLE_ROUND_ZERO(y1_zero1, Y1_ZERO1);
    if (x < 7)
        return HEDDLE_ROUND_ZERO(y1_zero2, Y1_ZERO2);
    return x < 8 ? HEDDLE_ROUND_ZERO(y1_zero3, Y1_ZERO3) : heddle_hankel(1, true, x);
}
#undef HEDDLE_ROUND_ZERO

/* J_n(x), 0 < x <= n: the recurrence downwards from far above, in proportion to J_0 + 2 J_2 + 2 J_4
 * + ... = 1. */
HEDDLE_MATH double heddle_miller(int n, double x)
{
    const int start = 2 * ((n + (int)__builtin_sqrt(160.0 * n) + 16) / 2);
    double above = 0, here = 1, sum = 0, result = 0;
    for (int j = start; j > 0; j--) {
        const double below = 2 * j / x * here - above;
        above = here;
        here = below;
        if (__builtin_fabs(here) > 0x1p500) {
            here *= 0x1p-500;
            above *= 0x1p-500;
            sum *= 0x1p-500;
            result *= 0x1p-500;
        }
        if (j == n)
            result = above;
        if ((j & 1) && j > 1)
            sum += here;
    }
    return result / (2 * sum + here);
}
HEDDLE_MATH double __nv_jn(int n, double x)
{
    if (n < 0)
        return HEDDLE_NAN;
    const double a = __builtin_fabs(x);
    if (n < 2)
        return n == 0 ? __nv_j0(x) : __nv_j1(x);
    if (x == 0 || a == HEDDLE_INF)
        return 0;
    double y;
    if (a > n) {
        double before = __nv_j0(a);
        y = __nv_j1(a);
        for (int j = 1; j < n; j++) {
            const double next = 2 * j / a * y - before;
            before = y;
            y = next;
        }
    } else {
        y = heddle_miller(n, a);
    }
    return x < 0 && (n & 1) ? -y : y;
}
HEDDLE_MATH double __nv_yn(int n, double x)
{
    if (n < 0)
        return HEDDLE_NAN;
    double before = __nv_y0(x), y = __nv_y1(x);
    if (n == 0 || !(x > 0))
        return before;
    for (int j = 1; j < n && y > -HEDDLE_INF; j++) {
        const double next = 2 * j / x * y - before;
        before = y;
        y = next;
    }
    return y;
}

/* ---- modified Bessel functions of the first kind ---- */

/* exp(x) / sqrt(x) * p for x >= 8, where exp(x) may overflow. */
HEDDLE_MATH double heddle_growth(double x, double p)
{
    if (!(x < 720))
        return x + HEDDLE_INF;
    int k;
    const heddle_double2 e = heddle_exp({x, 0}, &k);
    return heddle_scale(e.hi * p / __builtin_sqrt(x), k);
}
HEDDLE_MATH double __nv_cyl_bessel_i0(double x)
{
    x = __builtin_fabs(x);
    return x < 8 ? heddle_poly_i0_small(x * x) : heddle_growth(x, heddle_poly_i0_large(1 / x));
}
HEDDLE_MATH double __nv_cyl_bessel_i1(double x)
{
    const double a = __builtin_fabs(x);
    return __builtin_copysign(a < 8 ? a * heddle_poly_i1_small(a * a) : heddle_growth(a, heddle_poly_i1_large(1 / a)),
                              x);
}

#endif
