/* Communicators: creation, inquiries, destruction ("Communicator Creation and Management Functions"
 * in NCCL's guide). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libraries/nccl/jobs.h"
#include "libraries/nccl/meeting.h"

static void leave(void *data, void *record)
{
    struct comm *c = record;
    (void)data;
    if (c->world)
        world_let_go(c->world);
    if (c->connection >= 0)
        close(c->connection);
    c->connection = -1;
}

/* A child is no rank: it closes what would make others believe that its parent lives. */
static void after_fork(void)
{
    handle_after_fork(&library_handles);
    handle_each(&library_handles, KIND_COMM, leave, NULL);
    meeting_after_fork();
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

#define COMM(c, of)                                                                                                    \
    IN_CALL;                                                                                                           \
    struct comm *c = handle_find(&library_handles, of, KIND_COMM);                                                     \
    if (!c)                                                                                                            \
    return nccl_failed(ncclInvalidArgument, __func__, "there is no such communicator")

#define NEED(call, condition, ...)                                                                                     \
    if (!(condition))                                                                                                  \
    return nccl_failed(ncclInvalidArgument, call, __VA_ARGS__)

/* ---- beginnings ---- */

LIBRARY_API ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    NEED("ncclGetUniqueId", id, "the pointer for the id is NULL");
    return meeting_open(id);
}
NCCL_TWIN(GetUniqueId);

/* Reads the members of NCCL 2.14's config, from a config of any version. */
static ncclResult_t check_config(const char *call, const ncclConfig_t *config, bool *blocking)
{
    if (!config)
        return ncclSuccess;
    NEED(call, config->magic == NCCL_API_MAGIC && config->size >= offsetof(ncclConfig_t, splitShare),
         "the config was not made by NCCL_CONFIG_INITIALIZER");
    NEED(call, config->blocking == NCCL_CONFIG_UNDEF_INT || config->blocking == 0 || config->blocking == 1,
         "the config's `blocking` is %d; it must be 0 or 1", config->blocking);
    NEED(call,
         config->minCTAs == NCCL_CONFIG_UNDEF_INT || config->maxCTAs == NCCL_CONFIG_UNDEF_INT ||
             (config->minCTAs > 0 && config->minCTAs <= config->maxCTAs),
         "the config's minCTAs (%d) must be at least 1 and at most its maxCTAs (%d)", config->minCTAs, config->maxCTAs);
    *blocking = config->blocking == NCCL_CONFIG_UNDEF_INT ? *blocking : config->blocking;
    return ncclSuccess;
}

static ncclResult_t begin(const struct job_request *q)
{
    ncclResult_t r;
    struct job *j = job_new(q, &r);
    return j ? group_add_job(j) : r;
}

static ncclResult_t init_rank(const char *call, ncclComm_t *comm, int n_ranks, const ncclUniqueId *id, int rank,
                              const ncclConfig_t *config)
{
    struct job_request q = {
        .call = call, .how = JOB_INIT, .out = comm, .blocking = true, .n_ranks = n_ranks, .rank = rank, .id = id};
    NEED(call, comm, "the pointer for the communicator is NULL");
    NEED(call, n_ranks > 0 && rank >= 0 && rank < n_ranks, "rank %d of %d", rank, n_ranks);
    NEED(call, n_ranks <= WORLD_RANKS, "%d ranks: Heddle has at most %d devices", n_ranks, WORLD_RANKS);
    ncclResult_t r = check_config(call, config, &q.blocking);
    return r ? r : begin(&q);
}

LIBRARY_API ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int n_ranks, ncclUniqueId id, int rank,
                                                ncclConfig_t *config)
{
    IN_CALL;
    group_enter();
    return group_leave(init_rank("ncclCommInitRankConfig", comm, n_ranks, &id, rank, config));
}
NCCL_TWIN(CommInitRankConfig);

LIBRARY_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int n_ranks, ncclUniqueId id, int rank)
{
    IN_CALL;
    group_enter();
    return group_leave(init_rank("ncclCommInitRank", comm, n_ranks, &id, rank, NULL));
}
NCCL_TWIN(CommInitRank);

