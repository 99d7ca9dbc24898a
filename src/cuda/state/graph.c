/* See graph.h. */
#include "cuda/state/graph.h"

#include "cuda/state/devices.h"
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/graph_updates.h"
#include "cuda/state/memops.h"
#include "cuda/state/module.h"

#include <stdlib.h>
#include <string.h>

/* ---- work with parameters of its own ---- */

static bool has_parameters(const hd_launch_config *c, const hd_kernel_info *info)
{
    return (c->args != NULL) != (c->packed_args != NULL) && (!c->packed_args || c->packed_bytes == info->param_bytes);
}

static CUresult find_context(CUcontext handle, CUcontext *c)
{
    *c = record_of(handle, HANDLE_CONTEXT);
    return *c ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult work_kernel(const struct work *w, CUcontext context, hd_kernel **kernel)
{
    CUcontext c;
    struct CUfunc_st *f;
    TRY(find_context(context, &c));
    return function_find(w->launch.function, c->device, &f, kernel);
}

CUresult work_parameters(const struct work *w, CUcontext c)
{
    struct CUfunc_st *f;
    hd_kernel *kernel;
    hd_kernel_info info;
    if (w->kind != WORK_LAUNCH)
        return CUDA_SUCCESS;
    TRY(function_find(w->launch.function, c->device, &f, &kernel));
    hd_kernel_get_info(kernel, &info);
    NEED(!info.param_bytes || has_parameters(&w->launch.config, &info));
    return CUDA_SUCCESS;
}

static CUresult pack(const hd_launch_config *c, hd_kernel *kernel, void **packed)
{
    hd_kernel_info info;
    hd_param_info p;
    hd_kernel_get_info(kernel, &info);
    *packed = NULL;
    if (!info.param_bytes)
        return CUDA_SUCCESS;
    NEED(has_parameters(c, &info));
    char *to = calloc(1, info.param_bytes);
    if (!to)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (c->packed_args)
        memcpy(to, c->packed_args, info.param_bytes);
    for (size_t i = 0; !c->packed_args && hd_kernel_get_param(kernel, i, &p); i++)
        memcpy(to + p.offset, c->args[i], p.bytes);
    *packed = to;
    return CUDA_SUCCESS;
}

CUresult work_own(const struct work *w, CUcontext c, struct work *own)
{
    hd_kernel *kernel;
    hd_kernel_info info;
    void *packed;
    *own = *w;
    if (w->kind == WORK_COPY && w->box) {
        CUDA_MEMCPY3D *box = malloc(sizeof *box);
        if (!box)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *box = *w->box;
        own->box = box;
    }
    if (w->kind == WORK_LIBRARY)
        library_work_hold(w->library);
    if (w->kind == WORK_GIVE || w->kind == WORK_TAKE)
        graph_memory_hold(w->memory.at);
    if (w->kind == WORK_MEMOPS)
        memops_hold(w->memops);
    if (w->kind == WORK_BODIES)
        condition_hold(w->condition.of);
    if (w->kind != WORK_LAUNCH)
        return CUDA_SUCCESS;
    TRY(work_kernel(w, c, &kernel));
    TRY(pack(&w->launch.config, kernel, &packed));
    hd_kernel_get_info(kernel, &info);
    own->launch.config.args = NULL;
    own->launch.config.packed_args = packed;
    own->launch.config.packed_bytes = info.param_bytes;
    own->launch.event = NULL;
    updatable_hold(own->launch.updatable);
    return CUDA_SUCCESS;
}

void work_disown(struct work *own)
{
    if (own->kind == WORK_LAUNCH) {
        free((void *)own->launch.config.packed_args);
        updatable_release(own->launch.updatable);
    }
    if (own->kind == WORK_COPY)
        free((void *)own->box);
    if (own->kind == WORK_LIBRARY)
        library_work_release(own->library);
    if (own->kind == WORK_GIVE || own->kind == WORK_TAKE)
        graph_memory_release(own->memory.at);
    if (own->kind == WORK_MEMOPS)
        memops_release(own->memops);
    if (own->kind == WORK_BODIES)
        condition_release(own->condition.of);
}

/* ---- what can be a node ---- */

static CUresult check_fill(const hd_fill *f)
{
    hd_memory_info info;
    size_t row = f->width * f->element_bytes, bytes = (f->height - 1) * f->pitch + row, left = SIZE_MAX;
    NEED(f->width && f->height && (uintptr_t)f->to % f->element_bytes == 0);
    NEED(f->width <= SIZE_MAX / f->element_bytes);
    NEED(f->height == 1 || (f->pitch >= row && f->pitch % f->element_bytes == 0));
    NEED(f->height == 1 || f->pitch <= (SIZE_MAX - row) / (f->height - 1));
    if (device_of(f->to, &info))
        left = (size_t)((char *)info.start + info.bytes - (char *)f->to);
    NEED(bytes <= left);
    return CUDA_SUCCESS;
}

static CUresult check_launch(const struct work *w, CUcontext context)
{
    CUcontext c;
    TRY(find_context(context, &c));
    TRY(work_parameters(w, c));
    return work_check(w, c);
}

CUresult node_check(const struct work *w, CUcontext context)
{
    switch (w->kind) {
    case WORK_LAUNCH: return check_launch(w, context);
    case WORK_COPY: NEED(!work_is_nothing(w)); return CUDA_SUCCESS;
    case WORK_FILL: return check_fill(&w->fill);
    default: return CUDA_SUCCESS;
    }
}

/* ---- graphs ---- */

/* CUDA_ERROR_INVALID_VALUE for destroyed graphs and executable graphs, as on an H200. */
CUresult graph_of(CUgraph handle, CUgraph *g)
{
    TRY(state_ready());
    *g = record_of(handle, HANDLE_GRAPH);
    NEED(*g);
    return CUDA_SUCCESS;
}

CUresult node_of(CUgraphNode handle, CUgraphNode *n)
{
    TRY(state_ready());
    *n = record_of(handle, HANDLE_NODE);
    return *n ? CUDA_SUCCESS : handle_error(handle);
}

CUresult node_of_kernel(CUgraphNode handle, CUgraphNode *n)
{
    TRY(node_of(handle, n));
    NEED((*n)->type == CU_GRAPH_NODE_TYPE_KERNEL);
    return (*n)->work.kind == WORK_LAUNCH ? CUDA_SUCCESS
                                          : api_not_supported("changing the kernel of a library call in a graph");
}

CUresult graph_new(CUgraph *graph)
{
    CUgraph g = calloc(1, sizeof *g);
    if (!g)
        return CUDA_ERROR_OUT_OF_MEMORY;
    static _Atomic unsigned made;
    g->end = &g->first;
    g->number = ++made;
    CUresult r = handle_give(HANDLE_GRAPH, g, NULL, &g->handle);
    if (r)
        free(g);
    else
        *graph = g;
    return r;
}

static void free_node(void *record)
{
    CUgraphNode n = record;
    work_disown(&n->work);
    free(n->after.at);
    free(n->before.at);
    free(n->parameters);
    free(n->access);
    free((void *)n->bodies);
    free((void *)n->body_handles);
    free(n);
}

/* Frees the graphs inside the node. */
static void end_graphs_of(CUgraphNode n)
{
    if (n->child)
        graph_end(n->child);
    for (unsigned i = 0; n->bodies && i < n->work.condition.n; i++)
        graph_end(n->bodies[i]);
    if (n->bodies)
        condition_leave(n->work.condition.of);
}

void node_end(CUgraphNode n)
{
    if (!record_take(n->handle, HANDLE_NODE))
        return;
    end_graphs_of(n);
    call_later(free_node, n);
}

static void free_graph(void *record)
{
    CUgraph g = record;
    for (CUgraphNode n = g->first, next; n; n = next) {
        next = n->next;
        free_node(n);
    }
    node_index_free(&g->clones);
    free(g);
}

bool graph_is_captured(CUgraph g)
{
    bool captured = g->capturing;
    for (CUgraphNode n = g->n_children ? g->first : NULL; n && !captured; n = n->next)
        captured = n->child && graph_is_captured(n->child);
    for (CUgraphNode n = g->n_conditional ? g->first : NULL; n && !captured; n = n->next)
        for (unsigned i = 0; n->bodies && i < n->work.condition.n && !captured; i++)
            captured = graph_is_captured(n->bodies[i]);
    return captured;
}

void graph_end(CUgraph g)
{
    if (!record_take(g->handle, HANDLE_GRAPH))
        return;
    for (CUgraphNode n = g->first; n; n = n->next)
        if (record_take(n->handle, HANDLE_NODE))
            end_graphs_of(n);
    kept_release(&g->kept);
    conditions_release(&g->conditions);
    call_later(free_graph, g);
}

bool graph_is_single(CUgraph g)
{
    return g->n_memory || g->n_conditional || g->n_updatable;
}

CUresult graph_has_nodes(CUgraph g, const CUgraphNode *handles, size_t n)
{
    CUgraphNode node;
    for (size_t i = 0; i < n; i++) {
        TRY(node_of(handles[i], &node));
        NEED(node->graph == g);
    }
    return CUDA_SUCCESS;
}

static CUresult node_new(CUgraphNodeType type, const struct work *w, CUcontext c, CUgraphNode *node)
{
    CUgraphNode made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->type = type;
    made->context = c;
    made->hints.domains.remote = 1;
    CUresult r = work_own(w, c, &made->work);
    if (r) {
        free(made);
        return r;
    }
    r = handle_give(HANDLE_NODE, made, NULL, &made->handle);
    if (r)
        free_node(made);
    *node = made;
    return r;
}

CUresult graph_put_node(CUgraph g, CUgraphNodeType type, const struct work *w, CUcontext c, const CUgraphNode *after,
                        size_t n, CUgraphNode *node)
{
    CUgraphNode made;
    TRY(graph_has_nodes(g, after, n));
    TRY(node_new(type, w, c, &made));
    made->graph = g;
    made->number = g->n_made++;
    made->link = g->end;
    *g->end = made;
    g->end = &made->next;
    g->n++;
    made->end_since = ++g->n_turns;
    for (size_t i = 0; i < n; i++)
        TRY(graph_put_edge(record_of(after[i], HANDLE_NODE), made, NULL));
    g->n_memory += type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    g->n_conditional += type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    *node = made;
    return CUDA_SUCCESS;
}
