/* See comm.h. */
#include "libraries/nccl/comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct comm *comm_new(int n_ranks, int rank)
{
    struct comm *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->refs, 1);
    c->n_ranks = n_ranks;
    c->rank = rank;
    c->blocking = true;
    c->connection = -1;
    pthread_mutex_init(&c->lock, NULL);
    if (heddle_library_context(&c->context) == CUDA_SUCCESS && cuCtxGetDevice(&c->device) == CUDA_SUCCESS)
        return c;
    comm_release(c);
    return NULL;
}

struct comm *comm_hold(struct comm *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

void comm_release(struct comm *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    if (c->world)
        world_leave(c->world, SEAT_LEFT);
    if (c->connection >= 0)
        close(c->connection);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

bool comm_publish(struct comm *c)
{
    c->handle = handle_add(&library_handles, KIND_COMM, c, NULL);
    return c->handle != NULL;
}

void comm_fail(struct comm *c, ncclResult_t error)
{
    int none = ncclSuccess, taken = SEAT_TAKEN;
    atomic_compare_exchange_strong(&c->error, &none, (int)error);
    if (c->world)
        atomic_compare_exchange_strong(&c->world->shared->members[c->rank].seat, &taken, SEAT_FAILED);
}

int comm_lost_rank(struct comm *c, uint32_t ranks)
{
    for (int i = 0; c->world && i < c->n_ranks; i++)
        if (ranks & 1u << i && world_has_lost(c->world, i)) {
            int none = ncclSuccess;
            atomic_compare_exchange_strong(&c->error, &none, ncclRemoteError);
            return i;
        }
    return -1;
}

/* ---- errors ---- */

static _Thread_local char last_error[300];

ncclResult_t nccl_failed(ncclResult_t result, const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    library_failed(call, "%s", last_error);
    return result;
}

LIBRARY_API const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return last_error;
}
NCCL_TWIN(GetLastError);

LIBRARY_API const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
#define RESULT(name, text)                                                                                             \
    case name: return text;
#include "libraries/nccl/results.def"
#undef RESULT
    default: return "not a result of NCCL";
    }
}
NCCL_TWIN(GetErrorString);

ncclResult_t nccl_result(CUresult r)
{
    return r == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

LIBRARY_API ncclResult_t ncclGetVersion(int *version)
{
    if (!version)
        return nccl_failed(ncclInvalidArgument, "ncclGetVersion", "the pointer for the version is NULL");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}
NCCL_TWIN(GetVersion);
