/* See allocations.h. */
#include "cuda/allocations.h"

#include <stdlib.h>

#include "cuda/devices.h"
#include "cuda/watch.h"

struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device)
{
    hd_memory_info own;
    struct device *d = device_of(address, info ? info : &own);
    if (device)
        *device = d;
    return d ? (info ? info : &own)->data : NULL;
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
    a->context = c;
    a->bytes = bytes;
    a->type = CU_MEMORYTYPE_DEVICE;
    a->id = state_number();
    state_lock();
    a->next = c->allocations;
    a->link = &c->allocations;
    if (a->next)
        a->next->link = &a->next;
    c->allocations = a;
    state_unlock();
    hd_set_data(c->device->machine, a->start, a);
    watch_allocated(a);
    *allocation = a;
    return CUDA_SUCCESS;
}

void allocation_is_undefined(const struct allocation *a)
{
    hd_checker *checker = hd_machine_checker(a->context->device->machine);
    if (checker)
        hd_checker_mark_undefined(checker, a->start, a->bytes, NULL);
}

void allocation_forget(struct allocation *a)
{
    watch_freed(a->start, a->bytes, a->type, a->stack);
    state_lock();
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    state_unlock();
    free(a);
}
