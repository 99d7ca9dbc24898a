/* See openblas.h. */
#include "libraries/openblas/openblas.h"

/* Fortran's names end in an underscore. */
#define BLAS_REAL(family, s, d, parameters)                                                                            \
    void s##_ parameters;                                                                                              \
    void d##_ parameters;
#define BLAS_COMPLEX(family, c, z, parameters) BLAS_REAL(family, c, z, parameters)
#define BLAS(family, s, d, c, z, parameters)                                                                           \
    BLAS_REAL(family, s, d, parameters)                                                                                \
    BLAS_REAL(family, c, z, parameters)
#include "libraries/openblas/openblas.def"
#undef BLAS
#undef BLAS_REAL
#undef BLAS_COMPLEX

const struct openblas heddle_openblas = {
#define BLAS(family, s, d, c, z, parameters)   .family = {s##_, d##_, c##_, z##_},
#define BLAS_REAL(family, s, d, parameters)    .family = {s##_, d##_},
#define BLAS_COMPLEX(family, c, z, parameters) .family = {[PRECISION_C] = c##_, z##_},
#include "libraries/openblas/openblas.def"
};
