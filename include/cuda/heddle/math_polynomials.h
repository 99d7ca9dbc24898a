/* Polynomials and constants of the device math functions, written by scripts/fit-math. Not edited
 * by hand. */
#ifndef HEDDLE_MATH_POLYNOMIALS_H
#define HEDDLE_MATH_POLYNOMIALS_H

#include "define.h"

#define HEDDLE_PI_HI            0x1.921fb54442d18p+1
#define HEDDLE_PI_LO            0x1.1a62633145c07p-53
#define HEDDLE_PI_2_HI          0x1.921fb54442d18p+0
#define HEDDLE_PI_2_LO          0x1.1a62633145c07p-54
#define HEDDLE_PI_4_HI          0x1.921fb54442d18p-1
#define HEDDLE_PI_4_LO          0x1.1a62633145c07p-55
#define HEDDLE_LN2_HI           0x1.62e42fefa39efp-1
#define HEDDLE_LN2_LO           0x1.abc9e3b39803fp-56
#define HEDDLE_LOG2_E_HI        0x1.71547652b82fep+0
#define HEDDLE_LOG2_E_LO        0x1.777d0ffda0d24p-56
#define HEDDLE_LOG10_E_HI       0x1.bcb7b1526e50ep-2
#define HEDDLE_LOG10_E_LO       0x1.95355baaafad3p-57
#define HEDDLE_2_3_HI           0x1.5555555555555p-1
#define HEDDLE_2_3_LO           0x1.5555555555555p-55
#define HEDDLE_LOG_2PI_2_HI     0x1.d67f1c864beb5p-1
#define HEDDLE_LOG_2PI_2_LO     -0x1.65b5a1b7ff5dfp-55
#define HEDDLE_SQRT_1_2_HI      0x1.6a09e667f3bcdp-1
#define HEDDLE_SQRT_1_2_LO      -0x1.bdd3413b26456p-55
#define HEDDLE_LN2_SHORT_HI     0x1.62e42fefa3800p-1
#define HEDDLE_LN2_SHORT_LO     0x1.ef35793c76730p-45
#define HEDDLE_LOG10_2_SHORT_HI 0x1.34413509f7800p-2
#define HEDDLE_LOG10_2_SHORT_LO 0x1.fef311f12b358p-46
#define HEDDLE_LOG2_10          0x1.a934f0979a371p+1
#define HEDDLE_2_PI             0x1.45f306dc9c883p-1
#define HEDDLE_SQRT_PI_2        0x1.c5bf891b4ef6bp-1
#define HEDDLE_2_SQRT_PI        0x1.20dd750429b6dp+0
#define HEDDLE_PI_2_THIRD       -0x1.f1976b7ed8fbcp-110 /* what PI_2_HI + PI_2_LO lack */

/* 2 / pi: the first 1280 bits behind the point, 64 a word */
#define HEDDLE_2_PI_BITS                                                                                               \
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, \
        0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,                    \
        0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full,                    \
        0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull,                    \
        0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull

/* on [-0.346574, 0.346574]: relative error 2^-57.51 */
HEDDLE_MATH double heddle_poly_exp(double x)
{
    double p = 0x1.1f72fc730b4ffp-29;
    p = __builtin_fma(p, x, 0x1.af4ddd84882fep-26);
    p = __builtin_fma(p, x, 0x1.27e4db67b4303p-22);
    p = __builtin_fma(p, x, 0x1.71de02375656cp-19);
    p = __builtin_fma(p, x, 0x1.a01a01a6d7808p-16);
    p = __builtin_fma(p, x, 0x1.a01a01abe62ddp-13);
    p = __builtin_fma(p, x, 0x1.6c16c16c162d6p-10);
    p = __builtin_fma(p, x, 0x1.11111111100dfp-7);
    p = __builtin_fma(p, x, 0x1.5555555555556p-5);
    p = __builtin_fma(p, x, 0x1.5555555555557p-3);
    p = __builtin_fma(p, x, 0x1.0000000000000p-1);
    return p;
}

/* on [-0.5, 0.5]: relative error 2^-54.25 */
HEDDLE_MATH double heddle_poly_exp2(double x)
{
    double p = 0x1.8219217906555p-40;
    p = __builtin_fma(p, x, 0x1.c4b5b04b1e8f9p-36);
    p = __builtin_fma(p, x, 0x1.e8ca8dd465e8bp-32);
    p = __builtin_fma(p, x, 0x1.e4cf03bac04a7p-28);
    p = __builtin_fma(p, x, 0x1.b5253d41fa178p-24);
    p = __builtin_fma(p, x, 0x1.62c022460176ep-20);
    p = __builtin_fma(p, x, 0x1.ffcbfc5889cb0p-17);
    p = __builtin_fma(p, x, 0x1.430912f86ac5bp-13);
    p = __builtin_fma(p, x, 0x1.5d87fe78a6732p-10);
    p = __builtin_fma(p, x, 0x1.3b2ab6fba4e7bp-7);
    p = __builtin_fma(p, x, 0x1.c6b08d704a0c0p-5);
    p = __builtin_fma(p, x, 0x1.ebfbdff82c58fp-3);
    p = __builtin_fma(p, x, 0x1.62e42fefa39efp-1);
    return p;
}

/* on [-0.150515, 0.150515]: relative error 2^-53.23 */
HEDDLE_MATH double heddle_poly_exp10(double x)
{
    double p = 0x1.141bf141cdff3p-17;
    p = __builtin_fma(p, x, 0x1.85d3e11350418p-15);
    p = __builtin_fma(p, x, 0x1.facf9a5ad0e45p-13);
    p = __builtin_fma(p, x, 0x1.2ea4fab927ff0p-10);
    p = __builtin_fma(p, x, 0x1.4897c4640c3b7p-8);
    p = __builtin_fma(p, x, 0x1.4116b06a64be6p-6);
    p = __builtin_fma(p, x, 0x1.16e4dfc332f95p-4);
    p = __builtin_fma(p, x, 0x1.a7ed70847a50dp-3);
    p = __builtin_fma(p, x, 0x1.1429ffd1d4d77p-1);
    p = __builtin_fma(p, x, 0x1.2bd7609fd98c8p+0);
    p = __builtin_fma(p, x, 0x1.0470591de2ca4p+1);
    p = __builtin_fma(p, x, 0x1.53524c73cea69p+1);
    p = __builtin_fma(p, x, 0x1.26bb1bbb55516p+1);
    return p;
}

/* on [0.0, 0.02945]: relative error 2^-54.0 */
HEDDLE_MATH double heddle_poly_log(double x)
{
    double p = 0x1.b8d8d83f51283p-4;
    p = __builtin_fma(p, x, 0x1.ac4a0689e4f11p-4);
    p = __builtin_fma(p, x, 0x1.e1f80050fe02dp-4);
    p = __builtin_fma(p, x, 0x1.1110df9bb9145p-3);
    p = __builtin_fma(p, x, 0x1.3b13b1bcae4fap-3);
    p = __builtin_fma(p, x, 0x1.745d174512f5ep-3);
    p = __builtin_fma(p, x, 0x1.c71c71c71cfdep-3);
    p = __builtin_fma(p, x, 0x1.2492492492491p-2);
    p = __builtin_fma(p, x, 0x1.999999999999ap-2);
    return p;
}

/* on [0.0, 0.61685]: relative error 2^-53.96 */
HEDDLE_MATH double heddle_poly_sin(double x)
{
    double p = -0x1.ab17d404de5b3p-41;
    p = __builtin_fma(p, x, 0x1.61217f0b800d5p-33);
    p = __builtin_fma(p, x, -0x1.ae645412c560cp-26);
    p = __builtin_fma(p, x, 0x1.71de3a546095bp-19);
    p = __builtin_fma(p, x, -0x1.a01a01a019938p-13);
    p = __builtin_fma(p, x, 0x1.1111111111110p-7);
    p = __builtin_fma(p, x, -0x1.5555555555555p-3);
    return p;
}

/* on [0.0, 0.61685]: relative error 2^-53.99 */
HEDDLE_MATH double heddle_poly_cos(double x)
{
    double p = 0x1.ab785b00b4646p-45;
    p = __builtin_fma(p, x, -0x1.9394ba0cd6ed5p-37);
    p = __builtin_fma(p, x, 0x1.1eed8deb97a97p-29);
    p = __builtin_fma(p, x, -0x1.27e4fb7712d65p-22);
    p = __builtin_fma(p, x, 0x1.a01a01a019d0ap-16);
    p = __builtin_fma(p, x, -0x1.6c16c16c16c16p-10);
    p = __builtin_fma(p, x, 0x1.5555555555555p-5);
    return p;
}

