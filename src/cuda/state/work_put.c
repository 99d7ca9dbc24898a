/* Submits work to its stream, or adds it to the graph of a capture. */
#include "cuda/process/printed.h"
#include "cuda/state/allocations.h"
#include "cuda/state/capture.h"
#include "cuda/state/devices.h"
#include "cuda/state/streams.h"
#include "cuda/state/work.h"

/* ---- copies between devices ---- */

/* The legacy stream of the context that has the memory, if another device
 * than c's has it; or NULL. */
static hd_stream *stream_elsewhere(const void *p, enum memory_kind kind, CUcontext c)
{
    struct device *device = NULL;
    bool may_be = kind == MEMORY_DEVICE && device_count() > 1;
    struct allocation *a = may_be ? allocation_find(p, NULL, &device) : NULL;
    CUcontext owner = a && device != c->device ? a->context : NULL;
    return owner ? hd_context_default_stream(owner->context) : NULL;
}

/* Later work of the stream comes after all earlier work of the other. */
static CUresult follow(hd_stream *s, hd_stream *other, hd_event *moment)
{
    if (!s || !other)
        return CUDA_SUCCESS;
    hd_result r = hd_event_record(moment, other);
    return from_hd(r ? r : hd_stream_wait_event(s, moment));
}

/* In a legacy stream, a copy between two devices comes after all earlier work of both, and before
 * all later work ("CUDA C++ Programming Guide", "Peer-to-Peer Memory Copy"). */
static CUresult copy_between(hd_stream *s, CUcontext c, const struct work *w, enum work_how how)
{
    hd_stream *const others[] = {stream_elsewhere(w->copy.from, w->from_kind, c),
                                 stream_elsewhere(w->copy.to, w->to_kind, c)};
    hd_event *moment = NULL;
    CUresult r = others[0] || others[1] ? from_hd(hd_event_create(&moment)) : CUDA_SUCCESS;
    for (int i = 0; i < 2 && !r; i++)
        r = follow(s, others[i], moment);
    if (!r)
        r = work_run(s, c, w, how);
    for (int i = 0; i < 2 && !r; i++)
        r = follow(others[i], s, moment);
    hd_event_destroy(moment);
    return r;
}

CUresult work_put(CUstream stream, const struct work *w, bool wait)
{
    CUstream s;
    CUcontext c;
    TRY(stream_object(stream, &s, &c));
    if (s && s->capture)
        return wait ? capture_forbid(s) : capture_work(s, w);
    if (!s)
        TRY(capture_legacy(c));
    TRY(work_check_given(w));
    hd_stream *runs_in = s ? s->stream : hd_context_default_stream(c->context);
    CUresult r = (s || w->kind != WORK_COPY ? work_run : copy_between)(runs_in, c, w, wait ? WORK_SYNC : WORK_ASYNC);
    if (wait)
        print_flush();
    return r;
}
