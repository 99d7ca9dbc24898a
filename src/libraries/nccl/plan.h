/* A group of calls on one communicator, as stream work. Each call becomes transfers (flows) between
 * this rank and others, which proceed in turns as far as the channels allow. Collectives run one
 * after the other in the order of calls; sends and receives run concurrently, but in order between
 * two ranks.
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

/* A checked call. */
struct operation {
    const char *name; /* the function that the program called */
    enum function function;
    const void *send;
    void *receive;
    size_t count, element_bytes;
    int root;       /* or the peer */
    ncclRedOp_t op; /* as the program named it */
    struct reduction reduction;
};

/* Submits them to the stream. */
ncclResult_t plan_put(struct comm *c, CUstream stream, const struct operation *operations, size_t n);

#endif
