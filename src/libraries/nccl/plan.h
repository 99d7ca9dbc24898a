/* What a group of calls does on one communicator, as work of a stream. Each call becomes flows of
 * bytes between this rank and others, which go on as far as the channels let them, turn by turn.
 * Collective functions are done one after the other, in the order of the calls; sends and receives
 * at the same time, and those between two ranks in their order.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_PLAN_H
#define HEDDLE_LIBRARIES_NCCL_PLAN_H

#include "libraries/nccl/comm.h"

enum function {
#define COLLECTIVE(name, sent, received, from, to, becomes) FUNCTION_##name,
#include "libraries/nccl/collectives.def"
#undef COLLECTIVE
    FUNCTION_Send,
    FUNCTION_Recv,
};

/* A call, checked. */
struct operation {
    const char *name; /* the function that the program has called */
    enum function function;
    const void *send;
    void *receive;
    size_t count, element_bytes;
    int root;       /* or the peer */
    ncclRedOp_t op; /* as the program has named it */
    struct reduction reduction;
};

/* Puts them into the stream. */
ncclResult_t plan_put(struct comm *c, CUstream stream, const struct operation *operations, size_t n);

#endif