/* on [0.0, 1.0]: relative error 2^-53.3 */
HEDDLE_MATH double heddle_poly_atan(double x)
{
    double p = 0x1.04a3628aee536p-17;
    p = __builtin_fma(p, x, -0x1.890e58e18ff08p-14);
    p = __builtin_fma(p, x, 0x1.19e6b726893d0p-11);
    p = __builtin_fma(p, x, -0x1.0110cfd66bd22p-9);
    p = __builtin_fma(p, x, 0x1.50ea3497605b5p-8);
    p = __builtin_fma(p, x, -0x1.552f78ddf9b30p-7);
    p = __builtin_fma(p, x, 0x1.198ad7e0bd0c6p-6);
    p = __builtin_fma(p, x, -0x1.8c59dbc673323p-6);
    p = __builtin_fma(p, x, 0x1.f0f041d3e2f50p-6);
    p = __builtin_fma(p, x, -0x1.20f157ad652dfp-5);
    p = __builtin_fma(p, x, 0x1.42a843b89b0ebp-5);
    p = __builtin_fma(p, x, -0x1.62c464c86804fp-5);
    p = __builtin_fma(p, x, 0x1.85c82bf04fbd6p-5);
    p = __builtin_fma(p, x, -0x1.af1a76061e434p-5);
    p = __builtin_fma(p, x, 0x1.e1e0069edf96ep-5);
    p = __builtin_fma(p, x, -0x1.1110f9a06b09dp-4);
    p = __builtin_fma(p, x, 0x1.3b13af957f086p-4);
    p = __builtin_fma(p, x, -0x1.745d1731e853fp-4);
    p = __builtin_fma(p, x, 0x1.c71c71c6882cdp-4);
    p = __builtin_fma(p, x, -0x1.2492492491234p-3);
    p = __builtin_fma(p, x, 0x1.999999999997dp-3);
    p = __builtin_fma(p, x, -0x1.5555555555555p-2);
    return p;
}

/* on [0.0, 0.25]: relative error 2^-54.0 */
HEDDLE_MATH double heddle_poly_asin(double x)
{
    double p = 0x1.e529c6fce9bb4p-6;
    p = __builtin_fma(p, x, -0x1.3b416bb7d9257p-6);
    p = __builtin_fma(p, x, 0x1.406192d124629p-6);
    p = __builtin_fma(p, x, 0x1.8f193743418ffp-9);
    p = __builtin_fma(p, x, 0x1.31622469ce5adp-7);
    p = __builtin_fma(p, x, 0x1.3b49de7121487p-7);
    p = __builtin_fma(p, x, 0x1.7b027ee1dd585p-7);
    p = __builtin_fma(p, x, 0x1.c990ad3d8fdcap-7);
    p = __builtin_fma(p, x, 0x1.1c4efce23019fp-6);
    p = __builtin_fma(p, x, 0x1.6e8ba123e494cp-6);
    p = __builtin_fma(p, x, 0x1.f1c71c7a52ba3p-6);
    p = __builtin_fma(p, x, 0x1.6db6db6dac1e0p-5);
    p = __builtin_fma(p, x, 0x1.3333333333388p-4);
    p = __builtin_fma(p, x, 0x1.5555555555555p-3);
    return p;
}

/* on [0.0, 1.0]: relative error 2^-54.0 */
HEDDLE_MATH double heddle_poly_sinh(double x)
{
    double p = 0x1.328de90012662p-57;
    p = __builtin_fma(p, x, 0x1.952654734b725p-49);
    p = __builtin_fma(p, x, 0x1.ae7f44a89136cp-41);
    p = __builtin_fma(p, x, 0x1.61246136ddcb0p-33);
    p = __builtin_fma(p, x, 0x1.ae64567f56d72p-26);
    p = __builtin_fma(p, x, 0x1.71de3a556c724p-19);
    p = __builtin_fma(p, x, 0x1.a01a01a01a01ap-13);
    p = __builtin_fma(p, x, 0x1.1111111111111p-7);
    p = __builtin_fma(p, x, 0x1.5555555555555p-3);
    return p;
}

/* on [0.0, 0.3025]: relative error 2^-53.86 */
HEDDLE_MATH double heddle_poly_tanh(double x)
{
    double p = -0x1.d806890300736p-22;
    p = __builtin_fma(p, x, 0x1.1772b1f76b3e7p-19);
    p = __builtin_fma(p, x, -0x1.9d169bc1bc785p-18);
    p = __builtin_fma(p, x, 0x1.092e511d21274p-16);
    p = __builtin_fma(p, x, -0x1.493c0aa63136cp-15);
    p = __builtin_fma(p, x, 0x1.9677b5afa6334p-14);
    p = __builtin_fma(p, x, -0x1.f57d03aa3432cp-13);
    p = __builtin_fma(p, x, 0x1.3558218f18685p-11);
    p = __builtin_fma(p, x, -0x1.7da364378cc4bp-10);
    p = __builtin_fma(p, x, 0x1.d6d3d0e0ab87bp-9);
    p = __builtin_fma(p, x, -0x1.226e355e6abe8p-7);
    p = __builtin_fma(p, x, 0x1.664f4882c10c2p-6);
    p = __builtin_fma(p, x, -0x1.ba1ba1ba1ba1bp-5);
    p = __builtin_fma(p, x, 0x1.1111111111111p-3);
    p = __builtin_fma(p, x, -0x1.5555555555555p-2);
    return p;
}

/* on [0.0, 0.0625]: relative error 2^-54.0 */
HEDDLE_MATH double heddle_poly_atanh(double x)
{
    double p = 0x1.d385f53b961dap-5;
    p = __builtin_fma(p, x, 0x1.4bb52fe3377a7p-5);
    p = __builtin_fma(p, x, 0x1.88799ebee4d20p-5);
    p = __builtin_fma(p, x, 0x1.af035305015b0p-5);
    p = __builtin_fma(p, x, 0x1.e1e35d53b264ap-5);
    p = __builtin_fma(p, x, 0x1.11110c077fd78p-4);
    p = __builtin_fma(p, x, 0x1.3b13b1518f480p-4);
    p = __builtin_fma(p, x, 0x1.745d174591f4cp-4);
    p = __builtin_fma(p, x, 0x1.c71c71c71cdb7p-4);
    p = __builtin_fma(p, x, 0x1.249249249248fp-3);
    p = __builtin_fma(p, x, 0x1.999999999999ap-3);
    p = __builtin_fma(p, x, 0x1.5555555555555p-2);
    return p;
}

/* on [0.0, 1.0]: relative error 2^-54.64 */
HEDDLE_MATH double heddle_poly_erf(double x)
{
    double p = 0x1.2f54cb59a95f5p-50;
    p = __builtin_fma(p, x, -0x1.d24e88793232dp-46);
    p = __builtin_fma(p, x, 0x1.f1edf89864982p-42);
    p = __builtin_fma(p, x, -0x1.d7dd4558a83f2p-38);
    p = __builtin_fma(p, x, 0x1.9e644b69f51ccp-34);
    p = __builtin_fma(p, x, -0x1.51d6cb74180e8p-30);
    p = __builtin_fma(p, x, 0x1.fcc56cdce17aep-27);
    p = __builtin_fma(p, x, -0x1.5f742ea388b1bp-23);
    p = __builtin_fma(p, x, 0x1.b9e6c9db370fbp-20);
    p = __builtin_fma(p, x, -0x1.f4d25c3e0466ap-17);
    p = __builtin_fma(p, x, 0x1.f9a326f9b8780p-14);
    p = __builtin_fma(p, x, -0x1.c02db40040b7fp-11);
    p = __builtin_fma(p, x, 0x1.565bcd0e6a53fp-8);
    p = __builtin_fma(p, x, -0x1.b82ce31288b51p-6);
    p = __builtin_fma(p, x, 0x1.ce2f21a042be2p-4);
    p = __builtin_fma(p, x, -0x1.812746b0379e7p-2);
    return p;
}

/* on [-1.0, 1.0]: relative error 2^-54.31 */
HEDDLE_MATH double heddle_poly_erfcx(double x)
{
    double p = 0x1.7d604a7f621f4p-35;
    p = __builtin_fma(p, x, -0x1.2dbbbb75b6682p-33);
    p = __builtin_fma(p, x, -0x1.2d277a41632e3p-31);
    p = __builtin_fma(p, x, 0x1.ebb009434f4efp-30);
    p = __builtin_fma(p, x, 0x1.117f492198859p-28);
    p = __builtin_fma(p, x, -0x1.f9443297365a1p-27);
    p = __builtin_fma(p, x, -0x1.78888d24fa8a1p-26);
    p = __builtin_fma(p, x, 0x1.d8d5b12b4bdebp-24);
    p = __builtin_fma(p, x, 0x1.5305495fa5317p-24);
    p = __builtin_fma(p, x, -0x1.badf24e872985p-21);
    p = __builtin_fma(p, x, 0x1.385bb6c82456ap-22);
    p = __builtin_fma(p, x, 0x1.7f235478fdcf6p-18);
    p = __builtin_fma(p, x, -0x1.788189c990557p-17);
    p = __builtin_fma(p, x, -0x1.9958a8c635c6bp-16);
    p = __builtin_fma(p, x, 0x1.3be032de511d3p-13);
    p = __builtin_fma(p, x, -0x1.a1df2ad41dddep-13);
    p = __builtin_fma(p, x, -0x1.8d4a9990c5199p-11);
    p = __builtin_fma(p, x, 0x1.49c6728db72cdp-8);
    p = __builtin_fma(p, x, -0x1.0962388548d8dp-6);
    p = __builtin_fma(p, x, 0x1.3079edf668f38p-5);
    p = __builtin_fma(p, x, -0x1.0fb06dfe48b0ep-4);
    p = __builtin_fma(p, x, 0x1.7fee004e13186p-4);
    p = __builtin_fma(p, x, -0x1.9ddb23c3e9106p-4);
    p = __builtin_fma(p, x, 0x1.16ecefcfa533fp-4);
    p = __builtin_fma(p, x, 0x1.f7f5df66fd7bep-7);
    p = __builtin_fma(p, x, -0x1.1df1ad154a28ep-3);
    p = __builtin_fma(p, x, 0x1.3ba5916e9fd7fp+0);
    return p;
}

