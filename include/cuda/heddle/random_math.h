/* Functions of device code, to the bit as nvcc compiles them: what random numbers of a GPU are made
 * by. Its polynomials stand in the PTX of every program that calls them; the approximate
 * instructions between are the machine's. Of arguments that draws give alone: none is a NaN, a
 * negative number of which there is no root, or infinite. For the host's C and for device code:
 * whoever includes this has defined RANDOM_MATH, which stands before each function, and the
 * operations that it uses, RANDOM_FMA() and others.
 */
#ifndef HEDDLE_RANDOM_MATH_H
#define HEDDLE_RANDOM_MATH_H

/* logf(x) of a positive number. */
RANDOM_MATH float heddle_random_logf(float x)
{
    bool small = x < 0x1p-126f;
    float scaled = small ? x * 0x1p23f : x;
    int bits = (int)RANDOM_BITS_F32(scaled), exponent = (int)(((unsigned)bits - 0x3f2aaaabu) & 0xff800000u);
    float m = RANDOM_F32_OF((unsigned)(bits - exponent)) - 1,
          e = RANDOM_FMA_F32((float)exponent, 0x1p-23f, small ? -23 : 0);
    float p = RANDOM_HORNER_F32(m, -0x1.0aa04ep-3f, 0x1.2073ecp-3f, -0x1.f19b98p-4f, 0x1.1e52aap-3f, -0x1.55b172p-3f,
                                0x1.99da16p-3f, -0x1.fffe44p-3f, 0x1.5554fp-2f, -0.5f);
    return RANDOM_FMA_F32(e, 0x1.62e43p-1f, RANDOM_FMA_F32(m * p, m, m));
}

RANDOM_MATH float heddle_random_expf(float x)
{
    float t = RANDOM_FMA_F32(x, 0x1.77313ap-8f, 0.5f);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double whole = RANDOM_FMA((double)t, 252, 0x1.800002p23); /* .rm: to the integer below */
    float shifted = (float)floor(whole), scale = RANDOM_F32_OF(RANDOM_BITS_F32(shifted) << 23),
          n = shifted - 0x1.8000fep23f;
    float rest = RANDOM_FMA_F32(x, 0x1.4ae0cp-26f, RANDOM_FMA_F32(x, 0x1.715476p0f, -n));
    return RANDOM_EX2(rest) * scale;
}

/* 1 / x by the approximate one and an iteration. */
RANDOM_MATH double heddle_random_reciprocal(double x)
{
    double r = RANDOM_RCP_F64(x), e = RANDOM_FMA(-x, r, 1);
    return RANDOM_FMA(RANDOM_FMA(e, e, e), r, r);
}

