/* See memory_kind.h. */
#include "cuda/state/memory_kind.h"

#include <sys/uio.h>
#include <unistd.h>

#include "cuda/state/allocations.h"
#include "cuda/state/devices.h"
#include "cuda/state/limits.h"
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

static bool is_readable(const char *at)
{
    char byte;
    const struct iovec to = {&byte, 1}, from = {(char *)at, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Registered memory counts in whole pages. */
static bool host_is_usable(const char *at, size_t bytes)
{
    struct registered r;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)at + bytes;
    if (registered_find(at, &r))
        return end <= (((uintptr_t)r.start + r.bytes + page - 1) & ~(page - 1));
    return host_is_pageable() && !is_of_machines(at) && is_readable(at) && is_readable(at + bytes - 1);
}

bool memory_is_usable(const void *p, size_t bytes)
{
    hd_memory_info info;
    if (!p || (uintptr_t)p + bytes < bytes)
        return false;
    if (!device_of(p, &info))
        return host_is_usable(p, bytes);
    return bytes <= (size_t)((const char *)info.start + info.bytes - (const char *)p);
}
