/* Graphs that are nodes of others ("CUDA Driver API", 6.23, cuGraphAddChildGraphNode). */
#include "cuda/driver/graph.h"

CU_API CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                                         CUgraph child)
{
    const struct work w = {.kind = WORK_EMPTY};
    CUgraph g, c, copy;
    CUgraphNode made;
    TRY(graph_of(graph, &g));
    TRY(graph_of(child, &c));
    NEED(g != c);
    if (c->is_body || c->n_memory || c->n_conditional)
        return CUDA_ERROR_NOT_SUPPORTED;
    /* Copies before adding the node, because the graph may be in the child. */
    TRY(graph_copy_child(c, &copy));
    CUresult r = graph_add_node(graph, CU_GRAPH_NODE_TYPE_GRAPH, &w, NULL, after, n, node);
    r = r ? r : node_of(*node, &made);
    if (r)
        graph_end(copy);
    else
        graph_give_child(made, copy);
    return r;
}

/* The program's own graph becomes the node's. */
static CUresult move_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n, CUgraph child)
{
    const struct work w = {.kind = WORK_EMPTY};
    CUgraph g, c;
    CUgraphNode made;
    TRY(graph_of(graph, &g));
    TRY(graph_of(child, &c));
    NEED(g != c && !c->capturing);
    if (c->is_child || c->n_conditional || record_of(c->instance, HANDLE_EXEC))
        return CUDA_ERROR_NOT_SUPPORTED;
    TRY(graph_add_node(graph, CU_GRAPH_NODE_TYPE_GRAPH, &w, NULL, after, n, node));
    TRY(node_of(*node, &made));
    c->is_child = c->is_moved = true;
    graph_give_child(made, c);
    return CUDA_SUCCESS;
}

CUresult graph_add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                         const CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
    return p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
               ? move_child(node, graph, after, n, p->graph)
               : cuGraphAddChildGraphNode(node, graph, after, n, p->graph);
}

static CUresult child_of(CUgraphNode node, CUgraph *child)
{
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(n->child);
    *child = n->child;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    CUgraph child;
    TRY(child_of(node, &child));
    NEED(graph);
    *graph = child->handle;
    return CUDA_SUCCESS;
}

CUresult graph_set_child(CUgraphNode node, CUgraph graph)
{
    CUgraphNode n;
    CUgraph old, g, copy;
    TRY(node_of(node, &n));
    TRY(child_of(node, &old));
    TRY(graph_of(graph, &g));
    if (g->is_body || g->n_memory || g->n_conditional || old->n_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    TRY(graph_copy_child(g, &copy));
    n->child = copy;
    graph_end(old);
    return CUDA_SUCCESS;
}

/* Gives the steps of x that stand for nodes of `part` the work of `part`. */
static void take_work(CUgraphExec x, CUgraphExec part)
{
    for (size_t i = 0; i < part->n; i++) {
        struct step *from = &part->steps[i], *to = from->node ? node_index_find(&x->index, from->node) : NULL;
        if (!to)
            continue;
        struct work old = to->work;
        to->work = from->work;
        from->work = old;
    }
}

/* Works as an update of the child alone. */
CU_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph graph)
{
    CUgraphExec x, part;
    CUgraph child, g;
    struct bad_graph bad;
    CUgraphExecUpdateResultInfo info;
    TRY(exec_of(exec, &x));
    TRY(graph_of(graph, &g));
    TRY(child_of(node, &child));
    NEED(node_index_find(&x->index, node));
    TRY(exec_new(child, 0, &part, &bad));
    CUresult r = exec_update(part, g, &info);
    if (!r)
        take_work(x, part);
    exec_free(part);
    return r;
}
