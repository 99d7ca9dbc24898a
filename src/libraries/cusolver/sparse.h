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

#endif
