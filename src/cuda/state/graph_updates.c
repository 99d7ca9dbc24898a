/* See graph_updates.h. */
#include "cuda/state/graph_updates.h"

#include <stdlib.h>
#include <string.h>

/* The layout of device_graphs.c. */
struct updated {
    uint32_t uploaded, enabled, grid[3], parameter_bytes;
    char parameters[];
};
_Static_assert(offsetof(struct updated, grid) == 8 && offsetof(struct updated, parameter_bytes) == 20 &&
                   offsetof(struct updated, parameters) == 24,
               "kernels have these offsets");

struct updatable {
    _Atomic unsigned refs;
    hd_machine *machine;
    struct updated *at;
};

CUresult updatable_new(CUgraphNode n)
{
    CUcontext c = record_of(n->context, HANDLE_CONTEXT);
    struct updatable *u = c ? calloc(1, sizeof *u) : NULL;
    size_t bytes = n->work.launch.config.packed_bytes;
    void *at;
    hd_result r = u ? hd_alloc_named(c->device->machine, sizeof *u->at + bytes, "a kernel's node in a graph", &at)
                    : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(u);
        return from_hd(r);
    }
    u->refs = 1;
    u->machine = c->device->machine;
    u->at = at;
    memset(u->at, 0, sizeof *u->at);
    u->at->parameter_bytes = (uint32_t)bytes;
    u->at->enabled = true;
    updatable_set(u, &n->work.launch);
    n->work.launch.updatable = u;
    n->updatable = true;
    n->graph->n_updatable++;
    return CUDA_SUCCESS;
}

struct updatable *updatable_hold(struct updatable *u)
{
    if (u)
        u->refs++;
    return u;
}

void updatable_release(struct updatable *u)
{
    if (!u || --u->refs)
        return;
    hd_free(u->machine, u->at);
    free(u);
}

CUgraphDeviceNode updatable_handle(const struct updatable *u)
{
    return (CUgraphDeviceNode)u->at;
}

void updatable_set(struct updatable *u, const struct work_launch *l)
{
    memcpy(u->at->grid, l->config.grid, sizeof u->at->grid);
    if (l->config.packed_args && l->config.packed_bytes == u->at->parameter_bytes)
        memcpy(u->at->parameters, l->config.packed_args, l->config.packed_bytes);
}

void updatable_enable(struct updatable *u, bool enabled)
{
    u->at->enabled = enabled;
}

void updatable_upload(struct updatable *u, bool uploaded)
{
    u->at->uploaded = uploaded;
}

bool updatable_read(const struct updatable *u, struct work_launch *l)
{
    memcpy(l->config.grid, u->at->grid, sizeof u->at->grid);
    if (u->at->parameter_bytes)
        l->config.packed_args = u->at->parameters;
    return u->at->enabled;
}
