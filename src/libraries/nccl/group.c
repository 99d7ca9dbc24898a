/* See group.h. */
#include "libraries/nccl/group.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct call {
    struct comm *comm;
    CUstream stream;
    struct operation operation;
};

/* For each thread. */
static _Thread_local struct {
    unsigned depth;
    ncclResult_t error;
    struct call *calls;
    struct job **jobs;
    size_t n_calls, n_jobs;
} group;

void group_enter(void)
{
    group.depth++;
}

static bool make_room(void **at, size_t n, size_t bytes)
{
    if (n & (n - 1)) /* full: n is a power of two */
        return true;
    void *grown = realloc(*at, (n ? 2 * n : 1) * bytes);
    *at = grown ? grown : *at;
    return grown != NULL;
}

ncclResult_t group_add_job(struct job *j)
{
    if (make_room((void **)&group.jobs, group.n_jobs, sizeof *group.jobs)) {
        group.jobs[group.n_jobs++] = j;
        return ncclSuccess;
    }
    job_end(j, ncclSystemError);
    return ncclSystemError;
}

ncclResult_t group_add(struct comm *c, CUstream stream, const struct operation *o)
{
    if (!make_room((void **)&group.calls, group.n_calls, sizeof *group.calls))
        return ncclSystemError;
    group.calls[group.n_calls++] = (struct call){comm_hold(c), stream, *o};
    return ncclSuccess;
}

/* ---- communicators ---- */

static bool is_held_up(size_t job)
{
    const struct comm *parent = job_parent(group.jobs[job]);
    for (size_t i = 0; i < job && parent; i++)
        if (group.jobs[i] && job_parent(group.jobs[i]) == parent)
            return true;
    return false;
}

/* One round over all jobs; returns whether any must be waited for. */
static bool go_on(ncclResult_t *first)
{
    bool left = false;
    for (size_t i = 0; i < group.n_jobs; i++) {
        if (!group.jobs[i])
            continue;
        ncclResult_t r = is_held_up(i) ? ncclInProgress : job_go_on(group.jobs[i]);
        left |= r == ncclInProgress;
        if (r == ncclInProgress)
            continue;
        job_end(group.jobs[i], r);
        group.jobs[i] = NULL;
        *first = *first ? *first : r;
    }
    return left;
}

static ncclResult_t do_jobs(void)
{
    enum { PAUSE_MICROSECONDS = 200 };
    ncclResult_t first = ncclSuccess;
    bool blocking = false, left;
    for (size_t i = 0; i < group.n_jobs; i++)
        blocking |= job_is_blocking(group.jobs[i]);
    while ((left = go_on(&first)) && blocking)
        usleep(PAUSE_MICROSECONDS);
    for (size_t i = 0; i < group.n_jobs; i++)
        if (group.jobs[i])
            job_leave(group.jobs[i]);
    return first ? first : left ? ncclInProgress : ncclSuccess;
}

/* ---- work ---- */

/* Work on `then` waits for the current work on `first`. */
static CUresult follow(CUstream first, CUstream then)
{
    CUevent e;
    CUresult r = cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
    if (r)
        return r;
    r = cuEventRecord(e, first);
    r = r ? r : cuStreamWaitEvent(then, e, 0);
    cuEventDestroy(e);
    return r;
}

/* If a group uses several streams of a communicator, each waits for the others before the work, and
 * for the work. */
static CUresult join_streams(const struct comm *c, size_t first, bool after)
{
    CUstream main = group.calls[first].stream;
    CUresult r = CUDA_SUCCESS;
    for (size_t i = first + 1; i < group.n_calls && !r; i++) {
        CUstream s = group.calls[i].stream;
        bool seen = group.calls[i].comm != c || s == main;
        for (size_t j = first + 1; j < i && !seen; j++)
            seen = group.calls[j].comm == c && group.calls[j].stream == s;
        if (!seen)
            r = after ? follow(main, s) : follow(s, main);
    }
    return r;
}

/* Submits all calls of the first call's communicator. */
static ncclResult_t put_calls(size_t first, struct operation *operations)
{
    struct comm *c = group.calls[first].comm;
    size_t n = 0;
    for (size_t i = first; i < group.n_calls; i++)
        if (group.calls[i].comm == c)
            operations[n++] = group.calls[i].operation;
    CUresult r = cuCtxPushCurrent(c->context);
    if (r)
        return nccl_result(r);
    ncclResult_t result = nccl_result(join_streams(c, first, false));
    result = result ? result : plan_put(c, group.calls[first].stream, operations, n);
    result = result ? result : nccl_result(join_streams(c, first, true));
    CUcontext context;
    cuCtxPopCurrent(&context);
    return result;
}

static ncclResult_t do_calls(void)
{
    struct operation *operations = malloc(group.n_calls * sizeof *operations);
    ncclResult_t r = operations || !group.n_calls ? ncclSuccess : ncclSystemError;
    for (size_t i = 0; i < group.n_calls && !r; i++) {
        bool done = false;
        for (size_t j = 0; j < i && !done; j++)
            done = group.calls[j].comm == group.calls[i].comm;
        if (!done)
            r = put_calls(i, operations);
    }
    free(operations);
    return r;
}

/* ---- the end ---- */

static void forget(void)
{
    for (size_t i = 0; i < group.n_calls; i++)
        comm_release(group.calls[i].comm);
    free(group.calls);
    free(group.jobs);
    memset(&group, 0, sizeof group);
}

ncclResult_t group_leave(ncclResult_t result)
{
    if (result && result != ncclInProgress && !group.error)
        group.error = result;
    if (--group.depth)
        return result;
    ncclResult_t error = group.error;
    for (size_t i = 0; i < group.n_jobs && error; i++)
        job_end(group.jobs[i], error);
    group.n_jobs = error ? 0 : group.n_jobs;
    ncclResult_t r = error ? error : do_jobs();
    r = r ? r : do_calls();
    forget();
    return r;
}

LIBRARY_API ncclResult_t ncclGroupStart(void)
{
    group_enter();
    return ncclSuccess;
}
NCCL_TWIN(GroupStart);

LIBRARY_API ncclResult_t ncclGroupEnd(void)
{
    IN_CALL;
    if (!group.depth)
        return nccl_failed(ncclInvalidUsage, "ncclGroupEnd", "there is no ncclGroupStart before it");
    return group_leave(ncclSuccess);
}
NCCL_TWIN(GroupEnd);

/* The time is not known. */
LIBRARY_API ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t *info)
{
    IN_CALL;
    (void)info;
    LIBRARY_REFUSE("ncclGroupSimulateEnd");
    if (!group.depth)
        return ncclInvalidUsage;
    group.error = group.error ? group.error : ncclInvalidUsage;
    return group_leave(ncclInvalidUsage);
}
NCCL_TWIN(GroupSimulateEnd);
