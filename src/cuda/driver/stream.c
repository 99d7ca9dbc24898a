/* Streams and events ("CUDA Driver API", 6.17, 6.18). */
#include "cuda/process/printed.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/events.h"
#include "cuda/state/ipc_event.h"
#include "cuda/state/streams.h"
#include "cuda/watch/watch.h"

#include <stdlib.h>

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

/* Functions that take a stream, and their twins, for which 0 is the thread's own stream. */
#define TWIN1(name, t1)                                                                                                \
    CU_API CUresult name##_ptsz(CUstream s, t1 a)                                                                      \
    {                                                                                                                  \
        return name(OR_OWN(s), a);                                                                                     \
    }
#define TWIN2(name, t1, t2)                                                                                            \
    CU_API CUresult name##_ptsz(CUstream s, t1 a, t2 b)                                                                \
    {                                                                                                                  \
        return name(OR_OWN(s), a, b);                                                                                  \
    }
#define TWIN3(name, t1, t2, t3)                                                                                        \
    CU_API CUresult name##_ptsz(CUstream s, t1 a, t2 b, t3 c)                                                          \
    {                                                                                                                  \
        return name(OR_OWN(s), a, b, c);                                                                               \
    }

/* ---- streams ---- */

static void free_stream(void *record)
{
    struct CUstream_st *s = record;
    hd_stream_destroy(s->stream);
    free(s);
}

CU_API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(stream && (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) == 0);
    CUstream s = calloc(1, sizeof *s);
    if (!s)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *s = (struct CUstream_st){.context = c, .flags = flags, .attributes = stream_first_attributes(priority)};
    CUresult r =
        from_hd(hd_stream_create(c->context, flags & CU_STREAM_NON_BLOCKING ? HD_STREAM_NON_BLOCKING : 0, &s->stream));
    if (!r)
        r = handle_give(HANDLE_STREAM, s, c, &s->handle);
    if (r) {
        free_stream(s);
        return r;
    }
    watch_created(s->handle, "stream", c);
    *stream = s->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, LEAST_PRIORITY);
}

/* Takes the stream before its context is freed, which would end it. */
static struct CUstream_st *take(CUstream handle)
{
    state_lock();
    struct CUstream_st *s = record_take(handle, HANDLE_STREAM);
    if (s)
        call_later(free_stream, s);
    state_unlock();
    return s;
}

CU_API CUresult cuStreamDestroy_v2(CUstream handle)
{
    TRY(state_ready());
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD ||
        !watch_handle(handle, "stream"))
        return CUDA_ERROR_INVALID_HANDLE;
    struct CUstream_st *s = take(handle);
    if (!s)
        return CUDA_ERROR_INVALID_HANDLE;
    capture_stream_gone(s);
    watch_destroyed(handle);
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamDestroy(CUstream s)
{
    return cuStreamDestroy_v2(s);
}

CU_API CUresult cuStreamSynchronize(CUstream s)
{
    hd_stream *stream;
    TRY(stream_run(s, &stream, NULL));
    TRY(capture_unsafe());
    hd_result r = hd_stream_synchronize(stream);
    print_flush();
    return from_hd(r);
}

CU_API CUresult cuStreamSynchronize_ptsz(CUstream s)
{
    return cuStreamSynchronize(OR_OWN(s));
}

CU_API CUresult cuStreamQuery(CUstream s)
{
    hd_stream *stream;
    TRY(stream_run(s, &stream, NULL));
    TRY(capture_unsafe());
    hd_result r = hd_stream_query(stream);
    if (r == HD_SUCCESS)
        print_flush();
    return from_hd(r);
}

CU_API CUresult cuStreamQuery_ptsz(CUstream s)
{
    return cuStreamQuery(OR_OWN(s));
}

CU_API CUresult cuStreamGetFlags(CUstream handle, unsigned *flags)
{
    hd_stream *stream;
    TRY(stream_run(handle, &stream, NULL));
    NEED(flags);
    struct CUstream_st *s = record_of(handle, HANDLE_STREAM);
    *flags = s ? s->flags : CU_STREAM_DEFAULT;
    return CUDA_SUCCESS;
}
TWIN1(cuStreamGetFlags, unsigned *)

