/* See memory_kind.h. */
#include "cuda/state/memory_kind.h"

#include "cuda/state/allocations.h"
#include "cuda/state/devices.h"
#include "cuda/state/mapping.h"
#include "cuda/state/registered.h"

enum memory_kind memory_kind_of(const void *p, hd_memory_info *info)
{
    hd_memory_info own;
    struct registered r;
    info = info ? info : &own;
    if (device_of(p, info)) {
        const struct allocation *a = info->data;
        return allocation_is_managed(info)          ? MEMORY_MANAGED
               : a && a->type == CU_MEMORYTYPE_HOST ? MEMORY_PINNED
                                                    : MEMORY_DEVICE;
    }
    info->start = NULL;
    return !registered_find(p, &r) ? MEMORY_PAGEABLE : r.managed ? MEMORY_MANAGED : MEMORY_PINNED;
}

bool memory_is_of_kernels(const hd_memory_info *info)
{
    struct mapping m;
    return info->start && !info->allocated && !info->name && !mapping_find(info->start, &m);
}
