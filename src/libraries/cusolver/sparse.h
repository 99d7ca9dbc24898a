/* Shared by the sparse functions: their handle, and the contents of
 * cuSPARSE's matrix descriptors. */
#ifndef HEDDLE_CUSOLVER_SPARSE_H
#define HEDDLE_CUSOLVER_SPARSE_H

#include "cuda/cusolverSp.h"
#include "libraries/cusolver/band.h"

#define SPARSE(s, handle)                                                                                              \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) struct solver *s = handle_find(&library_handles, handle, KIND_SPARSE);                     \
    if (!s)                                                                                                            \
    return library_no_handle(), CUSOLVER_STATUS_NOT_INITIALIZED

int sparse_base(cusparseMatDescr_t descriptor); /* 0 or 1 */
bool sparse_is_general(cusparseMatDescr_t descriptor);

/* ---- calls ---- */

struct matrix {
    int n, nnz;
    cusparseMatDescr_t descriptor;
    const void *values;
    const int *rows, *columns;
};

enum { SPARSE_DEFINITE = 1, SPARSE_BASE_ONE = 2 }; /* a call's flags */

cusolverStatus_t sparse_check(const char *name, const struct matrix *m);
/* A call that reads a matrix, or those of a batch with one pattern, whose values are consecutive.
 * nrhs is their nnz. */
struct call sparse_call(const char *name, enum precision p, call_run *run, const struct matrix *m, int batch);
/* The matrix of such a call. */
struct csr sparse_csr(const struct call *c, int of_batch);
/* Runs a host function's call at once, without checkers. */
cusolverStatus_t sparse_do(const struct solver *s, struct call *c, bool on_host);

#endif
