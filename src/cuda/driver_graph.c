/* Graphs put together by hand, and their launches ("CUDA Driver API", 6.23). */
#include "cuda/graph.h"

#include "cuda/capture.h"
#include "cuda/contexts.h"
#include "cuda/devices.h"
#include "cuda/module.h"
#include "cuda/streams.h"

#include <stdlib.h>
#include <string.h>

static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, CUgraphNode *n)
{
    TRY(node_of(handle, n));
    NEED((*n)->type == type);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    TRY(state_ready());
    CUgraph g;
    NEED(graph && flags == 0);
    TRY(graph_new(&g));
    *graph = g->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphDestroy(CUgraph graph)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    if (g->capturing)
        return CUDA_ERROR_ILLEGAL_STATE;
    graph_end(g);
    return CUDA_SUCCESS;
}

/* ---- nodes ---- */

/* All by their handles; the context may be NULL: the current one. */
static CUresult add(CUgraph graph, CUgraphNodeType type, const struct work *w, CUcontext context,
                    const CUgraphNode *after, size_t n, CUgraphNode *node)
{
    CUgraph g;
    CUcontext c = record_of(context, HANDLE_CONTEXT);
    CUgraphNode made;
    TRY(graph_of(graph, &g));
    NEED(node && (after || !n));
    if (!context)
        TRY(context_current(&c));
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    TRY(graph_add(g, type, w, c->handle, after, n, &made));
    *node = made->handle;
    return CUDA_SUCCESS;
}

/* Versions 1 and 2 of the structure begin alike; version 1 ends before the kernel. */
static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS *p, bool v2, struct work *w, CUcontext *c)
{
    CUfunction f = v2 && !p->func ? (CUfunction)p->kern : p->func;
    *c = v2 ? p->ctx : NULL;
    if (!function_of(f))
        return CUDA_ERROR_INVALID_HANDLE;
    *w = (struct work){.kind = WORK_LAUNCH,
                       .launch = {.function = f,
                                  .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                  .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                  .shared_bytes = p->sharedMemBytes,
                                  .args = p->kernelParams}};
    return p->extra ? launch_read_extra(p->extra, &w->launch) : CUDA_SUCCESS;
}

static CUresult add_kernel(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                           const CUDA_KERNEL_NODE_PARAMS *p, bool v2)
{
    struct work w;
    CUcontext c;
    NEED(p);
    TRY(kernel_work(p, v2, &w, &c));
    return add(g, CU_GRAPH_NODE_TYPE_KERNEL, &w, c, after, n, node);
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

static CUresult copy_work(const CUDA_MEMCPY3D *m, struct work *w)
{
    NEED(m);
    *w = (struct work){.kind = WORK_COPY};
    return copy_of_box(m, &w->copy);
}

CU_API CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                     const CUDA_MEMCPY3D *m, CUcontext c)
{
    struct work w;
    TRY(state_ready());
    TRY(copy_work(m, &w));
    return add(g, CU_GRAPH_NODE_TYPE_MEMCPY, &w, c, after, n, node);
}

static CUresult fill_work(const CUDA_MEMSET_NODE_PARAMS *p, struct work *w)
{
    NEED(p && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4));
    *w = (struct work){.kind = WORK_FILL,
                       .fill = {.to = (void *)(uintptr_t)p->dst,
                                .value = p->value,
                                .element_bytes = p->elementSize,
                                .width = p->width,
                                .height = p->height,
                                .pitch = p->pitch}};
    return fill_check(&w->fill);
}

CU_API CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                     const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c)
{
    struct work w;
    TRY(state_ready());
    TRY(fill_work(p, &w));
    return add(g, CU_GRAPH_NODE_TYPE_MEMSET, &w, c, after, n, node);
}

static CUresult host_work(const CUDA_HOST_NODE_PARAMS *p, struct work *w)
{
    NEED(p && p->fn);
    *w = (struct work){.kind = WORK_CALL, .call = {p->fn, p->userData}};
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                   const CUDA_HOST_NODE_PARAMS *p)
{
    struct work w;
    TRY(host_work(p, &w));
    return add(g, CU_GRAPH_NODE_TYPE_HOST, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n)
{
    struct work w = {.kind = WORK_EMPTY};
    return add(g, CU_GRAPH_NODE_TYPE_EMPTY, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUevent e)
{
    struct work w = {.kind = WORK_RECORD, .event = e};
    if (!event_of(e))
        return handle_error(e);
    return add(g, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &w, NULL, after, n, node);
}

CU_API CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUevent e)
{
    struct work w = {.kind = WORK_WAIT, .event = e};
    if (!event_of(e))
        return handle_error(e);
    return add(g, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &w, NULL, after, n, node);
}

/* What a launch has by attributes, which its parameters do not say. */
static void copy_attributes(struct work_launch *to, const struct work_launch *from)
{
    to->cooperative = from->cooperative;
    memcpy(to->cluster, from->cluster, sizeof to->cluster);
}

CU_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                              const CUkernelNodeAttrValue *value)
{
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_KERNEL, &n));
    NEED(value);
    return launch_apply(id, value, &n->work.launch);
}

