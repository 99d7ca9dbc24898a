/* Launching kernels ("CUDA Driver API", 6.22). */
#include "cuda/work.h"

#include "cuda/module.h"

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

/* The pairs of `extra`: packed parameters and their size. */
CUresult launch_read_extra(void **extra, struct work_launch *l)
{
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            l->packed = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    NEED(l->packed && size);
    l->packed_bytes = *size;
    return CUDA_SUCCESS;
}

static CUresult launch(struct work_launch *l, CUfunction f, CUstream s, void **params, void **extra)
{
    TRY(state_ready());
    if (!is_function(f))
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(!params || !extra);
    l->function = f;
    l->args = params;
    if (extra)
        TRY(launch_read_extra(extra, l));
    struct work w = {.kind = WORK_LAUNCH, .launch = *l};
    return work_put(s, &w, false);
}

CU_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
    struct work_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared};
    return launch(&l, f, s, params, extra);
}

CU_API CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, OR_OWN(s), params, extra);
}

CU_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned shared, CUstream s, void **params)
{
    struct work_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared, .cooperative = true};
    return launch(&l, f, s, params, NULL);
}

CU_API CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **params)
{
    return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, OR_OWN(s), params);
}

CUresult launch_apply(CUlaunchAttributeID id, const CUlaunchAttributeValue *value, struct work_launch *l)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: l->cooperative = value->cooperative != 0; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        l->programmatic = value->programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        NEED(value->clusterDim.x && value->clusterDim.y && value->clusterDim.z);
        l->cluster[0] = value->clusterDim.x;
        l->cluster[1] = value->clusterDim.y;
        l->cluster[2] = value->clusterDim.z;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: return api_not_supported("a launch with a programmatic event");
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: return api_not_supported("a launch with a completion event");
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return api_not_supported("a launch as a graph node that kernels update");
    default: return api_not_supported("a launch attribute that Heddle does not know");
    }
}

CU_API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    NEED(c && (c->attrs || !c->numAttrs));
    struct work_launch l = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                            .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                            .shared_bytes = c->sharedMemBytes};
    for (unsigned i = 0; i < c->numAttrs; i++)
        TRY(launch_apply(c->attrs[i].id, &c->attrs[i].value, &l));
    return launch(&l, f, c->hStream, params, extra);
}

CU_API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    NEED(c);
    CUlaunchConfig own = *c;
    own.hStream = OR_OWN(c->hStream);
    return cuLaunchKernelEx(&own, f, params, extra);
}
