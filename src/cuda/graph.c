/* See graph.h. */
#include "cuda/graph.h"

#include "cuda/module.h"

#include <stdlib.h>
#include <string.h>

/* ---- work with parameters of its own ---- */

static bool has_parameters(const struct work_launch *l, const hd_kernel_info *info)
{
    return (l->args != NULL) != (l->packed != NULL) && (!l->packed || l->packed_bytes >= info->param_bytes);
}

CUresult work_parameters(const struct work *w, CUcontext c)
{
    hd_kernel *kernel;
    hd_kernel_info info;
    if (w->kind != WORK_LAUNCH)
        return CUDA_SUCCESS;
    TRY(function_on(w->launch.function, c->device, &kernel));
    hd_kernel_get_info(kernel, &info);
    NEED(!info.param_bytes || has_parameters(&w->launch, &info));
    return CUDA_SUCCESS;
}

static CUresult pack(const struct work_launch *l, hd_kernel *kernel, void **packed)
{
    hd_kernel_info info;
    hd_param_info p;
    hd_kernel_get_info(kernel, &info);
    *packed = NULL;
    if (!info.param_bytes)
        return CUDA_SUCCESS;
    NEED(has_parameters(l, &info));
    char *to = calloc(1, info.param_bytes);
    if (!to)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (l->packed)
        memcpy(to, l->packed, info.param_bytes);
    for (size_t i = 0; !l->packed && hd_kernel_get_param(kernel, i, &p); i++)
        memcpy(to + p.offset, l->args[i], p.bytes);
    *packed = to;
    return CUDA_SUCCESS;
}

CUresult work_own(const struct work *w, CUcontext c, struct work *own)
{
    hd_kernel *kernel;
    hd_kernel_info info;
    void *packed;
    *own = *w;
    if (w->kind != WORK_LAUNCH)
        return CUDA_SUCCESS;
    TRY(function_on(w->launch.function, c->device, &kernel));
    TRY(pack(&w->launch, kernel, &packed));
    hd_kernel_get_info(kernel, &info);
    own->launch.args = NULL;
    own->launch.packed = packed;
    own->launch.packed_bytes = info.param_bytes;
    return CUDA_SUCCESS;
}

void work_disown(struct work *own)
{
    if (own->kind == WORK_LAUNCH)
        free((void *)own->launch.packed);
}

/* ---- graphs ---- */

CUgraph graph_new(void)
{
    CUgraph g = calloc(1, sizeof *g);
    if (g) {
        g->kind = HANDLE_GRAPH;
        g->end = &g->first;
    }
    return g;
}

void node_free(CUgraphNode n)
{
    work_disown(&n->work);
    free(n->after.at);
    free(n->before.at);
    n->kind = 0;
    free(n);
}

void graph_free(CUgraph g)
{
    for (CUgraphNode n = g->first, next; n; n = next) {
        next = n->next;
        node_free(n);
    }
    node_index_free(&g->clones);
    kept_release(&g->kept);
    g->kind = 0;
    free(g);
}

CUresult graph_add(CUgraph g, CUgraphNodeType type, const struct work *w, CUcontext c, const CUgraphNode *after,
                   size_t n, CUgraphNode *node)
{
    CUgraphNode made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->kind = HANDLE_NODE;
    made->graph = g;
    made->type = type;
    made->context = c;
    CUresult r = work_own(w, c, &made->work);
    if (r) {
        free(made);
        return r;
    }
    made->link = g->end;
    *g->end = made;
    g->end = &made->next;
    g->n++;
    for (size_t i = 0; i < n; i++)
        TRY(graph_order(after[i], made));
    *node = made;
    return CUDA_SUCCESS;
}
