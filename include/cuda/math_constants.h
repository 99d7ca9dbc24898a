/* Constants for device code: CUDA Math API, <math_constants.h>. */
#ifndef __MATH_CONSTANTS_H__
#define __MATH_CONSTANTS_H__

/* single precision */
#define CUDART_INF_F            __builtin_inff()
#define CUDART_NAN_F            __builtin_nanf("")
#define CUDART_MIN_DENORM_F     0x1p-149f
#define CUDART_MAX_NORMAL_F     0x1.fffffep127f
#define CUDART_NEG_ZERO_F       (-0.0f)
#define CUDART_ZERO_F           0.0f
#define CUDART_ONE_F            1.0f
#define CUDART_SQRT_HALF_F      0.707106781186547524f
#define CUDART_SQRT_HALF_HI_F   0x1.6a09e6p-1f
#define CUDART_SQRT_HALF_LO_F   0x1.9fcef4p-27f
#define CUDART_SQRT_TWO_F       1.41421356237309505f
#define CUDART_THIRD_F          0.333333333333333333f
#define CUDART_PIO4_F           0.785398163397448310f
#define CUDART_PIO2_F           1.57079632679489662f
#define CUDART_3PIO4_F          2.35619449019234493f
#define CUDART_2_OVER_PI_F      0.636619772367581343f
#define CUDART_SQRT_2_OVER_PI_F 0.797884560802865356f
#define CUDART_PI_F             3.14159265358979324f
#define CUDART_L2E_F            1.44269504088896341f
#define CUDART_L2T_F            3.32192809488736235f
#define CUDART_LG2_F            0.301029995663981195f
#define CUDART_LGE_F            0.434294481903251828f
#define CUDART_LN2_F            0.693147180559945309f
#define CUDART_LNT_F            2.30258509299404568f
#define CUDART_LNPI_F           1.14472988584940017f
#define CUDART_TWO_TO_M126_F    0x1p-126f
#define CUDART_TWO_TO_126_F     0x1p126f
#define CUDART_NORM_HUGE_F      0x1.fffffep127f
#define CUDART_TWO_TO_23_F      0x1p23f
#define CUDART_TWO_TO_24_F      0x1p24f
#define CUDART_TWO_TO_31_F      0x1p31f
#define CUDART_TWO_TO_32_F      0x1p32f

/* double precision */
#define CUDART_INF            __builtin_inf()
#define CUDART_NAN            __builtin_nan("")
#define CUDART_NEG_ZERO       (-0.0)
#define CUDART_MIN_DENORM     0x1p-1074
#define CUDART_ZERO           0.0
#define CUDART_ONE            1.0
#define CUDART_SQRT_TWO       1.4142135623730951
#define CUDART_SQRT_HALF      0.70710678118654757
#define CUDART_THIRD          0.33333333333333333
#define CUDART_TWOTHIRD       0.66666666666666667
#define CUDART_PIO4           0.78539816339744828
#define CUDART_PIO2           1.5707963267948966
#define CUDART_3PIO4          2.3561944901923448
#define CUDART_2_OVER_PI      0.63661977236758138
#define CUDART_PI             3.1415926535897931
#define CUDART_SQRT_2_OVER_PI 0.79788456080286536
#define CUDART_SQRT_2PI       2.5066282746310007
#define CUDART_SQRT_PIO2      1.2533141373155003
#define CUDART_LG2            0.30102999566398120
#define CUDART_LGE            0.43429448190325182
#define CUDART_LNPI           1.1447298858494002
#define CUDART_LN2            0.69314718055994529
#define CUDART_LNT            2.3025850929940459
#define CUDART_L2E            1.4426950408889634
#define CUDART_L2T            3.3219280948873622
#define CUDART_LN2_X_1024     709.78271289338397
#define CUDART_LN2_X_1025     710.47586007394398
#define CUDART_LN2_X_1075     745.13321910194122
#define CUDART_LG2_X_1024     308.25471555991669
#define CUDART_LG2_X_1075     323.60724533877976
#define CUDART_TWO_TO_23      0x1p23
#define CUDART_TWO_TO_52      0x1p52
#define CUDART_TWO_TO_53      0x1p53
#define CUDART_TWO_TO_54      0x1p54
#define CUDART_TWO_TO_M54     0x1p-54
#define CUDART_TWO_TO_M1022   0x1p-1022

/* a constant as the double next to it, and the rest */
#define CUDART_L2E_HI       0x1.71547652b82fep+0
#define CUDART_L2E_LO       0x1.777d0ffda0d24p-56
#define CUDART_LG2_HI       0x1.34413509f79ffp-2
#define CUDART_LG2_LO       (-0x1.9dc1da994fd21p-59)
#define CUDART_LGE_HI       0x1.bcb7b1526e50ep-2
#define CUDART_LGE_LO       0x1.95355baaafad3p-57
#define CUDART_LN2_HI       0x1.62e42fefa39efp-1
#define CUDART_LN2_LO       0x1.abc9e3b39803fp-56
#define CUDART_LNT_HI       0x1.26bb1bbb55516p+1
#define CUDART_LNT_LO       (-0x1.f48ad494ea3e9p-53)
#define CUDART_PIO2_HI      0x1.921fb54442d18p+0
#define CUDART_PIO2_LO      0x1.1a62633145c07p-54
#define CUDART_PIO4_HI      0x1.921fb54442d18p-1
#define CUDART_PIO4_LO      0x1.1a62633145c07p-55
#define CUDART_PI_HI        0x1.921fb54442d18p+1
#define CUDART_PI_LO        0x1.1a62633145c07p-53
#define CUDART_SQRT_2PI_HI  0x1.40d931ff62706p+1
#define CUDART_SQRT_2PI_LO  (-0x1.a6a0d6f814637p-53)
#define CUDART_SQRT_HALF_HI 0x1.6a09e667f3bcdp-1
#define CUDART_SQRT_HALF_LO (-0x1.bdd3413b26456p-55)
#define CUDART_SQRT_PIO2_HI 0x1.40d931ff62706p+0
#define CUDART_SQRT_PIO2_LO (-0x1.a6a0d6f814637p-54)
#define CUDART_SQRT_2OPI    0x1.9884533d43651p-1

#endif
