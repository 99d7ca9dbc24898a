/* OpenBLAS for the drop-ins of CUDA's libraries: a table of its routines in a shared object of its
 * own (libheddle-openblas.so). It is linked statically into that and hidden, so that it does not
 * clash with a program's BLAS. It is the build without threads: pieces of a large call run by
 * library_parallel(), and results do not depend on the number of threads.
 */
#ifndef HEDDLE_LIBRARIES_OPENBLAS_H
#define HEDDLE_LIBRARIES_OPENBLAS_H

#include <stddef.h>

enum precision { PRECISION_S, PRECISION_D, PRECISION_C, PRECISION_Z };

#define FULL_TRIANGLE                                                                                                  \
    (const char *uplo, const char *trans, const char *diag, const int *n, const void *a, const int *lda, void *x,      \
     const int *incx)
#define BAND_TRIANGLE                                                                                                  \
    (const char *uplo, const char *trans, const char *diag, const int *n, const int *k, const void *a, const int *lda, \
     void *x, const int *incx)
#define PACKED_TRIANGLE                                                                                                \
    (const char *uplo, const char *trans, const char *diag, const int *n, const void *ap, void *x, const int *incx)
#define SYMMETRIC_VECTOR                                                                                               \
    (const char *uplo, const int *n, const void *alpha, const void *a, const int *lda, const void *x, const int *incx, \
     const void *beta, void *y, const int *incy)
#define BAND_VECTOR                                                                                                    \
    (const char *uplo, const int *n, const int *k, const void *alpha, const void *a, const int *lda, const void *x,    \
     const int *incx, const void *beta, void *y, const int *incy)
#define PACKED_VECTOR                                                                                                  \
    (const char *uplo, const int *n, const void *alpha, const void *ap, const void *x, const int *incx,                \
     const void *beta, void *y, const int *incy)
#define RANK_ONE                                                                                                       \
    (const int *m, const int *n, const void *alpha, const void *x, const int *incx, const void *y, const int *incy,    \
     void *a, const int *lda)
#define SYMMETRIC_RANK_ONE                                                                                             \
    (const char *uplo, const int *n, const void *alpha, const void *x, const int *incx, void *a, const int *lda)
#define PACKED_RANK_ONE (const char *uplo, const int *n, const void *alpha, const void *x, const int *incx, void *ap)
#define SYMMETRIC_RANK_TWO                                                                                             \
    (const char *uplo, const int *n, const void *alpha, const void *x, const int *incx, const void *y,                 \
     const int *incy, void *a, const int *lda)
#define PACKED_RANK_TWO                                                                                                \
    (const char *uplo, const int *n, const void *alpha, const void *x, const int *incx, const void *y,                 \
     const int *incy, void *ap)
#define SYMMETRIC_PRODUCT                                                                                              \
    (const char *side, const char *uplo, const int *m, const int *n, const void *alpha, const void *a, const int *lda, \
     const void *b, const int *ldb, const void *beta, void *c, const int *ldc)
#define RANK_K                                                                                                         \
    (const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, const void *a,                \
     const int *lda, const void *beta, void *c, const int *ldc)
#define RANK_2K                                                                                                        \
    (const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, const void *a,                \
     const int *lda, const void *b, const int *ldb, const void *beta, void *c, const int *ldc)
#define TRIANGLE_PRODUCT                                                                                               \
    (const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,              \
     const void *alpha, const void *a, const int *lda, void *b, const int *ldb)

/* By enum precision. */
struct openblas {
#define BLAS(family, s, d, c, z, parameters)   void(*family[4]) parameters;
#define BLAS_REAL(family, s, d, parameters)    void(*family[2]) parameters;
#define BLAS_COMPLEX(family, c, z, parameters) void(*family[4]) parameters;
#include "libraries/openblas/openblas.def"
#include "libraries/openblas/lapack.def"
#undef BLAS
#undef BLAS_REAL
#undef BLAS_COMPLEX
};

__attribute__((visibility("default"))) extern const struct openblas heddle_openblas;

#endif
