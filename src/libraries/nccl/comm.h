/* A communicator: one rank of a world. Its work is done in the order in which it was put, whatever
 * the streams: a task has its turn when those before it have ended. What is captured into graphs
 * has it when no other has it.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_COMM_H
#define HEDDLE_LIBRARIES_NCCL_COMM_H

#include "libraries/common/library.h"
#include "libraries/nccl/reduce.h"
#include "libraries/nccl/world.h"

#include <pthread.h>

enum { KIND_COMM = 1, KIND_REGISTRATION, COMM_OPS = 64 };

struct job;

struct comm {
    _Atomic unsigned refs;
    ncclComm_t handle;
    CUcontext context;
    CUdevice device;
    int n_ranks, rank;
    bool blocking, finalized;
    struct world *world;
    int connection; /* of the invitation: -1 where it is not needed (any more) */
    uint64_t mails_seen[WORLD_RANKS];
    _Atomic int error; /* ncclResult_t: what is asynchronously known */
    _Atomic bool aborted;
    pthread_mutex_t lock;   /* of what follows */
    struct job *job;        /* that makes it, where it is not blocking */
    uint64_t put, served;   /* tasks that are no graph's */
    bool busy;              /* one has its turn */
    bool op_used[COMM_OPS]; /* ncclRedOpCreatePreMulSum */
    struct reduction ops[COMM_OPS];
};

/* Of the current device, without a world; NULL: no memory, or no device. */
struct comm *comm_new(int n_ranks, int rank);
struct comm *comm_hold(struct comm *c);
void comm_release(struct comm *c);
/* Makes it a handle; false: no memory. */
bool comm_publish(struct comm *c);

/* The others will not hear of this rank again. */
void comm_fail(struct comm *c, ncclResult_t error);
/* Finds out whether one of the ranks that are asked for (a bit each) has ended; which one, or -1. */
int comm_lost_rank(struct comm *c, uint32_t ranks);

/* The last error of the thread, in words; `heddle check` says it. Returns the result. */
ncclResult_t nccl_failed(ncclResult_t result, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
ncclResult_t nccl_result(CUresult r);

/* Every function of NCCL's has a second name, for profilers that put themselves before the first. */
#define NCCL_TWIN(name)                                                                                                \
    extern __typeof__(nccl##name) pnccl##name __attribute__((alias("nccl" #name), visibility("default")))

#endif
