/* LU factors of sparse matrices with partial pivoting: P A = L U, column by column (Gilbert and
 * Peierls, SIAM 1988). On plain addresses.
 */
#ifndef HEDDLE_CUSOLVER_SPARSE_LU_H
#define HEDDLE_CUSOLVER_SPARSE_LU_H

#include <complex.h>

#include "libraries/cusolver/band.h"

/* A triangle by rows, with its diagonal; base 0. */
struct triangle {
    int *row, *column;
    double complex *values;
};

struct sparse_lu {
    int n;
    int *order; /* row i of P A is row order[i] of A */
    struct triangle lower, upper;
};

/* The diagonal element is the pivot if it is at least `threshold` times the largest. A column
 * without a pivot gets 0. Returns false if memory is exhausted. */
bool sparse_lu_factor(struct sparse_lu *f, const struct csr *a, double threshold);
/* The first column whose pivot does not exceed the tolerance, or -1. */
int sparse_lu_singular(const struct sparse_lu *f, double tolerance);
/* Returns false if memory is exhausted. x may be b. */
bool sparse_lu_solve(const struct sparse_lu *f, enum precision p, const void *b, void *x);
void sparse_lu_free(struct sparse_lu *f);

/* Elements of any precision. */
double complex element_get(enum precision p, const void *from, int64_t i);
void element_set(enum precision p, void *to, int64_t i, double complex x);

#endif
