/* Attributes of a graph's kernels ("CUDA Driver API", 6.23, cuGraphKernelNodeSetAttribute).
 * Clusters and cooperative launches are part of its work; the others are hints, which are checked
 * and kept.
 */
#include "cuda/state/graph_updates.h"

#include "cuda/state/streams.h"

#include <string.h>

static CUresult kernel_of(CUgraphNode handle, CUgraphNode *n)
{
    return node_of_kernel(handle, n);
}

/* Changes how the kernel is launched, if that is possible. */
static CUresult change(CUgraphNode n, const struct work_launch *l)
{
    const struct work w = {.kind = WORK_LAUNCH, .launch = *l};
    TRY(node_check(&w, n->context));
    n->work.launch = *l;
    return CUDA_SUCCESS;
}

/* A node gets clusters completely, or not at all: the launch does not tell their size. */
static CUresult set_cluster(CUgraphNode n, const CUlaunchAttributeValue *v)
{
    const unsigned size[3] = {v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
    struct work_launch l = n->work.launch;
    bool none = !size[0] && !size[1] && !size[2];
    if (!none && (!size[0] || !size[1] || !size[2]))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    memcpy(l.config.cluster, size, sizeof l.config.cluster);
    return change(n, &l);
}

static CUresult set_cooperative(CUgraphNode n, int cooperative)
{
    struct work_launch l = n->work.launch;
    l.cooperative = cooperative;
    return change(n, &l);
}

static CUresult check_window(CUgraphNode n, const CUaccessPolicyWindow *window)
{
    CUcontext c = record_of(n->context, HANDLE_CONTEXT);
    return c ? stream_check_window(window, c) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* An updatable node stays updatable; the value is the handle by which kernels know it. */
static CUresult set_updatable(CUgraphNode n, CUkernelNodeAttrValue *value)
{
    NEED((unsigned)value->deviceUpdatableKernelNode.deviceUpdatable <= 1);
    if (!value->deviceUpdatableKernelNode.deviceUpdatable)
        return n->updatable ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    if (!n->updatable)
        TRY(updatable_new(n));
    value->deviceUpdatableKernelNode.devNode = updatable_handle(n->work.launch.updatable);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                              const CUkernelNodeAttrValue *value)
{
    enum { DOMAINS = 4, MOST_CARVEOUT = 100 };
    CUgraphNode n;
    TRY(kernel_of(node, &n));
    NEED(value);
    struct launch_hints *h = &n->hints;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: return set_cooperative(n, value->cooperative);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return set_cluster(n, value);
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        TRY(check_window(n, &value->accessPolicyWindow));
        h->window = value->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        h->cluster_policy = value->clusterSchedulingPolicyPreference;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: h->priority = stream_priority(value->priority); return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        NEED(value->memSyncDomainMap.default_ < DOMAINS && value->memSyncDomainMap.remote < DOMAINS);
        h->domains = value->memSyncDomainMap;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        NEED((unsigned)value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        h->domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        NEED(value->sharedMemCarveout <= MOST_CARVEOUT);
        h->carveout = value->sharedMemCarveout;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        NEED(value->nvlinkUtilCentricScheduling <= 1);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return set_updatable(n, (CUkernelNodeAttrValue *)value);
    default: return CUDA_ERROR_INVALID_VALUE; /* an attribute for launches in streams */
    }
}

CU_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    CUgraphNode n;
    TRY(kernel_of(node, &n));
    NEED(value);
    const struct work_launch *l = &n->work.launch;
    const struct launch_hints *h = &n->hints;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: value->cooperative = l->cooperative; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        value->clusterDim.x = l->config.cluster[0];
        value->clusterDim.y = l->config.cluster[1];
        value->clusterDim.z = l->config.cluster[2];
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: value->accessPolicyWindow = h->window; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        value->clusterSchedulingPolicyPreference = h->cluster_policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = h->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: value->memSyncDomainMap = h->domains; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: value->memSyncDomain = h->domain; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        value->sharedMemCarveout = h->carveout;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        value->deviceUpdatableKernelNode.deviceUpdatable = n->updatable;
        value->deviceUpdatableKernelNode.devNode = l->updatable ? updatable_handle(l->updatable) : NULL;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    CUgraphNode target, source;
    TRY(kernel_of(to, &target));
    TRY(kernel_of(from, &source));
    if (source->updatable || target->updatable)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct work_launch l = target->work.launch;
    launch_copy_attributes(&l, &source->work.launch);
    TRY(change(target, &l));
    target->hints = source->hints;
    return CUDA_SUCCESS;
}
