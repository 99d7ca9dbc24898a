/* Virtual memory management ("CUDA Driver API", 6.14): reserve addresses, create memory, map it,
 * and allow access. The addresses are the process's own, so all devices have the access of the one
 * with the most rights.
 */
#include "cuda/state/mapping.h"

#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/machines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define AT(p) ((void *)(uintptr_t)(p))

enum { PAGE = 4096 };

/* ---- addresses ---- */

CU_API CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size, size_t align, CUdeviceptr wish,
                                    unsigned long long flags)
{
    TRY(state_ready());
    NEED(pointer && size && size % PAGE == 0 && wish % PAGE == 0 && flags == 0 && (align & (align - 1)) == 0);
    align = align < GRANULE ? GRANULE : align;
    size_t room = size + align; /* contains a multiple of the alignment */
    NEED(room > size);
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *at = MAP_FAILED;
    if (wish && wish % align == 0)
        at = mmap(AT(wish), size, PROT_NONE, how | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) {
        char *p = mmap(NULL, room, PROT_NONE, how, -1, 0);
        if (p == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        at = AT(((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1));
        if (at > p)
            munmap(p, (size_t)(at - p));
        munmap(at + size, (size_t)(p + room - (at + size)));
    }
    CUresult r = reservation_add((struct reservation){at, size});
    if (r)
        munmap(at, size);
    else
        *pointer = (CUdeviceptr)(uintptr_t)at;
    return r;
}

CU_API CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size)
{
    TRY(state_ready());
    NEED(reservation_remove((struct reservation){AT(pointer), size}));
    munmap(AT(pointer), size);
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

static CUresult check_properties(const CUmemAllocationProp *p, struct device **d)
{
    NEED(p && p->type == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return api_not_supported("cuMemCreate of memory of the host");
    if (p->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return api_not_supported("cuMemCreate with handles other than file descriptors");
    return device_get(p->location.id, d);
}

CU_API CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *p,
                                              CUmemAllocationGranularity_flags option)
{
    struct device *d;
    TRY(state_ready());
    NEED(granularity && (option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    TRY(check_properties(p, &d));
    *granularity = GRANULE;
    return CUDA_SUCCESS;
}

static CUresult physical_of(CUmemGenericAllocationHandle handle, struct physical **p)
{
    TRY(state_ready());
    *p = record_of(AT(handle), HANDLE_PHYSICAL);
    return *p ? CUDA_SUCCESS : handle_error(AT(handle));
}

/* Gives out a handle, which takes over a reference. */
static CUresult hand_out(struct physical *p, CUmemGenericAllocationHandle *handle)
{
    CUresult r = CUDA_SUCCESS;
    state_lock();
    if (!p->handles)
        r = handle_give_held(HANDLE_PHYSICAL, p, NULL, &p->handle);
    p->handles += !r;
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)p->handle;
    state_unlock();
    if (r)
        physical_drop(p);
    return r;
}

/* Takes a handle back, with its reference; NULL if it is invalid. */
static struct physical *take_back(CUmemGenericAllocationHandle handle)
{
    state_lock();
    struct physical *p = record_of(AT(handle), HANDLE_PHYSICAL);
    if (p && --p->handles == 0)
        record_take(p->handle, HANDLE_PHYSICAL);
    state_unlock();
    return p;
}

CU_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *properties,
                            unsigned long long flags)
{
    struct device *d;
    struct physical *p;
    TRY(state_ready());
    TRY(check_properties(properties, &d));
    NEED(handle && size && size % GRANULE == 0 && flags == 0);
    TRY(physical_new(d, size, properties, &p));
    return hand_out(p, handle);
}

/* Mappings stay valid. */
CU_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    TRY(state_ready());
    struct physical *p = take_back(handle);
    if (!p)
        return handle_error(AT(handle));
    physical_drop(p);
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    struct mapping m;
    TRY(state_ready());
    NEED(handle && mapping_find(address, &m) && !m.opened && !m.pool);
    NEED(physical_keep(m.physical));
    return hand_out(m.physical, handle);
}

CU_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                       CUmemGenericAllocationHandle handle)
{
    struct physical *p;
    TRY(physical_of(handle, &p));
    NEED(properties);
    *properties = p->properties;
    return CUDA_SUCCESS;
}

CU_API CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                             CUmemAllocationHandleType type, unsigned long long flags)
{
    struct physical *p;
    TRY(physical_of(handle, &p));
    NEED(shareable && flags == 0 && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
         (p->properties.requestedHandleTypes & type));
    int file = fcntl(p->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)shareable = file;
    return CUDA_SUCCESS;
}

/* Belongs to the current device: the file does not tell which device it was created for. */
CU_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                               CUmemAllocationHandleType type)
{
    struct physical *p;
    struct device *d;
    CUcontext c = context_top();
    TRY(device_get(c ? c->device->ordinal : 0, &d));
    NEED(handle && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    TRY(physical_open(d, (int)(intptr_t)shareable, &p));
    p->properties = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .requestedHandleTypes = type,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, d->ordinal}};
    return hand_out(p, handle);
}

/* ---- the one and the other ---- */

/* The memory is inaccessible until access is allowed. */
CU_API CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags)
{
    struct physical *p;
    TRY(physical_of(handle, &p));
    NEED(flags == 0 && offset == 0 && size && size % GRANULE == 0 && pointer % GRANULE == 0 && size <= p->bytes);
    NEED(reservation_is_free(AT(pointer), size));
    struct mapping m = {.start = AT(pointer), .bytes = size, .physical = p};
    return mapping_add(&m, PROT_NONE);
}

/* As on an H200, it waits for nothing: a kernel that still uses the memory fails. */
CU_API CUresult cuMemUnmap(CUdeviceptr pointer, size_t size)
{
    TRY(state_ready());
    NEED(size);
    devices_hold();
    bool unmapped = mapping_unmap(AT(pointer), size);
    devices_release();
    return unmapped ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct access {
    const CUmemAccessDesc *descriptors;
    size_t n;
};

static bool allow(struct mapping *m, void *data)
{
    const struct access *a = data;
    if (m->opened || m->pool)
        return false;
    for (size_t i = 0; i < a->n; i++)
        m->access[a->descriptors[i].location.id] = (uint8_t)a->descriptors[i].flags;
    unsigned all = mapping_access(m);
    int protection = (all & CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_NONE) |
                     (all == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_WRITE : PROT_NONE);
    return mprotect(m->start, m->bytes, protection) == 0;
}

CU_API CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc *descriptors, size_t n)
{
    struct device *d;
    TRY(state_ready());
    NEED(descriptors && n && size);
    for (size_t i = 0; i < n; i++) {
        CUmemAccess_flags f = descriptors[i].flags;
        if (descriptors[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return api_not_supported("cuMemSetAccess for the host");
        TRY(device_get(descriptors[i].location.id, &d));
        NEED(f == CU_MEM_ACCESS_FLAGS_PROT_NONE || f == CU_MEM_ACCESS_FLAGS_PROT_READ ||
             f == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    struct access a = {descriptors, n};
    devices_hold();
    bool allowed = mapping_each(AT(pointer), size, allow, &a);
    devices_release();
    return allowed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer)
{
    struct device *d;
    struct mapping m;
    TRY(state_ready());
    NEED(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE && mapping_find(AT(pointer), &m));
    TRY(device_get(location->id, &d));
    *flags = m.access[location->id];
    return CUDA_SUCCESS;
}
