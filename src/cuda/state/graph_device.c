/* Graphs that kernels launch ("CUDA C++ Programming Guide", "Device Graph Launch"); see graph.h.
 *
 * A run is a launch of a graph with everything that its kernels launch. It proceeds in stages, each
 * behind all of the previous one: first the graph's nodes; then the graphs that these fired (fire
 * and forget), each as a run of its own; then the first graph of its tail, which replaces the run's
 * graph, and whose own tail precedes the rest. A sibling launch counts as the parent run's. The
 * parent of a launch by the host is the stream, for which the run itself stands: it is not complete
 * before its siblings are.
 */
#include "cuda/state/contexts.h"
#include "cuda/state/graph.h"

#include <stdio.h>
#include <stdlib.h>

/* What one launch may launch itself, as on an H200: this many fired graphs (further ones are lost),
 * and this many in its tail. */
enum { MOST_FIRED = 120, MOST_TAIL = 255 };

/* The streams by which kernels launch them (cuda_device_runtime_api.h). */
static const uint64_t TAIL = (uint64_t)1 << 56, FIRE_AND_FORGET = (uint64_t)2 << 56, SIBLING = (uint64_t)3 << 56;

struct event_list {
    VEC(hd_event *) events;
};

struct graph_run {
    uint32_t refs;
    struct graph_run *parent; /* with a reference; NULL: the host launched it */
    bool is_beside;           /* one of its parent's siblings */
    bool is_by_kernel;        /* a kernel launched the graph whose nodes run */
    CUcontext context;
    /* with references: the graph whose nodes run, or ran last; the graph to launch now, or NULL */
    CUgraphExec exec, next;
    struct event_list fired, beside;
    VEC(CUgraphExec) tail;        /* with references */
    size_t n_new;                 /* how many of them the nodes of `exec` added */
    unsigned n_fired, n_siblings; /* by the nodes of `exec` */
    hd_event *done;               /* the end of all stages so far */
    hd_stream *stream;            /* where the stages join; or NULL */
};

/* protects the lists of runs, and which graphs run and are queued */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- life ---- */

static struct graph_run *new_run(CUcontext c)
{
    struct graph_run *r = calloc(1, sizeof *r);
    if (r && hd_event_create(&r->done)) {
        free(r);
        return NULL;
    }
    if (r) {
        r->refs = 1;
        r->context = c;
    }
    return r;
}

/* Call with the lock held. */
static struct graph_run *hold(struct graph_run *r)
{
    r->refs++;
    return r;
}

/* Call with the lock held. NULL is allowed. */
static void release(struct graph_run *r)
{
    for (struct graph_run *parent; r && --r->refs == 0; r = parent) {
        parent = r->parent;
        hd_event_destroy(r->done);
        free(r);
    }
}

static void free_events(struct event_list *l)
{
    for (uint32_t i = 0; i < l->events.n; i++)
        hd_event_destroy(l->events.at[i]);
    free(l->events.at);
    *l = (struct event_list){0};
}

/* Drops a run that has not begun, or NULL. Call with the lock held. */
static void drop_run(struct graph_run *r)
{
    if (r)
        r->next->refs--; /* the reference of its handle is separate */
    release(r);
}

/* Call with the lock held. */
static void begin_graph(struct graph_run *r, CUgraphExec x)
{
    r->exec = x;
    r->n_new = r->n_fired = r->n_siblings = 0;
    x->n_running++;
    x->is_queued = false;
}

static void end_graph(struct graph_run *r)
{
    CUgraphExec x = r->exec;
    pthread_mutex_lock(&lock);
    r->exec = NULL;
    if (x)
        x->n_running--;
    pthread_mutex_unlock(&lock);
    if (x)
        exec_free(x);
}

static void drop_queued(CUgraphExec x)
{
    pthread_mutex_lock(&lock);
    x->is_queued = false;
    pthread_mutex_unlock(&lock);
    exec_free(x);
}

