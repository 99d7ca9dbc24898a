/* What the double math functions share: numbers of two doubles, exp and log with more than double
 * precision, and the reduction of angles. The error-free sums and products are Dekker's and
 * Knuth's; the reduction of large angles is Payne and Hanek's ("Radian reduction for trigonometric
 * functions", 1983). Polynomials: scripts/fit-math.
 */
#ifndef HEDDLE_MATH_CORE_H
#define HEDDLE_MATH_CORE_H

#include "math_polynomials.h"

/* At the start of a function: its sums and products keep their own roundings. */
#define HEDDLE_EXACT _Pragma("clang fp contract(off)")

#define HEDDLE_INF __builtin_inf()
#define HEDDLE_NAN __builtin_nan("")

/* The bits of a number, and the number of bits. */
HEDDLE_MATH long long heddle_bits(double x)
{
    return __builtin_bit_cast(long long, x);
}
HEDDLE_MATH int heddle_bits(float x)
{
    return __builtin_bit_cast(int, x);
}
HEDDLE_MATH double heddle_number(long long bits)
{
    return __builtin_bit_cast(double, bits);
}
HEDDLE_MATH float heddle_number(int bits)
{
    return __builtin_bit_cast(float, bits);
}

/* A number of two parts: hi is the nearest double of the whole. */
struct heddle_double2 {
    double hi, lo;
};

