/* See allocations.h. */
#include "cuda/state/allocations.h"

#include <stdlib.h>

#include "cuda/state/advice.h"
#include "cuda/state/devices.h"
#include "cuda/watch/nvtx_memory.h"
#include "cuda/watch/watch.h"

struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device)
{
    hd_memory_info own;
    struct device *d = device_of(address, info ? info : &own);
    if (device)
        *device = d;
    return d ? (info ? info : &own)->data : NULL;
}

bool allocation_is_managed(const hd_memory_info *info)
{
    const struct allocation *a = info->data;
    return info->managed || (a && a->managed);
}

/* Adds it to its context's list; false if the context has ended. */
static bool enlist(struct allocation *a, CUcontext c)
{
    a->context = c;
    a->type = CU_MEMORYTYPE_DEVICE;
    a->id = state_number();
    state_lock();
    bool ended = c->ended;
    if (!ended) {
        a->next = c->allocations;
        a->link = &c->allocations;
        if (a->next)
            a->next->link = &a->next;
        c->allocations = a;
        if (!a->of_graph)
            hd_set_data(c->device->machine, a->start, a);
    }
    state_unlock();
    if (!ended)
        watch_allocated(a);
    return !ended;
}

CUresult allocation_new(CUcontext c, size_t bytes, bool host, struct allocation **allocation)
{
    struct allocation *a = calloc(1, sizeof *a);
    hd_result r = !a     ? HD_ERROR_OUT_OF_MEMORY
                  : host ? hd_alloc_host(c->device->machine, bytes, &a->start)
                         : hd_alloc(c->device->machine, bytes, &a->start);
    if (r) {
        free(a);
        return from_hd(r);
    }
    a->bytes = bytes;
    if (!enlist(a, c)) {
        hd_free(c->device->machine, a->start);
        free(a);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *allocation = a;
    return CUDA_SUCCESS;
}

CUresult allocation_of_graph(CUcontext c, void *start, size_t bytes, struct graph_memory *m,
                             struct allocation **allocation)
{
    struct allocation *a = calloc(1, sizeof *a);
    if (!a)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->start = start;
    a->bytes = bytes;
    a->of_graph = m;
    if (!enlist(a, c)) {
        free(a);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *allocation = a;
    return CUDA_SUCCESS;
}

void allocation_is_undefined(const struct allocation *a)
{
    hd_checker *checker = hd_machine_checker(a->context->device->machine);
    if (checker)
        hd_checker_mark_undefined(checker, a->start, a->bytes, NULL);
}

void allocation_end(struct allocation *a)
{
    watch_freed(a->start, a->bytes, a->type, a->stack);
    nvtx_memory_freed(a->start, a->bytes);
    if (a->managed)
        advice_forget(a->start, a->bytes);
    call_later(free, a);
}

bool allocation_forget(struct allocation *a)
{
    state_lock();
    bool mine = a->link != NULL;
    if (mine) {
        *a->link = a->next;
        if (a->next)
            a->next->link = a->link;
        a->link = NULL;
        if (!a->of_graph)
            hd_set_data(a->context->device->machine, a->start, NULL);
    }
    state_unlock();
    if (mine)
        allocation_end(a);
    return mine;
}
