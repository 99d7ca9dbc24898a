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
#include "libraries/openblas/lapack.def"
#undef BLAS
#undef BLAS_REAL
#undef BLAS_COMPLEX

const struct openblas heddle_openblas = {
#define BLAS(family, s, d, c, z, parameters)   .family = {s##_, d##_, c##_, z##_},
#define BLAS_REAL(family, s, d, parameters)    .family = {s##_, d##_},
#define BLAS_COMPLEX(family, c, z, parameters) .family = {[PRECISION_C] = c##_, z##_},
#include "libraries/openblas/openblas.def"
#include "libraries/openblas/lapack.def"
};

/* All that LAPACK wants of Fortran's runtime library, which is not linked for it: a text that is
 * two texts, cut off or filled with spaces. */
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length,
                             const char *b);
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length, const char *b)
{
    for (size_t i = 0; i < to_length; i++)
        to[i] = i < a_length ? a[i] : i - a_length < b_length ? b[i - a_length] : ' ';
}
