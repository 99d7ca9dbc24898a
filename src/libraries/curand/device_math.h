/* Functions of device code, to the bit as nvcc compiles them: what random numbers of a GPU are made by. Its polynomials stand in the PTX of every
 * program that calls them; the approximate instructions between are those of the machine (isa/sem_mufu.h). Of arguments that draws give
 * alone: none is a NaN, a negative number of which there is no root, or infinite. Private to this folder.
 */
#ifndef HEDDLE_LIBRARIES_CURAND_DEVICE_MATH_H
#define HEDDLE_LIBRARIES_CURAND_DEVICE_MATH_H

#include "isa/sem.h"

#include <math.h>

/* Horner's rule: c[0] is the highest coefficient. */
static inline float device_horner_f32(float x, const float *c, int n)
{
    float y = c[0];
    for (int i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

static inline double device_horner(double x, const double *c, int n)
{
    double y = c[0];
    for (int i = 1; i < n; i++)
        y = fma(y, x, c[i]);
    return y;
}

#define DEVICE_HORNER_F32(x, ...)                                                                                      \
    device_horner_f32(x, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))
#define DEVICE_HORNER(x, ...)                                                                                          \
    device_horner(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* logf(x) of a positive number. */
static inline float device_logf(float x)
{
    bool small = x < 0x1p-126f;
    float scaled = small ? x * 0x1p23f : x;
    int bits = (int)f32_bits(scaled), exponent = (int)(((unsigned)bits - 0x3f2aaaabu) & 0xff800000u);
    float m = f32_of((unsigned)(bits - exponent)) - 1, e = fmaf((float)exponent, 0x1p-23f, small ? -23 : 0);
    float p = DEVICE_HORNER_F32(m, -0x1.0aa04ep-3f, 0x1.2073ecp-3f, -0x1.f19b98p-4f, 0x1.1e52aap-3f, -0x1.55b172p-3f,
                                0x1.99da16p-3f, -0x1.fffe44p-3f, 0x1.5554fp-2f, -0.5f);
    return fmaf(e, 0x1.62e43p-1f, fmaf(m * p, m, m));
}

static inline float device_expf(float x)
{
    float t = fmaf(x, 0x1.77313ap-8f, 0.5f);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double whole = fma((double)t, 252, 0x1.800002p23); /* .rm: to the integer below */
    float shifted = (float)floor(whole), scale = f32_of(f32_bits(shifted) << 23), n = shifted - 0x1.8000fep23f;
    float rest = fmaf(x, 0x1.4ae0cp-26f, fmaf(x, 0x1.715476p0f, -n));
    return mufu_ex2(rest) * scale;
}

/* 1 / x by the approximate one and an iteration. */
static inline double device_reciprocal(double x)
{
    double r = sem_rcp_approx_f64(x), e = fma(-x, r, 1);
    return fma(fma(e, e, e), r, r);
}

/* log(x) of a positive number. */
static inline double device_log(double x)
{
    int exponent = -1023;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponent = -1077;
    }
    uint64_t bits = f64_bits(x);
    exponent += (int)(bits >> 52);
    double m = f64_of((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    if ((int32_t)(f64_bits(m) >> 32) >= 1073127583) {
        m = f64_of(f64_bits(m) - (1ull << 52));
        exponent++;
    }
    double r = device_reciprocal(m + 1), d = m - 1, p = d * r, q = fma(d, r, p), s = q * q;
    double c =
        DEVICE_HORNER(s, 0x1.1380b3ae80f1ep-20, 0x1.0ee258b7a8b04p-18, 0x1.3b2669f02676fp-16, 0x1.745cba9ab0956p-14,
                      0x1.c71c72d1b5154p-12, 0x1.24924923be72dp-9, 0x1.999999999a3c4p-7, 0x1.5555555555554p-4);
    double low = fma(s * c, q, r * fma(-q, d, 2 * (d - q))), e = exponent;
    double high = fma(e, 0x1.62e42fefa39efp-1, q), lost = fma(-e, 0x1.62e42fefa39efp-1, high) - q;
    return high + fma(e, 0x1.abc9e3b39803fp-56, low - lost);
}

static inline double device_exp(double x)
{
    double shifted = fma(x, 0x1.71547652b82fep0, 0x1.8p52), n = shifted - 0x1.8p52;
    int e = (int)(uint32_t)f64_bits(shifted);
    double r = fma(n, -0x1.abc9e3b39803fp-56, fma(n, -0x1.62e42fefa39efp-1, x));
    double p = DEVICE_HORNER(r, 0x1.ade1569ce2bdfp-26, 0x1.28af3fca213eap-22, 0x1.71dee62401315p-19,
                             0x1.a01997c89eb71p-16, 0x1.a01a014761f65p-13, 0x1.6c16c1852b7afp-10, 0x1.1111111122322p-7,
                             0x1.55555555502a1p-5, 0x1.5555555555511p-3, 0x1.000000000000bp-1, 1, 1);
    float above = f32_of((uint32_t)(f64_bits(x) >> 32) & 0x7fffffffu);
    if (above < f32_of(0x4086232bu))
        return f64_of(f64_bits(p) + ((uint64_t)(uint32_t)e << 52));
    if (above >= f32_of(0x40874800u))
        return x < 0 ? 0 : x + INFINITY;
    int half = e / 2;
    return f64_of(f64_bits(p) + ((uint64_t)(uint32_t)half << 52)) * f64_of((uint64_t)(uint32_t)(e - half + 1023) << 52);
}

/* sin and cos of pi times x, for 0 < x <= 2. */
static inline void device_sincospi(double x, double *sine, double *cosine)
{
    double n = nearbyint(2 * x), r = fma(-n, 0.5, x), y = fma(r, 0x1.921fb54442d18p1, r * 0x1.1a62633145c07p-53),
           s = y * y;
    double c = DEVICE_HORNER(s, -0x1.8ff8320fd8164p-37, 0x1.1eea7c1ef8528p-29, -0x1.27e4f8e06e6d9p-22,
                             0x1.a01a019ddbce9p-16, -0x1.6c16c16c15d47p-10, 0x1.5555555555551p-5, -0.5, 1);
    double t = DEVICE_HORNER(s, 0x1.5db65f9785ebap-33, -0x1.ae5f12cb0d246p-26, 0x1.71de369ace392p-19,
                             -0x1.a01a019db62a1p-13, 0x1.1111111110818p-7, -0x1.5555555555554p-3, 0);
    double v = fma(t, y, y);
    int quadrant = (int)n;
    if (quadrant & 1) {
        double swap = -v;
        v = c;
        c = swap;
    }
    if (quadrant & 2) {
        v = -v;
        c = -c;
    }
    *sine = x == trunc(x) ? x * 0.0 : v;
    *cosine = c + 0.0;
}

static inline float device_erfcinvf(float x)
{
    float rest = 2 - x;
    if (x >= f32_of(0x3b5ed289u) && x <= f32_of(0x3fff9097u)) {
        float t = -mufu_lg2(rest * x);
        float p =
            DEVICE_HORNER_F32(t, -0x1.14c6ep-32f, 0x1.43ec8ap-27f, -0x1.02dfb4p-23f, 0x1.d1f08cp-23f, 0x1.0e8554p-17f,
                              -0x1.09b69ap-15f, -0x1.95fd42p-11f, 0x1.6b804ep-8f, 0x1.495c1ep-3f, 0x1.c5bf88p-1f);
        return fmaf(p, -x, p);
    }
    bool upper = x > 1;
    float t = -sem_lg2_approx_f32(upper ? rest : x), r = mufu_rsqrt(t);
    float p = DEVICE_HORNER_F32(r, -0x1.f8e7e2p5f, 0x1.fdf052p6f, -0x1.c86c38p6f, 0x1.e29b36p5f, -0x1.5ca366p4f,
                                0x1.9dea08p2f, -0x1.d53c0ap0f, -0x1.f0e3e8p-6f, 0x1.aa6eeap-1f);
    float root = r * t;
    return p * (upper ? -root : root);
}

/* log(x), as erfcinv has it: of m below 1. */
static inline double device_log_of_half(double x)
{
    uint64_t bits = f64_bits(x);
    uint32_t high = (uint32_t)(bits >> 32);
    double e = (double)(int32_t)(((high >> 20) & 2046) - 1022);
    double m = f64_of((uint64_t)((high & 0x801fffffu) | 0x3fe00000u) << 32 | (uint32_t)bits);
    double d = m - 1, r = device_reciprocal(m + 1), p = d * r;
    double q = fma(fma(-p, d, fma(-2, p, d)), r, p), s = q * q;
    double c = DEVICE_HORNER(s, 0x1.5c5c218c775c9p-4, 0x1.55cf59cdc5d89p-5, 0x1.efd18cf6ebb9cp-5, 0x1.10682edcb8d1bp-4,
                             0x1.3b1dd3ac7fc96p-4, 0x1.745cb459b54a6p-4, 0x1.c71c741a0669fp-4, 0x1.249249209112ep-3,
                             0x1.99999999a06c1p-3, 0x1.5555555555535p-2);
    double sum = fma(s * c, q, q);
    return fma(e, 0x1.62e42fefa39efp-1, sum + sum);
}

static inline double device_erfcinv_of_tail(double x)
{
    if (f32_of((uint32_t)(f64_bits(x) >> 32)) >= f32_of(0x2b2bff2fu)) {
        double t = -device_log_of_half(x), a = sem_rsqrt_approx_ftz_f64(t), e = fma(t, -(a * a), 1);
        double r = fma(fma(0.375, e, 0.5), e * a, a);
        double up =
            DEVICE_HORNER(r, 0x1.be9222591afabp-1, 0x1.0a0e7333839aap1, 0x1.8768cf7e57d5cp1, 0x1.b77e7e28da583p1,
                          0x1.34f26a4f99cf9p0, 0x1.1f674adb019edp-3, 0x1.5ddae9506431dp-8, 0x1.ada49aa32489cp-15);
        double down =
            DEVICE_HORNER(r, 1, 0x1.1e90ff51c2197p1, 0x1.11ea3a7cf382p2, 0x1.1a0e4a4749594p2, 0x1.d4e977d38c14dp1,
                          0x1.37fd567ec0d5fp0, 0x1.1fb9d7f676033p-3, 0x1.5ddcdf98946e4p-8, 0x1.ada42d79d8dbbp-15);
        return up / (r * down);
    }
    double r = sem_rsqrt_approx_f64(-device_log(x));
    double up = DEVICE_HORNER(r, 0x1.8e2101c71b0bfp-1, 0x1.a2013964e259cp0, 0x1.abfe90921be68p-2, 0x1.7e41314de00d4p-6,
                              0x1.11bd487102e94p-12);
    double down = DEVICE_HORNER(r, 1, 0x1.59895c30baa54p0, 0x1.ae8e5956a143fp0, 0x1.acce85ff7383dp-2,
                                0x1.7e43b6cac34fep-6, 0x1.11bd08289eb12p-12);
    return up / (r * down);
}

static inline double device_erfcinv(double x)
{
    double rest = 2 - x;
    if (x >= f64_of(0x3f4fa4d2ad8f904dull) && x <= f64_of(0x3ffffc0b65aa4e0eull)) {
        double t = -0x1.9p1 - device_log_of_half(rest * x);
        double p =
            DEVICE_HORNER(t, f64_of(0xbbb135d2e746e627ull), f64_of(0xbc08ddf93324d327ull),
                          f64_of(0x3c37b83eef0b7c9full), f64_of(0x3c69ba72cd589b91ull), f64_of(0xbca33689090a6b96ull),
                          f64_of(0x3c782e11898132e0ull), f64_of(0x3cfde4acfd9e26baull), f64_of(0xbd26d33eed66c487ull),
                          f64_of(0xbd36f2167040d8e2ull), f64_of(0x3d872a22c2d77e20ull), f64_of(0xbdac8859c4e5c0afull),
                          f64_of(0xbdcdc583d118a561ull), f64_of(0x3e120f47ccf46b3cull), f64_of(0xbe31a9e38dc84d60ull),
                          f64_of(0xbe5f36cd6d3d46a9ull), f64_of(0x3e9c6b4f5d03b787ull), f64_of(0xbeb6e8a5434ae8a2ull),
                          f64_of(0xbeed1d1f7b8736f6ull), f64_of(0x3f2879c2a212f024ull), f64_of(0xbf4845769484fca8ull),
                          f64_of(0xbf78b6c33114f909ull), f64_of(0x3fcebd80d9b13e28ull), f64_of(0x3ffa755e7c99ae86ull));
        return fma(p, -x, p);
    }
    bool upper = x >= 1;
    double y = device_erfcinv_of_tail(upper ? rest : x);
    return upper ? -y : y;
}

#endif
