/* See plan.h. */
#include "libraries/nccl/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "libraries/nccl/flows.h"

/* After this time a stream fails whose communicator has lost a rank, unless ncclCommAbort ended its
 * wait. */
static const double PATIENCE_SECONDS = 1;

struct plan {
    _Atomic unsigned refs;
    struct comm *comm;
    bool in_order; /* it has a number in the order of tasks outside graphs: */
    uint64_t number;
    _Atomic unsigned put_or_dropped; /* counts both */
    _Atomic bool begun;
    size_t n;
    struct operation operations[];
};

/* One execution. */
struct run {
    struct flows *flows;
    unsigned idle;
    double lost_since;
};

static void release(struct plan *p)
{
    if (atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    comm_release(p->comm);
    free(p);
}

static const char *name_of(const struct plan *p)
{
    return p->n == 1 ? p->operations[0].name : "ncclGroupEnd";
}

/* ---- turns ---- */

static bool take_turn(struct plan *p)
{
    struct comm *c = p->comm;
    pthread_mutex_lock(&c->lock);
    bool mine = !c->busy && (!p->in_order || p->number <= c->served);
    c->busy |= mine;
    pthread_mutex_unlock(&c->lock);
    return mine;
}

static void give_turn(struct plan *p)
{
    struct comm *c = p->comm;
    pthread_mutex_lock(&c->lock);
    c->busy = false;
    c->served += p->in_order;
    pthread_mutex_unlock(&c->lock);
}

static hd_result begin(struct plan *p, struct run **run)
{
    if (!take_turn(p))
        return HD_ERROR_NOT_READY;
    struct run *r = calloc(1, sizeof *r);
    atomic_store(&p->begun, true);
    if (r)
        r->flows = flows_new(p->comm, p->operations, p->n);
    if (r && r->flows) {
        *run = r;
        return HD_SUCCESS;
    }
    free(r);
    comm_fail(p->comm, ncclSystemError);
    give_turn(p);
    return HD_ERROR_OUT_OF_MEMORY;
}

static hd_result end(struct plan *p, struct run **run, hd_result result)
{
    flows_free((*run)->flows);
    free(*run);
    *run = NULL;
    give_turn(p);
    return result;
}

/* Another rank does something else: neither can proceed. */
static hd_result differ(struct plan *p, struct run **run)
{
    char text[200];
    flows_difference((*run)->flows, text, sizeof text);
    fprintf(stderr, "heddle: %s: %s\n", name_of(p), text);
    comm_fail(p->comm, ncclInvalidUsage);
    return end(p, run, HD_ERROR_LAUNCH_FAILED);
}

static hd_result wait_on(struct plan *p, struct run **run)
{
    enum { LOOK_TURNS = 64 };
    struct run *r = *run;
    if (r->idle++ % LOOK_TURNS || (!r->lost_since && comm_lost_rank(p->comm, flows_awaited(r->flows)) < 0))
        return HD_ERROR_NOT_READY;
    if (!r->lost_since)
        r->lost_since = seconds_now();
    if (seconds_now() - r->lost_since < PATIENCE_SECONDS)
        return HD_ERROR_NOT_READY;
    fprintf(stderr, "heddle: %s: rank %d waits for rank %d, which has ended or failed\n", name_of(p), p->comm->rank,
            comm_lost_rank(p->comm, flows_awaited(r->flows)));
    return end(p, run, HD_ERROR_LAUNCH_FAILED);
}

static hd_result step(void *args, void **state)
{
    struct plan *p = *(struct plan **)args;
    struct run **run = (struct run **)state;
    if (!*run) {
        hd_result r = begin(p, run);
        if (r)
            return r;
    }
    if (atomic_load(&p->comm->aborted))
        return end(p, run, HD_SUCCESS);
    switch (flows_go_on((*run)->flows)) {
    case FLOWS_DONE: return end(p, run, HD_SUCCESS);
    case FLOWS_DIFFER: return differ(p, run);
    case FLOWS_STUCK: return wait_on(p, run);
    default: (*run)->idle = 0; return HD_ERROR_NOT_READY;
    }
}

/* A task that will never run, for example after a fault of its context, must not block the later
   ones. */
static void skip(struct plan *p)
{
    struct comm *c = p->comm;
    comm_fail(c, ncclUnhandledCudaError);
    pthread_mutex_lock(&c->lock);
    c->served++;
    pthread_mutex_unlock(&c->lock);
}

static void drop(void *args)
{
    struct plan *p = *(struct plan **)args;
    if (p->in_order && !atomic_load(&p->begun) && atomic_fetch_add(&p->put_or_dropped, 1) == 1)
        skip(p);
    release(p);
}

/* ---- what it uses ---- */

static bool add_ranges(const struct comm *c, const struct operation *o, hd_used **used, size_t *n)
{
    enum { ONE, EACH, ALL = 0, ROOT, COPIED = 0, REDUCED };
    static const struct {
        bool sends_each, receives_each, from_root, to_root;
    } all[] = {
#define COLLECTIVE(name, sent, received, from, to, becomes) [FUNCTION_##name] = {sent, received, from, to},
#include "libraries/nccl/collectives.def"
#undef COLLECTIVE
    };
    const size_t block = o->count * o->element_bytes, blocks = block * (size_t)c->n_ranks;
    bool root = o->root == c->rank, pair = o->function >= FUNCTION_Send;
    bool sends = pair ? o->function == FUNCTION_Send : root || !all[o->function].from_root,
         receives = pair ? o->function == FUNCTION_Recv : root || !all[o->function].to_root;
    size_t sent = !pair && all[o->function].sends_each ? blocks : block,
           received = !pair && all[o->function].receives_each ? blocks : block;
    return (!sends || library_add_use(used, n, library_reads(o->send, sent))) &&
           (!receives || library_add_use(used, n, library_writes(o->receive, received))) &&
           (!o->reduction.scalar_at ||
            library_add_use(used, n, library_reads(o->reduction.scalar_at, o->element_bytes)));
}

static double flops_of(const struct comm *c, const struct operation *o)
{
    bool reduces =
        o->function == FUNCTION_AllReduce || o->function == FUNCTION_Reduce || o->function == FUNCTION_ReduceScatter;
    return reduces ? (double)o->count * (c->n_ranks - 1) : 0;
}

/* ---- putting ---- */

static struct plan *new_plan(struct comm *c, CUstream stream, const struct operation *operations, size_t n)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    struct plan *p = malloc(sizeof *p + n * sizeof *operations);
    if (!p)
        return NULL;
    if (cuStreamIsCapturing(stream, &capture))
        capture = CU_STREAM_CAPTURE_STATUS_NONE;
    *p = (struct plan){.comm = comm_hold(c), .in_order = capture == CU_STREAM_CAPTURE_STATUS_NONE, .n = n};
    atomic_init(&p->refs, 2);
    memcpy(p->operations, operations, n * sizeof *operations);
    return p;
}

