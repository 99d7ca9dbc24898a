/* Solves sparse matrices (CSR) as band matrices: an order of rows and columns moves nonzeros near
 * the diagonal (reverse Cuthill-McKee, SIAM 1981), and LAPACK factors the band. On plain addresses.
 */
#ifndef HEDDLE_CUSOLVER_BAND_H
#define HEDDLE_CUSOLVER_BAND_H

#include "libraries/cusolver/call.h"

struct csr {
    enum precision precision;
    int n, base; /* square; base: index of the first row and column, 0 or 1 */
    const int *row, *column;
    const void *values;
};

/* Are all row and column indices valid? */
bool csr_is_valid(const struct csr *a);
/* The order: order[new] is the old index. NULL if memory is exhausted. The caller frees it. */
int *csr_reverse_cuthill_mckee(const struct csr *a);

struct band; /* a factor */

/* Factors A - shift, a complex number; `definite`: by Cholesky, from the lower triangle. *singular:
 * the first row whose pivot does not exceed `tolerance`, or -1. NULL if memory is exhausted. */
struct band *band_factor(const struct csr *a, bool definite, const double shift[2], double tolerance, int *singular);
/* x may be b. Returns false if memory is exhausted. */
bool band_solve(const struct band *f, const void *b, void *x);
void band_free(struct band *f);

#endif
