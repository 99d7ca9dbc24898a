/* Managed memory: advice, prefetches, attachment to streams ("CUDA Driver API", 6.13, 6.16). All
 * memory is in one place, so these change only the answers of cuMemRangeGetAttribute. As on an
 * H200, these are kept by page; here within one allocation or variable.
 */
#include "cuda/state/advice.h"
#include "cuda/state/allocations.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/limits.h"
#include "cuda/state/registered.h"
#include "cuda/state/streams.h"

enum { PAGE = 4096 };

/* ---- what memory it is ---- */

/* Are these bytes managed memory? *whole is the allocation that contains them. If kernels use all
 * of the host's memory, that counts, too. */
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

static bool is_place(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? l.id >= 0 && l.id < device_count()
               : l.type >= CU_MEM_LOCATION_TYPE_HOST && l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* Rounds to whole pages within the memory. */
static CUresult note(CUdeviceptr pointer, size_t bytes, int what, CUmemLocation l)
{
    hd_range whole;
    TRY(range_of(pointer, bytes, &whole));
    const char *low = whole.start, *high = low + whole.bytes;
    const char *start = (const char *)(uintptr_t)(pointer / PAGE * PAGE);
    const char *end = (const char *)(uintptr_t)((pointer + bytes + PAGE - 1) / PAGE * PAGE);
    start = start < low ? low : start;
    end = end > high ? high : end;
    return advice_take(start, end, what, l) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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

/* In older versions places were device numbers. */
static CUmemLocation location_of(CUdevice dev)
{
    return (CUmemLocation){dev == ADVICE_AT_HOST ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, dev};
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
    return note(pointer, bytes, ADVICE_PREFETCH, to);
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

/* Attachment has no effect: all streams may use managed memory at any time. It must name a whole
 * allocation. */
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

static CUresult tell_accessed_by(const struct advised *a, int *values, size_t bytes)
{
    size_t n = bytes / sizeof *values, k = 0;
    NEED(n && bytes % sizeof *values == 0);
    for (int d = 0; d < MAX_DEVICES && k < n; d++)
        if (a->by_devices >> d & 1)
            values[k++] = d;
    if (a->by_host && k < n)
        values[k++] = ADVICE_AT_HOST;
    while (k < n)
        values[k++] = ADVICE_NOWHERE;
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
    struct advised a = advice_of(start, start + bytes);
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
