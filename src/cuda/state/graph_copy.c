/* Copies of graphs. A child-graph node gets a copy of its child. An instantiated graph has no
 * children: their nodes are among its own.
 */
#include "cuda/state/graph.h"

#include <stdlib.h>

static CUresult copy_to(CUgraph from, CUgraph to, bool bare);

/* bare: structure only. */
static CUresult copy_child(CUgraph child, bool bare, CUgraph *copy)
{
    CUgraph g;
    TRY(graph_new(&g));
    g->is_child = true;
    CUresult r = copy_to(child, g, bare);
    if (r)
        graph_end(g);
    else
        *copy = g;
    return r;
}

CUresult graph_copy_child(CUgraph child, CUgraph *copy)
{
    return copy_child(child, false, copy);
}

CUresult graph_outline(CUgraph g, CUgraph *outline)
{
    return copy_child(g, true, outline);
}

void graph_give_child(CUgraphNode n, CUgraph copy)
{
    n->child = copy;
    n->graph->n_children++;
    n->graph->n_memory += copy->is_moved ? copy->n_memory : 0;
}

static CUresult copy_node(CUgraphNode from, CUgraph to, bool bare, CUgraphNode *made)
{
    CUgraph child;
    struct work w = bare ? (struct work){.kind = WORK_EMPTY} : from->work;
    if (w.kind == WORK_LAUNCH)
        w.launch.updatable = NULL; /* the copy's kernel is not updatable */
    TRY(graph_put_node(to, from->type, &w, from->context, NULL, 0, made));
    (*made)->original = from->handle;
    (*made)->number = from->number;
    to->n_made = from->number + 1;
    (*made)->hints = from->hints;
    if (!from->child)
        return CUDA_SUCCESS;
    TRY(copy_child(from->child, bare, &child));
    graph_give_child(*made, child);
    return CUDA_SUCCESS;
}

static CUresult copy_edge(CUgraphNode earlier, CUgraphNode node, struct edge_kind kind)
{
    const CUgraphEdgeData data = edge_data(kind);
    return graph_put_edge(earlier, node, &data);
}

static CUresult copy_to(CUgraph from, CUgraph to, bool bare)
{
    CUgraphNode *made = calloc(from->n + 1, sizeof *made), n = from->first;
    CUresult r = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; n && !r; n = n->next, i++) {
        r = copy_node(n, to, bare, &made[i]);
        n->place = i;
    }
    for (n = from->first; n && !r; n = n->next)
        for (size_t i = 0; i < n->after.n && !r; i++)
            r = copy_edge(made[n->after.at[i].node->place], made[n->place], n->after.at[i].kind);
    free(made);
    return r || bare ? r : kept_copy(from->kept, &to->kept);
}

CUresult graph_copy_to(CUgraph from, CUgraph to)
{
    return copy_to(from, to, false);
}

/* ---- a graph with its children's nodes among its own ---- */

/* The ends of a node's replacement; for a child graph's node: its first and its last nodes. */
struct ends {
    CUgraphNode first, last;
};

static CUresult flatten(CUgraph from, CUgraph to, const struct ends *around);

static CUresult flatten_node(CUgraphNode n, CUgraph to, struct ends *made)
{
    TRY(graph_put_node(to, n->type, &n->work, n->context, NULL, 0, &made->first));
    made->first->original = n->handle;
    made->last = made->first;
    if (!n->child)
        return CUDA_SUCCESS;
    TRY(graph_put_node(to, n->type, &n->work, n->context, NULL, 0, &made->last));
    TRY(graph_put_edge(made->first, made->last, NULL));
    return flatten(n->child, to, made);
}

static CUresult flatten_edges(CUgraphNode n, const struct ends *made, const struct ends *around)
{
    const struct ends *own = &made[n->place];
    for (size_t i = 0; i < n->after.n; i++)
        TRY(copy_edge(made[n->after.at[i].node->place].last, own->first, n->after.at[i].kind));
    if (around && !n->after.n)
        TRY(graph_put_edge(around->first, own->first, NULL));
    return around && !n->before.n ? graph_put_edge(own->last, around->last, NULL) : CUDA_SUCCESS;
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
