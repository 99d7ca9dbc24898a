/* Sparse matrices (CSR) solved as band matrices: rows and columns are put in an order in which what
 * is not 0 stands near the diagonal (reverse Cuthill-McKee, SIAM 1981), and LAPACK factors the
 * band. On plain addresses.
 */
#ifndef HEDDLE_CUSOLVER_BAND_H
#define HEDDLE_CUSOLVER_BAND_H

#include "libraries/cusolver/call.h"

struct csr {
    enum precision precision;
    int n, base; /* square; the first index is 0 or 1 */
    const int *row, *column;
    const void *values;
};

/* Whether row and column indices are those of a matrix. */
bool csr_is_valid(const struct csr *a);
/* The order: order[new] is the old index. NULL: out of memory. The caller frees it. */
int *csr_reverse_cuthill_mckee(const struct csr *a);

struct band; /* a factor */

/* Factors A - shift, a complex number; `definite`: by Cholesky, from the lower triangle. *singular:
 * a row whose pivot is not more than `tolerance`, the first one that is met, or -1. NULL: out of
 * memory. */
struct band *band_factor(const struct csr *a, bool definite, const double shift[2], double tolerance, int *singular);
/* x may be b. False: out of memory. */
bool band_solve(const struct band *f, const void *b, void *x);
void band_free(struct band *f);

#endif
