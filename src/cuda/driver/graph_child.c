/* Graphs that are nodes of others ("CUDA Driver API", 6.23, cuGraphAddChildGraphNode), and copies of graphs. A node has a copy of its child;
 * what is made ready of a graph has no children: their nodes stand among its own.
 */
#include "cuda/state/graph.h"

#include <stdlib.h>

/* ---- copies ---- */

static CUresult copy_child(CUgraph child, CUgraph *copy)
{
    CUgraph g;
    TRY(graph_new(&g));
    g->is_child = true;
    CUresult r = graph_copy(child, g);
    if (r)
        graph_end(g);
    else
        *copy = g;
    return r;
}

static void give_child(CUgraphNode n, CUgraph copy)
{
    n->child = copy;
    n->graph->n_children++;
}

static CUresult copy_node(CUgraphNode from, CUgraph to, CUgraphNode *made)
{
    CUgraph child;
    TRY(graph_add(to, from->type, &from->work, from->context, NULL, 0, made));
    (*made)->original = from->handle;
    (*made)->hints = from->hints;
    if (!from->child)
        return CUDA_SUCCESS;
    TRY(copy_child(from->child, &child));
    give_child(*made, child);
    return CUDA_SUCCESS;
}

CUresult graph_copy(CUgraph from, CUgraph to)
{
    CUgraphNode *made = calloc(from->n + 1, sizeof *made), n = from->first;
    CUresult r = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; n && !r; n = n->next, i++) {
        r = copy_node(n, to, &made[i]);
        n->place = i;
    }
    for (n = from->first; n && !r; n = n->next)
        for (size_t i = 0; i < n->after.n && !r; i++)
            r = graph_order(made[n->after.at[i].node->place], made[n->place]);
    free(made);
    return r ? r : kept_copy(from->kept, &to->kept);
}

/* ---- a graph with its children's nodes among its own ---- */

/* What stands for a node; for a child graph's: what its nodes come after, and what comes after them. */
struct ends {
    CUgraphNode first, last;
};

static CUresult flatten(CUgraph from, CUgraph to, const struct ends *around);

static CUresult flatten_node(CUgraphNode n, CUgraph to, struct ends *made)
{
    TRY(graph_add(to, n->type, &n->work, n->context, NULL, 0, &made->first));
    made->first->original = n->handle;
    made->last = made->first;
    if (!n->child)
        return CUDA_SUCCESS;
    TRY(graph_add(to, n->type, &n->work, n->context, NULL, 0, &made->last));
    TRY(graph_order(made->first, made->last));
    return flatten(n->child, to, made);
}

static CUresult flatten_edges(CUgraphNode n, const struct ends *made, const struct ends *around)
{
    const struct ends *own = &made[n->place];
    for (size_t i = 0; i < n->after.n; i++)
        TRY(graph_order(made[n->after.at[i].node->place].last, own->first));
    if (around && !n->after.n)
        TRY(graph_order(around->first, own->first));
    return around && !n->before.n ? graph_order(own->last, around->last) : CUDA_SUCCESS;
}

/* `around`: of a child. */
static CUresult flatten(CUgraph from, CUgraph to, const struct ends *around)
{
    struct ends *made = calloc(from->n + 1, sizeof *made);
    CUgraphNode n = from->first;
    CUresult r = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; n && !r; n = n->next, i++) {
        r = flatten_node(n, to, &made[i]);
        n->place = i;
    }
    for (n = from->first; n && !r; n = n->next)
        r = flatten_edges(n, made, around);
    free(made);
    return r ? r : kept_copy(from->kept, &to->kept);
}

CUresult graph_flatten(CUgraph from, CUgraph *flat)
{
    CUgraph to;
    TRY(graph_new(&to));
    to->is_flat = true;
    CUresult r = flatten(from, to, NULL);
    if (r)
        graph_end(to);
    else
        *flat = to;
    return r;
}

/* ---- entry points ---- */

CU_API CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                                         CUgraph child)
{
    const struct work w = {.kind = WORK_EMPTY};
    CUgraph g, c, copy;
    CUgraphNode made;
    TRY(graph_of(graph, &g));
    TRY(graph_of(child, &c));
    NEED(g != c);
    TRY(copy_child(c, &copy)); /* before there is a node, as the graph may be in the child */
    CUresult r = graph_add_node(graph, CU_GRAPH_NODE_TYPE_GRAPH, &w, NULL, after, n, node);
    r = r ? r : node_of(*node, &made);
    if (r)
        graph_end(copy);
    else
        give_child(made, copy);
    return r;
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

/* Gives the steps of x that stand for nodes of `part` its work. */
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

/* As an update of the child alone. */
CU_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph graph)
{
    CUgraphExec x, part;
    CUgraph child, g;
    CUgraphNode bad;
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