CU_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_KERNEL, &n));
    NEED(value);
    const struct work_launch *l = &n->work.launch;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: value->cooperative = l->cooperative; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        value->clusterDim.x = l->cluster[0];
        value->clusterDim.y = l->cluster[1];
        value->clusterDim.z = l->cluster[2];
        return CUDA_SUCCESS;
    default: return api_not_supported("an attribute of a graph's kernel that has no meaning for Heddle");
    }
}

CU_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    CUgraphNode target, source;
    TRY(node_of_type(to, CU_GRAPH_NODE_TYPE_KERNEL, &target));
    TRY(node_of_type(from, CU_GRAPH_NODE_TYPE_KERNEL, &source));
    copy_attributes(&target->work.launch, &source->work.launch);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct work w, own;
    CUcontext c;
    CUgraphNode n;
    TRY(node_of_type(node, CU_GRAPH_NODE_TYPE_KERNEL, &n));
    NEED(p);
    TRY(kernel_work(p, true, &w, &c));
    copy_attributes(&w.launch, &n->work.launch);
    TRY(work_own(&w, n->context, &own));
    work_disown(&n->work);
    n->work = own;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(type);
    *type = n->type;
    return CUDA_SUCCESS;
}

static CUresult list_nodes(CUgraph graph, CUgraphNode *nodes, size_t *n, bool roots)
{
    size_t room = n ? *n : 0, found = 0;
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(n);
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

static CUresult order(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    CUgraph g;
    CUgraphNode earlier, later;
    TRY(graph_of(graph, &g));
    NEED((from && to) || !n);
    for (size_t i = 0; i < n; i++) {
        TRY(node_of(from[i], &earlier));
        TRY(node_of(to[i], &later));
        NEED(earlier->graph == g && later->graph == g && earlier != later);
        TRY(graph_order(earlier, later));
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *data, size_t n)
{
    for (size_t i = 0; data && i < n; i++)
        if (data[i].type || data[i].from_port || data[i].to_port)
            return api_not_supported("a graph's edge other than full serialization");
    return order(g, from, to, n);
}

CU_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return order(g, from, to, n);
}

/* ---- instantiation ---- */

enum { UNSEEN, OPEN, PLACED };

static CUresult add_step(CUgraphExec x, CUgraphNode n)
{
    struct step *s = &x->steps[x->n];
    TRY(work_own(&n->work, n->context, &s->work));
    s->node = n->handle;
    s->type = n->type;
    s->context = n->context;
    n->mark = PLACED;
    n->place = x->n++;
    return CUDA_SUCCESS;
}

/* Places a node behind those it depends on, which `open` has room for; an error where it depends on itself. Nothing recurses: chains
 * are as long as their graphs. */
static CUresult place(CUgraphExec x, CUgraphNode node, CUgraphNode *open)
{
    size_t depth = 0;
    for (open[depth++] = node; depth > 0;) {
        CUgraphNode n = open[depth - 1];
        size_t next = n->mark == UNSEEN ? 0 : n->place;
        n->mark = OPEN;
        n->place = next + 1;
        if (next == n->after.n) {
            TRY(add_step(x, n));
            depth--;
            continue;
        }
        CUgraphNode earlier = n->after.at[next].node;
        NEED(earlier->mark != OPEN);
        if (earlier->mark == UNSEEN)
            open[depth++] = earlier;
    }
    return CUDA_SUCCESS;
}

static void index_steps(CUgraphExec x)
{
    for (size_t i = 0; i < x->n; i++)
        x->index.at[i] = (struct node_entry){x->steps[i].node, &x->steps[i]};
    node_index_sort(&x->index);
}

static CUresult place_all(CUgraphExec x, CUgraph g)
{
    CUgraphNode *open = calloc(g->n + 1, sizeof(CUgraphNode));
    CUresult r = open ? node_index_make(&x->index, g->n) : CUDA_ERROR_OUT_OF_MEMORY;
    for (CUgraphNode n = g->first; n; n = n->next)
        n->mark = UNSEEN;
    for (CUgraphNode n = g->first; n && !r; n = n->next)
        if (n->mark == UNSEEN)
            r = place(x, n, open);
    free(open);
    if (!r)
        index_steps(x);
    return r;
}

static void free_exec(void *record)
{
    CUgraphExec x = record;
    for (size_t i = 0; i < x->n; i++)
        work_disown(&x->steps[i].work);
    if (x->kept && x->ended)
        hd_event_synchronize(x->ended);
    branches_free(x);
    node_index_free(&x->index);
    kept_release(&x->kept);
    free(x);
}

/* One without a handle. */
static CUresult exec_new(CUgraph graph, cuuint64_t flags, CUgraphExec *exec)
{
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    CUgraph g;
    TRY(graph_of(graph, &g));
    if (flags & ~known)
        return api_not_supported("a graph that kernels launch");
    CUgraphExec x = calloc(1, sizeof *x + g->n * sizeof x->steps[0]);
    if (!x)
        return CUDA_ERROR_OUT_OF_MEMORY;
    x->flags = flags;
    CUresult r = place_all(x, g);
    r = r ? r : branches_find(x);
    r = r ? r : kept_copy(g->kept, &x->kept);
    if (r)
        free_exec(x);
    else
        *exec = x;
    return r;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, cuuint64_t flags)
{
    CUgraphExec x;
    TRY(state_ready());
    TRY(capture_unsafe());
    NEED(exec);
    TRY(exec_new(graph, flags, &x));
    CUresult r = handle_give(HANDLE_EXEC, x, NULL, &x->handle);
    if (r)
        free_exec(x);
    else
        *exec = x->handle;
    return r;
}

CU_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
    return instantiate(exec, g, flags);
}

