/* Settings of Jacobi's methods, syevj and gesvdj, and what they tell afterwards. Heddle computes by
 * LAPACK, which needs no sweeps: tolerance and number of sweeps are kept, and met.
 */
#ifndef HEDDLE_CUSOLVER_JACOBI_H
#define HEDDLE_CUSOLVER_JACOBI_H

#include "libraries/cusolver/call.h"

struct jacobi {
    _Atomic unsigned holders; /* the handle, and calls under way */
    double tolerance;
    int most_sweeps;
    int sorts; /* values come in order all the same */
    bool was_batched;
    cudaStream_t stream;     /* of the last call: who asks for its results waits for it */
    _Atomic double residual; /* Frobenius norm of what is left */
    _Atomic int sweeps;
};

/* For a call, which releases it. NULL: it is none. In a call (IN_CALL). */
struct jacobi *jacobi_hold(const void *handle);
void jacobi_release(void *jacobi);

#endif
