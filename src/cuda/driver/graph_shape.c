/* Graphs as a whole: copies of them, changes of their edges, and questions about nodes and edges
 * ("CUDA Driver API", 6.23). */
#include "cuda/state/graph.h"

/* ---- copies ---- */

CU_API CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
    CUgraph from, g;
    TRY(graph_of(original, &from));
    NEED(clone);
    if (from->is_body || graph_is_single(from))
        return CUDA_ERROR_NOT_SUPPORTED;
    TRY(graph_new(&g));
    CUresult r = graph_copy_to(from, g);
    if (r)
        graph_end(g);
    else
        *clone = g->handle;
    return r;
}

/* An index from originals to clones, valid until a clone is destroyed. */
static CUresult index_clones(CUgraph clone)
{
    size_t i = 0;
    if (clone->clones.n == clone->n && clone->n)
        return CUDA_SUCCESS;
    node_index_free(&clone->clones);
    TRY(node_index_make(&clone->clones, clone->n));
    for (CUgraphNode n = clone->first; n; n = n->next)
        clone->clones.at[i++] = (struct node_entry){n->original, n};
    node_index_sort(&clone->clones);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    CUgraph g;
    CUgraphNode n;
    TRY(graph_of(clone, &g));
    TRY(node_of(original, &n));
    NEED(node);
    TRY(index_clones(g));
    CUgraphNode found = node_index_find(&g->clones, original);
    NEED(found);
    *node = found->handle;
    return CUDA_SUCCESS;
}

/* ---- less of them ---- */

CU_API CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    CUgraphNode node;
    TRY(node_of(handle, &node));
    CUgraph g = node->graph;
    if (g->n_memory || node->updatable)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (g->capturing || (node->child && graph_is_captured(node->child)))
        return CUDA_ERROR_ILLEGAL_STATE;
    graph_forget_edges(node);
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    else
        g->end = node->link;
    node_index_free(&g->clones);
    g->n--;
    g->n_children -= node->child != NULL;
    g->n_conditional -= node->bodies != NULL;
    node_end(node);
    return CUDA_SUCCESS;
}

/* ---- edges ---- */

static CUresult add_edge(CUgraphNode earlier, CUgraphNode later, const CUgraphEdgeData *data)
{
    NEED(earlier != later && !graph_is_ordered(earlier, later));
    NEED(!data || edge_is_good(data, earlier->type, later->type));
    return graph_put_edge(earlier, later, data);
}

static CUresult remove_edge(CUgraphNode earlier, CUgraphNode later, const CUgraphEdgeData *data)
{
    if (earlier->graph->n_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    NEED(graph_forget_order(earlier, later, data));
    return CUDA_SUCCESS;
}

static CUresult change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                             size_t n,
                             CUresult (*change)(CUgraphNode earlier, CUgraphNode later, const CUgraphEdgeData *data))
{
    CUgraph g;
    CUgraphNode earlier, later;
    TRY(graph_of(graph, &g));
    NEED((from && to) || !n);
    for (size_t i = 0; i < n; i++) {
        TRY(node_of(from[i], &earlier));
        TRY(node_of(to[i], &later));
        NEED(earlier->graph == g && later->graph == g);
        TRY(change(earlier, later, data ? &data[i] : NULL));
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *data, size_t n)
{
    return change_edges(g, from, to, data, n, add_edge);
}

CU_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return change_edges(g, from, to, NULL, n, add_edge);
}

CU_API CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return change_edges(g, from, to, NULL, n, remove_edge);
}

CU_API CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                             const CUgraphEdgeData *data, size_t n)
{
    return change_edges(g, from, to, data, n, remove_edge);
}

/* ---- questions ---- */

/* The caller's list, or only a request for its length. */
struct list {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t room, n;
    bool lossy; /* edges have data that was not asked for */
};

static void put(struct list *l, CUgraphNode from, CUgraphNode to, struct edge_kind kind)
{
    const CUgraphEdgeData data = edge_data(kind);
    l->lossy = l->lossy || (!l->data && (l->from || l->to) && !edge_is_plain(&data));
    if (l->n < l->room) {
        if (l->from)
            l->from[l->n] = from->handle;
        if (l->to)
            l->to[l->n] = to->handle;
        if (l->data)
            l->data[l->n] = data;
    }
    l->n++;
}

/* "numEdges will return the number that were written"; the rest of the list is set to NULL. */
static CUresult end_list(struct list *l, size_t *n)
{
    if (l->lossy)
        return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = l->n; i < l->room; i++) {
        if (l->from)
            l->from[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    *n = (l->from || l->to) && l->n > l->room ? l->room : l->n;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *n)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(n && (from == NULL) == (to == NULL) && (*n || !from));
    struct list l = {.from = from, .to = to, .data = data, .room = from ? *n : 0};
    for (CUgraphNode p = g->first; p; p = p->next)
        for (size_t i = 0; i < p->after.n; i++)
            put(&l, p->after.at[i].node, p, p->after.at[i].kind);
    return end_list(&l, n);
}

CU_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *n)
{
    CUgraphNode node;
    TRY(node_of(handle, &node));
    NEED(n && (*n || !nodes));
    struct list l = {.from = nodes, .data = data, .room = nodes ? *n : 0};
    for (size_t i = 0; i < node->after.n; i++)
        put(&l, node->after.at[i].node, node, node->after.at[i].kind);
    return end_list(&l, n);
}

CU_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data,
                                                size_t *n)
{
    CUgraphNode node;
    TRY(node_of(handle, &node));
    NEED(n && (*n || !nodes));
    struct list l = {.to = nodes, .data = data, .room = nodes ? *n : 0};
    for (size_t i = 0; i < node->before.n; i++)
        put(&l, node, node->before.at[i].node, node->before.at[i].kind);
    return end_list(&l, n);
}

CU_API CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    return cuGraphGetEdges_v2(g, from, to, NULL, n);
}

CU_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, n);
}

CU_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n);
}
