/* Capturing: what is put into a stream becomes a graph ("CUDA Driver API", 6.17; CUDA C++ Programming Guide, "Creating a
 * Graph Using Stream Capture").
 *
 * A captured stream has a tail: the nodes that its next one depends on. An event that is recorded in it takes the tail
 * along; a stream that waits for such an event is captured as well. When the capture ends, all streams must have come
 * back to the one where it began.
 */
#include "cuda/graph.h"

#include "cuda/streams.h"

#include <stdlib.h>
#include <string.h>

struct tail {
    CUgraphNode *at;
    size_t n;
};

struct capture {
    CUgraph graph;
    CUstream origin;
    uint64_t id;
    struct member {
        struct member *next;
        CUstream stream;
        struct tail tail;
    } *members;
    struct captured {
        struct captured *next;
        CUevent event;
        struct tail tail;
    } *events;
};

static bool is_created(CUstream s)
{
    return s && s != CU_STREAM_LEGACY && s != CU_STREAM_PER_THREAD && s->kind == HANDLE_STREAM;
}

bool is_capturing(CUstream s)
{
    return is_created(s) && s->capture;
}

static struct member *member_of(CUstream s)
{
    struct member *m = s->capture->members;
    while (m && m->stream != s)
        m = m->next;
    return m;
}

static CUresult tail_add(struct tail *t, const CUgraphNode *nodes, size_t n)
{
    CUgraphNode *more = realloc(t->at, (t->n + n + 1) * sizeof *more);
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    t->at = more;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < t->n && t->at[k] != nodes[i])
            k++;
        if (k == t->n)
            t->at[t->n++] = nodes[i];
    }
    return CUDA_SUCCESS;
}

static CUresult join(struct capture *c, CUstream s)
{
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->stream = s;
    m->next = c->members;
    c->members = m;
    s->capture = c;
    return CUDA_SUCCESS;
}

static void end(struct capture *c)
{
    for (struct member *m = c->members, *next; m; m = next) {
        next = m->next;
        m->stream->capture = NULL;
        free(m->tail.at);
        free(m);
    }
    for (struct captured *e = c->events, *next; e; e = next) {
        next = e->next;
        e->event->capture = NULL;
        free(e->tail.at);
        free(e);
    }
    free(c);
}

/* ---- what happens in captured streams ---- */

