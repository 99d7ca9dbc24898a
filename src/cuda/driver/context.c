/* Context management ("CUDA Driver API", 6.8, 6.9). */
#include "cuda/state/state.h"

#include "cuda/process/printed.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/machines.h"
#include "cuda/state/work.h"
#include "cuda/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult create(CUcontext *context, unsigned flags, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(context && (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    TRY(context_new(d, flags, false, context));
    return context_push(*context);
}

CU_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice dev)
{
    return create(context, flags, dev);
}

CU_API CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int n, unsigned flags, CUdevice dev)
{
    if (params || n)
        return api_not_supported("cuCtxCreate with execution affinity");
    return create(context, flags, dev);
}

CU_API CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice dev)
{
    if (params && (params->execAffinityParams || params->cigParams))
        return api_not_supported("cuCtxCreate with execution affinity or a shared graphics context");
    return create(context, flags, dev);
}

CU_API CUresult cuCtxDestroy_v2(CUcontext handle)
{
    TRY(state_ready());
    CUcontext c = record_of(handle, HANDLE_CONTEXT);
    if (!c || c->primary || !record_take(handle, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context_current_handle() == handle)
        context_pop(NULL);
    context_end(c, NULL);
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}

CU_API CUresult cuCtxAttach(CUcontext *context, unsigned flags)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(context && !flags);
    state_lock();
    c->attached++;
    state_unlock();
    *context = c->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxDetach(CUcontext handle)
{
    TRY(state_ready());
    CUcontext c = record_of(handle, HANDLE_CONTEXT);
    if (!c || context_current_handle() != handle)
        return CUDA_ERROR_INVALID_CONTEXT;
    state_lock();
    bool last = c->attached == 0;
    c->attached -= !last;
    state_unlock();
    return last ? cuCtxDestroy_v2(handle) : CUDA_SUCCESS;
}

CU_API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    TRY(state_ready());
    if (!record_of(context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context_push(context);
}

CU_API CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}

CU_API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    TRY(state_ready());
    return context_pop(context);
}

CU_API CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxPopCurrent_v2(context);
}

CU_API CUresult cuCtxSetCurrent(CUcontext context)
{
    TRY(state_ready());
    if (context && !record_of(context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context_set(context);
}

CU_API CUresult cuCtxGetCurrent(CUcontext *context)
{
    TRY(state_ready());
    NEED(context);
    *context = context_current_handle();
    return CUDA_SUCCESS;
}

/* A context by its handle; NULL: the current one. */
static CUresult named(CUcontext handle, CUcontext *context)
{
    TRY(state_ready());
    bool ended = !handle && context_current_handle();
    *context = record_of(handle ? handle : context_current_handle(), HANDLE_CONTEXT);
    return *context ? CUDA_SUCCESS : ended ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CU_API CUresult cuCtxGetDevice_v2(CUdevice *dev, CUcontext context)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(dev);
    *dev = c->device->ordinal;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetDevice(CUdevice *dev)
{
    return cuCtxGetDevice_v2(dev, NULL);
}

CU_API CUresult cuCtxSynchronize_v2(CUcontext context)
{
    CUcontext c;
    TRY(named(context, &c));
    TRY(capture_context(c));
    hd_result r = hd_context_synchronize(c->context);
    print_flush();
    return from_hd(r);
}

CU_API CUresult cuCtxSynchronize(void)
{
    return cuCtxSynchronize_v2(NULL);
}

CU_API CUresult cuCtxGetFlags(unsigned *flags)
{
    CUcontext c;
    TRY(named(NULL, &c));
    NEED(flags);
    *flags = c->flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetFlags(unsigned flags)
{
    CUcontext c;
    TRY(named(NULL, &c));
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    c->flags = flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(id);
    *id = c->id;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(version);
    *version = c->api_version;
    return CUDA_SUCCESS;
}

/* The range of an H200; priorities are kept, but have no effect here. */
CU_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext c;
    TRY(named(NULL, &c));
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}
