/* Graphs put together by hand, and their launches ("CUDA Driver API", 6.23). */
#include "cuda/driver/graph.h"

#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/streams.h"

#include <stdlib.h>

CU_API CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUgraph g;
    TRY(state_ready());
    NEED(graph && flags == 0);
    TRY(graph_new(&g));
    *graph = g->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphDestroy(CUgraph graph)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(!g->is_child);
    if (graph_is_captured(g))
        return CUDA_ERROR_ILLEGAL_STATE;
    graph_end(g);
    return CUDA_SUCCESS;
}

/* ---- nodes ---- */

/* Checks that the nodes are different, and belong to the graph. */
static CUresult check_nodes(CUgraph g, const CUgraphNode *handles, size_t n)
{
    CUgraphNode node;
    bool twice = false;
    TRY(graph_has_nodes(g, handles, n));
    for (size_t i = 0; i < n; i++)
        if ((node = record_of(handles[i], HANDLE_NODE)))
            node->mark = NODE_UNSEEN;
    for (size_t i = 0; i < n; i++)
        if ((node = record_of(handles[i], HANDLE_NODE))) {
            twice = twice || node->mark != NODE_UNSEEN;
            node->mark = NODE_OPEN;
        }
    NEED(!twice);
    return CUDA_SUCCESS;
}

CUresult graph_add_node(CUgraph graph, CUgraphNodeType type, const struct work *w, CUcontext context,
                        const CUgraphNode *after, size_t n, CUgraphNode *node)
{
    CUgraph g;
    CUcontext c = record_of(context, HANDLE_CONTEXT);
    CUgraphNode made;
    TRY(graph_of(graph, &g));
    NEED(node && (after || !n));
    TRY(check_nodes(g, after, n));
    if (!context)
        TRY(context_current(&c));
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    TRY(node_check(w, c->handle));
    TRY(graph_put_node(g, type, w, c->handle, after, n, &made));
    *node = made->handle;
    return CUDA_SUCCESS;
}

static CUresult add_kernel(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                           const CUDA_KERNEL_NODE_PARAMS *p, bool v2)
{
    struct work w;
    CUcontext c;
    NEED(p);
    TRY(work_of_kernel(p, v2, &w, &c));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_KERNEL, &w, c, after, n, node);
}

CU_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                        const CUDA_KERNEL_NODE_PARAMS *p)
{
    return add_kernel(node, g, after, n, p, true);
}

CU_API CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                     const CUDA_KERNEL_NODE_PARAMS *p)
{
    return add_kernel(node, g, after, n, p, false);
}

CU_API CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                     const CUDA_MEMCPY3D *m, CUcontext c)
{
    struct work w;
    TRY(state_ready());
    TRY(work_of_copy(m, &w));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_MEMCPY, &w, c, after, n, node);
}

CU_API CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                     const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c)
{
    struct work w;
    TRY(state_ready());
    TRY(work_of_fill(p, &w));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_MEMSET, &w, c, after, n, node);
}

CU_API CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                   const CUDA_HOST_NODE_PARAMS *p)
{
    struct work w;
    TRY(work_of_call(p, &w));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_HOST, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n)
{
    struct work w = {.kind = WORK_EMPTY};
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_EMPTY, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUevent e)
{
    struct work w;
    TRY(work_of_event(e, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &w));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUevent e)
{
    struct work w;
    TRY(work_of_event(e, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &w));
    return graph_add_node(g, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphNodeGetType(CUgraphNode n, CUgraphNodeType *type)
{
    CUgraphNode p;
    TRY(node_of(n, &p));
    NEED(type);
    *type = p->type;
    return CUDA_SUCCESS;
}

static CUresult list_nodes(CUgraph graph, CUgraphNode *nodes, size_t *n, bool roots)
{
    size_t room = n ? *n : 0, found = 0;
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(n && (room || !nodes));
    for (CUgraphNode p = g->first; p; p = p->next) {
        if (roots && p->after.n)
            continue;
        if (nodes && found < room)
            nodes[found] = p->handle;
        found++;
    }
    for (size_t i = found; nodes && i < room; i++)
        nodes[i] = NULL;
    if (!nodes || found < room)
        *n = found;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n)
{
    return list_nodes(g, nodes, n, false);
}

CU_API CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *n)
{
    return list_nodes(g, nodes, n, true);
}

/* ---- user objects ---- */

CU_API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    return kept_retain(&g->kept, object, count, flags);
}

