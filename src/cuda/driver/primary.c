/* Primary contexts ("CUDA Driver API", 6.7). */
#include "cuda/state/contexts.h"
#include "cuda/state/machines.h"
#include "cuda/state/state.h"

static CUcontext primary_of(const struct device *d)
{
    return record_of(d->primary, HANDLE_CONTEXT);
}

CU_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev)
{
    struct device *d;
    CUresult r = CUDA_SUCCESS;
    TRY(device_get(dev, &d));
    NEED(context);
    primary_lock();
    if (!d->primary)
        r = context_new(d, d->primary_flags, true, &d->primary);
    if (!r) {
        d->primary_refs++;
        *context = d->primary;
    }
    primary_unlock();
    return r;
}

/* Frees the context's resources. The handle stays current in all its threads, and becomes that of a
 * fresh context. */
static CUresult reset_primary(struct device *d)
{
    CUcontext old = primary_of(d), fresh;
    if (!old)
        return CUDA_SUCCESS;
    TRY(context_start(d, old->flags, &fresh));
    fresh->handle = old->handle;
    fresh->primary = true;
    context_end(old, fresh);
    return context_first_limits(fresh, old);
}

CU_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct device *d;
    CUresult r = CUDA_ERROR_INVALID_CONTEXT;
    TRY(device_get(dev, &d));
    primary_lock();
    if (d->primary_refs > 0)
        r = --d->primary_refs == 0 ? reset_primary(d) : CUDA_SUCCESS;
    primary_unlock();
    return r;
}

CU_API CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CU_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    primary_lock();
    CUresult r = reset_primary(d);
    primary_unlock();
    return r;
}

CU_API CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return cuDevicePrimaryCtxReset_v2(dev);
}

CU_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    CUcontext c = primary_of(d);
    d->primary_flags = flags;
    if (c)
        c->flags = flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CU_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(flags && active);
    *flags = d->primary_flags;
    *active = d->primary_refs > 0;
    return CUDA_SUCCESS;
}
