/* See dense.h. */
#include "libraries/blas/dense.h"

#include <complex.h>
#include <math.h>

#define T            float
#define NAME(f)      s_##f
#define CONJ(x)      (x)
#define FMA(a, b, c) fmaf(a, b, c)
#include "libraries/blas/dense_type.h"

#define T            double
#define NAME(f)      d_##f
#define CONJ(x)      (x)
#define FMA(a, b, c) fma(a, b, c)
#include "libraries/blas/dense_type.h"

#define T            float _Complex
#define NAME(f)      c_##f
#define CONJ(x)      conjf(x)
#define FMA(a, b, c) ((a) * (b) + (c))
#include "libraries/blas/dense_type.h"

#define T            double _Complex
#define NAME(f)      z_##f
#define CONJ(x)      conj(x)
#define FMA(a, b, c) ((a) * (b) + (c))
#include "libraries/blas/dense_type.h"

const struct dense dense[4] = {{s_geam, s_dgmm}, {d_geam, d_dgmm}, {c_geam, c_dgmm}, {z_geam, z_dgmm}};
