/* See capture.h. */
#include "cuda/state/capture.h"

#include "cuda/state/capture_state.h"
#include "cuda/state/events.h"
#include "cuda/state/graph.h"

#include <stdlib.h>

struct captures captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

void captures_lock(void)
{
    pthread_mutex_lock(&captures.lock);
}

CUresult captures_unlock(CUresult r)
{
    pthread_mutex_unlock(&captures.lock);
    return r;
}

static bool are_none(void)
{
    return atomic_load_explicit(&captures.n, memory_order_relaxed) == 0;
}

/* A number for this thread that no other thread has had. */
static uint64_t this_thread(void)
{
    static _Thread_local uint64_t number;
    if (!number)
        number = state_number();
    return number;
}

CUstreamCaptureMode *capture_mode(void)
{
    static _Thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return &mode;
}

/* ---- streams and tails ---- */

struct member *capture_member(struct CUstream_st *s)
{
    return s->member;
}

/* Removes duplicate nodes, and keeps each at its first place; captures.looks marks those seen. */
void tail_unify(struct tail *t)
{
    size_t n = t->n;
    t->n = 0;
    captures.looks++;
    for (size_t i = 0; i < n; i++) {
        CUgraphNode node;
        bool found = node_of(t->at[i], &node) == CUDA_SUCCESS, again = found && node->seen == captures.looks;
        if (found)
            node->seen = captures.looks;
        if (again)
            continue;
        t->data[t->n] = t->data[i];
        t->at[t->n++] = t->at[i];
    }
}

