/* Memory: device, managed, host; attributes of a pointer ("CUDA Driver API", 6.13, 6.16). */
#include "cuda/process/printed.h"
#include "cuda/state/allocations.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/mapping.h"
#include "cuda/state/pools.h"
#include "cuda/state/registered.h"
#include "cuda/watch/watch.h"

#include <string.h>

#define AT(p) ((void *)(uintptr_t)(p))

/* ---- allocating ---- */

/* If memory is exhausted, waits for frees that streams have not reached yet, and tries again. */
static CUresult allocate(CUcontext c, size_t bytes, bool host, struct allocation **a)
{
    NEED(bytes > 0);
    CUresult r = allocation_new(c, bytes, host, a);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        TRY(from_hd(hd_context_synchronize(c->context)));
        r = allocation_new(c, bytes, host, a);
    }
    if (r)
        log_line(LOG_ERROR, "out of memory for %zu bytes", bytes);
    return r;
}

CU_API CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    CUcontext c;
    struct allocation *a;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(pointer);
    TRY(allocate(c, bytes, false, &a));
    allocation_is_undefined(a);
    *pointer = (CUdeviceptr)(uintptr_t)a->start;
    return CUDA_SUCCESS;
}

/* Rows begin at multiples of the texture alignment, as on an H200. */
CU_API CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element)
{
    CUcontext c;
    struct allocation *a;
    const size_t align = 512;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(pointer && pitch && width && height && (element == 4 || element == 8 || element == 16));
    NEED(width <= SIZE_MAX / 2);
    *pitch = (width + align - 1) / align * align;
    NEED(height <= SIZE_MAX / *pitch);
    TRY(allocate(c, *pitch * height, false, &a));
    allocation_is_undefined(a);
    *pointer = (CUdeviceptr)(uintptr_t)a->start;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    CUcontext c;
    struct allocation *a;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(pointer && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
    TRY(allocate(c, bytes, true, &a));
    a->managed = true;
    a->flags = flags;
    *pointer = (CUdeviceptr)(uintptr_t)a->start;
    return CUDA_SUCCESS;
}

/* Frees an allocation of one type, given by its address, after waiting for work that may use it. */
static CUresult release(CUcontext c, const void *p, CUmemorytype type)
{
    struct device *d;
    hd_memory_info info;
    struct mapping part;
    struct allocation *a = allocation_find(p, &info, &d);
    if (!a && type == CU_MEMORYTYPE_DEVICE && mapping_take(p, &part)) {
        hd_context_synchronize(c->context);
        pool_freed(part.pool, part.bytes);
        watch_freed(part.start, part.bytes, type, NULL);
        devices_hold();
        mapping_end(&part);
        devices_release();
        return CUDA_SUCCESS;
    }
    if (!a || a->start != p || a->type != type) {
        TRY(context_failure());
        watch_bad_free(p, type);
        return CUDA_ERROR_INVALID_VALUE;
    }
    hd_context_synchronize(a->context->context);
    print_flush();
    watch_unused(a);
    if (a->of_graph)
        return graph_memory_free(a, NULL);
    NEED(allocation_forget(a));
    pool_freed(a->pool, a->bytes);
    return from_hd(hd_free(d->machine, (void *)p));
}

CU_API CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    return pointer ? release(c, AT(pointer), CU_MEMORYTYPE_DEVICE) : CUDA_SUCCESS;
}

CU_API CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    CUcontext c;
    hd_machine_info info;
    TRY(context_current(&c));
    hd_machine_get_info(c->device->machine, &info);
    if (free)
        *free = device_free_bytes(c->device);
    if (total)
        *total = info.memory_bytes;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *bytes, CUdeviceptr pointer)
{
    CUcontext c;
    hd_memory_info info;
    struct registered r;
    TRY(context_current(&c));
    if (registered_find(AT(pointer), &r))
        info = (hd_memory_info){.start = r.start, .bytes = r.bytes};
    else if (!device_of(AT(pointer), &info) || memory_is_of_kernels(&info) || !mapping_allows(AT(pointer), 1, false))
        return CUDA_ERROR_NOT_FOUND;
    if (start)
        *start = (CUdeviceptr)(uintptr_t)info.start;
    if (bytes)
        *bytes = info.bytes;
    return CUDA_SUCCESS;
}

/* ---- host memory ---- */

CU_API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    CUcontext c;
    struct allocation *a;
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(pointer && (flags & ~known) == 0);
    TRY(allocate(c, bytes, true, &a));
    a->type = CU_MEMORYTYPE_HOST;
    /* As on an H200: unified addressing maps all such memory, for all contexts. */
    a->flags = (flags & ~(unsigned)CU_MEMHOSTALLOC_PORTABLE) | CU_MEMHOSTALLOC_DEVICEMAP;
    *pointer = a->start;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return cuMemHostAlloc(pointer, bytes, 0);
}

CU_API CUresult cuMemFreeHost(void *pointer)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    return pointer ? release(c, pointer, CU_MEMORYTYPE_HOST) : CUDA_SUCCESS;
}

