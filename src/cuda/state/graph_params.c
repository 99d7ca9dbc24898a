/* Converts a program's parameters of graph nodes into work. */
#include "cuda/state/graph.h"

#include "cuda/state/events.h"
#include "cuda/state/module.h"

#include <string.h>

CUresult work_of_kernel(const CUDA_KERNEL_NODE_PARAMS *p, bool v2, struct work *w, CUcontext *c)
{
    CUfunction f = v2 && !p->func ? (CUfunction)p->kern : p->func;
    *c = v2 ? p->ctx : NULL;
    if (!function_of(f))
        return CUDA_ERROR_INVALID_HANDLE;
    *w = (struct work){.kind = WORK_LAUNCH,
                       .launch = {.function = f,
                                  .config = {.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                             .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                             .shared_bytes = p->sharedMemBytes,
                                             .args = (const void *const *)p->kernelParams}}};
    return p->extra ? launch_read_extra(p->extra, &w->launch.config) : CUDA_SUCCESS;
}

CUresult work_of_fill(const CUDA_MEMSET_NODE_PARAMS *p, struct work *w)
{
    NEED(p && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4));
    *w = (struct work){.kind = WORK_FILL,
                       .fill = {.to = (void *)(uintptr_t)p->dst,
                                .value = p->value,
                                .element_bytes = p->elementSize,
                                .width = p->width,
                                .height = p->height,
                                .pitch = p->pitch}};
    return fill_check(w);
}

CUresult work_of_call(const CUDA_HOST_NODE_PARAMS *p, struct work *w)
{
    NEED(p && p->fn);
    *w = (struct work){.kind = WORK_CALL, .call = {p->fn, p->userData}};
    return CUDA_SUCCESS;
}

CUresult work_of_event(CUevent e, CUgraphNodeType type, struct work *w)
{
    if (!event_of(e))
        return handle_error(e);
    *w = (struct work){.kind = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? WORK_RECORD : WORK_WAIT, .event = e};
    return CUDA_SUCCESS;
}

void launch_copy_attributes(struct work_launch *to, const struct work_launch *from)
{
    to->cooperative = from->cooperative;
    to->updatable = from->updatable;
    memcpy(to->config.cluster, from->config.cluster, sizeof to->config.cluster);
}
