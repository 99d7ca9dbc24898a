/* A program's launch parameters, translated for the library. */
#include "cuda/state/events.h"
#include "cuda/state/work.h"

/* Reads the pairs of `extra`: packed parameters and their size. */
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

/* An event that a launch triggers. It is recorded behind the launch here, which is late but
 * allowed. */
static CUresult set_event(struct work_launch *l, CUevent handle, CUgraphDependencyType type, unsigned char port)
{
    const struct CUevent_st *e = event_of(handle);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!(e->flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_NOT_SUPPORTED;
    l->event = handle;
    l->event_port = (CUgraphEdgeData){.from_port = port, .type = (unsigned char)type};
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
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return set_event(l, value->programmaticEvent.event, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                         value->programmaticEvent.triggerAtBlockStart ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                                                      : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return set_event(l, value->launchCompletionEvent.event, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT,
                         CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        NEED((unsigned)value->deviceUpdatableKernelNode.deviceUpdatable <= 1);
        l->wants_updates = value->deviceUpdatableKernelNode.deviceUpdatable;
        return CUDA_SUCCESS;
    default: return api_not_supported("a launch attribute that Heddle does not know");
    }
}