/* on [0.0, 0.5]: relative error 2^-54.36 */
HEDDLE_MATH double heddle_poly_erfinv(double x)
{
    double p = 0x1.c52056c7303b2p+3;
    p = __builtin_fma(p, x, -0x1.193a42f33aa42p+6);
    p = __builtin_fma(p, x, 0x1.4c6bf2fe615b1p+7);
    p = __builtin_fma(p, x, -0x1.ed562819b38eep+7);
    p = __builtin_fma(p, x, 0x1.00d26958ee110p+8);
    p = __builtin_fma(p, x, -0x1.8d700e0aa1ea6p+7);
    p = __builtin_fma(p, x, 0x1.d9510c2bd2510p+6);
    p = __builtin_fma(p, x, -0x1.bacdf7dc2b563p+5);
    p = __builtin_fma(p, x, 0x1.4a79fc4fed0cfp+4);
    p = __builtin_fma(p, x, -0x1.8a28166bf9f66p+2);
    p = __builtin_fma(p, x, 0x1.81fd35acd9a8dp+0);
    p = __builtin_fma(p, x, -0x1.12e4024fd8f06p-2);
    p = __builtin_fma(p, x, 0x1.151185b692697p-4);
    p = __builtin_fma(p, x, 0x1.3e5dfb97dbce5p-6);
    p = __builtin_fma(p, x, 0x1.d365e1ffcee0fp-6);
    p = __builtin_fma(p, x, 0x1.03418417d114bp-5);
    p = __builtin_fma(p, x, 0x1.2abfa0853986cp-5);
    p = __builtin_fma(p, x, 0x1.5eeae6658a40ap-5);
    p = __builtin_fma(p, x, 0x1.a7c85e327ce8ep-5);
    p = __builtin_fma(p, x, 0x1.0a131898228e9p-4);
    p = __builtin_fma(p, x, 0x1.62847c47eb4dep-4);
    p = __builtin_fma(p, x, 0x1.053c2c0ab910dp-3);
    p = __builtin_fma(p, x, 0x1.db29fb2fee5e4p-3);
    p = __builtin_fma(p, x, 0x1.c5bf891b4ef6bp-1);
    return p;
}

/* on [0.0357143, 0.92]: relative error 2^-17.03 */
HEDDLE_MATH double heddle_poly_erfcinv(double x)
{
    double p = 0x1.c54c187ceb44dp+0;
    p = __builtin_fma(p, x, -0x1.16af3acf7b68ep+3);
    p = __builtin_fma(p, x, 0x1.28eb4c5ab914bp+4);
    p = __builtin_fma(p, x, -0x1.68c72ec72928ep+4);
    p = __builtin_fma(p, x, 0x1.170a69e1e05c8p+4);
    p = __builtin_fma(p, x, -0x1.2aef118bc6198p+3);
    p = __builtin_fma(p, x, 0x1.feae2c3381d91p+1);
    p = __builtin_fma(p, x, -0x1.7dcef6c499723p+0);
    p = __builtin_fma(p, x, -0x1.f6ef00f3db9e2p-6);
    p = __builtin_fma(p, x, 0x1.0016b53662151p+0);
    return p;
}