/* Is it pinned or registered memory of the host? */
static bool is_host(const void *p, unsigned *flags)
{
    struct registered r;
    struct allocation *a = allocation_find(p, NULL, NULL);
    bool registered = !a && registered_find(p, &r) && !r.managed;
    bool host = registered || (a && a->type == CU_MEMORYTYPE_HOST);
    if (flags && host)
        *flags = a ? a->flags : r.flags;
    return host;
}

CU_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(device && flags == 0 && is_host(host, NULL));
    *device = (CUdeviceptr)(uintptr_t)host;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemHostGetFlags(unsigned *flags, void *host)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(flags);
    if (managed_holds(host))
        *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    else
        NEED(is_host(host, flags));
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    CUcontext c;
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        /* Only reports the flag by name: the next line returns the error, as an H200 does. */
        api_not_supported("cuMemHostRegister of I/O memory");
    NEED(pointer && bytes && (flags & ~known) == 0);
    NEED(!device_of(pointer, NULL));
    flags = (flags & ~(unsigned)CU_MEMHOSTREGISTER_READ_ONLY) | CU_MEMHOSTREGISTER_DEVICEMAP;
    struct registered r = {pointer, bytes, flags, c->handle, c->device, false};
    return registered_add(&r);
}

CU_API CUresult cuMemHostUnregister(void *pointer)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED(pointer);
    hd_context_synchronize(c->context);
    return registered_remove(pointer);
}

/* ---- what is known of a pointer ---- */

struct known {
    const void *pointer;
    struct device *device; /* NULL: not in a machine's memory */
    hd_memory_info info;
    struct allocation *allocation; /* NULL: a variable, or not in a machine's memory */
    bool registered, mapped;
    struct registered range;
    struct mapping mapping;
};

static void look_up(const void *p, struct known *k)
{
    struct reservation reserved;
    *k = (struct known){.pointer = p};
    k->allocation = allocation_find(p, &k->info, &k->device);
    k->registered = !k->device && registered_find(p, &k->range);
    k->mapped = k->device && !k->allocation && mapping_find(p, &k->mapping);
    /* An inquiry sees the whole reservation as one range. */
    if (k->mapped && reservation_find(p, &reserved)) {
        k->info.start = reserved.start;
        k->info.bytes = reserved.bytes;
    }
}

static bool is_managed(const struct known *k)
{
    return k->registered ? k->range.managed : allocation_is_managed(&k->info);
}

/* Memory from a pool, mapped memory and managed variables belong to no context. */
static CUcontext handle_of_context(const struct known *k)
{
    if (k->allocation)
        return k->allocation->pool ? NULL : k->allocation->context->handle;
    if (k->mapped || is_managed(k))
        return NULL;
    return k->registered ? k->range.context : k->device->primary;
}

/* An attribute of memory that CUDA knows, as an H200 reports it. */
static CUresult attribute_of(const struct known *k, CUpointer_attribute attribute, void *value)
{
    bool managed = is_managed(k);
    bool host = !managed && (k->registered || (k->allocation && k->allocation->type == CU_MEMORYTYPE_HOST));
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = handle_of_context(k); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)value = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        NEED(!k->mapped || mapping_access(&k->mapping));
        *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)k->pointer;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host && !managed)
            return CUDA_ERROR_INVALID_VALUE;
        *(const void **)value = k->pointer;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)value = managed; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = k->allocation ? k->allocation->id : (unsigned long long)(uintptr_t)k->info.start;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = managed; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = (k->device ? k->device : k->range.device)->ordinal; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)value = k->allocation && !host && !managed && !k->allocation->pool;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(void **)value = k->registered ? k->range.start : k->info.start; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)value = k->registered ? k->range.bytes : k->info.bytes; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)value = 1; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *(unsigned *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)value = k->mapped ? mapping_access(&k->mapping) : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)value = k->mapped       ? pool_handle(k->mapping.pool)
                                 : k->allocation ? pool_handle(k->allocation->pool)
                                                 : NULL;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    struct known k;
    TRY(state_ready());
    NEED(value);
    look_up(AT(pointer), &k);
    NEED(k.device || k.registered);
    return attribute_of(&k, attribute, value);
}

/* The value for memory that CUDA does not know, or that the attribute does not apply to: NULL, 0,
 * and -2 for the device. */
static CUresult no_attribute(const struct known *k, CUpointer_attribute attribute, void *value)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(const void **)value = k->device ? NULL : k->pointer; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = -2; break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(unsigned long long *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(unsigned *)value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **values, CUdeviceptr pointer)
{
    struct known k;
    TRY(state_ready());
    NEED(n && attributes && values);
    look_up(AT(pointer), &k);
    for (unsigned i = 0; i < n; i++) {
        CUresult r = CUDA_ERROR_INVALID_VALUE;
        if (k.device || k.registered)
            r = attribute_of(&k, attributes[i], values[i]);
        if (r)
            TRY(no_attribute(&k, attributes[i], values[i]));
    }
    return CUDA_SUCCESS;
}

/* Operations are always ordered as if SYNC_MEMOPS were set. */
CU_API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    TRY(state_ready());
    TRY(capture_unsafe());
    NEED(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    NEED(device_of(AT(pointer), NULL) || registered_find(AT(pointer), NULL));
    return CUDA_SUCCESS;
}
