/* What is made ready of a graph: its nodes in an order in which each comes after those it depends on. */
#include "cuda/state/graph.h"

#include <stdlib.h>

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
    n->mark = NODE_PLACED;
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
        size_t next = n->mark == NODE_UNSEEN ? 0 : n->place;
        n->mark = NODE_OPEN;
        n->place = next + 1;
        if (next == n->after.n) {
            TRY(add_step(x, n));
            depth--;
            continue;
        }
        CUgraphNode earlier = n->after.at[next].node;
        if (earlier->mark == NODE_OPEN) {
            *bad = node_key(earlier);
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (earlier->mark == NODE_UNSEEN)
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
        n->mark = NODE_UNSEEN;
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
        if (n->mark == NODE_UNSEEN)
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

CUresult exec_of(CUgraphExec handle, CUgraphExec *x)
{
    TRY(state_ready());
    *x = record_of(handle, HANDLE_EXEC);
    return *x ? CUDA_SUCCESS : handle_error(handle);
}
