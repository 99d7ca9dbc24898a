/* Instantiated graphs, whose nodes are in topological order. */
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/graph_updates.h"

#include <stdlib.h>

CUgraphNode node_key(CUgraphNode n)
{
    return n->graph->is_flat ? n->original : n->handle;
}

/* Instantiates a body for its node's step. */
static CUresult make_body(CUgraph body, CUgraphExec *x)
{
    struct bad_graph bad;
    return exec_new(body, 0, x, &bad);
}

static CUresult make_bodies(CUgraphExec x, struct step *s)
{
    CUgraphNode n = record_of(s->node, HANDLE_NODE);
    NEED(n && n->bodies);
    x->has_bodies = true;
    s->bodies = calloc(s->work.condition.n, sizeof *s->bodies);
    CUresult r = s->bodies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < s->work.condition.n && !r; i++)
        r = make_body(n->bodies[i], &s->bodies[i]);
    return r;
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
        x->after[x->n_after++] = (struct earlier){(uint32_t)n->after.at[i].node->place, n->after.at[i].kind};
    n->mark = NODE_PLACED;
    n->place = x->n++;
    if (s->work.kind == WORK_LAUNCH && s->work.launch.updatable) {
        x->has_updatable = true;
        updatable_set(s->work.launch.updatable, &s->work.launch);
        updatable_enable(s->work.launch.updatable, true);
    }
    return s->work.kind == WORK_BODIES ? make_bodies(x, s) : CUDA_SUCCESS;
}

/* Places a node behind its dependencies, by a stack `open` with enough room; an error if it depends
 * on itself. Not recursive, because chains can be as long as the graph. */
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

/* Computes facts about the whole graph before its nodes are placed; afterwards, which steps are
   ends. */
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

/* The graph memory that a launch needs on a device: addresses that are reused count once. */
static size_t memory_bytes(const struct CUgraphExec_st *x)
{
    size_t bytes = 0, small = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct work *w = &x->steps[i].work;
        bool again = w->kind != WORK_GIVE && w->kind != WORK_TAKE;
        for (size_t j = 0; j < i && !again; j++)
            again = x->steps[j].work.kind == WORK_GIVE && x->steps[j].work.memory.at == w->memory.at;
        if (again || w->kind == WORK_TAKE)
            continue;
        size_t n = graph_memory_bytes(w->memory.at), whole = graph_memory_blocks(n);
        small += n < whole && whole == graph_memory_blocks(1) ? n : 0;
        bytes += n < whole && whole == graph_memory_blocks(1) ? 0 : whole;
    }
    return bytes + graph_memory_blocks(small);
}

CUresult exec_of_nodes(CUgraph g, cuuint64_t flags, CUgraphExec *exec, struct bad_graph *bad)
{
    CUgraphExec x = calloc(1, sizeof *x + g->n * sizeof x->steps[0]);
    if (!x)
        return CUDA_ERROR_OUT_OF_MEMORY;
    x->flags = flags;
    x->refs = 1;
    pthread_mutex_init(&x->launching, NULL);
    CUresult r = place_all(x, g, &bad->node);
    if (r && bad->node)
        bad->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    r = r ? r : branches_find(x);
    r = r ? r : kept_copy(g->kept, &x->kept);
    x->uses_memory = g->n_memory != 0;
    x->memory_bytes = x->uses_memory ? memory_bytes(x) : 0;
    exec_find_launches(x);
    if (r)
        exec_free(x);
    else
        *exec = x;
    return r;
}

static CUresult make(CUgraph graph, cuuint64_t flags, CUgraphExec *exec, struct bad_graph *bad)
{
    CUgraph flat;
    if (!graph->n_children)
        return exec_of_nodes(graph, flags, exec, bad);
    TRY(graph_flatten(graph, &flat));
    CUresult r = exec_of_nodes(flat, flags, exec, bad);
    graph_end(flat);
    if (r)
        return r;
    r = graph_outline(graph, &(*exec)->outline);
    if (r)
        exec_free(*exec);
    return r;
}

CUresult exec_new(CUgraph graph, cuuint64_t flags, CUgraphExec *exec, struct bad_graph *bad)
{
    *bad = (struct bad_graph){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    TRY(make(graph, flags, exec, bad));
    CUresult r = graph->is_body ? CUDA_SUCCESS : conditions_collect(graph, &(*exec)->conditions);
    if (r)
        exec_free(*exec);
    return r;
}

struct step *exec_step(CUgraphExec x, CUgraphNode node)
{
    struct step *found = node_index_find(&x->index, node);
    for (size_t i = 0; x->has_bodies && i < x->n && !found; i++)
        for (unsigned b = 0; x->steps[i].bodies && b < x->steps[i].work.condition.n && !found; b++)
            found = exec_step(x->steps[i].bodies[b], node);
    return found;
}

void exec_settle(CUgraphExec x)
{
    if (x->has_bodies)
        hd_event_synchronize(x->ended);
}

CUresult exec_of(CUgraphExec handle, CUgraphExec *x)
{
    TRY(state_ready());
    *x = record_of(handle, HANDLE_EXEC);
    NEED(*x);
    return CUDA_SUCCESS;
}
