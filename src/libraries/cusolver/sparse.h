/* What the sparse functions share: their handle, and what cuSPARSE's descriptor of a matrix says. */
#ifndef HEDDLE_CUSOLVER_SPARSE_H
#define HEDDLE_CUSOLVER_SPARSE_H

#include "cuda/cusolverSp.h"
#include "libraries/cusolver/band.h"

#define SPARSE(s, handle)                                                                                              \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) struct solver *s = handle_find(&library_handles, handle, KIND_SPARSE);                     \
    if (!s)                                                                                                            \
    return CUSOLVER_STATUS_NOT_INITIALIZED

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
/* A call that reads the matrix, or those of a batch, which share its pattern: their values follow
 * one another. Its nrhs is their nnz. */
struct call sparse_call(const char *name, enum precision p, call_run *run, const struct matrix *m, int batch);
/* The matrix that such a call reads. */
struct csr sparse_csr(const struct call *c, int of_batch);
/* On the host a call is done at once, and nobody watches it. */
cusolverStatus_t sparse_do(const struct solver *s, struct call *c, bool on_host);

#endif
