/* Managed memory: advice, prefetches, attachment to streams ("CUDA Driver API", 6.13, 6.16). All memory is in one place, so that none of
 * this changes anything but what cuMemRangeGetAttribute tells. As on an H200 it is kept by pages; here, of one allocation or variable.
 */
#include "cuda/allocations.h"
#include "cuda/capture.h"
#include "cuda/contexts.h"
#include "cuda/devices.h"
#include "cuda/machines.h"
#include "cuda/registered.h"
#include "cuda/streams.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, NOWHERE = -2, AT_HOST = -1, PREFETCH = 0 /* beside CUmem_advise */ };

/* What has been said of memory. Places have the numbers that cuMemRangeGetAttribute tells. */
struct advised {
    bool read_mostly, by_host;
    uint32_t by_devices; /* by bit */
    CUmemLocation preferred, prefetched;
};

static const struct advised unadvised = {.preferred.id = NOWHERE, .prefetched.id = NOWHERE};

struct stretch {
    const char *start, *end;
    struct advised is;
};

/* By address; with the state's lock held. */
static struct {
    struct stretch *at;
    size_t n, capacity;
} advice;

/* The first that ends behind an address. */
static size_t first_behind(const char *address)
{
    size_t low = 0, high = advice.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (advice.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(size_t i, struct stretch s)
{
    if (advice.n == advice.capacity) {
        size_t capacity = advice.capacity ? 2 * advice.capacity : 16;
        struct stretch *more = realloc(advice.at, capacity * sizeof *more);
        if (!more)
            return false;
        advice.at = more;
        advice.capacity = capacity;
    }
    memmove(&advice.at[i + 1], &advice.at[i], (advice.n++ - i) * sizeof s);
    advice.at[i] = s;
    return true;
}

/* Of a stretch that an address is within, two. */
static bool split(const char *address)
{
    size_t i = first_behind(address);
    if (i == advice.n || advice.at[i].start >= address)
        return true;
    struct stretch before = advice.at[i];
    before.end = address;
    if (!insert(i, before))
        return false;
    advice.at[i + 1].start = address;
    return true;
}

/* From start to end there are stretches without a gap, and none goes beyond. */
static bool cover(const char *start, const char *end)
{
    bool good = split(start) && split(end);
    for (size_t i = first_behind(start); good && start < end; i++) {
        const char *next = i < advice.n && advice.at[i].start < end ? advice.at[i].start : end;
        if (next > start)
            good = insert(i, (struct stretch){start, next, unadvised});
        start = good ? advice.at[i].end : end;
    }
    return good;
}

void managed_forget(const void *start, size_t bytes)
{
    const char *from = start, *to = from + bytes;
    state_lock();
    size_t i = first_behind(from), end = i;
    while (end < advice.n && advice.at[end].start < to)
        end++;
    memmove(&advice.at[i], &advice.at[end], (advice.n - end) * sizeof *advice.at);
    advice.n -= end - i;
    state_unlock();
}

/* ---- what memory it is ---- */

/* Are these bytes managed memory? *whole is all that they are a part of. Where kernels use all of the host's memory, that is, too. */
static CUresult range_of(CUdeviceptr pointer, size_t bytes, hd_range *whole)
{
    const char *p = (const char *)(uintptr_t)pointer;
    hd_memory_info info;
    struct registered r; /* a __managed__ variable of `heddle cc` */
    *whole = (hd_range){p, bytes};
    NEED(bytes > 0);
    if (device_of(p, &info)) {
        NEED(allocation_is_managed(&info));
        *whole = (hd_range){info.start, info.bytes};
    } else if (registered_find(p, &r) && r.managed) {
        *whole = (hd_range){r.start, r.bytes};
    } else {
        NEED(host_is_pageable());
    }
    NEED(bytes <= whole->bytes - (size_t)(p - (const char *)whole->start));
    return CUDA_SUCCESS;
}

bool managed_holds(const void *p)
{
    hd_range whole;
    return range_of((CUdeviceptr)(uintptr_t)p, 1, &whole) == CUDA_SUCCESS;
}

/* ---- advice ---- */

static CUmemLocation told(CUmemLocation l)
{
    switch (l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return l;
    case CU_MEM_LOCATION_TYPE_HOST: return (CUmemLocation){l.type, AT_HOST};
    default: return (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, NOWHERE};
    }
}

static bool is_place(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? l.id >= 0 && l.id < device_count()
               : l.type >= CU_MEM_LOCATION_TYPE_HOST && l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static void take(struct advised *a, int what, CUmemLocation l)
{
    bool sets = what == CU_MEM_ADVISE_SET_ACCESSED_BY;
    switch (what) {
    case PREFETCH: a->prefetched = told(l); break;
    case CU_MEM_ADVISE_SET_READ_MOSTLY: a->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: a->preferred = told(l); break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: a->preferred = unadvised.preferred; break;
    default:
        if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
            a->by_devices = sets ? a->by_devices | 1u << l.id : a->by_devices & ~(1u << l.id);
        else
            a->by_host = sets;
    }
}

/* Whole pages, as far as the memory goes. */
static CUresult note(CUdeviceptr pointer, size_t bytes, int what, CUmemLocation l)
{
    hd_range whole;
    TRY(range_of(pointer, bytes, &whole));
    const char *low = whole.start, *high = low + whole.bytes;
    const char *start = (const char *)(uintptr_t)(pointer / PAGE * PAGE);
    const char *end = (const char *)(uintptr_t)((pointer + bytes + PAGE - 1) / PAGE * PAGE);
    start = start < low ? low : start;
    end = end > high ? high : end;
    state_lock();
    bool good = cover(start, end);
    for (size_t i = first_behind(start); good && i < advice.n && advice.at[i].start < end; i++)
        take(&advice.at[i].is, what, l);
    state_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_API CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise what, CUmemLocation location)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(what >= CU_MEM_ADVISE_SET_READ_MOSTLY && what <= CU_MEM_ADVISE_UNSET_ACCESSED_BY);
    bool has_place = what == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || what >= CU_MEM_ADVISE_SET_ACCESSED_BY;
    NEED(!has_place || is_place(location));
    return note(pointer, bytes, (int)what, location);
}

/* Places were numbers of devices. */
static CUmemLocation location_of(CUdevice dev)
{
    return (CUmemLocation){dev == AT_HOST ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, dev};
}

CU_API CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise what, CUdevice dev)
{
    return cuMemAdvise_v2(pointer, bytes, what, location_of(dev));
}

static CUresult prefetch(CUdeviceptr pointer, size_t bytes, CUmemLocation to, CUstream s)
{
    hd_stream *stream;
    TRY(stream_run(s, &stream, NULL));
    if (!is_place(to))
        return to.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    return note(pointer, bytes, PREFETCH, to);
}

CU_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned flags,
                                      CUstream s)
{
    NEED(flags == 0);
    return prefetch(pointer, bytes, location, s);
}

