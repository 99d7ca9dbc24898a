/* The part of CUPTI with which its clients run without it: they subscribe, and the result, with a
 * line on stderr, tells them that there are no callbacks and no activity records. `heddle explain`
 * is Heddle's profiler.
 */
#include "cuda/cupti.h"

#include <stdatomic.h>
#include <time.h>

#include "libraries/common/library.h"

static _Atomic int subscribed;
static _Thread_local CUptiResult last = CUPTI_SUCCESS;

static CUptiResult result(CUptiResult r)
{
    last = r ? r : last;
    return r;
}

LIBRARY_API CUptiResult cuptiGetResultString(CUptiResult of, const char **text)
{
    if (!text)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    switch ((int)of) {
#define RESULT(name, number)                                                                                           \
    case number: *text = #name; return CUPTI_SUCCESS;
#include "libraries/cupti/results.def"
#undef RESULT
    default: return result(CUPTI_ERROR_INVALID_PARAMETER);
    }
}

LIBRARY_API CUptiResult cuptiGetErrorMessage(CUptiResult of, const char **text)
{
    return cuptiGetResultString(of, text);
}

LIBRARY_API CUptiResult cuptiGetLastError(void)
{
    CUptiResult r = last;
    last = CUPTI_SUCCESS;
    return r;
}

static const char A_SUBSCRIBER; /* there is one at a time */

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber)
{
    int none = 0;
    if (!subscriber)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    if (!atomic_compare_exchange_strong(&subscribed, &none, 1))
        return result(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    *subscriber = (CUpti_SubscriberHandle)&A_SUBSCRIBER;
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *data)
{
    (void)callback, (void)data;
    return subscribe(subscriber);
}

LIBRARY_API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *data,
                                          void *params)
{
    (void)callback, (void)data, (void)params;
    return subscribe(subscriber);
}

LIBRARY_API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    if (subscriber != (CUpti_SubscriberHandle)&A_SUBSCRIBER || !atomic_exchange(&subscribed, 0))
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiFinalize(void)
{
    atomic_store(&subscribed, 0);
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiGetTimestamp(uint64_t *nanoseconds)
{
    struct timespec now;
    if (!nanoseconds)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    clock_gettime(CLOCK_REALTIME, &now);
    *nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    CUdevice device;
    CUcontext popped;
    if (!id)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    if (context && cuCtxPushCurrent(context))
        return result(CUPTI_ERROR_INVALID_CONTEXT);
    CUresult r = cuCtxGetDevice(&device);
    if (context)
        cuCtxPopCurrent(&popped);
    if (r)
        return result(CUPTI_ERROR_INVALID_CONTEXT);
    *id = (uint32_t)device;
    return CUPTI_SUCCESS;
}

/* ---- activity records: there are none ---- */

LIBRARY_API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                       CUpti_BuffersCallbackCompleteFunc completed)
{
    return requested && completed ? CUPTI_SUCCESS : result(CUPTI_ERROR_INVALID_PARAMETER);
}

LIBRARY_API CUptiResult cuptiActivityDisable(int kind)
{
    (void)kind;
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    return CUPTI_SUCCESS;
}

LIBRARY_API CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
    (void)buffer, (void)bytes;
    return result(record ? CUPTI_ERROR_MAX_LIMIT_REACHED : CUPTI_ERROR_INVALID_PARAMETER);
}

LIBRARY_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    if (!dropped)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    *dropped = 0;
    return CUPTI_SUCCESS;
}
