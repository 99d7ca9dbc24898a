/* Reads and changes parameters of a graph's nodes, in the graph itself and not in an instance
 * ("CUDA Driver API", 6.23). */
#include "cuda/state/arrays.h"
#include "cuda/state/graph.h"

#include <stdlib.h>

static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, CUgraphNode *n)
{
    TRY(node_of(handle, n));
    NEED((*n)->type == type);
    return CUDA_SUCCESS;
}

/* Gives a node other work of the same kind. */
static CUresult change(CUgraphNode n, const struct work *w)
{
    struct work own;
    TRY(node_check(w, n->context));
    TRY(work_own(w, n->context, &own));
    work_disown(&n->work);
    n->work = own;
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

static CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p, bool v2)
{
    struct work w;
    CUcontext c;
    CUgraphNode n;
    TRY(node_of_kernel(node, &n));
    NEED(p);
    TRY(work_of_kernel(p, v2, &w, &c));
    launch_copy_attributes(&w.launch, &n->work.launch);
    return change(n, &w);
}

CU_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return set_kernel(node, p, true);
}

CU_API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return set_kernel(node, p, false);
}

/* A list of pointers to the node's parameters, which the node keeps. */
static CUresult list_parameters(CUgraphNode n, void ***list)
{
    const char *packed = n->work.launch.config.packed_args;
    hd_kernel *kernel;
    hd_kernel_info info;
    hd_param_info p;
    TRY(work_kernel(&n->work, n->context, &kernel));
    hd_kernel_get_info(kernel, &info);
    void **more = realloc(n->parameters, (info.param_count + 1) * sizeof *more);
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    n->parameters = more;
    for (size_t i = 0; hd_kernel_get_param(kernel, i, &p); i++)
        more[i] = (char *)packed + p.offset;
    *list = info.param_count ? more : NULL;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p, bool v2)
{
    CUgraphNode n;
    void **list;
    TRY(node_of_kernel(node, &n));
    NEED(p);
    TRY(list_parameters(n, &list));
    const hd_launch_config *c = &n->work.launch.config;
    p->func = n->work.launch.function;
    p->gridDimX = c->grid[0];
    p->gridDimY = c->grid[1];
    p->gridDimZ = c->grid[2];
    p->blockDimX = c->block[0];
    p->blockDimY = c->block[1];
    p->blockDimZ = c->block[2];
    p->sharedMemBytes = (unsigned)c->shared_bytes;
    p->kernelParams = list;
    p->extra = NULL;
    if (v2) {
        p->kern = NULL;
        p->ctx = n->context;
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    return get_kernel(node, p, true);
}

CU_API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    return get_kernel(node, p, false);
}

/* ---- copies and fills ---- */

CU_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *m)
{
    struct work w;
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_MEMCPY, &n));
    TRY(work_of_copy(m, &w));
    return change(n, &w);
}

CU_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *m)
{
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_MEMCPY, &n));
    NEED(m);
    *m = work_box(&n->work);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
    struct work w;
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_MEMSET, &n));
    TRY(work_of_fill(p, &w));
    return change(n, &w);
}

CU_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_MEMSET, &n));
    NEED(p);
    const hd_fill *f = &n->work.fill;
    *p = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)f->to,
                                   .pitch = f->pitch,
                                   .value = f->value,
                                   .elementSize = (unsigned)f->element_bytes,
                                   .width = f->width,
                                   .height = f->height};
    return CUDA_SUCCESS;
}

/* ---- host functions and events ---- */

CU_API CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
    struct work w;
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_HOST, &n));
    TRY(work_of_call(p, &w));
    return change(n, &w);
}

CU_API CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_HOST, &n));
    NEED(p);
    *p = (CUDA_HOST_NODE_PARAMS){n->work.call.function, n->work.call.data};
    return CUDA_SUCCESS;
}

static CUresult set_event(CUgraphNode node, CUgraphNodeType type, CUevent e)
{
    struct work w;
    CUgraphNode n;
    TRY(node_of_type(node, type, &n));
    TRY(work_of_event(e, type, &w));
    return change(n, &w);
}

static CUresult get_event(CUgraphNode node, CUgraphNodeType type, CUevent *e)
{
    CUgraphNode n;
    TRY(node_of_type(node, type, &n));
    NEED(e);
    *e = n->work.event;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent e)
{
    return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
}

CU_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *e)
{
    return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
}

CU_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent e)
{
    return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
}

CU_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *e)
{
    return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
}
