/* Memory in stream order ("CUDA Driver API", 6.15). cuMemAllocAsync allocates at once;
 * cuMemFreeAsync frees when the stream reaches it. A pool holds no free memory: it counts, and
 * keeps its attributes. A shared pool is a memory file, of which each allocation is a part.
 */
#include "cuda/state/allocations.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/machines.h"
#include "cuda/state/mapping.h"
#include "cuda/state/pools.h"
#include "cuda/state/streams.h"
#include "cuda/watch/watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The sizes of pools on an H200: multiples of this, and less than the address space. */
#define POOL_STEP_BYTES ((uint64_t)32 << 20)
#define POOL_MOST_BYTES ((uint64_t)1 << 46)

CU_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(pool);
    return pool_default(d, pool);
}

CU_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(pool);
    *pool = d->pool;
    return d->pool ? CUDA_SUCCESS : pool_default(d, pool);
}

CU_API CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle)
{
    struct device *d;
    CUmemoryPool pool;
    TRY(device_get(dev, &d));
    TRY(pool_of(handle, &pool));
    TRY(capture_unsafe());
    NEED(pool->device == d);
    d->pool = handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *p)
{
    struct device *d;
    TRY(state_ready());
    TRY(capture_unsafe());
    NEED(pool && p && p->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (p->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return api_not_supported("cuMemPoolCreate with handles other than file descriptors");
    if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return api_not_supported("cuMemPoolCreate of a pool of host memory");
    TRY(device_get(p->location.id, &d));
    if (p->maxSize > POOL_MOST_BYTES)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct physical *file = NULL;
    if (p->handleTypes)
        TRY(physical_new(d, 0, NULL, &file));
    CUmemoryPool made = pool_new(d);
    if (!made) {
        physical_drop(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->file = file;
    made->most_bytes = (p->maxSize + POOL_STEP_BYTES - 1) / POOL_STEP_BYTES * POOL_STEP_BYTES;
    *pool = made->handle;
    return CUDA_SUCCESS;
}

/* Allocations from it stay valid. */
CU_API CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    TRY(capture_unsafe());
    NEED(!pool->is_default);
    if (!record_take(handle, HANDLE_POOL))
        return CUDA_ERROR_INVALID_HANDLE;
    if (pool->device->pool == handle)
        pool->device->pool = NULL;
    pool_drop(pool);
    return CUDA_SUCCESS;
}

static bool is_int(CUmemPool_attribute a)
{
    return a < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

CU_API CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute a, void *value)
{
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    TRY(capture_unsafe());
    NEED(value && a >= 1 && (unsigned)a < POOL_ATTRIBUTES);
    bool high = a == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || a == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    NEED(a != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && a != CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    NEED(!high || *(cuuint64_t *)value == 0); /* only a reset to 0 is allowed */
    pool->values[a] = is_int(a) ? (uint64_t)*(int *)value : *(cuuint64_t *)value;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute a, void *value)
{
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    TRY(capture_unsafe());
    NEED(value && a >= 1 && (unsigned)a < POOL_ATTRIBUTES);
    if (is_int(a))
        *(int *)value = (int)pool->values[a];
    else
        *(cuuint64_t *)value = pool->values[a];
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    CUmemoryPool pool;
    (void)keep;
    TRY(pool_of(handle, &pool));
    return capture_unsafe();
}

/* Accepted without effect: all devices reach all memory. */
CU_API CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t n)
{
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    TRY(capture_unsafe());
    NEED(map || !n);
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    NEED(flags && location);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

/* ---- allocating ---- */

/* A new part of the pool's file, in whole pages. */
static CUresult take_part(CUmemoryPool pool, size_t bytes, CUdeviceptr *pointer)
{
    const size_t page = 4096, room = (bytes + page - 1) / page * page;
    NEED(!pool->imported && room >= bytes);
    struct mapping m = {.bytes = bytes, .physical = pool->file, .pool = pool};
    if (!pool_keep(pool))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = physical_grow(pool->file, room, &m.offset);
    if (!r)
        r = mapping_add(&m, PROT_READ | PROT_WRITE);
    if (r) {
        pool_drop(pool);
        return r;
    }
    pool_count(pool, (int64_t)bytes);
    *pointer = (CUdeviceptr)(uintptr_t)m.start;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUmemoryPool pool, size_t bytes, CUcontext c, struct allocation **a)
{
    if (!pool_keep(pool))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = allocation_new(c, bytes, false, a);
    /* Waits for frees that streams have not reached, and tries again. */
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        r = from_hd(hd_context_synchronize(c->context));
        r = r ? r : allocation_new(c, bytes, false, a);
    }
    if (r) {
        pool_drop(pool);
        return r;
    }
    allocation_is_undefined(*a);
    (*a)->pool = pool;
    pool_count(pool, (int64_t)bytes);
    return CUDA_SUCCESS;
}

/* The stream in which an allocation is made. */
static CUresult stream_of(CUstream handle, hd_stream **stream, CUcontext *context)
{
    TRY(stream_run(handle, stream, context));
    return capture_unsafe();
}

/* In a capture, memory from the device's pool becomes the graph's; 0 bytes add no node. */
static CUresult allocate_in_capture(CUdeviceptr *pointer, size_t bytes, struct device *d, struct CUstream_st *s)
{
    NEED(pointer);
    *pointer = 0;
    return bytes ? capture_alloc(s, d, bytes, pointer) : CUDA_SUCCESS;
}

CU_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool handle, CUstream s)
{
    struct CUstream_st *object;
    hd_stream *stream;
    CUcontext c;
    CUmemoryPool pool;
    struct allocation *a;
    TRY(pool_of(handle, &pool));
    TRY(stream_object(s, &object, NULL));
    if (object && object->capture)
        return allocate_in_capture(pointer, bytes, pool->device, object);
    TRY(stream_of(s, &stream, &c));
    NEED(pointer && bytes);
    if (!pool_take_room(pool, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = pool->file ? take_part(pool, bytes, pointer) : allocate(pool, bytes, c, &a);
    if (r) {
        pool_give_room(pool, bytes);
        return r;
    }
    if (pool->file)
        return CUDA_SUCCESS;
    *pointer = (CUdeviceptr)(uintptr_t)a->start;
    return from_hd(hd_stream_allocated(stream, a->start));
}

CU_API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream s)
{
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, s ? s : CU_STREAM_PER_THREAD);
}

CU_API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream s)
{
    struct CUstream_st *object;
    CUcontext c;
    CUmemoryPool pool;
    TRY(stream_object(s, &object, &c));
    TRY(cuDeviceGetMemPool(&pool, c->device->ordinal));
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, s);
}