static CUresult put(struct plan *p, CUstream stream, struct library_task *t)
{
    struct comm *c = p->comm;
    pthread_mutex_lock(&c->lock);
    p->number = c->put;
    c->put += p->in_order;
    pthread_mutex_unlock(&c->lock);
    CUresult r = heddle_library_put(stream, t, false);
    if (r && p->in_order) {
        pthread_mutex_lock(&c->lock);
        c->put--;
        pthread_mutex_unlock(&c->lock);
    } else if (p->in_order && atomic_fetch_add(&p->put_or_dropped, 1) == 1 && !atomic_load(&p->begun)) {
        skip(p);
    }
    return r;
}

ncclResult_t plan_put(struct comm *c, CUstream stream, const struct operation *operations, size_t n)
{
    hd_used *used = NULL;
    size_t n_used = 0;
    bool ok = true;
    struct plan *p = new_plan(c, stream, operations, n);
    struct library_task t = {.step = step, .drop = drop, .args = &p, .arg_bytes = sizeof p, .unit = HD_UNIT_FP32};
    for (size_t i = 0; i < n && p && ok; i++) {
        ok = add_ranges(c, &operations[i], &used, &n_used);
        t.flops += flops_of(c, &operations[i]);
    }
    ncclResult_t r = ncclSystemError;
    if (p && ok) {
        t.name = name_of(p);
        t.used = used;
        t.used_count = n_used;
        r = nccl_result(put(p, stream, &t));
    } else if (p) {
        release(p);
    }
    if (p)
        release(p);
    free(used);
    return r;
}
