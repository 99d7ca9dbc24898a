/* See events.h. */
#include "cuda/state/events.h"

#include <stdlib.h>

#include "cuda/state/ipc_event.h"
#include "cuda/watch/watch.h"

void event_free(void *record)
{
    struct CUevent_st *e = record;
    hd_event_destroy(e->event);
    ipc_event_drop(e->shared);
    free(e);
}

CUresult event_new(CUcontext c, unsigned flags, struct ipc_event *shared, CUevent *handle)
{
    struct CUevent_st *e = calloc(1, sizeof *e);
    if (!e) {
        ipc_event_drop(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *e = (struct CUevent_st){.context = c, .shared = shared, .flags = flags};
    CUresult r = shared ? CUDA_SUCCESS : from_hd(hd_event_create(&e->event));
    if (!r)
        r = handle_give(HANDLE_EVENT, e, c, &e->handle);
    if (r) {
        event_free(e);
        return r;
    }
    watch_created(e->handle, "event", c);
    *handle = e->handle;
    return CUDA_SUCCESS;
}

struct CUevent_st *event_of(CUevent handle)
{
    return record_of(handle, HANDLE_EVENT);
}

CUresult event_record(struct CUevent_st *e, hd_stream *s)
{
    e->recorded = true;
    return e->shared ? ipc_event_record(e->shared, s) : from_hd(hd_event_record(e->event, s));
}

CUresult event_wait(struct CUevent_st *e, hd_stream *s)
{
    return e->shared ? ipc_event_wait(e->shared, s) : from_hd(hd_stream_wait_event(s, e->event));
}
