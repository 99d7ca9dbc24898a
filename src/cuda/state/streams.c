/* See streams.h. */
#include "cuda/state/streams.h"

#include <stdlib.h>

#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/watch/watch.h"

/* ---- streams of threads ---- */

/* The thread's own default streams, one for each context. */
struct own_stream {
    struct own_stream *next;
    CUcontext context; /* its handle, */
    uint64_t context_id;
    struct CUstream_st as; /* a stream like others, but without a handle */
};

static pthread_key_t own_streams;

/* Streams of contexts that have ended are freed already. */
static void drop_own_streams(void *list)
{
    _Atomic uint32_t *call = call_begin();
    for (struct own_stream *o = list, *next; o; o = next) {
        next = o->next;
        capture_stream_gone(&o->as);
        if (context_lives(o->context, o->context_id))
            hd_stream_destroy(o->as.stream);
        free(o);
    }
    call_end(call);
}

static void make_key(void)
{
    pthread_key_create(&own_streams, drop_own_streams);
}

static CUresult own_stream(CUcontext c, struct CUstream_st **own)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    struct own_stream *list = pthread_getspecific(own_streams);
    for (struct own_stream *o = list; o; o = o->next)
        if (o->context_id == c->id) {
            *own = &o->as;
            return CUDA_SUCCESS;
        }
    struct own_stream *o = calloc(1, sizeof *o);
    hd_result r = o ? hd_stream_create(c->context, 0, &o->as.stream) : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(o);
        return from_hd(r);
    }
    o->next = list;
    o->context = c->handle;
    o->context_id = c->id;
    o->as.context = c;
    o->as.attributes = stream_first_attributes(LEAST_PRIORITY);
    pthread_setspecific(own_streams, o);
    *own = &o->as;
    return CUDA_SUCCESS;
}

/* ---- by handle ---- */

static bool is_created(CUstream handle)
{
    return handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD;
}

CUresult stream_object(CUstream handle, struct CUstream_st **s, CUcontext *context)
{
    CUcontext c;
    bool created = is_created(handle);
    *s = NULL;
    TRY(created ? state_ready() : context_current(&c));
    if (created) {
        *s = record_of(handle, HANDLE_STREAM);
        if (!watch_handle(handle, "stream") || !*s)
            return CUDA_ERROR_INVALID_HANDLE;
        c = (*s)->context;
        TRY(from_hd(hd_context_status(c->context)));
    } else if (handle == CU_STREAM_PER_THREAD) {
        TRY(own_stream(c, s));
    }
    if (context)
        *context = c;
    return CUDA_SUCCESS;
}

/* The same for a use of the stream; the legacy stream must not be used while certain streams
 * capture. */
static CUresult stream_in_use(CUstream handle, struct CUstream_st **stream, CUcontext *context)
{
    TRY(stream_object(handle, stream, context));
    return *stream ? CUDA_SUCCESS : capture_legacy(*context);
}

CUresult stream_get(CUstream handle, hd_stream **stream, CUcontext *context)
{
    struct CUstream_st *s;
    CUcontext c;
    TRY(stream_in_use(handle, &s, &c));
    *stream = s ? s->stream : hd_context_default_stream(c->context);
    if (context)
        *context = c;
    return CUDA_SUCCESS;
}

CUresult stream_run(CUstream handle, hd_stream **stream, CUcontext *context)
{
    struct CUstream_st *s;
    TRY(stream_object(handle, &s, NULL));
    return s && s->capture ? capture_forbid(s) : stream_get(handle, stream, context);
}

/* ---- attributes ---- */

int stream_priority(int priority)
{
    return priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

struct stream_attributes stream_first_attributes(int priority)
{
    return (struct stream_attributes){
        .policy = CU_SYNC_POLICY_AUTO, .priority = stream_priority(priority), .domains = {.default_ = 0, .remote = 1}};
}

/* "num_bytes must be at most accessPolicyMaxWindowSize, missProp normal or streaming"
 * (CUaccessPolicyWindow). */
CUresult stream_check_window(const CUaccessPolicyWindow *w, CUcontext c)
{
    int most = 0;
    hd_machine_get_attribute(c->device->machine, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &most);
    NEED(w->num_bytes <= (size_t)most && w->hitRatio >= 0 && w->hitRatio <= 1);
    NEED(w->hitProp >= CU_ACCESS_PROPERTY_NORMAL && w->hitProp <= CU_ACCESS_PROPERTY_PERSISTING);
    NEED(w->missProp == CU_ACCESS_PROPERTY_NORMAL || w->missProp == CU_ACCESS_PROPERTY_STREAMING);
    return CUDA_SUCCESS;
}

CUresult stream_attributes(CUstream handle, struct stream_attributes **attributes, CUcontext *context)
{
    struct CUstream_st *s;
    CUcontext c;
    TRY(stream_in_use(handle, &s, &c));
    *attributes = s ? &s->attributes : &c->attributes;
    if (context)
        *context = c;
    return CUDA_SUCCESS;
}
