/* Products of matrices on plain addresses: D = f(alpha * op(A) * op(B) + beta * C), of any types
 * ("cuBLAS Library", 2.8.12 and 3.4.25). Float, double and complex matrices go to OpenBLAS as they
 * are. All else is widened, multiplied there and narrowed: halves and 8-bit floats in float,
 * integers in double, which holds every sum of products that a 32-bit integer's low half comes
 * from.
 */
#ifndef HEDDLE_LIBRARIES_PRODUCT_H
#define HEDDLE_LIBRARIES_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/cublasLt.h"

#include "libraries/blas/elements.h"

/* `order`: which neighbours are neighbours in memory; `ld` as the order means it. */
struct matrix {
    const void *at;
    int64_t ld;
    cudaDataType type;
    cublasLtOrder_t order;
};

/* Where an element is, in elements from the first. */
int64_t matrix_offset(const struct matrix *m, int64_t row, int64_t column);
/* A column, widened or narrowed: `rows` elements from `row` on. */
void matrix_read(enum precision p, void *to, const struct matrix *m, int64_t row, int64_t column, int64_t rows);
void matrix_write(enum precision p, const void *from, const struct matrix *m, int64_t row, int64_t column,
                  int64_t rows);

/* The first of two columns becomes scale * itself + the other; it is not read where the scale is 0. */
void matrix_add(enum precision p, int64_t rows, const void *scale, struct matrix *to, const struct matrix *added);

struct product;
/* What happens to a column of the result, as floats or doubles, before it is narrowed and stored
 * (cublasLt's epilogues); piece by piece, in no order, on several threads. */
typedef void product_finish(const struct product *p, int64_t column, void *values);

struct product {
    cublasOperation_t ta, tb;
    int64_t m, n, k;
    enum precision precision; /* of the sum; D for integers */
    bool integers;            /* alpha, beta, C and D are 32-bit integers, which wrap */
    bool c_conjugate, c_transposed;
    cudaDataType through;     /* floats are rounded to this type first: CUDA_R_32F is none */
    bool tf32;                /* or to tf32 */
    bool half_sum;            /* the sum is rounded to a half before alpha takes it */
    const void *alpha, *beta; /* of the precision, or int32_t */
    const float *row_alpha;   /* one for each row, beside alpha; or NULL */
    struct matrix a, b, c, d; /* c.at may be d.at */
    product_finish *finish;   /* or NULL */
    const void *finish_data;
};

/* Whether an H200's cuBLAS has a product of matrices of bytes that is summed up in integers. */
static inline bool product_of_bytes_exists(bool ta, bool tb, int64_t m, int64_t n)
{
    if (m < 32 || (ta && !tb))
        return true;
    return tb ? n % 8 == 0 && (!ta || m % 32 == 0) : n <= 16 || n % 32 == 0;
}

/* False: no memory for what is widened. */
bool product_run(const struct product *p);

#endif