CUresult tail_add(struct tail *t, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n)
{
    const CUgraphEdgeData plain = {0};
    if (t->n + n > t->capacity)
        tail_unify(t);
    size_t before = t->capacity;
    if (!VEC_RESERVE(t, n))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUgraphEdgeData *more = t->capacity > before ? realloc(t->data, t->capacity * sizeof *more) : t->data;
    if (!more && t->capacity) {
        t->capacity = before;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    t->data = more;
    for (size_t i = 0; i < n; i++) {
        t->data[t->n] = data ? data[i] : plain;
        t->at[t->n++] = nodes[i];
    }
    return CUDA_SUCCESS;
}

void tail_free(struct tail *t)
{
    free((void *)t->at);
    free(t->data);
}

/* Was it not destroyed since the call found it? A thread's own stream has no handle. */
static bool is_stream(const struct CUstream_st *s)
{
    return !s->handle || record_of(s->handle, HANDLE_STREAM);
}

CUresult capture_join(struct capture *c, struct CUstream_st *s)
{
    struct member *m = is_stream(s) ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return is_stream(s) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_HANDLE;
    m->stream = s;
    m->next = c->members;
    c->members = m;
    s->capture = c;
    s->member = m;
    return CUDA_SUCCESS;
}

/* ---- the end ---- */

static void drop_events(struct capture *c)
{
    for (struct captured *e = c->events, *next; e; e = next) {
        next = e->next;
        e->event->capture = NULL;
        e->event->capture_is_over = true;
        tail_free(&e->tail);
        free(e);
    }
    c->events = NULL;
}

/* Invalidates the capture. Its events no longer mean anything. Its graph stays until the capture
 * ends, because nodes of it may be in use. */
void capture_invalidate(struct capture *c)
{
    if (!c->invalid)
        log_line(LOG_ERROR,
                 "the call makes a capture invalid, because the capture's mode, streams or events forbid it");
    c->invalid = true;
    drop_events(c);
}

static void end(struct capture *c)
{
    struct capture **link = &captures.first;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    atomic_fetch_sub(&captures.n, 1);
    drop_events(c);
    for (struct member *m = c->members, *next; m; m = next) {
        next = m->next;
        if (m->stream)
            m->stream->capture = NULL;
        tail_free(&m->tail);
        free(m);
    }
    c->graph->capturing = false;
    free(c);
}

/* Ends the capture with its graph, unless the graph belongs to a node, or another capture is using
   it. */
static void abandon(struct capture *c)
{
    struct CUgraph_st *g = c->graph;
    end(c);
    if (!g->is_child && !graph_is_captured(g))
        graph_end(g);
}

/* Were all streams that joined waited for? Otherwise some of their work would be lost. */
static bool all_joined(const struct capture *c)
{
    tail_unify(&capture_member(c->origin)->tail);
    for (const struct member *m = c->members; m; m = m->next)
        for (size_t i = 0; i < m->tail.n; i++) {
            CUgraphNode node;
            if (node_of(m->tail.at[i], &node) == CUDA_SUCCESS && node->before.n == 0 && node->seen != captures.looks)
                return false;
        }
    return true;
}

static CUresult finish(struct CUstream_st *s, struct CUgraph_st **graph)
{
    struct capture *c = s->capture;
    if (!c)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (c->origin != s) {
        capture_invalidate(c);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    bool elsewhere = c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != this_thread();
    CUresult r = c->invalid       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                 : elsewhere      ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                 : !all_joined(c) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                  : CUDA_SUCCESS;
    if (r) {
        abandon(c);
    } else {
        *graph = c->graph;
        end(c);
    }
    return r;
}

CUresult capture_end(struct CUstream_st *s, struct CUgraph_st **graph)
{
    *graph = NULL;
    captures_lock();
    return captures_unlock(finish(s, graph));
}

/* Only the stream in which a capture began can end it. */
static void leave(struct CUstream_st *s)
{
    struct capture *c = s->capture;
    if (c && c->origin == s) {
        abandon(c);
    } else if (c) {
        capture_member(s)->stream = NULL;
        s->capture = NULL;
    }
}

void capture_stream_gone(struct CUstream_st *s)
{
    captures_lock();
    leave(s);
    captures_unlock(CUDA_SUCCESS);
}

/* ---- the beginning ---- */

/* Checks edges to a next node that may be a kernel. */
static CUresult check_edges(const CUgraphNode *after, const CUgraphEdgeData *data, size_t n)
{
    CUgraphNode earlier;
    for (size_t i = 0; data && i < n; i++) {
        TRY(node_of(after[i], &earlier));
        NEED(edge_is_good(&data[i], earlier->type, CU_GRAPH_NODE_TYPE_KERNEL));
    }
    return CUDA_SUCCESS;
}

static CUresult begin(struct CUstream_st *s, struct CUgraph_st *into, const CUgraphNode *after,
                      const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode)
{
    if (s->capture || (into && into->capturing))
        return CUDA_ERROR_ILLEGAL_STATE;
    if (into)
        TRY(graph_has_nodes(into, after, n));
    TRY(check_edges(after, data, n));
    struct CUgraph_st *g = into;
    struct capture *c = calloc(1, sizeof *c);
    CUresult r = !c ? CUDA_ERROR_OUT_OF_MEMORY : g ? CUDA_SUCCESS : graph_new(&g);
    r = r ? r : capture_join(c, s);
    if (r) {
        if (g && !into)
            graph_end(g);
        free(c);
        return r;
    }
    g->capturing = true;
    c->graph = g;
    c->origin = s;
    c->thread = this_thread();
    c->mode = mode;
    c->id = state_number();
    c->next = captures.first;
    captures.first = c;
    atomic_fetch_add(&captures.n, 1);
    return tail_add(&capture_member(s)->tail, after, data, n);
}

CUresult capture_begin(struct CUstream_st *s, struct CUgraph_st *into, const CUgraphNode *after,
                       const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode)
{
    captures_lock();
    return captures_unlock(begin(s, into, after, data, n, mode));
}

CUstreamCaptureStatus capture_status(struct CUstream_st *s)
{
    captures_lock();
    CUstreamCaptureStatus status = !s->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
                                   : s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    captures_unlock(CUDA_SUCCESS);
    return status;
}

CUresult capture_look(struct CUstream_st *s, cuuint64_t *id, CUgraph *graph, const CUgraphNode **after,
                      const CUgraphEdgeData **data, size_t *n)
{
    bool lossy = false;
    captures_lock();
    struct member *m = s->capture ? capture_member(s) : NULL;
    if (m)
        tail_unify(&m->tail);
    if (m && id)
        *id = s->capture->id;
    if (m && graph)
        *graph = s->capture->graph->handle;
    if (m && after)
        *after = m->tail.at;
    if (m && data)
        *data = m->tail.data;
    for (size_t i = 0; m && !data && (after || n) && i < m->tail.n; i++)
        lossy = lossy || !edge_is_plain(&m->tail.data[i]);
    if (m && n)
        *n = m->tail.n;
    return captures_unlock(lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS);
}

static CUresult set_tail(struct CUstream_st *s, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n,
                         unsigned flags)
{
    if (!s->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    NEED(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES && (nodes || !n));
    TRY(graph_has_nodes(s->capture->graph, nodes, n));
    TRY(check_edges(nodes, data, n));
    struct tail *t = &capture_member(s)->tail;
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        t->n = 0;
    return tail_add(t, nodes, data, n);
}

CUresult capture_set_tail(struct CUstream_st *s, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n,
                          unsigned flags)
{
    captures_lock();
    return captures_unlock(set_tail(s, nodes, data, n, flags));
}

/* ---- what happens in streams that capture ---- */

static const CUgraphNodeType node_types[] = {
    [WORK_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY,         [WORK_LAUNCH] = CU_GRAPH_NODE_TYPE_KERNEL,
    [WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,         [WORK_FILL] = CU_GRAPH_NODE_TYPE_MEMSET,
    [WORK_CALL] = CU_GRAPH_NODE_TYPE_HOST,           [WORK_RECORD] = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    [WORK_WAIT] = CU_GRAPH_NODE_TYPE_WAIT_EVENT,     [WORK_LIBRARY] = CU_GRAPH_NODE_TYPE_KERNEL,
    [WORK_GIVE] = CU_GRAPH_NODE_TYPE_MEM_ALLOC,      [WORK_TAKE] = CU_GRAPH_NODE_TYPE_MEM_FREE,
    [WORK_MEMOPS] = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
};

/* Sets the edges to a node; programmatic ones if it is a kernel that was launched to overlap the
 * previous kernels. */
static void set_edges(const struct tail *t, CUgraphNode node, bool overlaps)
{
    const CUgraphEdgeData programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                          .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    for (size_t i = 0; i < t->n; i++) {
        CUgraphNode earlier;
        if (node_of(t->at[i], &earlier) == CUDA_SUCCESS)
            graph_set_edge(earlier, node,
                           overlaps && earlier->type == CU_GRAPH_NODE_TYPE_KERNEL ? &programmatic : &t->data[i]);
    }
}

static CUresult put_node(struct CUstream_st *s, const struct work *w, struct tail *t, CUgraphNode *made)
{
    struct CUgraphNode_st *node;
    struct work own = *w;
    bool overlaps = w->kind == WORK_LAUNCH && w->launch.config.flags & HD_LAUNCH_PROGRAMMATIC;
    if (overlaps)
        own.launch.config.flags &= ~(unsigned)HD_LAUNCH_PROGRAMMATIC;
    tail_unify(t);
    TRY(graph_put_node(s->capture->graph, node_types[w->kind], &own, s->context->handle, t->at, t->n, &node));
    set_edges(t, node, overlaps);
    node->hints = (struct launch_hints){.window = s->attributes.window,
                                        .domains = s->attributes.domains,
                                        .domain = s->attributes.domain,
                                        .priority = s->attributes.priority};
    t->n = 0;
    *made = node;
    return tail_add(t, &node->handle, NULL, 1);
}

CUresult capture_add_node(struct CUstream_st *s, const struct work *w, CUgraphNode *made)
{
    struct capture *c = s->capture;
    if (!c) /* it was ended meanwhile */
        return CUDA_ERROR_ILLEGAL_STATE;
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (work_is_nothing(w))
        return CUDA_SUCCESS;
    TRY(work_parameters(w, s->context));
    CUresult r = work_check(w, s->context);
    if (r) {
        capture_invalidate(c);
        return r;
    }
    return put_node(s, w, &capture_member(s)->tail, made);
}

CUresult capture_work(struct CUstream_st *s, const struct work *w)
{
    CUgraphNode node;
    captures_lock();
    return captures_unlock(capture_add_node(s, w, &node));
}

CUresult capture_launch(struct CUstream_st *s, const struct work *w, CUgraphNode *node)
{
    *node = NULL;
    captures_lock();
    CUresult r = capture_add_node(s, w, node);
    if (!r && *node && w->launch.event)
        r = capture_record_port(s, event_of(w->launch.event), &w->launch.event_port);
    return captures_unlock(r);
}

CUresult capture_forbid(struct CUstream_st *s)
{
    captures_lock();
    if (s->capture)
        capture_invalidate(s->capture);
    return captures_unlock(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

/* ---- what happens elsewhere ---- */

static bool is_in(const struct capture *c, CUcontext context, bool blocking)
{
    for (const struct member *m = c->members; m; m = m->next)
        if (m->stream && m->stream->context == context && !(blocking && m->stream->flags & CU_STREAM_NON_BLOCKING))
            return true;
    return false;
}

/* Invalidates the captures of a context; `blocking`: only those with a stream that the legacy
   stream waits for. */
static bool invalidate_in(CUcontext context, bool blocking)
{
    bool found = false;
    captures_lock();
    for (struct capture *c = captures.first; c; c = c->next)
        if (is_in(c, context, blocking)) {
            capture_invalidate(c);
            found = true;
        }
    captures_unlock(CUDA_SUCCESS);
    return found;
}

CUresult capture_legacy(CUcontext c)
{
    return !are_none() && invalidate_in(c, true) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult capture_context(CUcontext c)
{
    return !are_none() && invalidate_in(c, false) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

bool capture_blocks_legacy(CUcontext context)
{
    bool found = false;
    captures_lock();
    for (struct capture *c = captures.first; c && !found; c = c->next)
        found = is_in(c, context, true);
    captures_unlock(CUDA_SUCCESS);
    return found;
}

void capture_context_gone(CUcontext context)
{
    captures_lock();
    for (struct capture *c = captures.first, *next; c; c = next) {
        next = c->next;
        if (is_in(c, context, false))
            abandon(c);
    }
    captures_unlock(CUDA_SUCCESS);
}

/* The modes of cuThreadExchangeStreamCaptureMode. */
static bool is_disturbed(const struct capture *c, CUstreamCaptureMode mode)
{
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    return c->thread == this_thread() ||
           (mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult capture_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    if (are_none())
        return r;
    captures_lock();
    for (struct capture *c = captures.first; c; c = c->next)
        if (is_disturbed(c, *capture_mode())) {
            capture_invalidate(c);
            r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return captures_unlock(r);
}