CU_API CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream s)
{
    return cuMemAllocAsync(pointer, bytes, s ? s : CU_STREAM_PER_THREAD);
}

/* ---- freeing ---- */

/* Memory that is freed when a stream reaches it: of another device than the stream's, or a part of
 * a pool's file. */
struct freed {
    hd_machine *machine; /* NULL for the mapping */
    void *start;
    struct mapping mapping;
};

static void free_now(void *data, hd_result status)
{
    struct freed *f = data;
    (void)status;
    if (f->machine) {
        hd_free(f->machine, f->start);
    } else {
        devices_hold();
        mapping_end(&f->mapping);
        devices_release();
    }
    free(f);
}

static CUresult free_in(hd_stream *s, const struct freed *freed)
{
    struct freed *f = malloc(sizeof *f);
    if (!f)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *f = *freed;
    return from_hd(hd_stream_call(s, free_now, f, HD_CALL_ALWAYS | HD_CALL_UPKEEP));
}

/* The allocation is forgotten at once, so that it cannot be freed twice. */
CU_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream s)
{
    struct CUstream_st *object;
    hd_stream *stream;
    CUcontext c;
    struct freed f = {.start = (void *)(uintptr_t)pointer};
    struct allocation *a = allocation_find(f.start, NULL, NULL);
    TRY(stream_object(s, &object, &c));
    if (object && object->capture)
        return capture_free(object, f.start);
    TRY(stream_run(s, &stream, &c));
    TRY(capture_unsafe());
    if (!a && !mapping_take(f.start, &f.mapping)) {
        TRY(context_failure());
        watch_bad_free(f.start, CU_MEMORYTYPE_DEVICE);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!a) {
        pool_freed(f.mapping.pool, f.mapping.bytes);
        watch_freed(f.start, f.mapping.bytes, CU_MEMORYTYPE_DEVICE, NULL);
        return free_in(stream, &f);
    }
    if (a->start != f.start || a->type != CU_MEMORYTYPE_DEVICE) {
        TRY(context_failure());
        watch_bad_free(f.start, CU_MEMORYTYPE_DEVICE);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (a->of_graph)
        return graph_memory_free(a, stream);
    f.machine = a->context->device->machine;
    watch_free_in(stream, a);
    NEED(allocation_forget(a));
    pool_freed(a->pool, a->bytes);
    return f.machine == c->device->machine ? from_hd(hd_stream_free(stream, f.start)) : free_in(stream, &f);
}

CU_API CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream s)
{
    return cuMemFreeAsync(pointer, s ? s : CU_STREAM_PER_THREAD);
}

