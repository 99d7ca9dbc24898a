/* Settings and results of the Jacobi methods, syevj and gesvdj. Heddle computes by LAPACK, without
 * sweeps: the tolerance and number of sweeps are stored, and always met.
 */
#ifndef HEDDLE_CUSOLVER_JACOBI_H
#define HEDDLE_CUSOLVER_JACOBI_H

#include "libraries/cusolver/call.h"

struct jacobi {
    _Atomic unsigned holders; /* the handle, and calls in progress */
    double tolerance;
    int most_sweeps;
    int sorts; /* values are sorted in any case */
    bool was_batched;
    cudaStream_t stream;     /* of the last call: inquiries about its results wait for it */
    _Atomic double residual; /* Frobenius norm of the remainder */
    _Atomic int sweeps;
};

/* Takes a reference for a call, which releases it. NULL if invalid. In a call (IN_CALL). */
struct jacobi *jacobi_hold(const void *handle);
void jacobi_release(void *jacobi);

#endif
