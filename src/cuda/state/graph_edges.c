/* The edges of a graph, and their kinds. */
#include "cuda/state/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges ---- */

/* The index of the edge among the dependencies of `node`; n if there is none. Searches the shorter
 * of both lists. */
static size_t find(CUgraphNode earlier, CUgraphNode node)
{
    const struct edges *after = &node->after, *before = &earlier->before;
    size_t i = 0;
    if (after->n <= before->n) {
        while (i < after->n && after->at[i].node != earlier)
            i++;
        return i;
    }
    while (i < before->n && before->at[i].node != node)
        i++;
    return i < before->n ? before->at[i].at : after->n;
}

bool graph_is_ordered(CUgraphNode earlier, CUgraphNode node)
{
    return find(earlier, node) < node->after.n;
}

/* "CUDA Driver API", CUgraphEdgeData: a kernel's successor can begin before it has ended, if the
 * edge is programmatic and leads to a kernel. */
bool edge_is_good(const CUgraphEdgeData *d, CUgraphNodeType earlier, CUgraphNodeType node)
{
    for (size_t i = 0; i < sizeof d->reserved; i++)
        if (d->reserved[i])
            return false;
    if (edge_is_plain(d))
        return true;
    bool order = d->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    bool programmatic = d->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && node == CU_GRAPH_NODE_TYPE_KERNEL &&
                        (order || d->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    return !d->to_port && earlier == CU_GRAPH_NODE_TYPE_KERNEL && (programmatic || (!d->type && order));
}

static struct edge_kind kind_of(const CUgraphEdgeData *d)
{
    return d ? (struct edge_kind){d->from_port, d->to_port, d->type} : (struct edge_kind){0};
}

CUresult graph_put_edge(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data)
{
    const struct edge_kind kind = kind_of(data);
    struct edges *after = &node->after, *before = &earlier->before;
    if (graph_is_ordered(earlier, node))
        return CUDA_SUCCESS;
    if (!VEC_RESERVE(after, 1) || !VEC_RESERVE(before, 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    after->at[after->n] = (struct edge_end){earlier, (uint32_t)before->n, kind};
    before->at[before->n++] = (struct edge_end){node, (uint32_t)after->n++, kind};
    return CUDA_SUCCESS;
}

void graph_set_edge(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data)
{
    size_t i = find(earlier, node);
    if (i == node->after.n)
        return;
    node->after.at[i].kind = earlier->before.at[node->after.at[i].at].kind = kind_of(data);
}

/* Moves the node's last edge on that side into the gap of a removed one, and returns it; NULL if
 * the removed one was last. */
static const struct edge_end *fill_place(struct edges *e, size_t i)
{
    e->at[i] = e->at[--e->n];
    return i < e->n ? &e->at[i] : NULL;
}

static void remove_after(CUgraphNode node, size_t i)
{
    const struct edge_end *moved = fill_place(&node->after, i);
    if (moved)
        moved->node->before.at[moved->at].at = (uint32_t)i;
}

static void remove_before(CUgraphNode node, size_t i)
{
    const struct edge_end *moved = fill_place(&node->before, i);
    if (moved)
        moved->node->after.at[moved->at].at = (uint32_t)i;
    if (!node->before.n)
        node->end_since = ++node->graph->n_turns;
}

bool graph_forget_order(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data)
{
    size_t i = find(earlier, node);
    if (i == node->after.n)
        return false;
    const CUgraphEdgeData is = edge_data(node->after.at[i].kind);
    if (data && !edge_is_plain(data) && memcmp(data, &is, sizeof is) != 0)
        return false;
    remove_before(earlier, node->after.at[i].at);
    remove_after(node, i);
    return true;
}

void graph_forget_edges(CUgraphNode node)
{
    for (size_t i = node->after.n; i-- > 0;)
        remove_before(node->after.at[i].node, node->after.at[i].at);
    for (size_t i = node->before.n; i-- > 0;)
        remove_after(node->before.at[i].node, node->before.at[i].at);
    node->after.n = node->before.n = 0;
}

static int by_turn(const void *a, const void *b)
{
    size_t x = (*(CUgraphNode const *)a)->end_since, y = (*(CUgraphNode const *)b)->end_since;
    return (x > y) - (x < y);
}

CUresult graph_ends(CUgraph g, CUgraphNode **ends, size_t *n)
{
    CUgraphNode *at = calloc(g->n + 1, sizeof(CUgraphNode));
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *n = 0;
    for (CUgraphNode p = g->first; p; p = p->next)
        if (!p->before.n)
            at[(*n)++] = p;
    qsort(at, *n, sizeof(CUgraphNode), by_turn);
    *ends = at;
    return CUDA_SUCCESS;
}

/* ---- what belongs to nodes ---- */

CUresult node_index_make(struct node_index *x, size_t n)
{
    x->at = calloc(n + 1, sizeof *x->at);
    x->n = x->at ? n : 0;
    return x->at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct node_entry *)a)->key, y = (uintptr_t)((const struct node_entry *)b)->key;
    return (x > y) - (x < y);
}

void node_index_sort(struct node_index *x)
{
    qsort(x->at, x->n, sizeof *x->at, compare);
}

void *node_index_find(const struct node_index *x, CUgraphNode key)
{
    const struct node_entry wanted = {key, NULL},
                            *found = x->n ? bsearch(&wanted, x->at, x->n, sizeof *x->at, compare) : NULL;
    return found ? found->value : NULL;
}

void node_index_free(struct node_index *x)
{
    free(x->at);
    *x = (struct node_index){0};
}