/* Additional ids would only speed up thousands of ranks. */
LIBRARY_API ncclResult_t ncclCommInitRankScalable(ncclComm_t *comm, int n_ranks, int rank, int n_ids, ncclUniqueId *ids,
                                                  ncclConfig_t *config)
{
    IN_CALL;
    NEED("ncclCommInitRankScalable", n_ids > 0 && ids, "there is no id");
    group_enter();
    return group_leave(init_rank("ncclCommInitRankScalable", comm, n_ranks, &ids[0], rank, config));
}
NCCL_TWIN(CommInitRankScalable);

static ncclResult_t init_on(ncclComm_t *comm, int n, const ncclUniqueId *id, int rank, CUdevice device)
{
    CUcontext context;
    if (cuDevicePrimaryCtxRetain(&context, device) || cuCtxPushCurrent(context))
        return nccl_failed(ncclUnhandledCudaError, "ncclCommInitAll", "device %d cannot be used", (int)device);
    ncclResult_t r = init_rank("ncclCommInitAll", comm, n, id, rank, NULL);
    cuCtxPopCurrent(&context);
    return r;
}

LIBRARY_API ncclResult_t ncclCommInitAll(ncclComm_t *comms, int n, const int *devices)
{
    IN_CALL;
    CUcontext context;
    ncclUniqueId id;
    int there = 0;
    NEED("ncclCommInitAll", comms && n > 0, "%d communicators", n);
    if (heddle_library_context(&context) || cuDeviceGetCount(&there))
        return ncclUnhandledCudaError;
    for (int i = 0; i < n; i++) {
        int device = devices ? devices[i] : i;
        NEED("ncclCommInitAll", device >= 0 && device < there,
             "there is no device %d: there are %d; `--devices N` provides more", device, there);
        for (int k = 0; k < i && devices; k++)
            if (devices[k] == device)
                return nccl_failed(ncclInvalidUsage, "ncclCommInitAll", "device %d is given twice", device);
    }
    ncclResult_t r = meeting_open(&id);
    if (r)
        return r;
    group_enter();
    for (int i = 0; i < n && !r; i++)
        r = init_on(&comms[i], n, &id, i, devices ? devices[i] : i);
    return group_leave(r);
}
NCCL_TWIN(CommInitAll);

LIBRARY_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out, ncclConfig_t *config)
{
    COMM(c, comm);
    struct job_request q = {.call = "ncclCommSplit",
                            .how = JOB_SPLIT,
                            .out = out,
                            .blocking = c->blocking,
                            .parent = c,
                            .color = color,
                            .key = key};
    NEED("ncclCommSplit", out, "the pointer for the communicator is NULL");
    NEED("ncclCommSplit", color >= 0 || color == NCCL_SPLIT_NOCOLOR, "the color is %d", color);
    ncclResult_t r = check_config("ncclCommSplit", config, &q.blocking);
    group_enter();
    return group_leave(r ? r : begin(&q));
}
NCCL_TWIN(CommSplit);

static void stop(struct comm *c)
{
    atomic_store(&c->aborted, true);
    comm_fail(c, ncclInternalError);
}

LIBRARY_API ncclResult_t ncclCommShrink(ncclComm_t comm, int *excluded, int n_excluded, ncclComm_t *out,
                                        ncclConfig_t *config, int flags)
{
    COMM(c, comm);
    struct job_request q = {.call = "ncclCommShrink",
                            .how = JOB_SHRINK,
                            .out = out,
                            .blocking = c->blocking,
                            .parent = c,
                            .remaining = (1u << c->n_ranks) - 1};
    NEED("ncclCommShrink", out && excluded && n_excluded > 0 && n_excluded < c->n_ranks,
         "%d of %d ranks are excluded: at least one must be excluded, and one must remain", n_excluded, c->n_ranks);
    for (int i = 0; i < n_excluded; i++) {
        NEED("ncclCommShrink", excluded[i] >= 0 && excluded[i] < c->n_ranks && excluded[i] != c->rank,
             "rank %d cannot be excluded by rank %d of %d", excluded[i], c->rank, c->n_ranks);
        q.remaining &= ~(1u << excluded[i]);
    }
    ncclResult_t r = check_config("ncclCommShrink", config, &q.blocking);
    if (!r && flags & NCCL_SHRINK_ABORT)
        atomic_store(&c->aborted, true);
    group_enter();
    return group_leave(r ? r : begin(&q));
}
NCCL_TWIN(CommShrink);

