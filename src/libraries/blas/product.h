/* Matrix products on plain addresses: D = f(alpha * op(A) * op(B) + beta * C), for any types
 * ("cuBLAS Library", 2.8.12 and 3.4.25). Float, double and complex matrices go to OpenBLAS
 * directly. Other types are widened, multiplied there, and narrowed: halves and 8-bit floats as
 * floats, integers as doubles, which hold every sum of products whose low 32 bits are needed.
 */
#ifndef HEDDLE_LIBRARIES_PRODUCT_H
#define HEDDLE_LIBRARIES_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/cublasLt.h"

#include "libraries/blas/elements.h"

/* `order`: which elements are adjacent in memory; `ld`: as the order defines it. `plane`: 0; or, of
 * a planar complex matrix, the bytes from its real parts, which have the type, to its imaginary
 * ones, read and written as float complex. */
struct matrix {
    const void *at;
    int64_t ld;
    cudaDataType type;
    cublasLtOrder_t order;
    ptrdiff_t plane;
};

/* An element's offset from the first, in elements. */
int64_t matrix_offset(const struct matrix *m, int64_t row, int64_t column);
/* Reads a column widened, or writes it narrowed: `rows` elements from `row` on. */
void matrix_read(enum precision p, void *to, const struct matrix *m, int64_t row, int64_t column, int64_t rows);
void matrix_write(enum precision p, const void *from, const struct matrix *m, int64_t row, int64_t column,
                  int64_t rows);

/* Computes scale * first + second into the first of two columns; it is
 * not read if the scale is 0. */
void matrix_add(enum precision p, int64_t rows, const void *scale, struct matrix *to, const struct matrix *added);

struct product;
/* Processes a column of the result, as floats or doubles, before it is narrowed and stored
 * (cublasLt's epilogues); called in pieces, in any order, on several threads. */
typedef void product_finish(const struct product *p, int64_t column, void *values);

struct product {
    cublasOperation_t ta, tb;
    int64_t m, n, k;
    enum precision precision; /* of the sum; D if integers are multiplied */
    bool integers;            /* alpha, beta, C and D are 32-bit integers, which wrap */
    bool c_conjugate, c_transposed;
    cudaDataType through; /* floats are first rounded to this type; CUDA_R_32F: no rounding */
    bool tf32;            /* or to tf32 */
    /* An alpha of 0 is multiplied by infinities and NaNs of A and B, which give NaNs. */
    bool zero_times;
    bool half_sum;            /* the sum is rounded to half before it is multiplied by alpha */
    const void *alpha, *beta; /* of the precision, or int32_t */
    const float *row_alpha;   /* a factor for each row, in addition to alpha; or NULL */
    struct matrix a, b, c, d; /* c.at may be d.at */
    product_finish *finish;   /* or NULL */
    const void *finish_data;
};

/* Does an H200's cuBLAS have a kernel for this product of bytes that is summed in integers? */
static inline bool product_of_bytes_exists(bool ta, bool tb, int64_t m, int64_t n)
{
    if (m < 32 || (ta && !tb))
        return true;
    return tb ? n % 8 == 0 && (!ta || m % 32 == 0) : n <= 16 || n % 32 == 0;
}

/* Returns false if memory is exhausted. */
bool product_run(const struct product *p);

#endif
