/* See registered.h. */
#include "cuda/state/registered.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static VEC(struct registered) registered; /* sorted by address */

/* 1 + the index of the last range that starts at or before an address, or 0. */
static size_t registered_before(const void *address)
{
    size_t low = 0, high = registered.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((const char *)registered.at[middle].start <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool registered_find(const void *address, struct registered *r)
{
    state_lock();
    size_t i = registered_before(address);
    struct registered *p = i ? &registered.at[i - 1] : NULL;
    bool found = p && (size_t)((const char *)address - (const char *)p->start) < p->bytes;
    if (found && r)
        *r = *p;
    state_unlock();
    return found;
}

CUresult registered_add_held(const struct registered *r)
{
    size_t i = registered_before((const char *)r->start + r->bytes - 1);
    struct registered *p = i ? &registered.at[i - 1] : NULL;
    if (p && (const char *)p->start + p->bytes > (const char *)r->start)
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct registered *new = VEC_INSERT(&registered, i);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *new = *r;
    return CUDA_SUCCESS;
}

CUresult registered_add(const struct registered *r)
{
    state_lock();
    CUresult result = registered_add_held(r);
    state_unlock();
    return result;
}

CUresult registered_remove_held(const void *start)
{
    size_t i = registered_before(start);
    if (!i || registered.at[i - 1].start != start)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    VEC_REMOVE(&registered, i - 1, 1);
    return CUDA_SUCCESS;
}

CUresult registered_remove(const void *start)
{
    state_lock();
    CUresult result = registered_remove_held(start);
    state_unlock();
    return result;
}

void registered_leave_held(CUcontext handle)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < registered.n; i++)
        if (registered.at[i].managed || registered.at[i].context != handle)
            registered.at[kept++] = registered.at[i];
    registered.n = kept;
}

size_t registered_ranges_held(hd_range *ranges, size_t n, size_t at)
{
    for (size_t i = 0; i < registered.n; i++, at++)
        if (at < n)
            ranges[at] = (hd_range){registered.at[i].start, registered.at[i].bytes};
    return at;
}
