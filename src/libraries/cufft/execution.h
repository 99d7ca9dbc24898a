/* A transform as work of a stream, with all that it needs: the plan may be changed or destroyed
 * behind it. */
#ifndef HEDDLE_CUFFT_EXECUTION_H
#define HEDDLE_CUFFT_EXECUTION_H

#include "libraries/common/library.h"
#include "libraries/cufft/transform.h"

struct execution {
    struct transform transform;
    bool backward;
    const void *from;
    void *to;
};

/* `call` is a constant. With `host` the two may be any memory of the host's, and it is done when
 * this returns. */
CUresult execution_put(CUstream stream, const char *call, const struct execution *e, bool host);

#endif