/* ---- pools of several processes ---- */

CU_API CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool of, CUmemAllocationHandleType type,
                                                 unsigned long long flags)
{
    CUmemoryPool pool;
    TRY(pool_of(of, &pool));
    NEED(handle && flags == 0 && pool->file && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    int file = fcntl(pool->file->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)handle = file;
    return CUDA_SUCCESS;
}

/* An imported pool cannot allocate here. */
CU_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type,
                                                   unsigned long long flags)
{
    struct device *d;
    struct physical *file;
    CUcontext c = context_top();
    TRY(device_get(c ? c->device->ordinal : 0, &d));
    NEED(pool && flags == 0 && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    TRY(physical_open(d, (int)(intptr_t)handle, &file));
    CUmemoryPool made = pool_new(d);
    if (!made) {
        physical_drop(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->file = file;
    made->imported = true;
    *pool = made->handle;
    return CUDA_SUCCESS;
}

/* How other processes see an allocation: a part of a file. */
struct part {
    char magic[8];
    uint64_t number, offset, bytes;
};
static const char part_magic[8] = "hdpool";

CU_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr pointer)
{
    struct mapping m;
    struct part p = {0};
    TRY(state_ready());
    NEED(data && mapping_find((void *)(uintptr_t)pointer, &m) && m.pool && !m.pool->imported);
    memcpy(p.magic, part_magic, sizeof p.magic);
    p.number = m.physical->number;
    p.offset = m.offset;
    p.bytes = m.bytes;
    memset(data, 0, sizeof *data);
    memcpy(data, &p, sizeof p);
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemPoolImportPointer(CUdeviceptr *pointer, CUmemoryPool handle, CUmemPoolPtrExportData *data)
{
    struct part p;
    struct stat s;
    CUmemoryPool pool;
    TRY(pool_of(handle, &pool));
    NEED(pointer && data && pool->imported);
    memcpy(&p, data, sizeof p);
    NEED(memcmp(p.magic, part_magic, sizeof p.magic) == 0 && p.number == pool->file->number);
    NEED(fstat(pool->file->file, &s) == 0 && p.offset <= (uint64_t)s.st_size &&
         p.bytes <= (uint64_t)s.st_size - p.offset);
    struct mapping m = {.bytes = p.bytes, .physical = pool->file, .pool = pool, .offset = p.offset};
    if (!pool_keep(pool))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = mapping_add(&m, PROT_READ | PROT_WRITE);
    if (r) {
        pool_drop(pool);
        return r;
    }
    pool_count(pool, (int64_t)p.bytes);
    *pointer = (CUdeviceptr)(uintptr_t)m.start;
    return CUDA_SUCCESS;
}
