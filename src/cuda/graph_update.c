/* Updates of a graph that was made ready by another graph ("CUDA Driver API", 6.23, cuGraphExecUpdate): which of their nodes belong
 * together, and what may differ.
 *
 * Nodes are paired from the ends of the graphs, which are taken in the order of their making, and from each pair along its edges, in
 * the order of theirs: so both must have been made alike.
 */
#include "cuda/graph.h"

#include <stdlib.h>

struct pairing {
    CUgraphExec x, fresh;
    size_t *of_x, *of_fresh; /* each one's other, and 1; 0: it has none yet */
    size_t *open, n_open;    /* steps of x whose edges have not been looked at */
    CUgraphExecUpdateResultInfo *info;
};

static CUresult refuse(const struct pairing *p, CUgraphExecUpdateResult result, const struct step *node)
{
    p->info->result = result;
    p->info->errorNode = node ? node->node : NULL;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* ---- pairs ---- */

/* `to` depends on the two; NULL: they are ends. */
static CUresult pair(struct pairing *p, struct step *a, struct step *b, const struct step *to)
{
    size_t i = (size_t)(a - p->x->steps), k = (size_t)(b - p->fresh->steps);
    if (p->of_x[i] || p->of_fresh[k]) {
        if (p->of_x[i] == k + 1)
            return CUDA_SUCCESS;
        p->info->errorFromNode = b->node;
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to);
    }
    if (a->n_after != b->n_after)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b);
    if (a->type != b->type)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, b);
    p->of_x[i] = k + 1;
    p->of_fresh[k] = i + 1;
    p->open[p->n_open++] = i;
    return CUDA_SUCCESS;
}

static CUresult pair_edges(struct pairing *p, size_t i)
{
    const struct step *a = &p->x->steps[i], *b = &p->fresh->steps[p->of_x[i] - 1];
    for (size_t k = 0; k < a->n_after; k++)
        TRY(pair(p, &p->x->steps[p->x->after[a->after + k]], &p->fresh->steps[p->fresh->after[b->after + k]], b));
    return CUDA_SUCCESS;
}

/* The next step before this place on which nothing depends, in the order of making; NULL: there is none. */
static struct step *end_before(CUgraphExec x, size_t *place)
{
    while (*place > 0) {
        struct step *s = &x->steps[x->made[--*place]];
        if (s->is_last)
            return s;
    }
    return NULL;
}

static struct step *first_end(CUgraphExec x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->steps[x->made[i]].is_last)
            return &x->steps[x->made[i]];
    return NULL;
}

static size_t count_ends(CUgraphExec x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        n += x->steps[i].is_last;
    return n;
}

static CUresult pair_all(struct pairing *p)
{
    size_t ends = count_ends(p->x), fresh_ends = count_ends(p->fresh), i = p->x->n, k = p->fresh->n;
    if (p->x->n != p->fresh->n || fresh_ends < ends)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
    if (fresh_ends > ends)
        return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, first_end(p->fresh));
    for (size_t n = 0; n < ends; n++) {
        TRY(pair(p, end_before(p->x, &i), end_before(p->fresh, &k), NULL));
        while (p->n_open > 0)
            TRY(pair_edges(p, p->open[--p->n_open]));
    }
    return CUDA_SUCCESS;
}

/* ---- what may differ ---- */

static bool is_row(const struct work *w)
{
    return w->kind == WORK_COPY ? w->copy.height * w->copy.depth <= 1 : w->fill.height <= 1;
}

/* Boxes are copied as they were, and filled where they were or elsewhere. */
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

static CUresult check_steps(const struct pairing *p)
{
    for (size_t i = 0; i < p->x->n; i++) {
        const struct step *a = &p->x->steps[i], *b = &p->fresh->steps[p->of_x[i] - 1];
        if (a->type == CU_GRAPH_NODE_TYPE_KERNEL && a->work.launch.cooperative != b->work.launch.cooperative)
            return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, b);
        if (!work_can_become(&a->work, &b->work))
            return refuse(p, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, b);
    }
    return CUDA_SUCCESS;
}

/* ---- the update ---- */

static CUresult update(struct pairing *p)
{
    TRY(pair_all(p));
    TRY(check_steps(p));
    for (size_t i = 0; i < p->x->n; i++) {
        struct step *a = &p->x->steps[i], *b = &p->fresh->steps[p->of_x[i] - 1];
        struct work old = a->work;
        a->work = b->work;
        b->work = old;
    }
    p->info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult exec_update(CUgraphExec x, CUgraphExec fresh, CUgraphExecUpdateResultInfo *info)
{
    struct pairing p = {.x = x,
                        .fresh = fresh,
                        .of_x = calloc(x->n + 1, sizeof *p.of_x),
                        .of_fresh = calloc(fresh->n + 1, sizeof *p.of_fresh),
                        .open = calloc(x->n + 1, sizeof *p.open),
                        .info = info};
    CUresult r = p.of_x && p.of_fresh && p.open ? update(&p) : CUDA_ERROR_OUT_OF_MEMORY;
    free(p.of_x);
    free(p.of_fresh);
    free(p.open);
    return r;
}