CUresult run_new(CUgraphExec x, CUcontext c, struct graph_run **run)
{
    struct graph_run *r = *run = new_run(c);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    begin_graph(r, exec_hold(x));
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

void run_free(struct graph_run *r)
{
    end_graph(r);
    if (r->next)
        drop_queued(r->next);
    for (uint32_t i = 0; i < r->tail.n; i++)
        drop_queued(r->tail.at[i]);
    free(r->tail.at);
    free_events(&r->fired);
    free_events(&r->beside);
    hd_stream_destroy(r->stream);
    pthread_mutex_lock(&lock);
    release(r);
    pthread_mutex_unlock(&lock);
}

bool run_is_by_kernel(const struct graph_run *r)
{
    return r->is_by_kernel;
}

/* ---- stages ---- */

/* Waits for the events of the list; *any: there were some. */
static CUresult wait_for(struct graph_run *r, struct event_list *l, hd_event *until, bool *any)
{
    pthread_mutex_lock(&lock);
    struct event_list events = *l;
    *l = (struct event_list){0};
    pthread_mutex_unlock(&lock);
    *any = events.events.n;
    CUresult e = CUDA_SUCCESS;
    if (*any && !r->stream)
        e = from_hd(hd_stream_create(r->context->context, HD_STREAM_NON_BLOCKING, &r->stream));
    for (uint32_t i = 0; i < events.events.n && !e; i++)
        e = from_hd(hd_stream_wait_event(r->stream, events.events.at[i]));
    if (*any && !e)
        e = from_hd(hd_stream_wait_event(r->stream, r->done));
    if (*any && !e)
        e = from_hd(hd_event_record(r->done, r->stream));
    if (*any && !e)
        e = from_hd(hd_event_follow(until, r->stream));
    free_events(&events);
    return e;
}

/* The first graph of the tail replaces the one that has ended. */
static void take_tail(struct graph_run *r)
{
    end_graph(r);
    pthread_mutex_lock(&lock);
    if (r->tail.n) {
        r->next = r->tail.at[0];
        VEC_REMOVE(&r->tail, 0, 1);
    }
    pthread_mutex_unlock(&lock);
}

static CUresult launch_next(struct graph_run *r, hd_event *until)
{
    CUgraphExec x = r->next;
    r->next = NULL;
    pthread_mutex_lock(&lock);
    begin_graph(r, x);
    pthread_mutex_unlock(&lock);
    r->is_by_kernel = true;
    TRY(branches_launch_apart(x, r->context, r, r->done, until));
    return from_hd(hd_event_follow(r->done, x->streams[0]));
}

/* *more: there is more to wait for. */
static CUresult go_on(struct graph_run *r, hd_event *until, bool *more)
{
    if (!r->next)
        TRY(wait_for(r, &r->fired, until, more));
    if (*more)
        return CUDA_SUCCESS;
    if (!r->next)
        take_tail(r);
    *more = r->next;
    return r->next ? launch_next(r, until) : wait_for(r, &r->beside, until, more);
}

static bool next_stage(void *data, hd_result status, hd_event *until)
{
    IN_CALL;
    struct graph_run *r = data;
    bool more = false;
    CUresult failed = status ? CUDA_SUCCESS : go_on(r, until, &more);
    if (failed)
        log_line(LOG_ERROR, "a graph that a kernel has launched cannot run: error %d", (int)failed);
    if (more && !failed)
        return true;
    run_free(r);
    return false;
}

CUresult run_finish(struct graph_run *r, hd_stream *stream)
{
    CUresult e = from_hd(hd_event_follow(r->done, stream));
    e = e ? e : from_hd(hd_stream_loop(stream, next_stage, r));
    if (e)
        run_free(r);
    return e;
}

/* ---- what kernels launch ---- */

/* May the graph be launched again? It may be in its own tail. Call with the lock held. */
static bool may_launch(const struct graph_run *r, const struct CUgraphExec_st *x, uint64_t stream)
{
    bool itself = stream == TAIL && x == r->exec && x->n_running == 1;
    return x->uploaded && !x->is_queued && (!x->n_running || itself);
}

/* Call with the lock held. */
static CUresult put_tail(struct graph_run *r, CUgraphExec x)
{
    NEED(r->tail.n < MOST_TAIL);
    CUgraphExec *place = VEC_INSERT(&r->tail, r->n_new);
    if (!place)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *place = exec_hold(x);
    r->n_new++;
    x->is_queued = true;
    return CUDA_SUCCESS;
}

/* Makes a run of its own. */
static struct graph_run *run_of(struct graph_run *parent, bool beside, CUgraphExec x)
{
    struct graph_run *r = new_run(parent->context);
    if (r) {
        r->parent = hold(parent);
        r->is_beside = beside;
        r->next = exec_hold(x);
    }
    return r;
}

/* Makes `parent` wait for its end. Call with the lock held. */
static CUresult fire(hd_kernel_call *call, struct graph_run *parent, bool beside, CUgraphExec x)
{
    struct event_list *l = beside ? &parent->beside : &parent->fired;
    hd_event *end = NULL;
    struct graph_run *r = VEC_RESERVE(&l->events, 1) && !hd_event_create(&end) ? run_of(parent, beside, x) : NULL;
    hd_result e = r ? hd_kernel_call_loop(call, next_stage, r, r->done, end) : HD_ERROR_OUT_OF_MEMORY;
    if (!e) {
        l->events.at[l->events.n++] = end;
        x->is_queued = true;
    } else {
        hd_event_destroy(end);
        drop_run(r);
    }
    return from_hd(e);
}

/* Loses a launch silently, as a GPU does. */
static CUresult lose(void)
{
    static bool told;
    if (!told)
        fprintf(stderr,
                "heddle: the kernels of a graph have launched more than %d fire-and-forget graphs; the rest is lost, "
                "as on an H200\n",
                MOST_FIRED);
    told = true;
    return CUDA_SUCCESS;
}

/* Call with the lock held. */
static CUresult put_launch(hd_kernel_call *call, struct graph_run *r, CUgraphExec x, uint64_t stream)
{
    NEED(may_launch(r, x, stream));
    NEED(stream == TAIL || stream == FIRE_AND_FORGET || stream == SIBLING);
    if (stream == TAIL)
        return put_tail(r, x);
    if ((*(stream == SIBLING ? &r->n_siblings : &r->n_fired))++ >= MOST_FIRED)
        return lose();
    return stream == FIRE_AND_FORGET ? fire(call, r, false, x)
           : r->parent               ? fire(call, r->parent, r->is_beside, x)
                                     : fire(call, r, true, x);
}

/* The runtime API's errors have the same numbers. */
int run_launch_graph(void *data, hd_kernel_call *call, void *run, uint64_t graph, uint64_t stream)
{
    IN_CALL;
    (void)data;
    CUgraphExec x = record_of((CUgraphExec)(uintptr_t)graph, HANDLE_EXEC);
    if (!x)
        return CUDA_ERROR_INVALID_VALUE;
    if (!(x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    pthread_mutex_lock(&lock);
    CUresult e = put_launch(call, run, x, stream);
    pthread_mutex_unlock(&lock);
    return (int)e;
}
