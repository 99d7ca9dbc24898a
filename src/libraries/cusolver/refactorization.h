/* The state of cusolverRf ("cuSOLVER", 2.6): M stores L and U row by row, L's elements before the
 * diagonal, U's from it on; a diagonal of ones is not stored. On plain addresses.
 */
#ifndef HEDDLE_CUSOLVER_REFACTORIZATION_H
#define HEDDLE_CUSOLVER_REFACTORIZATION_H

#include "cuda/cusolverRf.h"
#include "libraries/cusolver/call.h"

struct refactorization {
    cusolverRfMatrixFormat_t format;
    cusolverRfUnitDiagonal_t unit;
    double zero, boost;
    cusolverRfFactorization_t algorithm;
    cusolverRfTriangularSolve_t solution;
    cusolverRfResetValuesFastMode_t fast;
    int n, nnz_a, batch; /* n: 0 before the set-up */
    int *row, *column, *diagonal;
    double *values; /* for all matrices of the batch */
    bool analysed, reset, factored, boosted;
    int *zero_pivot; /* for each matrix, or -1 */
    CUdeviceptr shown[3];
};

struct part { /* L or U in the program's format */
    int nnz;
    const int *row, *column;
    const double *values;
};

static inline size_t refactorization_nnz(const struct refactorization *f)
{
    return (size_t)f->row[f->n];
}

static inline bool refactorization_unit_upper(const struct refactorization *f)
{
    return f->unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_U || f->unit == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U;
}

void refactorization_free(void *record);
cusolverStatus_t refactorization_set_up(struct refactorization *f, int batch, int n, int nnz_a,
                                        const struct part *lower, const struct part *upper);

/* Tasks, whose `host` is the refactorization. Operands ROWS, COLUMNS and A are a matrix, or A has
 * the batch's addresses if flags is not 0; PIVOTS and X are P and Q; B has the right-hand sides. */
call_run refactorization_reset, refactorization_factor, refactorization_solve;

#endif