CU_API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph g, CUgraphNode *bad, char *log, size_t bytes)
{
    if (bad)
        *bad = NULL;
    if (log && bytes)
        log[0] = 0;
    return instantiate(exec, g, 0);
}

CU_API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph g, CUgraphNode *bad, char *log, size_t bytes)
{
    return cuGraphInstantiate_v2(exec, g, bad, log, bytes);
}

CU_API CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    NEED(p);
    CUresult r = instantiate(exec, g, p->flags);
    p->hErrNode_out = NULL;
    p->result_out = r ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return r;
}

CU_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    return cuGraphInstantiateWithParams(exec, g, p);
}

static CUresult exec_of(CUgraphExec handle, CUgraphExec *x)
{
    TRY(state_ready());
    *x = record_of(handle, HANDLE_EXEC);
    return *x ? CUDA_SUCCESS : handle_error(handle);
}

CU_API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    TRY(state_ready());
    CUgraphExec x = record_take(exec, HANDLE_EXEC);
    if (!x)
        return handle_error(exec);
    call_later(free_exec, x);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    NEED(flags);
    *flags = x->flags;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

CU_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream s)
{
    hd_stream *stream;
    CUcontext c;
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    TRY(stream_run(s, &stream, &c));
    return branches_launch(x, stream, c);
}

CU_API CUresult cuGraphLaunch_ptsz(CUgraphExec x, CUstream s)
{
    return cuGraphLaunch(x, s ? s : CU_STREAM_PER_THREAD);
}

/* There is nowhere to upload to. */
CU_API CUresult cuGraphUpload(CUgraphExec exec, CUstream s)
{
    hd_stream *stream;
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    return stream_run(s, &stream, NULL);
}

CU_API CUresult cuGraphUpload_ptsz(CUgraphExec x, CUstream s)
{
    return cuGraphUpload(x, s ? s : CU_STREAM_PER_THREAD);
}

/* ---- changes of what has been instantiated ---- */

static struct step *step_of(CUgraphExec x, CUgraphNode n)
{
    return node_index_find(&x->index, n);
}

static CUresult change(CUgraphExec exec, CUgraphNode n, CUgraphNodeType type, struct work *w)
{
    struct work own;
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    struct step *s = step_of(x, n);
    NEED(s && s->type == type);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        copy_attributes(&w->launch, &s->work.launch);
    TRY(work_own(w, s->context, &own));
    work_disown(&s->work);
    s->work = own;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct work w;
    CUcontext c;
    NEED(p);
    TRY(kernel_work(p, true, &w, &c));
    return change(x, n, CU_GRAPH_NODE_TYPE_KERNEL, &w);
}

CU_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct work w;
    CUcontext c;
    NEED(p);
    TRY(kernel_work(p, false, &w, &c));
    return change(x, n, CU_GRAPH_NODE_TYPE_KERNEL, &w);
}

CU_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMCPY3D *m, CUcontext c)
{
    struct work w;
    (void)c;
    TRY(copy_work(m, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_MEMCPY, &w);
}

CU_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS *p,
                                               CUcontext c)
{
    struct work w;
    (void)c;
    TRY(fill_work(p, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_MEMSET, &w);
}

CU_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_HOST_NODE_PARAMS *p)
{
    struct work w;
    TRY(host_work(p, &w));
    return change(x, n, CU_GRAPH_NODE_TYPE_HOST, &w);
}

CU_API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode n, unsigned enabled)
{
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    struct step *s = step_of(x, n);
    NEED(s && s->type <= CU_GRAPH_NODE_TYPE_MEMSET);
    s->disabled = !enabled;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode n, unsigned *enabled)
{
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    struct step *s = step_of(x, n);
    NEED(s && enabled && s->type <= CU_GRAPH_NODE_TYPE_MEMSET);
    *enabled = !s->disabled;
    return CUDA_SUCCESS;
}

/* A graph of the same shape, made in the same order, gives the steps new work. */
CU_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
    CUgraphExec x, fresh;
    TRY(exec_of(exec, &x));
    NEED(info);
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    TRY(exec_new(g, x->flags, &fresh));
    bool same = fresh->n == x->n;
    for (size_t i = 0; same && i < x->n; i++)
        same = fresh->steps[i].type == x->steps[i].type;
    for (size_t i = 0; same && i < x->n; i++) {
        struct work old = x->steps[i].work;
        x->steps[i].work = fresh->steps[i].work;
        fresh->steps[i].work = old;
        x->steps[i].node = fresh->steps[i].node;
    }
    index_steps(x);
    free_exec(fresh);
    info->result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
