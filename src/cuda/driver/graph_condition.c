/* Conditional nodes ("CUDA Driver API", 6.23, cuGraphConditionalHandleCreate,
 * CUDA_CONDITIONAL_NODE_PARAMS). */
#include "cuda/state/graph_condition.h"

#include <stdlib.h>

#include "cuda/driver/graph.h"

CU_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                               unsigned value, unsigned flags)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(handle && (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT) == 0);
    CUcontext c = record_of(context, HANDLE_CONTEXT);
    return c ? condition_new(g, c, value, flags, handle) : CUDA_ERROR_INVALID_CONTEXT;
}

static bool is_good_size(const CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    switch (p->type) {
    case CU_GRAPH_COND_TYPE_IF: return p->size == 1 || p->size == 2;
    case CU_GRAPH_COND_TYPE_WHILE: return p->size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH: return p->size > 0;
    default: return false;
    }
}

static CUresult make_bodies(CUgraphNode n, unsigned count)
{
    CUgraph *bodies = calloc(count, sizeof *bodies), *handles = calloc(count, sizeof *handles);
    CUresult r = bodies && handles ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < count && !r; i++) {
        r = graph_new(&bodies[i]);
        if (r)
            break;
        bodies[i]->is_child = bodies[i]->is_body = true;
        handles[i] = bodies[i]->handle;
    }
    for (unsigned i = 0; r && bodies && i < count && bodies[i]; i++)
        graph_end(bodies[i]);
    if (r) {
        free((void *)bodies);
        free((void *)handles);
        return r;
    }
    n->bodies = bodies;
    n->body_handles = handles;
    return CUDA_SUCCESS;
}

static CUresult add(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, struct condition *c,
                    CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    const struct work w = {.kind = WORK_BODIES, .condition = {c, p->type, p->size}};
    CUgraphNode made;
    NEED(condition_use(c));
    CUresult r = graph_add_node(g->handle, CU_GRAPH_NODE_TYPE_CONDITIONAL, &w, p->ctx, after, n, node);
    r = r ? r : node_of(*node, &made);
    r = r ? r : make_bodies(made, p->size);
    if (r)
        condition_leave(c);
    else
        p->phGraph_out = made->body_handles;
    return r;
}

CUresult graph_add_conditional(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                               CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(node && (after || !n) && is_good_size(p));
    if (!record_of(p->ctx, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    TRY(graph_has_nodes(g, after, n));
    struct condition *c = condition_at(p->handle);
    CUresult r = c ? add(node, g, after, n, c, p) : CUDA_ERROR_INVALID_VALUE;
    condition_release(c);
    return r;
}
