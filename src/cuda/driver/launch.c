/* Launching kernels ("CUDA Driver API", "Execution Control", with its deprecated functions). */
#include <stdlib.h>
#include <string.h>

#include "cuda/state/capture.h"
#include "cuda/state/graph_updates.h"
#include "cuda/state/module.h"
#include "cuda/state/streams.h"

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

static struct work sized(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared)
{
    return (struct work){.kind = WORK_LAUNCH,
                         .launch.config = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared}};
}

/* Submits a launch that an event follows, or that becomes an updatable node: *device_node. */
static CUresult put_with_more(CUstream s, const struct work *w, CUgraphDeviceNode *device_node)
{
    struct CUstream_st *object;
    CUgraphNode node;
    TRY(stream_object(s, &object, NULL));
    if (!object || !object->capture) {
        if (w->launch.wants_updates)
            return CUDA_ERROR_NOT_SUPPORTED;
        TRY(work_put(s, w, false));
        return cuEventRecord(w->launch.event, s);
    }
    TRY(capture_launch(object, w, &node));
    if (!w->launch.wants_updates || !node)
        return CUDA_SUCCESS;
    TRY(updatable_new(node));
    *device_node = updatable_handle(node->work.launch.updatable);
    return CUDA_SUCCESS;
}

static CUresult launch(struct work *w, CUfunction f, CUstream s, void **params, void **extra,
                       CUgraphDeviceNode *device_node)
{
    TRY(state_ready());
    if (!function_of(f))
        return CUDA_ERROR_INVALID_HANDLE;
    extra = extra && *extra == CU_LAUNCH_PARAM_END ? NULL : extra;
    NEED(!params || !extra);
    w->launch.function = f;
    w->launch.config.args = (const void *const *)params;
    if (extra)
        TRY(launch_read_extra(extra, &w->launch.config));
    CUresult r = w->launch.event || w->launch.wants_updates ? put_with_more(s, w, device_node) : work_put(s, w, false);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        heddle_launch_refused();
    return r;
}

CU_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
    struct work w = sized(gx, gy, gz, bx, by, bz, shared);
    return launch(&w, f, s, params, extra, NULL);
}

CU_API CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, OR_OWN(s), params, extra);
}

CU_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned shared, CUstream s, void **params)
{
    struct work w = sized(gx, gy, gz, bx, by, bz, shared);
    w.launch.cooperative = true;
    return launch(&w, f, s, params, NULL, NULL);
}

CU_API CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **params)
{
    return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, OR_OWN(s), params);
}

CU_API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    NEED(c && (c->attrs || !c->numAttrs));
    struct work w =
        sized(c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes);
    for (unsigned i = 0; i < c->numAttrs; i++)
        TRY(launch_apply(c->attrs[i].id, &c->attrs[i].value, &w.launch));
    CUgraphDeviceNode made = NULL;
    CUresult r = launch(&w, f, c->hStream, params, extra, &made);
    for (unsigned i = 0; made && i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            c->attrs[i].value.deviceUpdatableKernelNode.devNode = made;
    return r;
}

CU_API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    NEED(c);
    CUlaunchConfig own = *c;
    own.hStream = OR_OWN(c->hStream);
    return cuLaunchKernelEx(&own, f, params, extra);
}

/* ---- launches with what was set on the function before ---- */

static CUresult set_before_of(CUfunction handle, struct set_before **set)
{
    TRY(state_ready());
    struct CUfunc_st *f = function_of(handle);
    if (!f)
        return CUDA_ERROR_INVALID_HANDLE;
    state_lock();
    if (!f->set_before)
        f->set_before = calloc(1, sizeof *f->set_before);
    *set = f->set_before;
    state_unlock();
    return *set ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_API CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
    struct set_before *set;
    TRY(set_before_of(f, &set));
    NEED(x > 0 && y > 0 && z > 0);
    set->block[0] = (unsigned)x;
    set->block[1] = (unsigned)y;
    set->block[2] = (unsigned)z;
    return CUDA_SUCCESS;
}

CU_API CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes)
{
    struct set_before *set;
    TRY(set_before_of(f, &set));
    set->shared_bytes = bytes;
    return CUDA_SUCCESS;
}

CU_API CUresult cuParamSetSize(CUfunction f, unsigned bytes)
{
    struct set_before *set;
    TRY(set_before_of(f, &set));
    NEED(bytes <= MAX_PARAMETER_BYTES);
    set->parameter_bytes = bytes;
    return CUDA_SUCCESS;
}

CU_API CUresult cuParamSetv(CUfunction f, int offset, void *value, unsigned bytes)
{
    struct set_before *set;
    TRY(set_before_of(f, &set));
    NEED(value && offset >= 0 && bytes <= MAX_PARAMETER_BYTES && offset <= MAX_PARAMETER_BYTES - (int)bytes);
    memcpy(set->parameters + offset, value, bytes);
    return CUDA_SUCCESS;
}

CU_API CUresult cuParamSeti(CUfunction f, int offset, unsigned value)
{
    return cuParamSetv(f, offset, &value, sizeof value);
}

CU_API CUresult cuParamSetf(CUfunction f, int offset, float value)
{
    return cuParamSetv(f, offset, &value, sizeof value);
}

CU_API CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream s)
{
    struct set_before *set;
    TRY(set_before_of(f, &set));
    NEED(width > 0 && height > 0);
    struct work w =
        sized((unsigned)width, (unsigned)height, 1, set->block[0], set->block[1], set->block[2], set->shared_bytes);
    w.launch.config.packed_args = set->parameters;
    w.launch.config.packed_bytes = set->parameter_bytes;
    return launch(&w, f, s, NULL, NULL, NULL);
}

CU_API CUresult cuLaunchGrid(CUfunction f, int width, int height)
{
    return cuLaunchGridAsync(f, width, height, NULL);
}

CU_API CUresult cuLaunch(CUfunction f)
{
    return cuLaunchGrid(f, 1, 1);
}