CU_API CUresult cuStreamGetPriority(CUstream s, int *priority)
{
    struct stream_attributes *a;
    TRY(stream_attributes(s, &a, NULL));
    NEED(priority);
    *priority = a->priority;
    return CUDA_SUCCESS;
}
TWIN1(cuStreamGetPriority, int *)

CU_API CUresult cuStreamGetId(CUstream s, unsigned long long *id)
{
    hd_stream *stream;
    CUcontext c;
    TRY(stream_run(s, &stream, &c));
    NEED(id);
    *id = c->id << 32 | hd_stream_number(stream);
    return CUDA_SUCCESS;
}
TWIN1(cuStreamGetId, unsigned long long *)

CU_API CUresult cuStreamGetCtx(CUstream s, CUcontext *context)
{
    hd_stream *stream;
    CUcontext c;
    NEED(context);
    TRY(stream_get(s, &stream, &c));
    *context = c->handle;
    return CUDA_SUCCESS;
}
TWIN1(cuStreamGetCtx, CUcontext *)

CU_API CUresult cuStreamGetCtx_v2(CUstream s, CUcontext *context, CUgreenCtx *green)
{
    if (green)
        *green = NULL;
    return cuStreamGetCtx(s, context);
}
TWIN2(cuStreamGetCtx_v2, CUcontext *, CUgreenCtx *)

CU_API CUresult cuStreamGetDevice(CUstream s, CUdevice *device)
{
    hd_stream *stream;
    CUcontext c;
    TRY(stream_run(s, &stream, &c));
    NEED(device);
    *device = c->device->ordinal;
    return CUDA_SUCCESS;
}
TWIN1(cuStreamGetDevice, CUdevice *)

/* ---- host functions ---- */

CU_API CUresult cuLaunchHostFunc(CUstream s, CUhostFn function, void *data)
{
    NEED(function);
    struct work w = {.kind = WORK_CALL, .call = {function, data}};
    return work_put(s, &w, false);
}
TWIN2(cuLaunchHostFunc, CUhostFn, void *)

/* A callback is called after a fault, too, and told of it. */
struct callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
};

static void run_callback(void *data, hd_result status)
{
    struct callback c = *(struct callback *)data;
    free(data);
    print_flush();
    c.function(c.stream, from_hd(status), c.data);
}

CU_API CUresult cuStreamAddCallback(CUstream s, CUstreamCallback function, void *data, unsigned flags)
{
    hd_stream *stream;
    NEED(function && flags == 0);
    TRY(stream_run(s, &stream, NULL));
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (struct callback){function, s, data};
    return from_hd(hd_stream_call(stream, run_callback, c, HD_CALL_ALWAYS));
}
TWIN3(cuStreamAddCallback, CUstreamCallback, void *, unsigned)

/* ---- events ---- */

CU_API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext c;
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    TRY(context_current(&c));
    NEED(event && (flags & ~known) == 0);
    NEED(!(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING));
    struct ipc_event *shared = NULL;
    if (flags & CU_EVENT_INTERPROCESS)
        TRY(ipc_event_new(c->device, &shared));
    return event_new(c, flags, shared, event);
}

