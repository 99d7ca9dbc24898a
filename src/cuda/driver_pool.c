/* Memory in the order of streams ("CUDA Driver API", 6.15): cuMemAllocAsync allocates at once, cuMemFreeAsync frees when
 * the stream comes to it. A pool keeps nothing back; it counts, and keeps its attributes.
 */
#include "cuda/state.h"

#include <stdlib.h>

enum { ATTRIBUTES = CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1 };

struct CUmemPoolHandle_st {
    enum handle_kind kind;
    struct device *device;
    bool is_default;
    uint64_t values[ATTRIBUTES]; /* by CUmemPool_attribute */
};

static CUmemoryPool pool_new(struct device *d)
{
    CUmemoryPool p = calloc(1, sizeof *p);
    if (p) {
        p->kind = HANDLE_POOL;
        p->device = d;
        for (int i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
             i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++)
            p->values[i] = 1;
    }
    return p;
}

static CUresult default_pool(struct device *d, CUmemoryPool *pool)
{
    state_lock();
    if (!d->default_pool && (d->default_pool = pool_new(d)))
        d->default_pool->is_default = true;
    *pool = d->default_pool;
    state_unlock();
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult pool_of(CUmemoryPool p)
{
    TRY(state_ready());
    return p && p->kind == HANDLE_POOL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(pool);
    return default_pool(d, pool);
}

CU_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(pool);
    *pool = d->pool;
    return d->pool ? CUDA_SUCCESS : default_pool(d, pool);
}

CU_API CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    struct device *d;
    TRY(device_get(dev, &d));
    TRY(pool_of(pool));
    NEED(pool->device == d);
    d->pool = pool;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *p)
{
    struct device *d;
    TRY(state_ready());
    NEED(pool && p && p->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (p->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return api_not_supported("cuMemPoolCreate of a pool for several processes");
    if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return api_not_supported("cuMemPoolCreate of a pool of host memory");
    TRY(device_get(p->location.id, &d));
    *pool = pool_new(d);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What was allocated from it lives on. */
CU_API CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    TRY(pool_of(pool));
    NEED(!pool->is_default);
    if (pool->device->pool == pool)
        pool->device->pool = NULL;
    pool->kind = 0;
    free(pool);
    return CUDA_SUCCESS;
}

static bool is_int(CUmemPool_attribute a)
{
    return a < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

CU_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value)
{
    TRY(pool_of(pool));
    NEED(value && a >= 1 && (unsigned)a < ATTRIBUTES);
    bool high = a == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || a == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    NEED(a != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && a != CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    NEED(!high || *(cuuint64_t *)value == 0); /* a reset */
    pool->values[a] = is_int(a) ? (uint64_t)*(int *)value : *(cuuint64_t *)value;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value)
{
    TRY(pool_of(pool));
    NEED(value && a >= 1 && (unsigned)a < ATTRIBUTES);
    if (is_int(a))
        *(int *)value = (int)pool->values[a];
    else
        *(cuuint64_t *)value = pool->values[a];
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)keep;
    return pool_of(pool);
}

/* All devices reach all memory. */
CU_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t n)
{
    TRY(pool_of(pool));
    NEED(map || !n);
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    TRY(pool_of(pool));
    NEED(flags && location);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

/* ---- allocating ---- */

static void count(CUmemoryPool p, int64_t bytes)
{
    state_lock();
    for (int a = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT; a <= CU_MEMPOOL_ATTR_USED_MEM_CURRENT; a += 2) {
        p->values[a] += (uint64_t)bytes;
        if (p->values[a] > p->values[a + 1])
            p->values[a + 1] = p->values[a];
    }
    state_unlock();
}

CU_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream s)
{
    hd_stream *stream;
    CUcontext c;
    struct allocation *a;
    TRY(pool_of(pool));
    TRY(stream_run(s, &stream, &c));
    NEED(pointer && bytes);
    CUresult r = allocation_new(c, bytes, &a);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) { /* what streams are about to free may be what is missing */
        TRY(from_hd(hd_context_synchronize(c->context)));
        r = allocation_new(c, bytes, &a);
    }
    TRY(r);
    a->pool = pool;
    count(pool, (int64_t)bytes);
    *pointer = (CUdeviceptr)(uintptr_t)a->start;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream s)
{
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, s ? s : CU_STREAM_PER_THREAD);
}

CU_API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream s)
{
    hd_stream *stream;
    CUcontext c;
    CUmemoryPool pool;
    TRY(stream_run(s, &stream, &c));
    TRY(cuDeviceGetMemPool(&pool, c->device->ordinal));
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, s);
}

CU_API CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream s)
{
    return cuMemAllocAsync(pointer, bytes, s ? s : CU_STREAM_PER_THREAD);
}

CU_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream s)
{
    hd_stream *stream;
    void *p = (void *)(uintptr_t)pointer;
    struct allocation *a = allocation_find(p, NULL, NULL);
    TRY(stream_run(s, &stream, NULL));
    NEED(a && a->start == p && a->type == CU_MEMORYTYPE_DEVICE);
    if (a->pool && a->pool->kind == HANDLE_POOL)
        count(a->pool, -(int64_t)a->bytes);
    hd_set_data(a->context->device->machine, p, NULL); /* it cannot be freed twice */
    allocation_forget(a);
    return from_hd(hd_stream_free(stream, p));
}

CU_API CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream s)
{
    return cuMemFreeAsync(pointer, s ? s : CU_STREAM_PER_THREAD);
}
