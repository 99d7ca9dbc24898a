/* What makes a communicator; how it goes on and ends says group.h. */
#ifndef HEDDLE_LIBRARIES_NCCL_JOBS_H
#define HEDDLE_LIBRARIES_NCCL_JOBS_H

#include "libraries/nccl/group.h"

enum how { JOB_INIT, JOB_SPLIT, JOB_SHRINK };

struct job_request {
    const char *call;
    enum how how;
    ncclComm_t *out;
    bool blocking;
    int n_ranks, rank; /* of JOB_INIT */
    const ncclUniqueId *id;
    struct comm *parent;
    int color, key;     /* of JOB_SPLIT */
    uint32_t remaining; /* of JOB_SHRINK: the parent's ranks, a bit each */
};

/* On the current device. NULL with an error. */
struct job *job_new(const struct job_request *q, ncclResult_t *result);

#endif
