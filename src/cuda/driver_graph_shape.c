/* Graphs as a whole: copies of them, and questions about nodes and edges ("CUDA Driver API", 6.23). */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

static CUresult graph_of(CUgraph g)
{
    TRY(state_ready());
    return g && g->kind == HANDLE_GRAPH ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult node_of(CUgraphNode n)
{
    TRY(state_ready());
    return n && n->kind == HANDLE_NODE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- copies ---- */

static CUgraphNode in_clone(CUgraph clone, CUgraphNode original)
{
    CUgraphNode n = clone->first;
    while (n && n->original != original)
        n = n->next;
    return n;
}

static CUresult copy_nodes(CUgraph from, CUgraph to)
{
    CUgraphNode made;
    for (CUgraphNode n = from->first; n; n = n->next) {
        TRY(graph_add(to, n->type, &n->work, n->context, NULL, 0, &made));
        made->original = n;
    }
    for (CUgraphNode n = to->first; n; n = n->next)
        for (size_t i = 0; i < n->original->n_after; i++)
            TRY(graph_order(in_clone(to, n->original->after[i]), n));
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
    TRY(graph_of(original));
    NEED(clone);
    CUgraph g = graph_new();
    CUresult r = g ? copy_nodes(original, g) : CUDA_ERROR_OUT_OF_MEMORY;
    r = r ? r : kept_copy(original->kept, &g->kept);
    if (!r)
        *clone = g;
    else if (g)
        graph_free(g);
    return r;
}

CU_API CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    TRY(graph_of(clone));
    TRY(node_of(original));
    NEED(node && in_clone(clone, original));
    *node = in_clone(clone, original);
    return CUDA_SUCCESS;
}

/* ---- less of them ---- */

static bool forget_edge(CUgraphNode earlier, CUgraphNode node)
{
    for (size_t i = 0; i < node->n_after; i++)
        if (node->after[i] == earlier) {
            memmove(&node->after[i], &node->after[i + 1], (--node->n_after - i) * sizeof *node->after);
            earlier->n_before--;
            return true;
        }
    return false;
}

CU_API CUresult cuGraphDestroyNode(CUgraphNode node)
{
    TRY(node_of(node));
    CUgraph g = node->graph;
    for (CUgraphNode n = g->first; n; n = n->next)
        forget_edge(node, n);
    while (node->n_after)
        forget_edge(node->after[0], node);
    CUgraphNode *link = &g->first;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    if (g->end == &node->next)
        g->end = link;
    g->n--;
    node_free(node);
    return CUDA_SUCCESS;
}

static CUresult remove_edges(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    TRY(graph_of(g));
    NEED((from && to) || !n);
    for (size_t i = 0; i < n; i++)
        NEED(from[i] && to[i] && from[i]->graph == g && to[i]->graph == g && forget_edge(from[i], to[i]));
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return remove_edges(g, from, to, n);
}

CU_API CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                             const CUgraphEdgeData *data, size_t n)
{
    (void)data; /* all edges are alike */
    return remove_edges(g, from, to, n);
}

/* ---- questions ---- */

/* A list that the caller has room for, or only its length. */
struct list {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t room, n;
};

static void put(struct list *l, CUgraphNode from, CUgraphNode to)
{
    if (l->n < l->room) {
        if (l->from)
            l->from[l->n] = from;
        if (l->to)
            l->to[l->n] = to;
        if (l->data)
            l->data[l->n] = (CUgraphEdgeData){0};
    }
    l->n++;
}

/* "numEdges will return the number that were written", the rest of the room is NULL. */
static CUresult end_list(struct list *l, size_t *n)
{
    for (size_t i = l->n; i < l->room; i++) {
        if (l->from)
            l->from[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    *n = (l->from || l->to) && l->n > l->room ? l->room : l->n;
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *n)
{
    TRY(graph_of(g));
    NEED(n && (from == NULL) == (to == NULL));
    struct list l = {from, to, data, from ? *n : 0, 0};
    for (CUgraphNode p = g->first; p; p = p->next)
        for (size_t i = 0; i < p->n_after; i++)
            put(&l, p->after[i], p);
    return end_list(&l, n);
}

CU_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *n)
{
    TRY(node_of(node));
    NEED(n);
    struct list l = {nodes, NULL, data, nodes ? *n : 0, 0};
    for (size_t i = 0; i < node->n_after; i++)
        put(&l, node->after[i], node);
    return end_list(&l, n);
}

CU_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *n)
{
    TRY(node_of(node));
    NEED(n);
    struct list l = {NULL, nodes, data, nodes ? *n : 0, 0};
    for (CUgraphNode p = node->graph->first; p; p = p->next)
        for (size_t i = 0; i < p->n_after; i++)
            if (p->after[i] == node)
                put(&l, node, p);
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
