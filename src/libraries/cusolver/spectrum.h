/* Eigenvalues and singular values of one matrix by LAPACK, for eigen.c and svd.c. All functions
 * return LAPACK's info, or OUT_OF_MEMORY.
 */
#ifndef HEDDLE_CUSOLVER_SPECTRUM_H
#define HEDDLE_CUSOLVER_SPECTRUM_H

#include "libraries/cusolver/call.h"

/* For a symmetric or Hermitian matrix: in ascending order, with vectors in A if job is 'V'. */
int spectrum_symmetric(enum precision p, char job, char uplo, int n, void *a, int lda, void *w);

/* Singular values in descending order; jobs as for LAPACK's gesvd. */
int spectrum_singular(enum precision p, char job_u, char job_vt, int m, int n, void *a, int lda, void *s, void *u,
                      int ldu, void *vt, int ldvt);

/* The adjoint of an m x n matrix. */
void spectrum_adjoint(enum precision p, int m, int n, const void *from, int ld_from, void *to, int ld_to);

#endif