CU_API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned flags,
                                           CUstream s)
{
    return cuMemPrefetchAsync_v2(pointer, bytes, location, flags, s ? s : CU_STREAM_PER_THREAD);
}

CU_API CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice dev, CUstream s)
{
    return prefetch(pointer, bytes, location_of(dev), s);
}

CU_API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, size_t bytes, CUdevice dev, CUstream s)
{
    return prefetch(pointer, bytes, location_of(dev), s ? s : CU_STREAM_PER_THREAD);
}

/* To whom managed memory is attached makes no difference: all may use it at any time. It is attached whole. */
CU_API CUresult cuStreamAttachMemAsync(CUstream s, CUdeviceptr pointer, size_t bytes, unsigned flags)
{
    hd_stream *stream;
    hd_range whole;
    TRY(stream_run(s, &stream, NULL));
    NEED(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
    TRY(range_of(pointer, bytes ? bytes : 1, &whole));
    NEED(!bytes || (whole.start == (void *)(uintptr_t)pointer && whole.bytes == bytes));
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamAttachMemAsync_ptsz(CUstream s, CUdeviceptr pointer, size_t bytes, unsigned flags)
{
    return cuStreamAttachMemAsync(s ? s : CU_STREAM_PER_THREAD, pointer, bytes, flags);
}

/* ---- what has been advised ---- */

static CUmemLocation both(CUmemLocation a, CUmemLocation b)
{
    return a.type == b.type && a.id == b.id ? a : unadvised.preferred;
}

/* What is so of all of it. */
static struct advised of_all(const char *start, const char *end)
{
    struct advised all = unadvised;
    bool first = true;
    state_lock();
    for (size_t i = first_behind(start); start < end; i++) {
        const char *next = i < advice.n && advice.at[i].start < end ? advice.at[i].start : end;
        const struct advised *is = next > start ? &unadvised : &advice.at[i].is;
        all = first ? *is
                    : (struct advised){all.read_mostly && is->read_mostly, all.by_host && is->by_host,
                                       all.by_devices & is->by_devices, both(all.preferred, is->preferred),
                                       both(all.prefetched, is->prefetched)};
        i -= next > start; /* it comes next */
        start = next > start ? next : advice.at[i].end;
        first = false;
    }
    state_unlock();
    return all;
}

static CUresult tell_accessed_by(const struct advised *a, int *values, size_t bytes)
{
    size_t n = bytes / sizeof *values, k = 0;
    NEED(n && bytes % sizeof *values == 0);
    for (int d = 0; d < MAX_DEVICES && k < n; d++)
        if (a->by_devices >> d & 1)
            values[k++] = d;
    if (a->by_host && k < n)
        values[k++] = AT_HOST;
    while (k < n)
        values[k++] = NOWHERE;
    return CUDA_SUCCESS;
}

static CUresult tell(const struct advised *a, CUmem_range_attribute attribute, void *value, size_t bytes)
{
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return tell_accessed_by(a, value, bytes);
    NEED(bytes == sizeof(int));
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *(int *)value = a->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *(int *)value = a->preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *(int *)value = a->prefetched.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *(int *)value = (int)a->preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *(int *)value = (int)a->prefetched.type; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemRangeGetAttributes(void **values, size_t *sizes, CUmem_range_attribute *attributes, size_t n,
                                        CUdeviceptr pointer, size_t bytes)
{
    CUcontext c;
    hd_range whole;
    TRY(context_current(&c));
    NEED(values && sizes && attributes && n);
    TRY(range_of(pointer, bytes, &whole));
    const char *start = (const char *)(uintptr_t)pointer;
    struct advised a = of_all(start, start + bytes);
    for (size_t i = 0; i < n; i++) {
        NEED(values[i]);
        TRY(tell(&a, attributes[i], values[i], sizes[i]));
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemRangeGetAttribute(void *value, size_t size, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                       size_t bytes)
{
    return cuMemRangeGetAttributes(&value, &size, &attribute, 1, pointer, bytes);
}