static const CUgraphNodeType node_types[] = {
    [WORK_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY, [WORK_LAUNCH] = CU_GRAPH_NODE_TYPE_KERNEL,
    [WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY, [WORK_FILL] = CU_GRAPH_NODE_TYPE_MEMSET,
    [WORK_CALL] = CU_GRAPH_NODE_TYPE_HOST,
};

CUresult capture_work(CUstream s, const struct work *w)
{
    struct member *m = member_of(s);
    CUgraphNode node;
    TRY(graph_add(s->capture->graph, node_types[w->kind], w, s->context, m->tail.at, m->tail.n, &node));
    m->tail.n = 0;
    return tail_add(&m->tail, &node, 1);
}

bool capture_record(CUevent e, CUstream s, CUresult *result)
{
    if (!is_capturing(s))
        return false;
    struct capture *c = s->capture;
    struct captured *found = c->events;
    while (found && found->event != e)
        found = found->next;
    if (!found && (found = calloc(1, sizeof *found))) {
        found->event = e;
        found->next = c->events;
        c->events = found;
        e->capture = c;
    }
    *result = CUDA_ERROR_OUT_OF_MEMORY;
    if (found) {
        struct member *m = member_of(s);
        found->tail.n = 0;
        *result = tail_add(&found->tail, m->tail.at, m->tail.n);
    }
    return true;
}

bool capture_wait(CUstream s, CUevent e, CUresult *result)
{
    if (!e->capture) {
        *result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION; /* something outside the graph */
        return is_capturing(s);
    }
    struct captured *found = e->capture->events;
    while (found->event != e)
        found = found->next;
    if (!is_created(s))
        *result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    else if (s->capture && s->capture != e->capture)
        *result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
    else
        *result = s->capture ? CUDA_SUCCESS : join(e->capture, s);
    if (!*result)
        *result = tail_add(&member_of(s)->tail, found->tail.at, found->tail.n);
    return true;
}

void capture_forget(CUevent e)
{
    struct captured **link = e->capture ? &e->capture->events : NULL;
    while (link && *link && (*link)->event != e)
        link = &(*link)->next;
    if (!link || !*link)
        return;
    struct captured *gone = *link;
    *link = gone->next;
    free(gone->tail.at);
    free(gone);
    e->capture = NULL;
}

/* ---- begin and end ---- */

CU_API CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
    TRY(state_ready());
    NEED((unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    if (!is_created(s)) {
        log_line(LOG_ERROR, "a default stream cannot be captured");
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (s->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *c = calloc(1, sizeof *c);
    if (!c || !(c->graph = graph_new())) {
        free(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    c->origin = s;
    c->id = state_number();
    CUresult r = join(c, s);
    if (r) {
        graph_free(c->graph);
        free(c);
    }
    return r;
}

/* Streams that were drawn in must have been waited for: nothing of theirs may be left at the end. */
static bool all_joined(const struct capture *c)
{
    for (const struct member *m = c->members; m; m = m->next)
        for (size_t i = 0; m->stream != c->origin && i < m->tail.n; i++) {
            const struct tail *last = &member_of(c->origin)->tail;
            bool found = m->tail.at[i]->before.n > 0;
            for (size_t k = 0; k < last->n && !found; k++)
                found = last->at[k] == m->tail.at[i];
            if (!found)
                return false;
        }
    return true;
}

CU_API CUresult cuStreamEndCapture(CUstream s, CUgraph *graph)
{
    TRY(state_ready());
    NEED(graph);
    *graph = NULL;
    if (!is_capturing(s))
        return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *c = s->capture;
    if (c->origin != s)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    bool joined = all_joined(c);
    if (joined)
        *graph = c->graph;
    else
        graph_free(c->graph);
    end(c);
    return joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CU_API CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status)
{
    TRY(state_ready());
    NEED(status);
    *status = is_capturing(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamGetCaptureInfo_v3(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                          const CUgraphNode **after, const CUgraphEdgeData **edges, size_t *n)
{
    TRY(cuStreamIsCapturing(s, status));
    if (edges)
        *edges = NULL; /* all edges are of the usual kind */
    if (*status == CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    struct member *m = member_of(s);
    if (id)
        *id = s->capture->id;
    if (graph)
        *graph = s->capture->graph;
    if (after)
        *after = m->tail.at;
    if (n)
        *n = m->tail.n;
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                          const CUgraphNode **after, size_t *n)
{
    return cuStreamGetCaptureInfo_v3(s, status, id, graph, after, NULL, n);
}

#define OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

CU_API CUresult cuStreamBeginCapture_v2_ptsz(CUstream s, CUstreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(OWN(s), mode);
}

CU_API CUresult cuStreamEndCapture_ptsz(CUstream s, CUgraph *graph)
{
    return cuStreamEndCapture(OWN(s), graph);
}

CU_API CUresult cuStreamIsCapturing_ptsz(CUstream s, CUstreamCaptureStatus *status)
{
    return cuStreamIsCapturing(OWN(s), status);
}

CU_API CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
                                               CUgraph *graph, const CUgraphNode **after, const CUgraphEdgeData **edges,
                                               size_t *n)
{
    return cuStreamGetCaptureInfo_v3(OWN(s), status, id, graph, after, edges, n);
}

CU_API CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
                                               CUgraph *graph, const CUgraphNode **after, size_t *n)
{
    return cuStreamGetCaptureInfo_v2(OWN(s), status, id, graph, after, n);
}

/* What a mode forbids (calls that might disturb a capture) disturbs none here. */
CU_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    NEED(mode && (unsigned)*mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    CUstreamCaptureMode old = *capture_mode();
    *capture_mode() = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
