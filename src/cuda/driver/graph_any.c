/* Nodes of all types by one structure ("CUDA Driver API", 6.23, cuGraphAddNode). */
#include "cuda/driver/graph.h"

#include <string.h>

#include "base/sparse.h"

/* ---- what must be zero ---- */

static size_t used_bytes(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sizeof(CUDA_KERNEL_NODE_PARAMS_v3);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return sizeof(CUDA_MEMCPY_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEMSET: return sizeof(CUDA_MEMSET_NODE_PARAMS_v2);
    case CU_GRAPH_NODE_TYPE_HOST: return sizeof(CUDA_HOST_NODE_PARAMS_v2);
    case CU_GRAPH_NODE_TYPE_GRAPH: return sizeof(CUDA_CHILD_GRAPH_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return sizeof(CUDA_EVENT_RECORD_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return sizeof(CUDA_MEM_FREE_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return sizeof(CUDA_CONDITIONAL_NODE_PARAMS);
    default: return 0;
    }
}

static CUresult check(const CUgraphNodeParams *p)
{
    NEED(p && bytes_are_zero(p->reserved0, sizeof p->reserved0) && !p->reserved2);
    size_t used = used_bytes(p->type);
    NEED(!used || bytes_are_zero((const char *)p->reserved1 + used, sizeof p->reserved1 - used));
    return CUDA_SUCCESS;
}

/* ---- as older functions have it ---- */

static CUDA_KERNEL_NODE_PARAMS kernel_of(const CUgraphNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS k;
    _Static_assert(sizeof k == sizeof p->kernel, "the same");
    memcpy(&k, &p->kernel, sizeof k);
    return k;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(const CUgraphNodeParams *p)
{
    CUDA_MEMSET_NODE_PARAMS f;
    memcpy(&f, &p->memset, sizeof f);
    return f;
}

static CUDA_HOST_NODE_PARAMS call_of(const CUgraphNodeParams *p)
{
    return (CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData};
}

static CUresult copy_of(const CUgraphNodeParams *p)
{
    NEED(!p->memcpy.flags && !p->memcpy.reserved);
    return CUDA_SUCCESS;
}

static CUresult external(void)
{
    return api_not_supported("a graph node for external semaphores");
}

/* ---- adding ---- */

static CUresult add_alloc(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
    CUDA_MEM_ALLOC_NODE_PARAMS a;
    _Static_assert(sizeof a == sizeof p->alloc, "the same");
    memcpy(&a, &p->alloc, sizeof a);
    TRY(cuGraphAddMemAllocNode(node, g, after, n, &a));
    p->alloc.dptr = a.dptr;
    return CUDA_SUCCESS;
}

static CUresult add(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
    const CUDA_KERNEL_NODE_PARAMS k = kernel_of(p);
    const CUDA_MEMSET_NODE_PARAMS f = fill_of(p);
    const CUDA_HOST_NODE_PARAMS h = call_of(p);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphAddKernelNode_v2(node, g, after, n, &k);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        TRY(copy_of(p));
        return cuGraphAddMemcpyNode(node, g, after, n, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphAddMemsetNode(node, g, after, n, &f, p->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphAddHostNode(node, g, after, n, &h);
    case CU_GRAPH_NODE_TYPE_GRAPH: return graph_add_child(node, g, after, n, &p->graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return cuGraphAddEmptyNode(node, g, after, n);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphAddEventWaitNode(node, g, after, n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphAddEventRecordNode(node, g, after, n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return external();
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return add_alloc(node, g, after, n, p);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return cuGraphAddMemFreeNode(node, g, after, n, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return graph_add_memops(node, g, after, n, &p->memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return graph_add_conditional(node, g, after, n, &p->conditional);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult check_edges(CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *data, size_t n,
                            CUgraphNodeType type)
{
    CUgraph g;
    CUgraphNode earlier;
    TRY(graph_of(graph, &g));
    NEED(after || !n);
    TRY(graph_has_nodes(g, after, n));
    for (size_t i = 0; data && i < n; i++) {
        TRY(node_of(after[i], &earlier));
        NEED(edge_is_good(&data[i], earlier->type, type));
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *after, const CUgraphEdgeData *data,
                                  size_t n, CUgraphNodeParams *p)
{
    CUgraphNode made, earlier;
    TRY(check(p));
    TRY(check_edges(g, after, data, n, p->type));
    TRY(add(node, g, after, n, p));
    TRY(node_of(*node, &made));
    for (size_t i = 0; data && i < n; i++)
        if (!edge_is_plain(&data[i]) && node_of(after[i], &earlier) == CUDA_SUCCESS)
            graph_set_edge(earlier, made, &data[i]);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
    return cuGraphAddNode_v2(node, g, after, NULL, n, p);
}

/* ---- changing ---- */

static CUresult check_type(CUgraphNode handle, const CUgraphNodeParams *p)
{
    CUgraphNode n;
    TRY(node_of(handle, &n));
    TRY(check(p));
    NEED(n->type == p->type);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphNodeSetParams(CUgraphNode n, CUgraphNodeParams *p)
{
    TRY(check_type(n, p));
    const CUDA_KERNEL_NODE_PARAMS k = kernel_of(p);
    const CUDA_MEMSET_NODE_PARAMS f = fill_of(p);
    const CUDA_HOST_NODE_PARAMS h = call_of(p);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphKernelNodeSetParams_v2(n, &k);
    case CU_GRAPH_NODE_TYPE_MEMCPY: TRY(copy_of(p)); return cuGraphMemcpyNodeSetParams(n, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphMemsetNodeSetParams(n, &f);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphHostNodeSetParams(n, &h);
    case CU_GRAPH_NODE_TYPE_GRAPH: return graph_set_child(n, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphEventWaitNodeSetEvent(n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphEventRecordNodeSetEvent(n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return graph_set_memops(n, &p->memOp);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CU_API CUresult cuGraphExecNodeSetParams(CUgraphExec x, CUgraphNode n, CUgraphNodeParams *p)
{
    CUgraphExec record;
    TRY(exec_of(x, &record));
    TRY(check_type(n, p));
    const CUDA_KERNEL_NODE_PARAMS k = kernel_of(p);
    const CUDA_MEMSET_NODE_PARAMS f = fill_of(p);
    const CUDA_HOST_NODE_PARAMS h = call_of(p);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphExecKernelNodeSetParams_v2(x, n, &k);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        TRY(copy_of(p));
        return cuGraphExecMemcpyNodeSetParams(x, n, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphExecMemsetNodeSetParams(x, n, &f, p->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphExecHostNodeSetParams(x, n, &h);
    case CU_GRAPH_NODE_TYPE_GRAPH: return cuGraphExecChildGraphNodeSetParams(x, n, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphExecEventWaitNodeSetEvent(x, n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphExecEventRecordNodeSetEvent(x, n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return graph_exec_set_memops(x, n, &p->memOp);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}
