/* See level1.h. */
#include "libraries/blas/level1.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#undef I

#define T            float
#define FMA(a, b, c) fmaf(a, b, c)
#define ROT(c, a, b) fmaf(c, a, b)
#define R            float
#define LEAST        FLT_MIN
#define COMPLEX      0
#define NAME(f)      s_##f
#define ABS(x)       fabsf(x)
#define REAL(x)      (x)
#define IMAG(x)      ((R)0)
#define CONJ(x)      (x)
#include "libraries/blas/level1_type.h"

#define T            double
#define FMA(a, b, c) fma(a, b, c)
#define ROT(c, a, b) fma(c, a, b)
#define R            double
#define LEAST        DBL_MIN
#define COMPLEX      0
#define NAME(f)      d_##f
#define ABS(x)       fabs(x)
#define REAL(x)      (x)
#define IMAG(x)      ((R)0)
#define CONJ(x)      (x)
#include "libraries/blas/level1_type.h"

#define T            float _Complex
#define FMA(a, b, c) ((a) * (b) + (c))
#define ROT(c, a, b) ((c) * (a) + (b))
#define R            float
#define LEAST        FLT_MIN
#define COMPLEX      1
#define NAME(f)      c_##f
#define ABS(x)       fabsf(x)
#define REAL(x)      crealf(x)
#define IMAG(x)      cimagf(x)
#define CONJ(x)      conjf(x)
#include "libraries/blas/level1_type.h"

#define T            double _Complex
#define FMA(a, b, c) ((a) * (b) + (c))
#define ROT(c, a, b) ((c) * (a) + (b))
#define R            double
#define LEAST        DBL_MIN
#define COMPLEX      1
#define NAME(f)      z_##f
#define ABS(x)       fabs(x)
#define REAL(x)      creal(x)
#define IMAG(x)      cimag(x)
#define CONJ(x)      conj(x)
#include "libraries/blas/level1_type.h"

#define ALL(p)                                                                                                         \
    .axpy = p##_axpy, .copy = p##_copy, .swap = p##_swap, .scal = p##_scal, .dot = p##_dot, .asum = p##_asum,          \
    .nrm2 = p##_nrm2, .iamax = p##_iamax, .iamin = p##_iamin, .rot = p##_rot
const struct level1 level1[4] = {
    {ALL(s), .rotm = s_rotm, .rotmg = s_rotmg}, {ALL(d), .rotm = d_rotm, .rotmg = d_rotmg}, {ALL(c)}, {ALL(z)}};

void level1_rotg(int precision, void *a, void *b, void *c, void *s)
{
    switch (precision) {
    case 0: s_rotg(a, b, c, s); break;
    case 1: d_rotg(a, b, c, s); break;
    case 2: c_rotg(a, b, c, s); break;
    case 3: z_rotg(a, b, c, s); break;
    }
}
