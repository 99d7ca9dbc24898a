/* What a program says of a launch, as the library takes it. */
#include "cuda/state/work.h"

/* The pairs of `extra`: packed parameters and their size. */
CUresult launch_read_extra(void **extra, hd_launch_config *c)
{
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            c->packed_args = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    NEED(c->packed_args && size);
    c->packed_bytes = *size;
    return CUDA_SUCCESS;
}

CUresult launch_apply(CUlaunchAttributeID id, const CUlaunchAttributeValue *value, struct work_launch *l)
{
    hd_launch_config *c = &l->config;
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
        c->flags = value->programmaticStreamSerializationAllowed ? HD_LAUNCH_PROGRAMMATIC : 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        NEED(value->clusterDim.x && value->clusterDim.y && value->clusterDim.z);
        c->cluster[0] = value->clusterDim.x;
        c->cluster[1] = value->clusterDim.y;
        c->cluster[2] = value->clusterDim.z;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: return api_not_supported("a launch with a programmatic event");
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: return api_not_supported("a launch with a completion event");
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return api_not_supported("a launch as a graph node that kernels update");
    default: return api_not_supported("a launch attribute that Heddle does not know");
    }
}
