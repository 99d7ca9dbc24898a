/* Rules for the graphs that can be instantiated ("CUDA Driver API", 6.23,
 * cuGraphInstantiateWithParams, CUDA_CONDITIONAL_NODE_PARAMS; "CUDA C++ Programming Guide",
 * "Device Graph Requirements"). If several rules are broken, the reported one is the H200's
 * choice (tests/graph_nodes). */
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_memory.h"

#include <stdlib.h>

static CUresult refuse(struct bad_graph *bad, CUgraphInstantiateResult result, CUgraphNode node)
{
    *bad = (struct bad_graph){result, node ? node->handle : NULL};
    return CUDA_ERROR_INVALID_VALUE;
}

static bool is_pageable(const struct work *w)
{
    return w->from_kind == MEMORY_PAGEABLE || w->to_kind == MEMORY_PAGEABLE;
}

static bool launches_kernels(const struct CUgraphNode_st *n)
{
    return work_nesting(&n->work, n->context) & HD_NESTS_KERNELS;
}

/* ---- conditions, and what bodies can have ---- */

static bool can_be_in_body(const struct CUgraphNode_st *n)
{
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return !launches_kernels(n);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    default: return false;
    }
}

static CUresult check_conditions(CUgraph g, bool in_body, struct bad_graph *bad)
{
    for (const struct condition_use *u = g->conditions; u; u = u->next)
        if (!condition_is_used(u->condition))
            return refuse(bad, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, NULL);
    if (!in_body && !g->n_conditional)
        return CUDA_SUCCESS;
    for (CUgraphNode n = g->first; n; n = n->next) {
        if (in_body && !can_be_in_body(n))
            return refuse(bad, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, n);
        if (in_body && n->work.kind == WORK_COPY && is_pageable(&n->work))
            return refuse(bad, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, n);
        if (n->child && in_body)
            TRY(check_conditions(n->child, true, bad));
        for (unsigned i = 0; n->bodies && i < n->work.condition.n; i++)
            TRY(check_conditions(n->bodies[i], true, bad));
    }
    return CUDA_SUCCESS;
}

/* ---- graphs that kernels launch ---- */

static bool can_be_launched_by_kernels(const struct CUgraphNode_st *n)
{
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return !launches_kernels(n);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH: return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return !is_pageable(&n->work) && !n->work.from_array && !n->work.to_array;
    default: return false;
    }
}

static CUresult check_for_kernels(CUgraph g, struct bad_graph *bad)
{
    if (!g->n)
        return refuse(bad, CUDA_GRAPH_INSTANTIATE_ERROR, NULL);
    for (CUgraphNode n = g->first; n; n = n->next) {
        if (!can_be_launched_by_kernels(n))
            return refuse(bad, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, n);
        if (n->child)
            TRY(check_for_kernels(n->child, bad));
    }
    return CUDA_SUCCESS;
}

CUresult graph_check(CUgraph g, cuuint64_t flags, struct bad_graph *bad)
{
    *bad = (struct bad_graph){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    if (g->is_body || g->is_moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        TRY(check_for_kernels(g, bad));
    TRY(check_conditions(g, false, bad));
    return graph_is_single(g) && record_of(g->instance, HANDLE_EXEC) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/* ---- memory ---- */

/* Marks everything that precedes a new node. */
static CUresult mark_earlier(CUgraph g, const CUgraphNode *after, size_t n)
{
    CUgraphNode *open = calloc(g->n + 1, sizeof *open);
    size_t depth = 0;
    if (!open)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (CUgraphNode p = g->first; p; p = p->next)
        p->mark = NODE_UNSEEN;
    for (size_t i = 0; i < n; i++) {
        CUgraphNode p = record_of(after[i], HANDLE_NODE);
        if (p->mark == NODE_UNSEEN)
            open[depth++] = p;
        p->mark = NODE_PLACED;
    }
    while (depth > 0) {
        CUgraphNode p = open[--depth];
        for (size_t i = 0; i < p->after.n; i++) {
            CUgraphNode earlier = p->after.at[i].node;
            if (earlier->mark == NODE_UNSEEN)
                open[depth++] = earlier;
            earlier->mark = NODE_PLACED;
        }
    }
    free(open);
    return CUDA_SUCCESS;
}

/* Counts how often nodes allocate and free it; true if all of them precede. */
static bool count_nodes(CUgraph g, const struct graph_memory *m, size_t *given, size_t *taken)
{
    bool earlier = true;
    *given = *taken = 0;
    for (CUgraphNode p = g->first; p; p = p->next) {
        if ((p->work.kind != WORK_GIVE && p->work.kind != WORK_TAKE) || p->work.memory.at != m)
            continue;
        *given += p->work.kind == WORK_GIVE;
        *taken += p->work.kind == WORK_TAKE;
        earlier = earlier && p->mark == NODE_PLACED;
    }
    return earlier;
}

CUresult graph_find_memory(CUgraph g, struct device *d, size_t bytes, const CUgraphNode *after, size_t n,
                           struct graph_memory **m)
{
    size_t given, taken;
    if (g->n_memory)
        TRY(mark_earlier(g, after, n));
    for (CUgraphNode p = g->n_memory ? g->first : NULL; p; p = p->next) {
        struct graph_memory *at = p->work.kind == WORK_TAKE && p->mark == NODE_PLACED ? p->work.memory.at : NULL;
        if (at && graph_memory_device(at) == d && graph_memory_bytes(at) >= bytes &&
            count_nodes(g, at, &given, &taken) && given == taken) {
            *m = graph_memory_hold(at);
            return CUDA_SUCCESS;
        }
    }
    return graph_memory_new(d, bytes, m);
}

void graph_keep_memory(CUgraph g)
{
    size_t given, taken;
    for (CUgraphNode p = g->n_memory ? g->first : NULL; p; p = p->next)
        if (p->work.kind == WORK_GIVE) {
            count_nodes(g, p->work.memory.at, &given, &taken);
            p->is_kept = given > taken;
        }
}

CUresult graph_find_freed(CUgraph g, const void *start, struct graph_memory **m)
{
    size_t given, taken;
    bool kept = false;
    struct graph_memory *at = start ? graph_memory_at(start) : NULL;
    NEED(at);
    count_nodes(g, at, &given, &taken);
    for (CUgraphNode p = g->first; p; p = p->next)
        kept |= p->is_kept && p->work.memory.at == at;
    if (kept || (given ? taken == given : taken)) {
        graph_memory_release(at);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *m = at;
    return CUDA_SUCCESS;
}
