/* Updates an instantiated graph by another graph ("CUDA Driver API", 6.23, cuGraphExecUpdate):
 * which steps and nodes correspond, and what may differ.
 *
 * Nodes are paired level by level first: those of a child graph with those of the other's child.
 * Then all are paired, including those of children.
 *
 * Pairing starts at the ends, the last first, and follows the edges of each pair in order, so both
 * graphs must have been built alike. If there are several differences, the reported one is an
 * H200's choice (tests/forbidden, random_graphs).
 */
#include "cuda/state/graph_condition.h"

#include <stdlib.h>
#include <string.h>

/* ---- what may differ ---- */

static bool is_row(const struct work *w)
{
    return w->kind == WORK_COPY ? w->copy.height * w->copy.depth <= 1 : w->fill.height <= 1;
}

/* Copied boxes must be the same; filled boxes may have moved. */
static bool same_box(const struct work *a, const struct work *b)
{
    if (a->kind == WORK_COPY)
        return a->copy.from == b->copy.from && a->copy.to == b->copy.to && a->copy.width == b->copy.width &&
               a->copy.height == b->copy.height && a->copy.depth == b->copy.depth &&
               a->copy.from_pitch == b->copy.from_pitch && a->copy.to_pitch == b->copy.to_pitch &&
               a->copy.from_slice == b->copy.from_slice && a->copy.to_slice == b->copy.to_slice;
    return a->fill.width == b->fill.width && a->fill.height == b->fill.height && a->fill.pitch == b->fill.pitch &&
           a->fill.element_bytes == b->fill.element_bytes;
}

bool work_can_become(const struct work *a, const struct work *b)
{
    if (a->kind == WORK_COPY && (a->from_type != b->from_type || a->to_type != b->to_type))
        return false;
    if (a->kind == WORK_COPY || a->kind == WORK_FILL)
        return is_row(a) ? is_row(b) : same_box(a, b);
    return true;
}

/* ---- pairs ---- */

struct pairing {
    CUgraphExec x;
    CUgraph g;
    CUgraphNode *node_of;    /* by step; NULL: not paired yet */
    bool *taken;             /* by the nodes' indices, in the order of creation */
    size_t *open, n, n_open; /* paired steps; those from n on have not been examined */
    /* The nodes of one level of both graphs are paired, with their children. */
    bool outlines;
    CUgraphExecUpdateResultInfo *info;
};

static CUresult refuse(const struct pairing *p, CUgraphExecUpdateResult result, CUgraphNode node)
{
    p->info->result = result;
    p->info->errorNode = node ? node_key(node) : NULL;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* `to` depends on both; NULL: they are ends. */
static CUresult pair(struct pairing *p, size_t step, CUgraphNode node, CUgraphNode to)
{
    if (p->node_of[step] == node)
        return CUDA_SUCCESS;
    if (p->node_of[step] || p->taken[node->place]) {
        p->info->errorFromNode = node_key(node);
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to);
    }
    p->node_of[step] = node;
    p->taken[node->place] = true;
    p->open[p->n_open++] = step;
    return CUDA_SUCCESS;
}

static CUresult pair_ends(struct pairing *p, const CUgraphNode *ends, size_t n)
{
    size_t n_steps = p->x->n_ends;
    for (; n > 0 && n_steps > 0; n--, n_steps--)
        TRY(pair(p, p->x->ends[n_steps - 1], ends[n - 1], NULL));
    return n == n_steps ? CUDA_SUCCESS
                        : refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n > 0 ? ends[n - 1] : NULL);
}

static CUresult pair_graph(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info,
                           CUresult (*then)(struct pairing *p));
static CUresult pair_outline(CUgraph outline, CUgraph g, CUgraphExecUpdateResultInfo *info);

static CUresult nothing(struct pairing *p)
{
    (void)p;
    return CUDA_SUCCESS;
}

/* A body of a node; `n` may be in a copy of the program's graph. */
static CUgraph body_of(CUgraphNode n, unsigned i)
{
    CUgraphNode own = record_of(node_key(n), HANDLE_NODE);
    return own && own->bodies ? own->bodies[i] : NULL;
}

static CUresult check_bodies(struct pairing *p, const struct step *s, CUgraphNode n)
{
    if (s->work.condition.type != n->work.condition.type || s->work.condition.n != n->work.condition.n)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, n);
    for (unsigned i = 0; i < s->work.condition.n; i++) {
        CUgraph body = body_of(n, i);
        NEED(body);
        TRY(pair_graph(s->bodies[i], body, p->info, nothing));
    }
    return CUDA_SUCCESS;
}

