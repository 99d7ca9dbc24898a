/* A transform as stream work, self-contained: the plan may be changed or destroyed afterwards. */
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

/* `call` is a constant. With `host` both sides may be any host memory, and the work is done on
 * return. */
CUresult execution_put(CUstream stream, const char *call, const struct execution *e, bool host);

#endif