/* log(x) of a positive number. */
RANDOM_MATH double heddle_random_log(double x)
{
    int exponent = -1023;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponent = -1077;
    }
    unsigned long long bits = RANDOM_BITS_F64(x);
    exponent += (int)(bits >> 52);
    double m = RANDOM_F64_OF((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    if ((int)(RANDOM_BITS_F64(m) >> 32) >= 1073127583) {
        m = RANDOM_F64_OF(RANDOM_BITS_F64(m) - (1ull << 52));
        exponent++;
    }
    double r = heddle_random_reciprocal(m + 1), d = m - 1, p = d * r, q = RANDOM_FMA(d, r, p), s = q * q;
    double c =
        RANDOM_HORNER(s, 0x1.1380b3ae80f1ep-20, 0x1.0ee258b7a8b04p-18, 0x1.3b2669f02676fp-16, 0x1.745cba9ab0956p-14,
                      0x1.c71c72d1b5154p-12, 0x1.24924923be72dp-9, 0x1.999999999a3c4p-7, 0x1.5555555555554p-4);
    double low = RANDOM_FMA(s * c, q, r * RANDOM_FMA(-q, d, 2 * (d - q))), e = exponent;
    double high = RANDOM_FMA(e, 0x1.62e42fefa39efp-1, q), lost = RANDOM_FMA(-e, 0x1.62e42fefa39efp-1, high) - q;
    return high + RANDOM_FMA(e, 0x1.abc9e3b39803fp-56, low - lost);
}

RANDOM_MATH double heddle_random_exp(double x)
{
    double shifted = RANDOM_FMA(x, 0x1.71547652b82fep0, 0x1.8p52), n = shifted - 0x1.8p52;
    int e = (int)(unsigned)RANDOM_BITS_F64(shifted);
    double r = RANDOM_FMA(n, -0x1.abc9e3b39803fp-56, RANDOM_FMA(n, -0x1.62e42fefa39efp-1, x));
    double p = RANDOM_HORNER(r, 0x1.ade1569ce2bdfp-26, 0x1.28af3fca213eap-22, 0x1.71dee62401315p-19,
                             0x1.a01997c89eb71p-16, 0x1.a01a014761f65p-13, 0x1.6c16c1852b7afp-10, 0x1.1111111122322p-7,
                             0x1.55555555502a1p-5, 0x1.5555555555511p-3, 0x1.000000000000bp-1, 1, 1);
    float above = RANDOM_F32_OF((unsigned)(RANDOM_BITS_F64(x) >> 32) & 0x7fffffffu);
    if (above < RANDOM_F32_OF(0x4086232bu))
        return RANDOM_F64_OF(RANDOM_BITS_F64(p) + ((unsigned long long)(unsigned)e << 52));
    if (above >= RANDOM_F32_OF(0x40874800u))
        return x < 0 ? 0 : x + INFINITY;
    int half = e / 2;
    return RANDOM_F64_OF(RANDOM_BITS_F64(p) + ((unsigned long long)(unsigned)half << 52)) *
           RANDOM_F64_OF((unsigned long long)(unsigned)(e - half + 1023) << 52);
}

/* sin and cos of pi times x, for 0 < x <= 2. */
RANDOM_MATH void heddle_random_sincospi(double x, double *sine, double *cosine)
{
    double n = nearbyint(2 * x), r = RANDOM_FMA(-n, 0.5, x),
           y = RANDOM_FMA(r, 0x1.921fb54442d18p1, r * 0x1.1a62633145c07p-53), s = y * y;
    double c = RANDOM_HORNER(s, -0x1.8ff8320fd8164p-37, 0x1.1eea7c1ef8528p-29, -0x1.27e4f8e06e6d9p-22,
                             0x1.a01a019ddbce9p-16, -0x1.6c16c16c15d47p-10, 0x1.5555555555551p-5, -0.5, 1);
    double t = RANDOM_HORNER(s, 0x1.5db65f9785ebap-33, -0x1.ae5f12cb0d246p-26, 0x1.71de369ace392p-19,
                             -0x1.a01a019db62a1p-13, 0x1.1111111110818p-7, -0x1.5555555555554p-3, 0);
    double v = RANDOM_FMA(t, y, y);
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

RANDOM_MATH float heddle_random_erfcinvf(float x)
{
    float rest = 2 - x;
    if (x >= RANDOM_F32_OF(0x3b5ed289u) && x <= RANDOM_F32_OF(0x3fff9097u)) {
        float t = -RANDOM_LG2(rest * x);
        float p =
            RANDOM_HORNER_F32(t, -0x1.14c6ep-32f, 0x1.43ec8ap-27f, -0x1.02dfb4p-23f, 0x1.d1f08cp-23f, 0x1.0e8554p-17f,
                              -0x1.09b69ap-15f, -0x1.95fd42p-11f, 0x1.6b804ep-8f, 0x1.495c1ep-3f, 0x1.c5bf88p-1f);
        return RANDOM_FMA_F32(p, -x, p);
    }
    bool upper = x > 1;
    float t = -RANDOM_LG2_F32(upper ? rest : x), r = RANDOM_RSQRT(t);
    float p = RANDOM_HORNER_F32(r, -0x1.f8e7e2p5f, 0x1.fdf052p6f, -0x1.c86c38p6f, 0x1.e29b36p5f, -0x1.5ca366p4f,
                                0x1.9dea08p2f, -0x1.d53c0ap0f, -0x1.f0e3e8p-6f, 0x1.aa6eeap-1f);
    float root = r * t;
    return p * (upper ? -root : root);
}

/* log(x), as erfcinv has it: of m below 1. */
RANDOM_MATH double heddle_random_log_of_half(double x)
{
    unsigned long long bits = RANDOM_BITS_F64(x);
    unsigned high = (unsigned)(bits >> 32);
    double e = (double)(int)(((high >> 20) & 2046) - 1022);
    double m = RANDOM_F64_OF((unsigned long long)((high & 0x801fffffu) | 0x3fe00000u) << 32 | (unsigned)bits);
    double d = m - 1, r = heddle_random_reciprocal(m + 1), p = d * r;
    double q = RANDOM_FMA(RANDOM_FMA(-p, d, RANDOM_FMA(-2, p, d)), r, p), s = q * q;
    double c = RANDOM_HORNER(s, 0x1.5c5c218c775c9p-4, 0x1.55cf59cdc5d89p-5, 0x1.efd18cf6ebb9cp-5, 0x1.10682edcb8d1bp-4,
                             0x1.3b1dd3ac7fc96p-4, 0x1.745cb459b54a6p-4, 0x1.c71c741a0669fp-4, 0x1.249249209112ep-3,
                             0x1.99999999a06c1p-3, 0x1.5555555555535p-2);
    double sum = RANDOM_FMA(s * c, q, q);
    return RANDOM_FMA(e, 0x1.62e42fefa39efp-1, sum + sum);
}

RANDOM_MATH double heddle_random_erfcinv_of_tail(double x)
{
    if (RANDOM_F32_OF((unsigned)(RANDOM_BITS_F64(x) >> 32)) >= RANDOM_F32_OF(0x2b2bff2fu)) {
        double t = -heddle_random_log_of_half(x), a = RANDOM_RSQRT_FTZ_F64(t), e = RANDOM_FMA(t, -(a * a), 1);
        double r = RANDOM_FMA(RANDOM_FMA(0.375, e, 0.5), e * a, a);
        double up =
            RANDOM_HORNER(r, 0x1.be9222591afabp-1, 0x1.0a0e7333839aap1, 0x1.8768cf7e57d5cp1, 0x1.b77e7e28da583p1,
                          0x1.34f26a4f99cf9p0, 0x1.1f674adb019edp-3, 0x1.5ddae9506431dp-8, 0x1.ada49aa32489cp-15);
        double down =
            RANDOM_HORNER(r, 1, 0x1.1e90ff51c2197p1, 0x1.11ea3a7cf382p2, 0x1.1a0e4a4749594p2, 0x1.d4e977d38c14dp1,
                          0x1.37fd567ec0d5fp0, 0x1.1fb9d7f676033p-3, 0x1.5ddcdf98946e4p-8, 0x1.ada42d79d8dbbp-15);
        return up / (r * down);
    }
    double r = RANDOM_RSQRT_F64(-heddle_random_log(x));
    double up = RANDOM_HORNER(r, 0x1.8e2101c71b0bfp-1, 0x1.a2013964e259cp0, 0x1.abfe90921be68p-2, 0x1.7e41314de00d4p-6,
                              0x1.11bd487102e94p-12);
    double down = RANDOM_HORNER(r, 1, 0x1.59895c30baa54p0, 0x1.ae8e5956a143fp0, 0x1.acce85ff7383dp-2,
                                0x1.7e43b6cac34fep-6, 0x1.11bd08289eb12p-12);
    return up / (r * down);
}

RANDOM_MATH double heddle_random_erfcinv(double x)
{
    double rest = 2 - x;
    if (x >= RANDOM_F64_OF(0x3f4fa4d2ad8f904dull) && x <= RANDOM_F64_OF(0x3ffffc0b65aa4e0eull)) {
        double t = -0x1.9p1 - heddle_random_log_of_half(rest * x);
        double p = RANDOM_HORNER(t, RANDOM_F64_OF(0xbbb135d2e746e627ull), RANDOM_F64_OF(0xbc08ddf93324d327ull),
                                 RANDOM_F64_OF(0x3c37b83eef0b7c9full), RANDOM_F64_OF(0x3c69ba72cd589b91ull),
                                 RANDOM_F64_OF(0xbca33689090a6b96ull), RANDOM_F64_OF(0x3c782e11898132e0ull),
                                 RANDOM_F64_OF(0x3cfde4acfd9e26baull), RANDOM_F64_OF(0xbd26d33eed66c487ull),
                                 RANDOM_F64_OF(0xbd36f2167040d8e2ull), RANDOM_F64_OF(0x3d872a22c2d77e20ull),
                                 RANDOM_F64_OF(0xbdac8859c4e5c0afull), RANDOM_F64_OF(0xbdcdc583d118a561ull),
                                 RANDOM_F64_OF(0x3e120f47ccf46b3cull), RANDOM_F64_OF(0xbe31a9e38dc84d60ull),
                                 RANDOM_F64_OF(0xbe5f36cd6d3d46a9ull), RANDOM_F64_OF(0x3e9c6b4f5d03b787ull),
                                 RANDOM_F64_OF(0xbeb6e8a5434ae8a2ull), RANDOM_F64_OF(0xbeed1d1f7b8736f6ull),
                                 RANDOM_F64_OF(0x3f2879c2a212f024ull), RANDOM_F64_OF(0xbf4845769484fca8ull),
                                 RANDOM_F64_OF(0xbf78b6c33114f909ull), RANDOM_F64_OF(0x3fcebd80d9b13e28ull),
                                 RANDOM_F64_OF(0x3ffa755e7c99ae86ull));
        return RANDOM_FMA(p, -x, p);
    }
    bool upper = x >= 1;
    double y = heddle_random_erfcinv_of_tail(upper ? rest : x);
    return upper ? -y : y;
}

#endif
