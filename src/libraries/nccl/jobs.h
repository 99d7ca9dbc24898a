/* Jobs that create communicators; group.h tells how they proceed and end. */
#ifndef HEDDLE_LIBRARIES_NCCL_JOBS_H
#define HEDDLE_LIBRARIES_NCCL_JOBS_H

#include "libraries/nccl/group.h"

enum how { JOB_INIT, JOB_SPLIT, JOB_SHRINK };

struct job_request {
    const char *call;
    enum how how;
    ncclComm_t *out;
    bool blocking;
    int n_ranks, rank; /* for JOB_INIT */
    const ncclUniqueId *id;
    struct comm *parent;
    int color, key;     /* for JOB_SPLIT */
    uint32_t remaining; /* for JOB_SHRINK: the parent's remaining ranks, a bit each */
};

/* On the current device. Returns NULL with an error. */
struct job *job_new(const struct job_request *q, ncclResult_t *result);

#endif