static CUresult find_event(CUevent handle, struct CUevent_st **e)
{
    TRY(state_ready());
    *e = event_of(handle);
    return handle && watch_handle(handle, "event") && *e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CU_API CUresult cuEventDestroy_v2(CUevent handle)
{
    struct CUevent_st *e;
    TRY(find_event(handle, &e));
    if (!record_take(handle, HANDLE_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    capture_event_gone(e);
    watch_destroyed(handle);
    call_later(event_free, e);
    return CUDA_SUCCESS;
}

CU_API CUresult cuEventDestroy(CUevent e)
{
    return cuEventDestroy_v2(e);
}

static CUresult record(CUevent event, CUstream stream, unsigned flags)
{
    struct CUevent_st *e;
    struct CUstream_st *s;
    CUcontext c;
    TRY(find_event(event, &e));
    TRY(stream_object(stream, &s, &c));
    NEED((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) == 0);
    if (c != e->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!s)
        TRY(capture_legacy(c));
    bool captures = s && s->capture;
    const struct work w = {.kind = WORK_RECORD, .event = event};
    if (flags)
        return captures ? capture_work(s, &w) : CUDA_ERROR_ILLEGAL_STATE;
    if (captures)
        return capture_record(s, e);
    capture_forget(e);
    return event_record(e, s ? s->stream : hd_context_default_stream(c->context));
}

CU_API CUresult cuEventRecord(CUevent e, CUstream s)
{
    return record(e, s, 0);
}

CU_API CUresult cuEventRecord_ptsz(CUevent e, CUstream s)
{
    return cuEventRecord(e, OR_OWN(s));
}

CU_API CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags)
{
    return record(e, s, flags);
}

CU_API CUresult cuEventRecordWithFlags_ptsz(CUevent e, CUstream s, unsigned flags)
{
    return cuEventRecordWithFlags(e, OR_OWN(s), flags);
}

CU_API CUresult cuEventQuery(CUevent handle)
{
    struct CUevent_st *e;
    TRY(find_event(handle, &e));
    TRY(capture_event(e, true));
    TRY(capture_unsafe());
    hd_result r = !e->shared                     ? hd_event_query(e->event)
                  : ipc_event_is_done(e->shared) ? HD_SUCCESS
                                                 : HD_ERROR_NOT_READY;
    if (!r)
        print_flush();
    return from_hd(r ? r : hd_context_status(e->context->context));
}

CU_API CUresult cuEventSynchronize(CUevent handle)
{
    struct CUevent_st *e;
    TRY(find_event(handle, &e));
    TRY(capture_event(e, true));
    TRY(capture_unsafe());
    if (e->shared)
        ipc_event_synchronize(e->shared, e->context);
    else
        hd_event_synchronize(e->event);
    print_flush();
    return from_hd(hd_context_status(e->context->context));
}

CU_API CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent last)
{
    double seconds;
    struct CUevent_st *start, *end;
    TRY(find_event(first, &start));
    TRY(find_event(last, &end));
    NEED(milliseconds);
    TRY(capture_event(start, false));
    TRY(capture_event(end, false));
    if (!start->recorded || !end->recorded || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    TRY(from_hd(hd_context_status(end->context->context)));
    TRY(from_hd(hd_event_elapsed(start->event, end->event, &seconds)));
    *milliseconds = (float)(1e3 * seconds);
    return CUDA_SUCCESS;
}

CU_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

/* Waits for an event of a capture, or lets a capturing stream wait. */
static CUresult wait_in_capture(struct CUstream_st *s, struct CUevent_st *e)
{
    if (s)
        return capture_wait(s, e);
    return capture_event(e, true) == CUDA_ERROR_CAPTURED_EVENT ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                               : CUDA_ERROR_INVALID_VALUE;
}

/* A flag that is valid only in captures. */
static CUresult outside_captures(const struct CUevent_st *e)
{
    return e->capture_is_over ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE;
}

CU_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    struct CUevent_st *e = NULL;
    struct CUstream_st *s;
    CUcontext c;
    CUresult r = find_event(event, &e);
    TRY(stream_object(stream, &s, &c));
    bool captures = s && s->capture;
    if (r && captures)
        capture_forbid(s);
    TRY(r);
    NEED((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) == 0);
    if (!s)
        TRY(capture_legacy(c));
    if (flags)
        return captures ? capture_wait_external(s, e) : outside_captures(e);
    if (captures || e->capture || e->capture_is_over)
        return wait_in_capture(s, e);
    return event_wait(e, s ? s->stream : hd_context_default_stream(c->context));
}
TWIN2(cuStreamWaitEvent, CUevent, unsigned)