CU_API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    return kept_give_back(&g->kept, object, count);
}

/* ---- instantiation ---- */

/* An H200 accepts these flags, but not these two together. */
static CUresult check_flags(cuuint64_t flags)
{
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    bool by_kernels = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    NEED((flags & ~known) == 0 && !(by_kernels && flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, cuuint64_t flags, struct bad_graph *bad)
{
    CUgraph g;
    CUgraphExec x;
    *bad = (struct bad_graph){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    TRY(state_ready());
    TRY(capture_unsafe());
    TRY(graph_of(graph, &g));
    NEED(exec);
    TRY(check_flags(flags));
    TRY(graph_check(g, flags, bad));
    TRY(exec_new(g, flags, &x, bad));
    CUresult r = handle_give(HANDLE_EXEC, x, NULL, &x->handle);
    if (r) {
        exec_free(x);
        return r;
    }
    g->instance = *exec = x->handle;
    graph_keep_memory(g);
    return CUDA_SUCCESS;
}

/* Only the function with parameters has a stream for the upload. */
CU_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
    struct bad_graph bad;
    NEED(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    return instantiate(exec, g, flags, &bad);
}

CU_API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph g, CUgraphNode *node, char *log, size_t bytes)
{
    struct bad_graph bad;
    if (log && bytes)
        log[0] = 0;
    CUresult r = instantiate(exec, g, 0, &bad);
    if (node)
        *node = bad.node;
    return r;
}

CU_API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph g, CUgraphNode *node, char *log, size_t bytes)
{
    return cuGraphInstantiate_v2(exec, g, node, log, bytes);
}

CU_API CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    struct bad_graph bad;
    NEED(p);
    CUresult r = instantiate(exec, g, p->flags, &bad);
    p->hErrNode_out = bad.node;
    p->result_out = r ? bad.result : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return r || !(p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) ? r : cuGraphUpload(*exec, p->hUploadStream);
}

CU_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    return cuGraphInstantiateWithParams(exec, g, p);
}

CU_API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    TRY(state_ready());
    CUgraphExec x = record_take(exec, HANDLE_EXEC);
    NEED(x);
    call_later(exec_free, x);
    return CUDA_SUCCESS;
}

/* The flags that an H200 reports; the others took effect at instantiation. */
CU_API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    NEED(flags);
    *flags = x->flags & (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

CU_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream s)
{
    hd_stream *stream;
    CUcontext c;
    CUgraphExec x;
    TRY(stream_run(s, &stream, &c));
    TRY(exec_of(exec, &x));
    return branches_launch(x, stream, c);
}

CU_API CUresult cuGraphLaunch_ptsz(CUgraphExec x, CUstream s)
{
    return cuGraphLaunch(x, s ? s : CU_STREAM_PER_THREAD);
}

/* There is no separate memory to upload to. */
CU_API CUresult cuGraphUpload(CUgraphExec exec, CUstream s)
{
    hd_stream *stream;
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    TRY(stream_run(s, &stream, NULL));
    pthread_mutex_lock(&x->launching);
    CUresult r = exec_upload(x);
    pthread_mutex_unlock(&x->launching);
    return r;
}

CU_API CUresult cuGraphUpload_ptsz(CUgraphExec x, CUstream s)
{
    return cuGraphUpload(x, s ? s : CU_STREAM_PER_THREAD);
}