/* ---- questions ---- */

static bool is_idle(struct comm *c)
{
    pthread_mutex_lock(&c->lock);
    bool idle = c->put == c->served;
    pthread_mutex_unlock(&c->lock);
    return idle;
}

static void go_on(struct comm *c)
{
    pthread_mutex_lock(&c->lock);
    struct job *j = c->job;
    c->job = NULL;
    pthread_mutex_unlock(&c->lock);
    if (!j)
        return;
    ncclResult_t r = job_go_on(j);
    if (r == ncclInProgress)
        job_leave(j);
    else
        job_end(j, r);
}

LIBRARY_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    COMM(c, comm);
    NEED("ncclCommGetAsyncError", error, "the pointer for the error is NULL");
    go_on(c);
    if (!atomic_load(&c->error) && !c->finalized)
        comm_lost_rank(c, (1u << c->n_ranks) - 1);
    *error = (ncclResult_t)atomic_load(&c->error);
    if (!*error && c->finalized && !is_idle(c))
        *error = ncclInProgress;
    return ncclSuccess;
}
NCCL_TWIN(CommGetAsyncError);

#define QUESTION(name, value)                                                                                          \
    LIBRARY_API ncclResult_t nccl##name(const ncclComm_t comm, int *answer)                                            \
    {                                                                                                                  \
        COMM(c, comm);                                                                                                 \
        NEED("nccl" #name, answer, "the pointer for the result is NULL");                                              \
        if (atomic_load(&c->error) == ncclInProgress)                                                                  \
            return nccl_failed(ncclInvalidArgument, "nccl" #name, "the communicator is not ready");                    \
        *answer = value;                                                                                               \
        return ncclSuccess;                                                                                            \
    }                                                                                                                  \
    NCCL_TWIN(name)
QUESTION(CommCount, c->n_ranks);
QUESTION(CommUserRank, c->rank);
QUESTION(CommCuDevice, (int)c->device);

/* ---- ends ---- */

static void wait_until_idle(struct comm *c)
{
    enum { PAUSE_MICROSECONDS = 200 };
    while (!is_idle(c))
        usleep(PAUSE_MICROSECONDS);
}

LIBRARY_API ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    COMM(c, comm);
    if (c->finalized)
        return nccl_failed(ncclInvalidArgument, "ncclCommFinalize", "the communicator has been finalized");
    c->finalized = true;
    if (c->blocking)
        wait_until_idle(c);
    return c->blocking || is_idle(c) ? ncclSuccess : ncclInProgress;
}
NCCL_TWIN(CommFinalize);

static void release(void *comm)
{
    comm_release(comm);
}

/* Also for a communicator whose creation has not ended. */
static void give_up(struct comm *c)
{
    pthread_mutex_lock(&c->lock);
    struct job *j = c->job;
    c->job = NULL;
    pthread_mutex_unlock(&c->lock);
    if (j)
        job_end(j, ncclInternalError);
    call_later(release, c);
}

LIBRARY_API ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    COMM(c, comm);
    wait_until_idle(c);
    if (handle_take(&library_handles, comm, KIND_COMM))
        give_up(c);
    return ncclSuccess;
}
NCCL_TWIN(CommDestroy);

LIBRARY_API ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    COMM(c, comm);
    stop(c);
    if (handle_take(&library_handles, comm, KIND_COMM))
        give_up(c);
    return ncclSuccess;
}
NCCL_TWIN(CommAbort);
