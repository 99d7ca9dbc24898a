/* Sums and scalings of matrices on plain addresses, by enum precision. Operations: 0: none; 1:
 * transposed; 2: transposed and conjugated. */
#ifndef HEDDLE_LIBRARIES_DENSE_H
#define HEDDLE_LIBRARIES_DENSE_H

#include <stdbool.h>
#include <stdint.h>

struct dense {
    void (*geam)(int ta, int tb, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, const void *beta,
                 const void *b, int64_t ldb, void *c, int64_t ldc);
    /* Multiplies the rows, or the columns, of A by the elements of x. */
    void (*dgmm)(bool rows, int64_t m, int64_t n, const void *a, int64_t lda, const void *x, int64_t incx, void *c,
                 int64_t ldc);
};

extern const struct dense dense[4];

#endif
