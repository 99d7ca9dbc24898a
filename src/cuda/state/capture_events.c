/* Events in captures: an event recorded in a capturing stream stands for the stream's tail, and
 * passes it to streams that wait. */
#include "cuda/state/capture_state.h"

#include <stdlib.h>

#include "cuda/state/events.h"

static void forget(struct CUevent_st *e)
{
    struct captured *gone = e->captured;
    e->capture_is_over = false;
    if (!e->capture)
        return;
    *gone->link = gone->next;
    if (gone->next)
        gone->next->link = gone->link;
    tail_free(&gone->tail);
    free(gone);
    e->capture = NULL;
}

void capture_forget(struct CUevent_st *e)
{
    if (!e->capture && !e->capture_is_over)
        return;
    captures_lock();
    forget(e);
    captures_unlock(CUDA_SUCCESS);
}

void capture_event_gone(struct CUevent_st *e)
{
    if (atomic_load(&captures.n) == 0)
        return;
    captures_lock();
    forget(e);
    captures_unlock(CUDA_SUCCESS);
}

CUresult capture_record_port(struct CUstream_st *s, struct CUevent_st *e, const CUgraphEdgeData *port)
{
    struct capture *c = s->capture;
    if (!e || !event_of(e->handle)) /* it may have ended since the call found it */
        return CUDA_ERROR_INVALID_HANDLE;
    if (!c)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    forget(e);
    struct captured *made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->event = e;
    made->next = c->events;
    made->link = &c->events;
    if (made->next)
        made->next->link = &made->next;
    c->events = made;
    e->capture = c;
    e->captured = made;
    struct tail *t = &capture_member(s)->tail;
    tail_unify(t);
    TRY(tail_add(&made->tail, t->at, t->data, t->n));
    for (size_t i = 0; port && i < made->tail.n; i++)
        made->tail.data[i] = *port;
    return CUDA_SUCCESS;
}

CUresult capture_record(struct CUstream_st *s, struct CUevent_st *e)
{
    captures_lock();
    return captures_unlock(capture_record_port(s, e, NULL));
}

/* A capturing stream waits for an event that was recorded outside. */
static CUresult wait_outside(struct CUstream_st *s, struct CUevent_st *e)
{
    if (!e->recorded && !e->capture_is_over)
        return CUDA_SUCCESS;
    capture_invalidate(s->capture);
    return e->capture_is_over ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

static CUresult wait(struct CUstream_st *s, struct CUevent_st *e)
{
    if (s->capture && s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!e->capture)
        /* The event's capture is over. */
        return s->capture ? wait_outside(s, e) : CUDA_ERROR_INVALID_VALUE;
    if (s->capture && s->capture != e->capture) {
        capture_invalidate(s->capture);
        capture_invalidate(e->capture);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!s->capture)
        TRY(capture_join(e->capture, s));
    const struct tail *t = &e->captured->tail;
    return tail_add(&capture_member(s)->tail, t->at, t->data, t->n);
}

CUresult capture_wait(struct CUstream_st *s, struct CUevent_st *e)
{
    captures_lock();
    return captures_unlock(wait(s, e));
}

static CUresult wait_external(struct CUstream_st *s, struct CUevent_st *e)
{
    const struct work w = {.kind = WORK_WAIT, .event = e->handle};
    CUgraphNode node;
    if (e->capture_is_over && s->capture && !s->capture->invalid)
        return wait_outside(s, e);
    return capture_add_node(s, &w, &node);
}

CUresult capture_wait_external(struct CUstream_st *s, struct CUevent_st *e)
{
    captures_lock();
    return captures_unlock(wait_external(s, e));
}

CUresult capture_event(struct CUevent_st *e, bool forbid)
{
    if (!e->capture && !e->capture_is_over)
        return CUDA_SUCCESS;
    captures_lock();
    CUresult r = e->capture ? CUDA_ERROR_CAPTURED_EVENT : e->capture_is_over ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (e->capture && forbid)
        capture_invalidate(e->capture);
    return captures_unlock(r);
}
