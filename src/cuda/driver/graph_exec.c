/* Updates of an instantiated graph ("CUDA Driver API", 6.23): of one node, or of all by another
 * graph. Its steps are named by the nodes of the original graph, even if those were destroyed.
 */
#include "cuda/state/graph_updates.h"

/* ---- one node ---- */

static CUresult step_of(CUgraphExec exec, CUgraphNode node, CUgraphExec *x, struct step **s)
{
    TRY(exec_of(exec, x));
    *s = exec_step(*x, node);
    NEED(*s);
    exec_settle(*x);
    return CUDA_SUCCESS;
}

static CUresult change(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, struct work *w)
{
    struct work own;
    struct step *s;
    CUgraphExec x;
    TRY(step_of(exec, node, &x, &s));
    NEED(s->type == type);
    if (s->work.kind == WORK_LIBRARY)
        return api_not_supported("the kernel of a library's call in a graph");
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        launch_copy_attributes(&w->launch, &s->work.launch);
    TRY(node_check(w, s->context));
    NEED(work_can_become(&s->work, w));
    TRY(work_own(w, s->context, &own));
    work_disown(&s->work);
    s->work = own;
    step_find_launches(x, s);
    if (own.kind == WORK_LAUNCH && own.launch.updatable)
        updatable_set(own.launch.updatable, &own.launch);
    x->is_changed = true;
    return CUDA_SUCCESS;
}

static CUresult set_kernel(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p, bool v2)
{
    struct work w;
    CUcontext c;
    NEED(p);
    TRY(work_of_kernel(p, v2, &w, &c));
    return change(x, n, CU_GRAPH_NODE_TYPE_KERNEL, &w);
}

CU_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return set_kernel(x, n, p, true);
}

CU_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return set_kernel(x, n, p, false);
}

CU_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMCPY3D *m, CUcontext c)
{
    struct work w;
    (void)c;
    TRY(work_of_copy(m, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_MEMCPY, &w);
}

CU_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS *p,
                                               CUcontext c)
{
    struct work w;
    (void)c;
    TRY(work_of_fill(p, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_MEMSET, &w);
}

CU_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_HOST_NODE_PARAMS *p)
{
    struct work w;
    TRY(work_of_call(p, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_HOST, &w);
}

CU_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode n, CUevent e)
{
    struct work w;
    TRY(work_of_event(e, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &w);
}

CU_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode n, CUevent e)
{
    struct work w;
    TRY(work_of_event(e, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &w);
}

CU_API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode n, unsigned enabled)
{
    struct step *s;
    CUgraphExec x;
    TRY(step_of(exec, n, &x, &s));
    NEED(s->type <= CU_GRAPH_NODE_TYPE_MEMSET);
    s->disabled = !enabled;
    x->is_changed = true;
    if (s->work.kind == WORK_LAUNCH && s->work.launch.updatable)
        updatable_enable(s->work.launch.updatable, enabled);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode n, unsigned *enabled)
{
    struct step *s;
    CUgraphExec x;
    TRY(step_of(exec, n, &x, &s));
    NEED(enabled && s->type <= CU_GRAPH_NODE_TYPE_MEMSET);
    *enabled = !s->disabled;
    return CUDA_SUCCESS;
}

/* ---- all of it ---- */

/* The result info may be NULL. */
CU_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    CUgraphExec x;
    CUgraph g;
    CUgraphExecUpdateResultInfo unseen;
    TRY(exec_of(exec, &x));
    TRY(graph_of(graph, &g));
    NEED(!g->is_moved);
    if (x->has_updatable || g->n_updatable)
        return CUDA_ERROR_NOT_SUPPORTED;
    return exec_update(x, g, result ? result : &unseen);
}

CU_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult r = cuGraphExecUpdate_v2(exec, graph, &info);
    if (error)
        *error = info.errorNode;
    if (result)
        *result = info.result;
    return r;
}
