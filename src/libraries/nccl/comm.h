/* A communicator: one rank of a world. Its tasks run in the order of their submission, whatever
 * their streams: a task waits for the earlier ones. Tasks captured into graphs run when no other
 * does.
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
    int connection; /* the invitation's: -1 if it is not needed (any more) */
    uint64_t mails_seen[WORLD_RANKS];
    _Atomic int error; /* ncclResult_t: the asynchronous error */
    _Atomic bool aborted;
    pthread_mutex_t lock;   /* protects what follows */
    struct job *job;        /* the job that creates it, if non-blocking */
    uint64_t put, served;   /* tasks outside graphs: submitted, done */
    bool busy;              /* a task is running */
    bool op_used[COMM_OPS]; /* created by ncclRedOpCreatePreMulSum */
    struct reduction ops[COMM_OPS];
};

/* For the current device, without a world; NULL if memory is exhausted or there is no device. */
struct comm *comm_new(int n_ranks, int rank);
struct comm *comm_hold(struct comm *c);
void comm_release(struct comm *c);
/* Makes it a handle; false if memory is exhausted. */
bool comm_publish(struct comm *c);

/* Tells the others that this rank has failed. */
void comm_fail(struct comm *c, ncclResult_t error);
/* Has one of these ranks (a bit each) ended? Returns which one, or -1. */
int comm_lost_rank(struct comm *c, uint32_t ranks);

/* Sets the thread's last error in words, which `heddle check` prints. Returns the result. */
ncclResult_t nccl_failed(ncclResult_t result, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
ncclResult_t nccl_result(CUresult r);

/* Every NCCL function has a second name, for profilers that intercept the first. */
#define NCCL_TWIN(name)                                                                                                \
    extern __typeof__(nccl##name) pnccl##name __attribute__((alias("nccl" #name), visibility("default")))

#endif
