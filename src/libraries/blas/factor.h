/* Factorizations of small matrices on plain addresses, by enum precision, with the pivots, states
 * and signs of cuBLAS's batched functions. For small sizes only: cuSOLVER uses LAPACK. */
#ifndef HEDDLE_LIBRARIES_FACTOR_H
#define HEDDLE_LIBRARIES_FACTOR_H

#include <stdint.h>

struct factor {
    int (*lu)(int64_t n, void *a, int64_t lda, int *pivots);
    void (*solve)(int trans, int64_t n, int64_t columns, const void *lu, int64_t lda, const int *pivots, void *b,
                  int64_t ldb);
    int (*invert)(int64_t n, const void *lu, int64_t lda, const int *pivots, void *inverse, int64_t ldc);
    void (*qr)(int64_t m, int64_t n, void *a, int64_t lda, void *taus);
    int (*least_squares)(int64_t m, int64_t n, int64_t columns, void *a, int64_t lda, void *b, int64_t ldb, void *taus);
};

extern const struct factor factor[4];

#endif
