/* Graphs put together by hand, and their launches ("CUDA Driver API", 6.23). */
#include "cuda/state/graph.h"

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

enum { UNSEEN, OPEN, PLACED }; /* marks of nodes */

/* Different nodes of the graph. */
static CUresult check_nodes(CUgraph g, const CUgraphNode *handles, size_t n)
{
    CUgraphNode node;
    bool twice = false;
    TRY(graph_has_nodes(g, handles, n));
    for (size_t i = 0; i < n; i++)
        if ((node = record_of(handles[i], HANDLE_NODE)))
            node->mark = UNSEEN;
    for (size_t i = 0; i < n; i++)
        if ((node = record_of(handles[i], HANDLE_NODE))) {
            twice = twice || node->mark != UNSEEN;
            node->mark = OPEN;
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
    TRY(graph_add(g, type, w, c->handle, after, n, &made));
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

static CUresult order(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    CUgraph g;
    CUgraphNode earlier, later;
    TRY(graph_of(graph, &g));
    NEED((from && to) || !n);
    for (size_t i = 0; i < n; i++) {
        TRY(node_of(from[i], &earlier));
        TRY(node_of(to[i], &later));
        NEED(earlier->graph == g && later->graph == g && earlier != later && !graph_is_ordered(earlier, later));
        TRY(graph_order(earlier, later));
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *data, size_t n)
{
    for (size_t i = 0; data && i < n; i++) {
        if (data[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
            return api_not_supported("a graph's edge other than full serialization");
        NEED(!data[i].type && !data[i].from_port && !data[i].to_port);
    }
    return order(g, from, to, n);
}

CU_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return order(g, from, to, n);
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

CUgraphNode node_key(CUgraphNode n)
{
    return n->graph->is_flat ? n->original : n->handle;
}

static CUresult add_step(CUgraphExec x, CUgraphNode n)
{
    struct step *s = &x->steps[x->n];
    TRY(work_own(&n->work, n->context, &s->work));
    s->node = node_key(n);
    s->type = n->type;
    s->context = n->context;
    s->after = x->n_after;
    s->n_after = n->after.n;
    for (size_t i = 0; i < n->after.n; i++)
        x->after[x->n_after++] = n->after.at[i].node->place;
    n->mark = PLACED;
    n->place = x->n++;
    return CUDA_SUCCESS;
}

/* Places a node behind those it depends on, which `open` has room for; an error where it depends on itself. Nothing recurses: chains
 * are as long as their graphs. */
static CUresult place(CUgraphExec x, CUgraphNode node, CUgraphNode *open, CUgraphNode *bad)
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
        if (earlier->mark == OPEN) {
            *bad = node_key(earlier);
            return CUDA_ERROR_INVALID_VALUE;
        }
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

/* What is known of a whole graph before its nodes are placed; afterwards, which of them are ends. */
static CUresult make_lists(CUgraphExec x, CUgraph g)
{
    size_t edges = 0;
    for (CUgraphNode n = g->first; n; n = n->next) {
        n->mark = UNSEEN;
        edges += n->after.n;
    }
    x->after = calloc(edges + 1, sizeof *x->after);
    return x->after ? node_index_make(&x->index, g->n) : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fill_lists(CUgraphExec x, CUgraph g)
{
    CUgraphNode *ends;
    TRY(graph_ends(g, &ends, &x->n_ends));
    x->ends = calloc(x->n_ends + 1, sizeof *x->ends);
    for (size_t i = 0; x->ends && i < x->n_ends; i++)
        x->ends[i] = ends[i]->place;
    free(ends);
    index_steps(x);
    return x->ends ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* *bad: a node that depends on itself, or NULL. */
static CUresult place_all(CUgraphExec x, CUgraph g, CUgraphNode *bad)
{
    CUgraphNode *open = calloc(g->n + 1, sizeof(CUgraphNode));
    CUresult r = open ? make_lists(x, g) : CUDA_ERROR_OUT_OF_MEMORY;
    for (CUgraphNode n = g->first; n && !r; n = n->next)
        if (n->mark == UNSEEN)
            r = place(x, n, open, bad);
    free(open);
    return r ? r : fill_lists(x, g);
}

void exec_free(void *record)
{
    CUgraphExec x = record;
    for (size_t i = 0; i < x->n; i++)
        work_disown(&x->steps[i].work);
    if (x->kept && x->ended)
        hd_event_synchronize(x->ended);
    branches_free(x);
    node_index_free(&x->index);
    free(x->ends);
    free(x->after);
    kept_release(&x->kept);
    free(x);
}

/* An H200 knows these, and not these two together. */
static CUresult check_flags(cuuint64_t flags)
{
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    bool by_kernels = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    NEED((flags & ~known) == 0 && !(by_kernels && flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    return by_kernels ? api_not_supported("a graph that kernels launch") : CUDA_SUCCESS;
}

static CUresult make_ready(CUgraph g, cuuint64_t flags, CUgraphExec *exec, CUgraphNode *bad)
{
    *bad = NULL;
    CUgraphExec x = calloc(1, sizeof *x + g->n * sizeof x->steps[0]);
    if (!x)
        return CUDA_ERROR_OUT_OF_MEMORY;
    x->flags = flags;
    CUresult r = place_all(x, g, bad);
    r = r ? r : branches_find(x);
    r = r ? r : kept_copy(g->kept, &x->kept);
    if (r)
        exec_free(x);
    else
        *exec = x;
    return r;
}

CUresult exec_new(CUgraph graph, cuuint64_t flags, CUgraphExec *exec, CUgraphNode *bad)
{
    CUgraph flat;
    *bad = NULL;
    if (!graph->n_children)
        return make_ready(graph, flags, exec, bad);
    TRY(graph_flatten(graph, &flat));
    CUresult r = make_ready(flat, flags, exec, bad);
    graph_end(flat);
    return r;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, cuuint64_t flags, CUgraphNode *bad)
{
    CUgraph g;
    CUgraphExec x;
    TRY(state_ready());
    TRY(capture_unsafe());
    TRY(graph_of(graph, &g));
    NEED(exec);
    TRY(check_flags(flags));
    TRY(exec_new(g, flags, &x, bad));
    CUresult r = handle_give(HANDLE_EXEC, x, NULL, &x->handle);
    if (r)
        exec_free(x);
    else
        *exec = x->handle;
    return r;
}

/* Only the function with parameters says in which stream to upload it. */
CU_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
    CUgraphNode bad;
    NEED(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    return instantiate(exec, g, flags, &bad);
}

CU_API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph g, CUgraphNode *bad, char *log, size_t bytes)
{
    CUgraphNode none = NULL;
    if (log && bytes)
        log[0] = 0;
    CUresult r = instantiate(exec, g, 0, &none);
    if (bad)
        *bad = none;
    return r;
}

CU_API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph g, CUgraphNode *bad, char *log, size_t bytes)
{
    return cuGraphInstantiate_v2(exec, g, bad, log, bytes);
}

CU_API CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    NEED(p);
    p->hErrNode_out = NULL;
    CUresult r = instantiate(exec, g, p->flags, &p->hErrNode_out);
    p->result_out = p->hErrNode_out ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                    : r             ? CUDA_GRAPH_INSTANTIATE_ERROR
                                    : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return r;
}

CU_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    return cuGraphInstantiateWithParams(exec, g, p);
}

CUresult exec_of(CUgraphExec handle, CUgraphExec *x)
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
    call_later(exec_free, x);
    return CUDA_SUCCESS;
}

/* Those that an H200 says; the others have had their effect. */
CU_API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    NEED(flags);
    *flags = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
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