/* on [0.0, 1.0]: relative error 2^-52.86 */
HEDDLE_MATH double heddle_poly_gamma(double x)
{
    double p = 0x1.6c3032e6c6f69p-13;
    p = __builtin_fma(p, x, -0x1.1c85a022938cdp-9);
    p = __builtin_fma(p, x, 0x1.a6dedb706dcd3p-7);
    p = __builtin_fma(p, x, -0x1.8f2cc3043fdf1p-5);
    p = __builtin_fma(p, x, 0x1.0e1a773106dc0p-3);
    p = __builtin_fma(p, x, -0x1.190f7faee7b9bp-2);
    p = __builtin_fma(p, x, 0x1.d8b2150d335f0p-2);
    p = __builtin_fma(p, x, -0x1.4ecbb6ce92c04p-1);
    p = __builtin_fma(p, x, 0x1.9f1a997d5d396p-1);
    p = __builtin_fma(p, x, -0x1.d38c026d9a555p-1);
    p = __builtin_fma(p, x, 0x1.ef0e79c4b5b25p-1);
    p = __builtin_fma(p, x, -0x1.fa9e5c225e917p-1);
    p = __builtin_fma(p, x, 0x1.fe6d4f844f919p-1);
    p = __builtin_fma(p, x, -0x1.ff3c060b8ae25p-1);
    p = __builtin_fma(p, x, 0x1.fefcf51bb7a44p-1);
    p = __builtin_fma(p, x, -0x1.fdf2a4fd941c3p-1);
    p = __builtin_fma(p, x, 0x1.fc7dec9a033bbp-1);
    p = __builtin_fma(p, x, -0x1.f6c80cda75c32p-1);
    p = __builtin_fma(p, x, 0x1.f6a5103ff333cp-1);
    p = __builtin_fma(p, x, -0x1.d0a118f29534cp-1);
    p = __builtin_fma(p, x, 0x1.fa658c23af4f3p-1);
    p = __builtin_fma(p, x, -0x1.2788cfc6fb5eap-1);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [-0.75, 1.0]: relative error 2^-53.49 */
HEDDLE_MATH double heddle_poly_lgamma(double x)
{
    double p = 0x1.9c3bc66c7a013p-32;
    p = __builtin_fma(p, x, -0x1.128d6fa9c0353p-29);
    p = __builtin_fma(p, x, 0x1.200fd88bd3e8ap-28);
    p = __builtin_fma(p, x, -0x1.5a1abf783804fp-28);
    p = __builtin_fma(p, x, 0x1.11b9e46ce4669p-27);
    p = __builtin_fma(p, x, -0x1.7006ffda55d8ep-26);
    p = __builtin_fma(p, x, 0x1.ae1599b2dd4c0p-25);
    p = __builtin_fma(p, x, -0x1.b71f6f5ecd24fp-24);
    p = __builtin_fma(p, x, 0x1.c50a91b03d472p-23);
    p = __builtin_fma(p, x, -0x1.e10e95fdbf4e4p-22);
    p = __builtin_fma(p, x, 0x1.00789d01a011fp-20);
    p = __builtin_fma(p, x, -0x1.11c437115840cp-19);
    p = __builtin_fma(p, x, 0x1.259720e759e0fp-18);
    p = __builtin_fma(p, x, -0x1.3cbb7327ce648p-17);
    p = __builtin_fma(p, x, 0x1.580dca04ddf2dp-16);
    p = __builtin_fma(p, x, -0x1.78de6835ca0f7p-15);
    p = __builtin_fma(p, x, 0x1.a127b171bc87dp-14);
    p = __builtin_fma(p, x, -0x1.d3fd4c222b382p-13);
    p = __builtin_fma(p, x, 0x1.0b36af84205cap-11);
    p = __builtin_fma(p, x, -0x1.38ac5c2ca3cd3p-10);
    p = __builtin_fma(p, x, 0x1.7add6eadbeefap-9);
    p = __builtin_fma(p, x, -0x1.e404fc218df8cp-8);
    p = __builtin_fma(p, x, 0x1.51322ac7d8417p-6);
    p = __builtin_fma(p, x, -0x1.13e001a55760bp-4);
    p = __builtin_fma(p, x, 0x1.4a34cc4a60fa6p-2);
    p = __builtin_fma(p, x, 0x1.b0ee6072093cep-2);
    return p;
}

/* on [0.0, 0.015625]: relative error 2^-54.0 */
HEDDLE_MATH double heddle_poly_stirling(double x)
{
    double p = -0x1.6f61c43ad542ap-1;
    p = __builtin_fma(p, x, 0x1.48d057c694be8p-3);
    p = __builtin_fma(p, x, -0x1.ded79e665035fp-6);
    p = __builtin_fma(p, x, 0x1.a3e072c86bac6p-8);
    p = __builtin_fma(p, x, -0x1.f6a981e9510bfp-10);
    p = __builtin_fma(p, x, 0x1.b951df711aa6dp-11);
    p = __builtin_fma(p, x, -0x1.3813813619629p-11);
    p = __builtin_fma(p, x, 0x1.a01a01a01964bp-11);
    p = __builtin_fma(p, x, -0x1.6c16c16c16c16p-9);
    p = __builtin_fma(p, x, 0x1.5555555555555p-4);
    return p;
}

/* on [0.0, 4.0]: relative error 2^-56.42 */
HEDDLE_MATH double heddle_poly_j0_small(double x)
{
    double p = 0x1.46cb01ff34fbep-64;
    p = __builtin_fma(p, x, -0x1.0ae9745d9b604p-55);
    p = __builtin_fma(p, x, 0x1.5228c42ec9360p-47);
    p = __builtin_fma(p, x, -0x1.522a3ef9b9f82p-39);
    p = __builtin_fma(p, x, 0x1.02e85bfdeeefcp-31);
    p = __builtin_fma(p, x, -0x1.234567898e81dp-24);
    p = __builtin_fma(p, x, 0x1.c71c71c71c0d6p-18);
    p = __builtin_fma(p, x, -0x1.c71c71c71c710p-12);
    p = __builtin_fma(p, x, 0x1.0000000000000p-6);
    p = __builtin_fma(p, x, -0x1.0000000000000p-2);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [0.0, 9.0]: relative error 2^-53.33 */
HEDDLE_MATH double heddle_poly_j1_small(double x)
{
    double p = 0x1.6d3482a682af0p-87;
    p = __builtin_fma(p, x, -0x1.e0dcaf94d7b6ep-78);
    p = __builtin_fma(p, x, 0x1.f16b2af411222p-69);
    p = __builtin_fma(p, x, -0x1.ab81b32b0df84p-60);
    p = __builtin_fma(p, x, 0x1.2c97582620807p-51);
    p = __builtin_fma(p, x, -0x1.522a43f3282a5p-43);
    p = __builtin_fma(p, x, 0x1.27e4fb778033ap-35);
    p = __builtin_fma(p, x, -0x1.845c8a0ce4ea6p-28);
    p = __builtin_fma(p, x, 0x1.6c16c16c16c10p-21);
    p = __builtin_fma(p, x, -0x1.c71c71c71c71cp-15);
    p = __builtin_fma(p, x, 0x1.5555555555555p-9);
    p = __builtin_fma(p, x, -0x1.0000000000000p-4);
    p = __builtin_fma(p, x, 0x1.0000000000000p-1);
    return p;
}

/* on [0.0, 0.36]: relative error 2^-55.74 */
HEDDLE_MATH double heddle_poly_y0_small(double x)
{
    double p = 0x1.af58f2f9c7509p-39;
    p = __builtin_fma(p, x, -0x1.34ad5980a42ddp-31);
    p = __builtin_fma(p, x, 0x1.3c5d144f577ebp-24);
    p = __builtin_fma(p, x, -0x1.b45f204e1d397p-18);
    p = __builtin_fma(p, x, 0x1.6bf03b3a2761ep-12);
    p = __builtin_fma(p, x, -0x1.2cc7eb028db79p-7);
    p = __builtin_fma(p, x, 0x1.139ccf287ee71p-4);
    p = __builtin_fma(p, x, 0x1.78493e90ba294p-2);
    return p;
}

/* on [0.0, 2.25]: relative error 2^-53.73 */
HEDDLE_MATH double heddle_poly_y1_small(double x)
{
    double p = 0x1.30fc9034a235cp-59;
    p = __builtin_fma(p, x, -0x1.a41dbbe7a4e8ep-51);
    p = __builtin_fma(p, x, 0x1.bf62d73858f8ap-43);
    p = __builtin_fma(p, x, -0x1.6e3c5c05fbfd7p-35);
    p = __builtin_fma(p, x, 0x1.ba6bde07fcdaep-28);
    p = __builtin_fma(p, x, -0x1.7446a0977cdb7p-21);
    p = __builtin_fma(p, x, 0x1.9027adc471e21p-15);
    p = __builtin_fma(p, x, -0x1.d97973c2a6da3p-10);
    p = __builtin_fma(p, x, 0x1.b6965296cd2b3p-6);
    p = __builtin_fma(p, x, 0x1.92b1bda0ed08cp-6);
    return p;
}

/* on [0.0, 0.015625]: relative error 2^-54.26 */
HEDDLE_MATH double heddle_poly_j0_p(double x)
{
    double p = -0x1.c069f735e546bp+33;
    p = __builtin_fma(p, x, 0x1.9574ab829b27cp+30);
    p = __builtin_fma(p, x, -0x1.5e2a2ba4d9907p+26);
    p = __builtin_fma(p, x, 0x1.9354193c5e446p+21);
    p = __builtin_fma(p, x, -0x1.7d68fe7da3bd6p+16);
    p = __builtin_fma(p, x, 0x1.6d7848fb54237p+11);
    p = __builtin_fma(p, x, -0x1.b65442e133a3ep+6);
    p = __builtin_fma(p, x, 0x1.84ab2bdf28058p+2);
    p = __builtin_fma(p, x, -0x1.251eafdb745bcp-1);
    p = __builtin_fma(p, x, 0x1.cb5fffa33ef62p-4);
    p = __builtin_fma(p, x, -0x1.1ffffffff85e4p-4);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [0.0, 0.015625]: relative error 2^-49.19 */
HEDDLE_MATH double heddle_poly_j0_q(double x)
{
    double p = 0x1.af40b7d730be9p+36;
    p = __builtin_fma(p, x, -0x1.804e6c2acb7acp+33);
    p = __builtin_fma(p, x, 0x1.4423e880187cbp+29);
    p = __builtin_fma(p, x, -0x1.6690c5377c24bp+24);
    p = __builtin_fma(p, x, 0x1.3c1c5beb27522p+19);
    p = __builtin_fma(p, x, -0x1.0ded60dd7ea4dp+14);
    p = __builtin_fma(p, x, 0x1.11d21fa602d97p+9);
    p = __builtin_fma(p, x, -0x1.85f0d72c72b9fp+4);
    p = __builtin_fma(p, x, 0x1.ba4b6de0e4a9cp+0);
    p = __builtin_fma(p, x, -0x1.d11dfe7bdf6a4p-3);
    p = __builtin_fma(p, x, 0x1.2bffffffc03aap-4);
    p = __builtin_fma(p, x, -0x1.ffffffffffff2p-4);
    return p;
}

/* on [0.0, 0.015625]: relative error 2^-54.17 */
HEDDLE_MATH double heddle_poly_j1_p(double x)
{
    double p = 0x1.dde5dde7cb9e7p+33;
    p = __builtin_fma(p, x, -0x1.b08a31231c0aep+30);
    p = __builtin_fma(p, x, 0x1.762c462d6f6aep+26);
    p = __builtin_fma(p, x, -0x1.b04182e5ea7b0p+21);
    p = __builtin_fma(p, x, 0x1.9afe8b006409cp+16);
    p = __builtin_fma(p, x, -0x1.8da65f72efb0fp+11);
    p = __builtin_fma(p, x, 0x1.e48c6af145aebp+6);
    p = __builtin_fma(p, x, -0x1.b87f0af3a6ea7p+2);
    p = __builtin_fma(p, x, 0x1.5a6a1c796bbb2p-1);
    p = __builtin_fma(p, x, -0x1.274fffced21f8p-3);
    p = __builtin_fma(p, x, 0x1.dffffffff7e80p-4);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [0.0, 0.015625]: relative error 2^-50.58 */
HEDDLE_MATH double heddle_poly_j1_q(double x)
{
    double p = -0x1.ca7047853929ap+36;
    p = __builtin_fma(p, x, 0x1.98e072cf5d7edp+33);
    p = __builtin_fma(p, x, -0x1.59581e2a20b0ap+29);
    p = __builtin_fma(p, x, 0x1.7ef4cec2fa451p+24);
    p = __builtin_fma(p, x, -0x1.531eb85c639b9p+19);
    p = __builtin_fma(p, x, 0x1.23e165ee9fe74p+14);
    p = __builtin_fma(p, x, -0x1.2bf81a2af4107p+9);
    p = __builtin_fma(p, x, 0x1.b3d3352cc04fbp+4);
    p = __builtin_fma(p, x, -0x1.fe571f3b2d41ap+0);
    p = __builtin_fma(p, x, 0x1.1c3cff32a9e9bp-2);
    p = __builtin_fma(p, x, -0x1.a3ffffffbc84ep-4);
    p = __builtin_fma(p, x, 0x1.7fffffffffffcp-2);
    return p;
}

/* on [0.0, 64.0]: relative error 2^-54.92 */
HEDDLE_MATH double heddle_poly_i0_small(double x)
{
    double p = 0x1.0b7cab2f34743p-151;
    p = __builtin_fma(p, x, 0x1.c4a39576f59d1p-142);
    p = __builtin_fma(p, x, 0x1.45942923d7987p-131);
    p = __builtin_fma(p, x, 0x1.695af5654284ap-121);
    p = __builtin_fma(p, x, 0x1.6a05eb7d5abc9p-111);
    p = __builtin_fma(p, x, 0x1.3e21e507c165dp-101);
    p = __builtin_fma(p, x, 0x1.e72572382e283p-92);
    p = __builtin_fma(p, x, 0x1.4197a6f6d6eb9p-82);
    p = __builtin_fma(p, x, 0x1.69ca9d037f8b6p-73);
    p = __builtin_fma(p, x, 0x1.5601885da0e63p-64);
    p = __builtin_fma(p, x, 0x1.0b313289c5526p-55);
    p = __builtin_fma(p, x, 0x1.522a43f6541c6p-47);
    p = __builtin_fma(p, x, 0x1.522a43f6548b2p-39);
    p = __builtin_fma(p, x, 0x1.02e85c0898b6fp-31);
    p = __builtin_fma(p, x, 0x1.23456789abcdfp-24);
    p = __builtin_fma(p, x, 0x1.c71c71c71c71cp-18);
    p = __builtin_fma(p, x, 0x1.c71c71c71c71cp-12);
    p = __builtin_fma(p, x, 0x1.0000000000000p-6);
    p = __builtin_fma(p, x, 0x1.0000000000000p-2);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [0.0, 64.0]: relative error 2^-54.93 */
HEDDLE_MATH double heddle_poly_i1_small(double x)
{
    double p = 0x1.a40be3980aa9dp-157;
    p = __builtin_fma(p, x, 0x1.81fefdd800941p-147);
    p = __builtin_fma(p, x, 0x1.20b9ceb2abb47p-136);
    p = __builtin_fma(p, x, 0x1.54372d1e9828ep-126);
    p = __builtin_fma(p, x, 0x1.6a026a3930712p-116);
    p = __builtin_fma(p, x, 0x1.5357a7355d8c6p-106);
    p = __builtin_fma(p, x, 0x1.165e8585a7e91p-96);
    p = __builtin_fma(p, x, 0x1.8bce57d15f751p-87);
    p = __builtin_fma(p, x, 0x1.e2637bfb75e01p-78);
    p = __builtin_fma(p, x, 0x1.f17697ce8ab36p-69);
    p = __builtin_fma(p, x, 0x1.ab81ea7602543p-60);
    p = __builtin_fma(p, x, 0x1.2c9758daf5a52p-51);
    p = __builtin_fma(p, x, 0x1.522a43f654885p-43);
    p = __builtin_fma(p, x, 0x1.27e4fb7789f5cp-35);
    p = __builtin_fma(p, x, 0x1.845c8a0ce5129p-28);
    p = __builtin_fma(p, x, 0x1.6c16c16c16c17p-21);
    p = __builtin_fma(p, x, 0x1.c71c71c71c71cp-15);
    p = __builtin_fma(p, x, 0x1.5555555555555p-9);
    p = __builtin_fma(p, x, 0x1.0000000000000p-4);
    p = __builtin_fma(p, x, 0x1.0000000000000p-1);
    return p;
}

/* on [0.0, 0.125]: relative error 2^-52.22 */
HEDDLE_MATH double heddle_poly_i0_large(double x)
{
    double p = 0x1.de985e80c26e1p+54;
    p = __builtin_fma(p, x, -0x1.443064483cae9p+55);
    p = __builtin_fma(p, x, 0x1.964c81dec531fp+54);
    p = __builtin_fma(p, x, -0x1.387922eb5b04ap+53);
    p = __builtin_fma(p, x, 0x1.4a0a480773f88p+51);
    p = __builtin_fma(p, x, -0x1.fbce3f715eeb9p+48);
    p = __builtin_fma(p, x, 0x1.26a838187aa8bp+46);
    p = __builtin_fma(p, x, -0x1.07a50fe7a6bcdp+43);
    p = __builtin_fma(p, x, 0x1.70d7c440e7cdep+39);
    p = __builtin_fma(p, x, -0x1.96c1db38a9ad8p+35);
    p = __builtin_fma(p, x, 0x1.62ee121c2daf7p+31);
    p = __builtin_fma(p, x, -0x1.ea0614d7a06fbp+26);
    p = __builtin_fma(p, x, 0x1.0a88881f5fa8cp+22);
    p = __builtin_fma(p, x, -0x1.c523399f45493p+16);
    p = __builtin_fma(p, x, 0x1.297fc45c5e599p+11);
    p = __builtin_fma(p, x, -0x1.2187ca3cee5dcp+5);
    p = __builtin_fma(p, x, 0x1.4cbb2cfb59962p-1);
    p = __builtin_fma(p, x, 0x1.651fc19d4a5a7p-4);
    p = __builtin_fma(p, x, 0x1.6eae19f0c3ad4p-5);
    p = __builtin_fma(p, x, 0x1.debacf1d39dfap-6);
    p = __builtin_fma(p, x, 0x1.cb94ddc31a58fp-6);
    p = __builtin_fma(p, x, 0x1.9884533d40a92p-5);
    p = __builtin_fma(p, x, 0x1.9884533d43651p-2);
    return p;
}

/* on [0.0, 0.125]: relative error 2^-51.9 */
HEDDLE_MATH double heddle_poly_i1_large(double x)
{
    double p = -0x1.f23ff1f27dca9p+54;
    p = __builtin_fma(p, x, 0x1.520e382ddc53fp+55);
    p = __builtin_fma(p, x, -0x1.a86b40714efc8p+54);
    p = __builtin_fma(p, x, 0x1.4704830181be5p+53);
    p = __builtin_fma(p, x, -0x1.5a1629b613d4cp+51);
    p = __builtin_fma(p, x, 0x1.0ace3a78f573fp+49);
    p = __builtin_fma(p, x, -0x1.36507da910c2bp+46);
    p = __builtin_fma(p, x, 0x1.164bd720ef623p+43);
    p = __builtin_fma(p, x, -0x1.86472d5cfa3abp+39);
    p = __builtin_fma(p, x, 0x1.af77be8b46957p+35);
    p = __builtin_fma(p, x, -0x1.797437f327007p+31);
    p = __builtin_fma(p, x, 0x1.053caa49e4e85p+27);
    p = __builtin_fma(p, x, -0x1.1cecc330a8900p+22);
    p = __builtin_fma(p, x, 0x1.e5a7867a0f422p+16);
    p = __builtin_fma(p, x, -0x1.3faaec0d78cb2p+11);
    p = __builtin_fma(p, x, 0x1.3768a5420d06cp+5);
    p = __builtin_fma(p, x, -0x1.732154ce153f9p-1);
    p = __builtin_fma(p, x, -0x1.b673c5d3ffe74p-4);
    p = __builtin_fma(p, x, -0x1.d76a43b824017p-5);
    p = __builtin_fma(p, x, -0x1.4f1c683f73040p-5);
    p = __builtin_fma(p, x, -0x1.7efc0e19d248cp-5);
    p = __builtin_fma(p, x, -0x1.32633e6df1cdbp-3);
    p = __builtin_fma(p, x, 0x1.9884533d43650p-2);
    return p;
}

/* on [-0.346574, 0.346574]: relative error 2^-31.81 */
HEDDLE_MATH double heddle_poly_expf(double x)
{
    double p = 0x1.a15169e096556p-13;
    p = __builtin_fma(p, x, 0x1.6d7531eae5468p-10);
    p = __builtin_fma(p, x, 0x1.1110c63a4eed0p-7);
    p = __builtin_fma(p, x, 0x1.5554ace120b86p-5);
    p = __builtin_fma(p, x, 0x1.5555556750672p-3);
    p = __builtin_fma(p, x, 0x1.00000028794dfp-1);
    p = __builtin_fma(p, x, 0x1.0000000000000p+0);
    return p;
}

/* on [0.0, 0.02945]: relative error 2^-45.08 */
HEDDLE_MATH double heddle_poly_logf(double x)
{
    double p = 0x1.91964a6f6a870p-3;
    p = __builtin_fma(p, x, 0x1.c620b4d69d21fp-3);
    p = __builtin_fma(p, x, 0x1.249438c79022ap-2);
    p = __builtin_fma(p, x, 0x1.9999962a792dbp-2);
    p = __builtin_fma(p, x, 0x1.5555555671e8cp-1);
    p = __builtin_fma(p, x, 0x1.fffffffffff12p+0);
    return p;
}

/* on [0.0, 0.61685]: relative error 2^-37.6 */
HEDDLE_MATH double heddle_poly_sinf(double x)
{
    double p = 0x1.6cb7496931eebp-19;
    p = __builtin_fma(p, x, -0x1.a00ee7e5cea35p-13);
    p = __builtin_fma(p, x, 0x1.1111074b326d2p-7);
    p = __builtin_fma(p, x, -0x1.55555549480f4p-3);
    p = __builtin_fma(p, x, 0x1.fffffffff67c3p-1);
    return p;
}

/* on [0.0, 0.61685]: relative error 2^-43.54 */
HEDDLE_MATH double heddle_poly_cosf(double x)
{
    double p = -0x1.23c5c15441a00p-22;
    p = __builtin_fma(p, x, 0x1.a00e9685da9c4p-16);
    p = __builtin_fma(p, x, -0x1.6c16b2d3e61f5p-10);
    p = __builtin_fma(p, x, 0x1.5555554476425p-5);
    p = __builtin_fma(p, x, -0x1.ffffffffe3763p-2);
    p = __builtin_fma(p, x, 0x1.ffffffffffe0bp-1);
    return p;
}

/* on [0.0, 0.02945]: relative error 2^-52.11 */
HEDDLE_MATH double heddle_poly_log2f(double x)
{
    double p = 0x1.f1830525dd956p-3;
    p = __builtin_fma(p, x, 0x1.0bb7d67503306p-2);
    p = __builtin_fma(p, x, 0x1.484fab27d3ee4p-2);
    p = __builtin_fma(p, x, 0x1.a617567b881e5p-2);
    p = __builtin_fma(p, x, 0x1.2776c516a4d66p-1);
    p = __builtin_fma(p, x, 0x1.ec709dc39ca19p-1);
    p = __builtin_fma(p, x, 0x1.71547652b82ffp+1);
    return p;
}

#define HEDDLE_J0_ZERO1_HI 0x1.33d152e971b40p+1
#define HEDDLE_J0_ZERO1_LO -0x1.0f539d7da258ep-53
/* on [-0.404826, 1.59517]: relative error 2^-52.16 */
HEDDLE_MATH double heddle_poly_j0_zero1(double x)
{
    double p = -0x1.d38b21c94987fp-71;
    p = __builtin_fma(p, x, -0x1.1b935dd9b5e5ep-64);
    p = __builtin_fma(p, x, 0x1.41362e4c87c5cp-60);
    p = __builtin_fma(p, x, 0x1.723a43da3e4a1p-56);
    p = __builtin_fma(p, x, -0x1.ba8ba70ddccbcp-52);
    p = __builtin_fma(p, x, -0x1.d22ea4e114d82p-48);
    p = __builtin_fma(p, x, 0x1.f70b055d10b59p-44);
    p = __builtin_fma(p, x, 0x1.cd41cf82f55efp-40);
    p = __builtin_fma(p, x, -0x1.bdc468c6d481fp-36);
    p = __builtin_fma(p, x, -0x1.5c2c38b295c28p-32);
    p = __builtin_fma(p, x, 0x1.2951bd4727a2bp-28);
    p = __builtin_fma(p, x, 0x1.7ff99166c1fcbp-25);
    p = __builtin_fma(p, x, -0x1.1cce302821847p-21);
    p = __builtin_fma(p, x, -0x1.232c77d228ab6p-18);
    p = __builtin_fma(p, x, 0x1.6ed3b9f07eb28p-15);
    p = __builtin_fma(p, x, 0x1.15382ba06cc47p-12);
    p = __builtin_fma(p, x, -0x1.1f992590d12bdp-9);
    p = __builtin_fma(p, x, -0x1.1bb1cbe1a4071p-7);
    p = __builtin_fma(p, x, 0x1.cfae864368d70p-5);
    p = __builtin_fma(p, x, 0x1.ba1deea029494p-4);
    p = __builtin_fma(p, x, -0x1.09cdb36551280p-1);
    return p;
}

#define HEDDLE_J0_ZERO2_HI 0x1.6148f5b2c2e45p+2
#define HEDDLE_J0_ZERO2_LO 0x1.75054cd60a517p-54
/* on [-1.52008, 1.60492]: relative error 2^-54.03 */
HEDDLE_MATH double heddle_poly_j0_zero2(double x)
{
    double p = -0x1.d16c99fef9f34p-74;
    p = __builtin_fma(p, x, 0x1.7affbe4fbab0cp-69);
    p = __builtin_fma(p, x, 0x1.a80361c7eef94p-65);
    p = __builtin_fma(p, x, -0x1.50a44edd08e39p-60);
    p = __builtin_fma(p, x, -0x1.44b49bdc7a583p-56);
    p = __builtin_fma(p, x, 0x1.de685c0f4d41fp-52);
    p = __builtin_fma(p, x, 0x1.911a90be1d111p-48);
    p = __builtin_fma(p, x, -0x1.10477a988ac66p-43);
    p = __builtin_fma(p, x, -0x1.8498ffe4b341ap-40);
    p = __builtin_fma(p, x, 0x1.e2f33899d3f46p-36);
    p = __builtin_fma(p, x, 0x1.1d0433d9a7a83p-32);
    p = __builtin_fma(p, x, -0x1.41d72d9392346p-28);
    p = __builtin_fma(p, x, -0x1.2da37e3843652p-25);
    p = __builtin_fma(p, x, 0x1.32e6d99c6af72p-21);
    p = __builtin_fma(p, x, 0x1.ad77d748a06dcp-19);
    p = __builtin_fma(p, x, -0x1.863f481a43036p-15);
    p = __builtin_fma(p, x, -0x1.6f641f41956f7p-13);
    p = __builtin_fma(p, x, 0x1.27e31fe9a9779p-9);
    p = __builtin_fma(p, x, 0x1.2f7ffe90256bbp-8);
    p = __builtin_fma(p, x, -0x1.b2150cb41e8c1p-5);
    p = __builtin_fma(p, x, -0x1.f8f72e7a848e0p-6);
    p = __builtin_fma(p, x, 0x1.5c6e60a097823p-2);
    return p;
}

#define HEDDLE_J0_ZERO3_HI 0x1.14eb56cccdecap+3
#define HEDDLE_J0_ZERO3_LO -0x1.51970714c7c25p-52
/* on [-1.52873, -0.653728]: relative error 2^-54.01 */
HEDDLE_MATH double heddle_poly_j0_zero3(double x)
{
    double p = 0x1.2b0782a529adbp-43;
    p = __builtin_fma(p, x, 0x1.22bb615001de7p-40);
    p = __builtin_fma(p, x, -0x1.fed210ffec15ep-36);
    p = __builtin_fma(p, x, -0x1.d38edfe491cd4p-33);
    p = __builtin_fma(p, x, 0x1.44c9652e0dbbcp-28);
    p = __builtin_fma(p, x, 0x1.ce817377b13bep-26);
    p = __builtin_fma(p, x, -0x1.30ecc661ed85bp-21);
    p = __builtin_fma(p, x, -0x1.332599d122038p-19);
    p = __builtin_fma(p, x, 0x1.7800add95f5f2p-15);
    p = __builtin_fma(p, x, 0x1.d796008d7b15cp-14);
    p = __builtin_fma(p, x, -0x1.0e0d6049dfca7p-9);
    p = __builtin_fma(p, x, -0x1.48e63606e60b6p-9);
    p = __builtin_fma(p, x, 0x1.68b984ec4d9f1p-5);
    p = __builtin_fma(p, x, 0x1.00f7fcf17d337p-6);
    p = __builtin_fma(p, x, -0x1.15f7977a77347p-2);
    return p;
}

#define HEDDLE_J1_ZERO1_HI 0x1.ea75575af6f09p+1
#define HEDDLE_J1_ZERO1_LO -0x1.60155a9d1b256p-53
/* on [-0.831706, 1.66829]: relative error 2^-55.4 */
HEDDLE_MATH double heddle_poly_j1_zero1(double x)
{
    double p = -0x1.06ed79e9ed39ep-69;
    p = __builtin_fma(p, x, -0x1.985d043cfd323p-65);
    p = __builtin_fma(p, x, 0x1.5f31b28b300a5p-60);
    p = __builtin_fma(p, x, 0x1.220c6ea077ee1p-56);
    p = __builtin_fma(p, x, -0x1.ee84050c5afe7p-52);
    p = __builtin_fma(p, x, -0x1.67cafcefadaf3p-48);
    p = __builtin_fma(p, x, 0x1.17a40e99f7627p-43);
    p = __builtin_fma(p, x, 0x1.5ec84dfff7a87p-40);
    p = __builtin_fma(p, x, -0x1.ec62310c5ff05p-36);
    p = __builtin_fma(p, x, -0x1.03b9e964d7a3bp-32);
    p = __builtin_fma(p, x, 0x1.4569b22afc00dp-28);
    p = __builtin_fma(p, x, 0x1.17069233e8e84p-25);
    p = __builtin_fma(p, x, -0x1.33825cd2e2c0cp-21);
    p = __builtin_fma(p, x, -0x1.9799d4c9f2546p-19);
    p = __builtin_fma(p, x, 0x1.83a06e30c4109p-15);
    p = __builtin_fma(p, x, 0x1.6e4c2d5354224p-13);
    p = __builtin_fma(p, x, -0x1.24b3409959064p-9);
    p = __builtin_fma(p, x, -0x1.537544c331da7p-8);
    p = __builtin_fma(p, x, 0x1.b589d1da13905p-5);
    p = __builtin_fma(p, x, 0x1.ae8a39f51ad04p-5);
    p = __builtin_fma(p, x, -0x1.9c6cf582cbf7fp-2);
    return p;
}

#define HEDDLE_J1_ZERO2_HI 0x1.c0ff5f3b47250p+2
#define HEDDLE_J1_ZERO2_LO -0x1.b226d9d243827p-54
/* on [-1.51559, 0.984413]: relative error 2^-53.37 */
HEDDLE_MATH double heddle_poly_j1_zero2(double x)
{
    double p = 0x1.c572a4992b46fp-69;
    p = __builtin_fma(p, x, 0x1.678d179f5fe5cp-65);
    p = __builtin_fma(p, x, -0x1.5f117475fbcdbp-60);
    p = __builtin_fma(p, x, -0x1.0f3201e8b964fp-56);
    p = __builtin_fma(p, x, 0x1.efbb5f16fa056p-52);
    p = __builtin_fma(p, x, 0x1.4ae3fb53847c1p-48);
    p = __builtin_fma(p, x, -0x1.183edb9a32363p-43);
    p = __builtin_fma(p, x, -0x1.3bb689a2106f2p-40);
    p = __builtin_fma(p, x, 0x1.ecae92e7b6f93p-36);
    p = __builtin_fma(p, x, 0x1.c62ccb4a4bdfbp-33);
    p = __builtin_fma(p, x, -0x1.44639d7eea89bp-28);
    p = __builtin_fma(p, x, -0x1.d48dcdae93049p-26);
    p = __builtin_fma(p, x, 0x1.3026e0ce97ab2p-21);
    p = __builtin_fma(p, x, 0x1.4255b015aded4p-19);
    p = __builtin_fma(p, x, -0x1.796a751f89051p-15);
    p = __builtin_fma(p, x, -0x1.07358bbdbff91p-13);
    p = __builtin_fma(p, x, 0x1.13fbc7d698217p-9);
    p = __builtin_fma(p, x, 0x1.9a4b292e3de42p-9);
    p = __builtin_fma(p, x, -0x1.80c83bdeee5b0p-5);
    p = __builtin_fma(p, x, -0x1.5e70dc60362bfp-6);
    p = __builtin_fma(p, x, 0x1.33518b3874e8ap-2);
    return p;
}

#define HEDDLE_Y0_ZERO1_HI 0x1.c982eb8d417eap-1
#define HEDDLE_Y0_ZERO1_LO 0x1.ea9d270347f83p-56
/* on [-0.293577, 0.606423]: relative error 2^-55.21 */
HEDDLE_MATH double heddle_poly_y0_zero1(double x)
{
    double p = 0x1.6cd3a07714e35p-6;
    p = __builtin_fma(p, x, -0x1.07551f1decac2p-3);
    p = __builtin_fma(p, x, 0x1.59805eaa989fbp-2);
    p = __builtin_fma(p, x, -0x1.12e8286dfb499p-1);
    p = __builtin_fma(p, x, 0x1.3058c93ff1997p-1);
    p = __builtin_fma(p, x, -0x1.0aeb83ef74beap-1);
    p = __builtin_fma(p, x, 0x1.b7f09e37c83c8p-2);
    p = __builtin_fma(p, x, -0x1.86d903f81a8f8p-2);
    p = __builtin_fma(p, x, 0x1.72b97252f04e9p-2);
    p = __builtin_fma(p, x, -0x1.604b8c84cd9bap-2);
    p = __builtin_fma(p, x, 0x1.4a5ed60dcce2dp-2);
    p = __builtin_fma(p, x, -0x1.3533162363c0cp-2);
    p = __builtin_fma(p, x, 0x1.2291bb065fc61p-2);
    p = __builtin_fma(p, x, -0x1.1210d5d4e245cp-2);
    p = __builtin_fma(p, x, 0x1.0347d5bb25ae0p-2);
    p = __builtin_fma(p, x, -0x1.ec382a65b232fp-3);
    p = __builtin_fma(p, x, 0x1.d504c368631e3p-3);
    p = __builtin_fma(p, x, -0x1.c0e08c70de178p-3);
    p = __builtin_fma(p, x, 0x1.afc309d9dba09p-3);
    p = __builtin_fma(p, x, -0x1.a1b6cc143d322p-3);
    p = __builtin_fma(p, x, 0x1.96de9bc82dda0p-3);
    p = __builtin_fma(p, x, -0x1.8f7e336b2593bp-3);
    p = __builtin_fma(p, x, 0x1.8c08d04b21974p-3);
    p = __builtin_fma(p, x, -0x1.8d35b4810ad01p-3);
    p = __builtin_fma(p, x, 0x1.9424b930d31e1p-3);
    p = __builtin_fma(p, x, -0x1.a396a8059fc8bp-3);
    p = __builtin_fma(p, x, 0x1.c068086c296dap-3);
    p = __builtin_fma(p, x, -0x1.cf18e6a4b3881p-3);
    p = __builtin_fma(p, x, 0x1.c3b1338af3e97p-3);
    p = __builtin_fma(p, x, -0x1.f7e38a46d7102p-2);
    p = __builtin_fma(p, x, 0x1.c24371844b88ap-1);
    return p;
}

#define HEDDLE_Y0_ZERO2_HI 0x1.fa9534d98569cp+1
#define HEDDLE_Y0_ZERO2_LO -0x1.f06ae7804384ep-54
/* on [-1.45768, 1.54232]: relative error 2^-54.05 */
HEDDLE_MATH double heddle_poly_y0_zero2(double x)
{
    double p = 0x1.eae23bd320b3fp-59;
    p = __builtin_fma(p, x, -0x1.4191a930c9684p-56);
    p = __builtin_fma(p, x, 0x1.a9b6a46246adfp-56);
    p = __builtin_fma(p, x, -0x1.8833ae5e4a9f9p-55);
    p = __builtin_fma(p, x, 0x1.1b73207fc9f55p-51);
    p = __builtin_fma(p, x, -0x1.5343ff8a82f1ap-49);
    p = __builtin_fma(p, x, 0x1.336d77f2ced8fp-47);
    p = __builtin_fma(p, x, -0x1.344805e7f1b87p-45);
    p = __builtin_fma(p, x, 0x1.470e69809a64fp-43);
    p = __builtin_fma(p, x, -0x1.560e14a192751p-41);
    p = __builtin_fma(p, x, 0x1.64524678dbcaep-39);
    p = __builtin_fma(p, x, -0x1.7523ec543e3dep-37);
    p = __builtin_fma(p, x, 0x1.88acb26e2ed32p-35);
    p = __builtin_fma(p, x, -0x1.994f338c95d4fp-33);
    p = __builtin_fma(p, x, 0x1.a5a208e92460fp-31);
    p = __builtin_fma(p, x, -0x1.f693817113f9ep-29);
    p = __builtin_fma(p, x, 0x1.452e9fb09c8fep-26);
    p = __builtin_fma(p, x, -0x1.777058c3ae429p-26);
    p = __builtin_fma(p, x, -0x1.3b21683eb7ee0p-22);
    p = __builtin_fma(p, x, -0x1.486371e694056p-18);
    p = __builtin_fma(p, x, 0x1.ab2c1fecdc489p-15);
    p = __builtin_fma(p, x, 0x1.9982765166121p-13);
    p = __builtin_fma(p, x, -0x1.1e32bc4ef8a3cp-9);
    p = __builtin_fma(p, x, -0x1.c116fdc598096p-8);
    p = __builtin_fma(p, x, 0x1.df6d59bf50ebdp-5);
    p = __builtin_fma(p, x, 0x1.a09c9290367efp-5);
    p = __builtin_fma(p, x, -0x1.9c34256a12a0cp-2);
    return p;
}

#define HEDDLE_Y0_ZERO3_HI 0x1.c581dc4e72103p+2
#define HEDDLE_Y0_ZERO3_LO -0x1.9774a495f56cfp-54
/* on [-1.58605, 0.913949]: relative error 2^-52.96 */
HEDDLE_MATH double heddle_poly_y0_zero3(double x)
{
    double p = 0x1.2cf6e0d82cc8ap-63;
    p = __builtin_fma(p, x, 0x1.a3da6399f313fp-69);
    p = __builtin_fma(p, x, 0x1.3c37d6fdf04afp-60);
    p = __builtin_fma(p, x, -0x1.32f8c37f6c378p-55);
    p = __builtin_fma(p, x, 0x1.3843e6794f5f0p-51);
    p = __builtin_fma(p, x, 0x1.3373bb1f0e855p-48);
    p = __builtin_fma(p, x, -0x1.0678c43a9318bp-43);
    p = __builtin_fma(p, x, -0x1.714c2a3ee5331p-40);
    p = __builtin_fma(p, x, 0x1.f14e53a16e190p-36);
    p = __builtin_fma(p, x, 0x1.fa6c50866940ap-33);
    p = __builtin_fma(p, x, -0x1.442a3d3261f70p-28);
    p = __builtin_fma(p, x, -0x1.0a2814d7a073ap-25);
    p = __builtin_fma(p, x, 0x1.34aa7573ee806p-21);
    p = __builtin_fma(p, x, 0x1.6a9227352f868p-19);
    p = __builtin_fma(p, x, -0x1.8177e4fe5231ep-15);
    p = __builtin_fma(p, x, -0x1.26dd71e391c8ap-13);
    p = __builtin_fma(p, x, 0x1.1d35e85fde2a3p-9);
    p = __builtin_fma(p, x, 0x1.b2f14a95527cbp-9);
    p = __builtin_fma(p, x, -0x1.8969c64cbf452p-5);
    p = __builtin_fma(p, x, -0x1.5aef611fc4d57p-6);
    p = __builtin_fma(p, x, 0x1.334cca0697a5bp-2);
    return p;
}

/* on [-0.5, 0.5]: relative error 2^-53.3 */
HEDDLE_MATH double heddle_poly_y0_middle(double x)
{
    double p = -0x1.392557f57cd05p-29;
    p = __builtin_fma(p, x, 0x1.464003ae3557ep-28);
    p = __builtin_fma(p, x, -0x1.b4585c3f5d49dp-28);
    p = __builtin_fma(p, x, 0x1.c93093f0222d6p-27);
    p = __builtin_fma(p, x, -0x1.051371bf4fd49p-25);
    p = __builtin_fma(p, x, 0x1.129b774fdd728p-24);
    p = __builtin_fma(p, x, -0x1.1f8387e2d6384p-23);
    p = __builtin_fma(p, x, 0x1.302335f88095ep-22);
    p = __builtin_fma(p, x, -0x1.42e87978c1f63p-21);
    p = __builtin_fma(p, x, 0x1.57f29e8445e15p-20);
    p = __builtin_fma(p, x, -0x1.6fdccd336783fp-19);
    p = __builtin_fma(p, x, 0x1.8b47e375ba392p-18);
    p = __builtin_fma(p, x, -0x1.aafd314e401f3p-17);
    p = __builtin_fma(p, x, 0x1.d01e6f6e69143p-16);
    p = __builtin_fma(p, x, -0x1.fc78b699222acp-15);
    p = __builtin_fma(p, x, 0x1.17c1b34b8f5bdp-13);
    p = __builtin_fma(p, x, -0x1.317f42465e509p-12);
    p = __builtin_fma(p, x, 0x1.68bad9c77ade5p-11);
    p = __builtin_fma(p, x, -0x1.fc6550b76ed4cp-10);
    p = __builtin_fma(p, x, 0x1.6e6a04c4f54ffp-9);
    p = __builtin_fma(p, x, 0x1.a57be2ff6cc72p-8);
    p = __builtin_fma(p, x, 0x1.1359572455505p-5);
    p = __builtin_fma(p, x, -0x1.20b670067d2f1p-2);
    p = __builtin_fma(p, x, 0x1.b667a39146647p-4);
    p = __builtin_fma(p, x, 0x1.054ff5cd68c8dp-1);
    return p;
}

#define HEDDLE_Y1_ZERO1_HI 0x1.193bed4dff243p+1
#define HEDDLE_Y1_ZERO1_LO -0x1.bd1e50d219bfdp-55
/* on [-0.697141, 1.80286]: relative error 2^-53.5 */
HEDDLE_MATH double heddle_poly_y1_zero1(double x)
{
    double p = 0x1.a66dea31eacb5p-48;
    p = __builtin_fma(p, x, -0x1.0dd71ed506730p-43);
    p = __builtin_fma(p, x, 0x1.3f205e5943bccp-40);
    p = __builtin_fma(p, x, -0x1.d07460b4999abp-38);
    p = __builtin_fma(p, x, 0x1.d42a319809a53p-36);
    p = __builtin_fma(p, x, -0x1.5fed71040216cp-34);
    p = __builtin_fma(p, x, 0x1.a7255be913e5cp-33);
    p = __builtin_fma(p, x, -0x1.bd445add95b2bp-32);
    p = __builtin_fma(p, x, 0x1.c8398281aedf3p-31);
    p = __builtin_fma(p, x, -0x1.e72157f63b2fdp-30);
    p = __builtin_fma(p, x, 0x1.0d1e717f45e34p-28);
    p = __builtin_fma(p, x, -0x1.2a4904c4c934bp-27);
    p = __builtin_fma(p, x, 0x1.483b7e3b575adp-26);
    p = __builtin_fma(p, x, -0x1.6808e79e95645p-25);
    p = __builtin_fma(p, x, 0x1.8b05515fadcb1p-24);
    p = __builtin_fma(p, x, -0x1.b199b3dae91f1p-23);
    p = __builtin_fma(p, x, 0x1.dbe9a1937c5c3p-22);
    p = __builtin_fma(p, x, -0x1.051d6053f4a55p-20);
    p = __builtin_fma(p, x, 0x1.1e7440c863f92p-19);
    p = __builtin_fma(p, x, -0x1.3a27ef0f16cbep-18);
    p = __builtin_fma(p, x, 0x1.5865cf935954cp-17);
    p = __builtin_fma(p, x, -0x1.7956ad437de84p-16);
    p = __builtin_fma(p, x, 0x1.9d174cad8bbf2p-15);
    p = __builtin_fma(p, x, -0x1.c3fae3b186c5ap-14);
    p = __builtin_fma(p, x, 0x1.eea7bbb89bc9dp-13);
    p = __builtin_fma(p, x, -0x1.0b2d877d55d99p-11);
    p = __builtin_fma(p, x, 0x1.17ab4afac13a2p-10);
    p = __builtin_fma(p, x, -0x1.5429dc5a4572dp-9);
    p = __builtin_fma(p, x, 0x1.e671c7d1196e5p-8);
    p = __builtin_fma(p, x, -0x1.3a6dec37290a7p-8);
    p = __builtin_fma(p, x, -0x1.0d2af4e932386p-5);
    p = __builtin_fma(p, x, -0x1.e56f82217b8f1p-4);
    p = __builtin_fma(p, x, 0x1.0aa48442f014bp-1);
    return p;
}

#define HEDDLE_Y1_ZERO2_HI 0x1.5b7fe4e87b02ep+2
#define HEDDLE_Y1_ZERO2_LO 0x1.dfe7bac228e8cp-52
/* on [-1.42968, 1.57032]: relative error 2^-53.62 */
HEDDLE_MATH double heddle_poly_y1_zero2(double x)
{
    double p = 0x1.0e6fa07802b1cp-64;
    p = __builtin_fma(p, x, -0x1.e543452d412b2p-62);
    p = __builtin_fma(p, x, 0x1.bcbd7a0c57789p-60);
    p = __builtin_fma(p, x, -0x1.fd6f6d711726fp-58);
    p = __builtin_fma(p, x, 0x1.7d8197fdb3880p-55);
    p = __builtin_fma(p, x, -0x1.0a0a3a1419306p-52);
    p = __builtin_fma(p, x, 0x1.6453fb64d5504p-50);
    p = __builtin_fma(p, x, -0x1.de68555b0a14cp-48);
    p = __builtin_fma(p, x, 0x1.402120d61dd89p-45);
    p = __builtin_fma(p, x, -0x1.c01458c7b6f12p-43);
    p = __builtin_fma(p, x, 0x1.49812f1ba8afep-40);
    p = __builtin_fma(p, x, -0x1.384743d095d26p-38);
    p = __builtin_fma(p, x, 0x1.40657e3c107fep-39);
    p = __builtin_fma(p, x, -0x1.a7ee06018ae90p-32);
    p = __builtin_fma(p, x, 0x1.80b1aac5b5740p-28);
    p = __builtin_fma(p, x, 0x1.b62cd020acfa7p-26);
    p = __builtin_fma(p, x, -0x1.255e6cf711351p-21);
    p = __builtin_fma(p, x, -0x1.80619147b7dd6p-19);
    p = __builtin_fma(p, x, 0x1.85b940eb60835p-15);
    p = __builtin_fma(p, x, 0x1.337c7e138f487p-13);
    p = __builtin_fma(p, x, -0x1.1be6db9923acfp-9);
    p = __builtin_fma(p, x, -0x1.10a329e2c23fap-8);
    p = __builtin_fma(p, x, 0x1.a15d92dfe3e27p-5);
    p = __builtin_fma(p, x, 0x1.00b9f8571ca1fp-5);
    p = __builtin_fma(p, x, -0x1.5c7c556f0c19ap-2);
    return p;
}

#define HEDDLE_Y1_ZERO3_HI 0x1.13127ae6169b4p+3
#define HEDDLE_Y1_ZERO3_LO 0x1.479cc068d9046p-52
/* on [-1.59601, -0.596006]: relative error 2^-53.94 */
HEDDLE_MATH double heddle_poly_y1_zero3(double x)
{
    double p = -0x1.10bbae72be9aep-43;
    p = __builtin_fma(p, x, -0x1.d59d1033c91a2p-41);
    p = __builtin_fma(p, x, 0x1.02d7943eedd71p-35);
    p = __builtin_fma(p, x, 0x1.aa578f57390d0p-33);
    p = __builtin_fma(p, x, -0x1.40ec78fb6c5a5p-28);
    p = __builtin_fma(p, x, -0x1.a30f1702f6e50p-26);
    p = __builtin_fma(p, x, 0x1.2bf1e236bc3dep-21);
    p = __builtin_fma(p, x, 0x1.176fd6e32e1c6p-19);
    p = __builtin_fma(p, x, -0x1.6f7b98c9e7695p-15);
    p = __builtin_fma(p, x, -0x1.b50d78686e4d3p-14);
    p = __builtin_fma(p, x, 0x1.07a678eb52bf4p-9);
    p = __builtin_fma(p, x, 0x1.3ced2a35a1137p-9);
    p = __builtin_fma(p, x, -0x1.6395dfe485081p-5);
    p = __builtin_fma(p, x, -0x1.02b3933cea815p-6);
    p = __builtin_fma(p, x, 0x1.15f993fceabdcp-2);
    return p;
}

#endif
