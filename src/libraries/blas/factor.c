/* See factor.h. */
#include "libraries/blas/factor.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>

#define T       float
#define R       float
#define NAME(f) s_##f
#define REAL(x) (x)
#define IMAG(x) ((R)0)
#define CONJ(x) (x)
#define SIZE(x) fabsf(x)
#include "libraries/blas/factor_type.h"

#define T       double
#define R       double
#define NAME(f) d_##f
#define REAL(x) (x)
#define IMAG(x) ((R)0)
#define CONJ(x) (x)
#define SIZE(x) fabs(x)
#include "libraries/blas/factor_type.h"

#define T       float _Complex
#define R       float
#define NAME(f) c_##f
#define REAL(x) crealf(x)
#define IMAG(x) cimagf(x)
#define CONJ(x) conjf(x)
#define SIZE(x) cabsf(x)
#include "libraries/blas/factor_type.h"

#define T       double _Complex
#define R       double
#define NAME(f) z_##f
#define REAL(x) creal(x)
#define IMAG(x) cimag(x)
#define CONJ(x) conj(x)
#define SIZE(x) cabs(x)
#include "libraries/blas/factor_type.h"

#define ALL(p) {p##_lu, p##_solve, p##_invert, p##_qr, p##_least_squares}
const struct factor factor[4] = {ALL(s), ALL(d), ALL(c), ALL(z)};