HEDDLE_MATH heddle_double2 heddle_two_sum(double a, double b)
{
    HEDDLE_EXACT
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

/* The same where |a| >= |b|. */
HEDDLE_MATH heddle_double2 heddle_fast_sum(double a, double b)
{
    HEDDLE_EXACT
    const double s = a + b;
    return {s, b - (s - a)};
}

HEDDLE_MATH heddle_double2 heddle_two_product(double a, double b)
{
    HEDDLE_EXACT
    const double p = a * b;
    return {p, __builtin_fma(a, b, -p)};
}

HEDDLE_MATH heddle_double2 heddle_add(heddle_double2 a, heddle_double2 b)
{
    HEDDLE_EXACT
    const heddle_double2 s = heddle_two_sum(a.hi, b.hi);
    return heddle_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

HEDDLE_MATH heddle_double2 heddle_multiply(heddle_double2 a, heddle_double2 b)
{
    HEDDLE_EXACT
    const heddle_double2 p = heddle_two_product(a.hi, b.hi);
    return heddle_fast_sum(p.hi, p.lo + __builtin_fma(a.hi, b.lo, a.lo * b.hi));
}

HEDDLE_MATH heddle_double2 heddle_divide(heddle_double2 a, heddle_double2 b)
{
    HEDDLE_EXACT
    const double q = a.hi / b.hi;
    const double rest = __builtin_fma(-q, b.hi, a.hi) + (a.lo - q * b.lo);
    return heddle_fast_sum(q, rest / b.hi);
}

HEDDLE_MATH heddle_double2 heddle_square_root(heddle_double2 a)
{
    HEDDLE_EXACT
    const double s = __builtin_sqrt(a.hi);
    return s == 0 ? heddle_double2{s, 0} : heddle_fast_sum(s, (__builtin_fma(-s, s, a.hi) + a.lo) / (2 * s));
}

/* 2^k of a normal result. */
HEDDLE_MATH double heddle_power_of_2(int k)
{
    return heddle_number((long long)(k + 1023) << 52);
}

/* x * 2^k with one rounding, for any k, where x is within [1/4, 4]. */
HEDDLE_MATH double heddle_scale(double x, int k)
{
    if (k > 1020)
        return k > 1030 ? x * HEDDLE_INF : x * 0x1p+1020 * heddle_power_of_2(k - 1020);
    if (k < -1000)
        return k < -1100 ? x * 0x1p-1022 * 0x1p-1022 : x * heddle_power_of_2(k + 1000) * 0x1p-1000;
    return x * heddle_power_of_2(k);
}

/* |x| = 2^*k * m, m in [sqrt(1/2), sqrt(2)), for finite x that are not 0. */
HEDDLE_MATH double heddle_mantissa(double x, int *k)
{
    long long bits = heddle_bits(x) & 0x7fffffffffffffff;
    int e = 0;
    if (bits < 1ll << 52) {
        bits = heddle_bits(heddle_number(bits) * 0x1p54);
        e = -54;
    }
    /* 2^52 * (1 - (sqrt(2) - 1)) rounds up from sqrt(2). */
    const long long up = (bits + 0x00095f619980c433) >> 52;
    *k = e + (int)up - 1023;
    return heddle_number(bits - ((up - 1023) << 52));
}

/* exp(x.hi + x.lo) = 2^*k * the result, which is within [0.7, 1.42]; relative error 2^-57. */
HEDDLE_MATH heddle_double2 heddle_exp(heddle_double2 x, int *k)
{
    HEDDLE_EXACT
    const double n = __builtin_rint(x.hi * HEDDLE_LOG2_E_HI);
    *k = (int)n;
    const heddle_double2 r =
        heddle_two_sum(__builtin_fma(-n, HEDDLE_LN2_SHORT_HI, x.hi), __builtin_fma(-n, HEDDLE_LN2_SHORT_LO, x.lo));
    /* exp(r) = 1 + r + r^2 / 2 + ...: the first terms in full */
    const heddle_double2 square = heddle_two_product(r.hi, r.hi);
    const double rest = heddle_poly_exp(r.hi);
    const heddle_double2 s = heddle_fast_sum(1, r.hi);
    const double lo = s.lo + __builtin_fma(square.hi, rest, __builtin_fma(r.lo, r.hi + 1, square.lo * 0.5));
    return heddle_fast_sum(s.hi, lo);
}

/* log(x.hi + x.lo) for normal positive x, |x.lo| <= 2^-50 x.hi; relative error 2^-63. */
HEDDLE_MATH heddle_double2 heddle_log(heddle_double2 x)
{
    HEDDLE_EXACT
    int k;
    const double m = heddle_mantissa(x.hi, &k);
    const double lo = x.lo == 0 ? 0 : x.lo * heddle_scale(1, -k);
    /* s = (m - 1) / (m + 1); log m = 2 s + 2/3 s^3 + s^5 P(s^2) */
    const double f = m - 1;
    const heddle_double2 d = heddle_fast_sum(m < 1 ? 1 : m, m < 1 ? m : 1);
    const heddle_double2 s = heddle_divide(heddle_two_sum(f, lo), {d.hi, d.lo + lo});
    const heddle_double2 z = heddle_multiply(s, s);
    const heddle_double2 c =
        heddle_add({HEDDLE_2_3_HI, HEDDLE_2_3_LO}, heddle_two_product(z.hi, heddle_poly_log(z.hi)));
    const heddle_double2 cubic = heddle_multiply(heddle_multiply(z, s), c);
    const heddle_double2 log_m = heddle_add({2 * s.hi, 2 * s.lo}, cubic);
    if (k == 0)
        return log_m;
    const heddle_double2 high = heddle_two_sum(k * HEDDLE_LN2_SHORT_HI, k * HEDDLE_LN2_SHORT_LO);
    const double third = __builtin_fma((double)k, HEDDLE_LN2_SHORT_LO, -(k * HEDDLE_LN2_SHORT_LO));
    return heddle_add({high.hi, high.lo + third}, log_m);
}

/* ---- angles ---- */

/* What a reduction leaves: x = r + quadrant * pi / 2, |r| <= pi / 4 and a little. */
struct heddle_angle {
    heddle_double2 r;
    int quadrant; /* its last two bits count */
};

/* |x| >= 2^20: multiplies the mantissa by those 192 bits of 2 / pi that matter: bits before
 * them make multiples of 4. */
HEDDLE_MATH heddle_angle heddle_reduce_large(double x)
{
    HEDDLE_EXACT
#ifdef __CUDA_ARCH__
    __constant__
#endif
        static const unsigned long long two_over_pi[] = {0, HEDDLE_2_PI_BITS};
    const long long bits = heddle_bits(x);
    const unsigned long long m = (bits & 0xfffffffffffff) | 1ull << 52;
    const int first = (int)(bits >> 52 & 2047) - 1075 - 2 + 64, word = first >> 6, shift = first & 63;
    unsigned long long w[3];
    for (int i = 0; i < 3; i++) /* shifted twice: a shift by 64 is none in C */
        w[i] = two_over_pi[word + i] << shift | two_over_pi[word + i + 1] >> 1 >> (63 - shift);
    /* the product's upper 192 bits: two of quadrant, then the fraction */
    const unsigned __int128 high = (unsigned __int128)(m * w[0]) << 64;
    const unsigned __int128 product =
        high + (unsigned __int128)m * w[1] + (unsigned long long)((unsigned __int128)m * w[2] >> 64);
    int quadrant = (int)(product >> 126);
    unsigned __int128 fraction = product << 2;
    /* A half or more: the next quadrant, less the rest of it. */
    const bool above = (long long)(product >> 64) << 2 < 0;
    if (above) {
        quadrant++;
        fraction = -fraction;
    }
    const unsigned long long a = (unsigned long long)(fraction >> 64), b = (unsigned long long)fraction;
    /* 53 bits of a are exact as a double, its last 11 go with b */
    const heddle_double2 f =
        heddle_fast_sum((double)(a >> 11) * 0x1p-53, (double)((a & 2047) << 42 | b >> 22) * 0x1p-106);
    const heddle_double2 r = heddle_multiply(f, {HEDDLE_PI_2_HI, HEDDLE_PI_2_LO});
    return {{above ? -r.hi : r.hi, above ? -r.lo : r.lo}, quadrant};
}

/* x = r + quadrant * pi / 2 for a finite x. */
HEDDLE_MATH heddle_angle heddle_reduce(double x)
{
    HEDDLE_EXACT
    const double magnitude = __builtin_fabs(x);
    heddle_angle angle;
    if (magnitude < 0x1p20) {
        /* Cody and Waite: pi / 2 in three parts, each product exact within an fma */
        const double n = __builtin_rint(x * HEDDLE_2_PI);
        const double a = __builtin_fma(-n, HEDDLE_PI_2_HI, x);
        const heddle_double2 p = heddle_two_product(n, HEDDLE_PI_2_LO);
        const heddle_double2 r = heddle_two_sum(a, -p.hi);
        angle.r = heddle_fast_sum(r.hi, r.lo - p.lo - n * HEDDLE_PI_2_THIRD);
        angle.quadrant = (int)n;
        return angle;
    }
    angle = heddle_reduce_large(magnitude);
    if (x < 0)
        angle = {{-angle.r.hi, -angle.r.lo}, -angle.quadrant};
    return angle;
}

/* Sine and cosine of |r| <= pi / 4, about 0.52 ulp. */
HEDDLE_MATH double heddle_sine(heddle_double2 r)
{
    HEDDLE_EXACT
    const double z = r.hi * r.hi;
    return r.hi + __builtin_fma(r.hi * z, heddle_poly_sin(z), __builtin_fma(r.lo, -0.5 * z, r.lo));
}
HEDDLE_MATH double heddle_cosine(heddle_double2 r)
{
    HEDDLE_EXACT
    const heddle_double2 z = heddle_two_product(r.hi, r.hi);
    const heddle_double2 s = heddle_fast_sum(1, -0.5 * z.hi);
    return s.hi + (s.lo + __builtin_fma(z.hi * z.hi, heddle_poly_cos(z.hi), __builtin_fma(-r.hi, r.lo, -0.5 * z.lo)));
}

#endif