static CUresult check_pair(struct pairing *p, const struct step *s, CUgraphNode n)
{
    if (s->n_after != n->after.n)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n);
    for (size_t i = 0; i < s->n_after; i++)
        if (memcmp(&p->x->after[s->after + i].kind, &n->after.at[i].kind, sizeof(struct edge_kind)) != 0)
            return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n);
    if (s->type != n->type)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, n);
    if (s->work.kind == WORK_LAUNCH && n->work.kind == WORK_LAUNCH &&
        s->work.launch.cooperative != n->work.launch.cooperative)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, n);
    if (!work_can_become(&s->work, &n->work))
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, n);
    if (s->work.kind == WORK_BODIES)
        TRY(check_bodies(p, s, n));
    if (p->outlines && n->child)
        TRY(pair_outline(((CUgraphNode)record_of(s->node, HANDLE_NODE))->child, n->child, p->info));
    for (size_t i = 0; i < s->n_after; i++)
        TRY(pair(p, p->x->after[s->after + i].place, n->after.at[i].node, n));
    return CUDA_SUCCESS;
}

static CUresult pair_all(struct pairing *p)
{
    CUgraphNode *ends, n = p->g->first;
    size_t n_ends;
    if (p->x->n != p->g->n)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
    for (size_t i = 0; n; n = n->next)
        n->place = i++;
    TRY(graph_ends(p->g, &ends, &n_ends));
    CUresult r = pair_ends(p, ends, n_ends);
    free(ends);
    for (; !r && p->n < p->n_open; p->n++)
        r = check_pair(p, &p->x->steps[p->open[p->n]], p->node_of[p->open[p->n]]);
    return r;
}

/* ---- the update ---- */

static CUresult take_work(struct pairing *p)
{
    CUgraphExec fresh;
    struct bad_graph bad;
    TRY(exec_new(p->g, p->x->flags, &fresh, &bad));
    for (size_t i = 0; i < p->x->n; i++) {
        struct step *to = &p->x->steps[i], *from = &fresh->steps[p->node_of[i]->place];
        struct work old = to->work;
        to->work = from->work;
        from->work = old;
        for (unsigned b = 0; to->bodies && b < to->work.condition.n; b++)
            TRY(pair_graph(to->bodies[b], body_of(p->node_of[i], b), p->info, take_work));
    }
    exec_free(fresh);
    p->info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

static CUresult update(CUgraphExec x, CUgraph g, bool outlines, CUgraphExecUpdateResultInfo *info,
                       CUresult (*then)(struct pairing *p))
{
    struct pairing p = {.x = x,
                        .g = g,
                        .outlines = outlines,
                        .node_of = calloc(x->n + 1, sizeof(CUgraphNode)),
                        .taken = calloc(g->n + 1, sizeof *p.taken),
                        .open = calloc(x->n + 1, sizeof *p.open),
                        .info = info};
    CUresult r = p.node_of && p.taken && p.open ? pair_all(&p) : CUDA_ERROR_OUT_OF_MEMORY;
    r = r ? r : then(&p);
    free(p.node_of);
    free(p.taken);
    free(p.open);
    return r;
}

static CUresult pair_outline(CUgraph outline, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
    CUgraphExec level;
    struct bad_graph bad;
    TRY(exec_of_nodes(outline, 0, &level, &bad));
    CUresult r = update(level, g, true, info, nothing);
    exec_free(level);
    return r;
}

static CUresult pair_graph(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info,
                           CUresult (*then)(struct pairing *p))
{
    CUgraph flat;
    if (x->outline)
        TRY(pair_outline(x->outline, g, info));
    if (!g->n_children || !x->outline)
        return update(x, g, false, info, then);
    TRY(graph_flatten(g, &flat));
    CUresult r = update(x, flat, false, info, then);
    graph_end(flat);
    return r;
}

CUresult exec_update(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
    struct condition_use *conditions = NULL;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    exec_settle(x);
    CUresult r = conditions_collect(g, &conditions);
    r = r ? r : pair_graph(x, g, info, take_work);
    if (!r) {
        struct condition_use *old = x->conditions;
        x->conditions = conditions;
        conditions = old;
    }
    conditions_release(&conditions);
    exec_find_launches(x);
    x->is_changed = true;
    return r;
}
