/* The functions of NVTX's memory extension: nvtx_memory.h. Handles are addresses and numbers that
 * are looked up, never dereferenced. */
#include "cuda/watch/nvtx_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/nvtx3/nvToolsExtMem.h"
#include "cuda/state/state.h"
#include "cuda/watch/nvtx_annotations.h"
#include "cuda/watch/nvtx_text.h"

/* Like compute-sanitizer: warns, and does nothing. */
static void refused(const char *call, const char *why)
{
    said.asks->refused(call, why);
}

/* Finds a region, or an allocation, by its start. */
static bool find_memory(uint32_t type, const nvtxMemRegionRef_t *ref, struct range *at)
{
    const void *start = type == NVTX_MEM_REGION_REF_TYPE_POINTER ? ref->pointer : (const void *)ref->handle;
    const struct region *r = said_find_region((uint64_t)(uintptr_t)start);
    size_t bytes = r ? 0 : said.asks->allocation(start);
    if (r)
        *at = r->at;
    else
        *at = (struct range){(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    return r || bytes;
}

/* ---- pools and their regions ---- */

static nvtxMemHeapHandle_t register_pool(nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *d)
{
    (void)domain;
    const nvtxMemVirtualRangeDesc_t *r = d ? d->typeSpecificDesc : NULL;
    if (!d || d->structSize < sizeof *d || d->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || !r ||
        d->typeSpecificDescSize < sizeof *r || !r->ptr || !r->size || r->size > UINT64_MAX - (uintptr_t)r->ptr) {
        refused("nvtxMemHeapRegister", "only virtual addresses are supported (NVTX_MEM_TYPE_VIRTUAL_ADDRESS)");
        return NULL;
    }
    nvtxMemHeapHandle_t handle = (nvtxMemHeapHandle_t)r->ptr;
    /* A layout does not tell what may be accessed. */
    if (d->usage != NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR)
        return handle;
    struct pool *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    uint64_t start = (uint64_t)(uintptr_t)r->ptr;
    *p = (struct pool){.at = {start, start + r->size}, .name = nvtx_text(d->messageType, d->message.ascii)};
    pthread_mutex_lock(&said.lock);
    p->next = said.pools;
    said.pools = p;
    said_changed();
    pthread_mutex_unlock(&said.lock);
    return handle;
}

static void unregister_pool(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t handle)
{
    (void)domain;
    pthread_mutex_lock(&said.lock);
    struct pool *p = said_find_pool(handle);
    if (p)
        said_empty_pool(p);
    REMOVE(pool, said.pools, x == p, free(x->name))
    said_changed();
    pthread_mutex_unlock(&said.lock);
}

static void reset_pool(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t handle)
{
    (void)domain;
    pthread_mutex_lock(&said.lock);
    for (const struct pool *p = said.pools; p; p = p->next)
        if (!handle || p->at.start == (uint64_t)(uintptr_t)handle)
            said_empty_pool(p);
    said_changed();
    pthread_mutex_unlock(&said.lock);
}

/* A pool's region is as uninitialised as memory from cudaMalloc. */
static void mark(const struct range *at, bool defined)
{
    said.asks->mark((const void *)(uintptr_t)at->start, at->end - at->start, defined);
}

/* The i-th of elements that are so many bytes apart. */
static const void *element(const void *elements, size_t bytes, size_t i)
{
    return (const char *)elements + i * bytes;
}

static struct range range_of(const void *elements, size_t bytes, size_t i)
{
    const nvtxMemVirtualRangeDesc_t *d = element(elements, bytes, i);
    return (struct range){(uint64_t)(uintptr_t)d->ptr, (uint64_t)(uintptr_t)d->ptr + d->size};
}

static bool are_ranges(uint32_t type, size_t bytes)
{
    return type == NVTX_MEM_TYPE_VIRTUAL_ADDRESS && bytes >= sizeof(nvtxMemVirtualRangeDesc_t);
}

/* Calls a function for each element, with the lock held, until it returns false. */
static bool each_element(const void *elements, size_t bytes, size_t n,
                         bool (*one)(const void *element, const void *data), const void *data)
{
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        pthread_mutex_lock(&said.lock);
        good = one(element(elements, bytes, i), data);
        said_changed();
        pthread_mutex_unlock(&said.lock);
    }
    return good;
}

/* Batches of regions are structs of different types with the same members. */
#define IS_BATCH(d)    ((d) && (d)->structSize >= sizeof *(d) && are_ranges((d)->regionType, (d)->regionDescElementSize))
#define RANGE_AT(d, i) range_of((d)->regionDescElements, (d)->regionDescElementSize, i)

static bool add_region(const struct range *at, const struct pool *p)
{
    struct region *r = p && said_is_in(at, &p->at) ? malloc(sizeof *r) : NULL;
    if (!r)
        return false;
    *r = (struct region){said.regions, *at, p};
    said.regions = r;
    return true;
}

static void register_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *d)
{
    (void)domain;
    bool good = IS_BATCH(d);
    for (size_t i = 0; good && i < d->regionCount; i++) {
        struct range at = RANGE_AT(d, i);
        pthread_mutex_lock(&said.lock);
        good = add_region(&at, said_find_pool(d->heap));
        said_changed();
        pthread_mutex_unlock(&said.lock);
        if (good)
            mark(&at, false);
        if (d->regionHandleElementsOut)
            d->regionHandleElementsOut[i] = good ? (nvtxMemRegionHandle_t)(uintptr_t)at.start : NULL;
    }
    if (!good)
        refused("nvtxMemRegionsRegister", "the region is not within a pool that nvtxMemHeapRegister has registered");
}

static void resize_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsResizeBatch_t *d)
{
    (void)domain;
    bool good = IS_BATCH(d);
    for (size_t i = 0; good && i < d->regionDescCount; i++) {
        struct range at = RANGE_AT(d, i), more = {0};
        pthread_mutex_lock(&said.lock);
        struct region *r = said_find_region(at.start);
        good = r && said_is_in(&at, &r->of->at);
        if (good) {
            more = (struct range){r->at.end, at.end};
            for (struct permission *p = said.permissions; p; p = p->next)
                if (p->at.start == r->at.start && p->at.end == r->at.end)
                    p->at = at;
            r->at = at;
            said_changed();
        }
        pthread_mutex_unlock(&said.lock);
        if (more.start < more.end)
            mark(&more, false);
    }
    if (!good)
        refused("nvtxMemRegionsResize",
                "no registered region starts there, or the new size does not fit into its pool");
}

static bool unregister_region(const void *element, const void *data)
{
    const nvtxMemRegionRef_t *ref = element;
    const struct region *r = said_find_region((uint64_t)(uintptr_t)ref->pointer);
    (void)data;
    if (r)
        said_remove_region(&r->at);
    return r;
}

static void unregister_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsUnregisterBatch_t *d)
{
    (void)domain;
    if (!d || d->structSize < sizeof *d || d->refElementSize < sizeof *d->refElements ||
        !each_element(d->refElements, d->refElementSize, d->refCount, unregister_region, NULL))
        refused("nvtxMemRegionsUnregister", "no registered region starts there");
}

static bool name_region(const void *element, const void *data)
{
    const nvtxMemRegionNameDesc_t *n = element;
    struct range at;
    bool good = find_memory(n->regionRefType, &n->region, &at);
    (void)data;
    if (good)
        said_set_name(at.start, nvtx_text(n->nameType, n->name.ascii));
    return good;
}

static void name_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t *d)
{
    (void)domain;
    if (!d || d->structSize < sizeof *d || d->regionElementSize < sizeof *d->regionElements ||
        !each_element(d->regionElements, d->regionElementSize, d->regionCount, name_region, NULL))
        refused("nvtxMemRegionsName", "no region or allocation starts at the address given");
}

/* ---- what is allowed ---- */

static bool assign(uint32_t object, const struct range *at, uint32_t flags)
{
    REMOVE(permission, said.permissions, x->object == object && x->at.start == at->start, (void)0)
    struct permission *p = flags & NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET ? NULL : malloc(sizeof *p);
    if (p) {
        *p = (struct permission){said.permissions, object, *at, flags & HD_MEMORY_ALL};
        said.permissions = p;
    }
    return p || flags & NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET;
}

static bool assign_of_region(const void *element, const void *data)
{
    const nvtxMemPermissionsAssignRegionDesc_t *r = element;
    const nvtxMemPermissionsAssignBatch_t *d = data;
    struct range at;
    uint32_t object = said_object_of(d->permissions);
    return object && find_memory(r->regionRefType, &r->region, &at) && assign(object, &at, r->flags);
}

static void assign_permissions(nvtxDomainHandle_t domain, const nvtxMemPermissionsAssignBatch_t *d)
{
    (void)domain;
    if (!d || d->structSize < sizeof *d || d->regionElementSize < sizeof *d->regionElements ||
        !each_element(d->regionElements, d->regionElementSize, d->regionCount, assign_of_region, d))
        refused("nvtxMemPermissionsAssign",
                "no region or allocation starts at the address given, or the permissions object does not exist");
}

static nvtxMemPermissionsHandle_t create_permissions(nvtxDomainHandle_t domain, int32_t flags)
{
    (void)domain;
    struct object *o = malloc(sizeof *o);
    if (!o)
        return NULL;
    pthread_mutex_lock(&said.lock);
    *o = (struct object){said.objects, FIRST_MADE + said.n_objects++, (unsigned)flags & HD_MEMORY_ALL};
    said.objects = o;
    said_changed();
    pthread_mutex_unlock(&said.lock);
    return (nvtxMemPermissionsHandle_t)(uintptr_t)o->number;
}

static void reset_object(uint32_t object, bool destroy)
{
    pthread_mutex_lock(&said.lock);
    REMOVE(permission, said.permissions, x->object == object, (void)0)
    REMOVE(object, said.objects, destroy && x->number == object, (void)0)
    said_changed();
    pthread_mutex_unlock(&said.lock);
}

static void destroy_permissions(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t handle)
{
    (void)domain;
    uint32_t number = (uint32_t)(uintptr_t)handle;
    if (number >= FIRST_MADE)
        reset_object(number, true);
}

static void reset_permissions(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t handle)
{
    (void)domain;
    reset_object(handle ? (uint32_t)(uintptr_t)handle : PROCESS, false);
}

static void bind_permissions(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t handle, uint32_t scope,
                             uint32_t flags)
{
    (void)domain;
    uint32_t number = (uint32_t)(uintptr_t)handle;
    if (scope == NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD) /* about the host's own accesses */
        return;
    if (scope != NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM || number < FIRST_MADE) {
        refused("nvtxMemPermissionsBind", "it needs an object of nvtxMemPermissionsCreate, and the scope of streams");
        return;
    }
    said_bound.object = number;
    said_bound.excludes = flags & HD_MEMORY_ALL;
}

static void unbind_permissions(nvtxDomainHandle_t domain, uint32_t scope)
{
    (void)domain;
    if (scope == NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM)
        said_bound.object = said_bound.excludes = 0;
}

static nvtxMemPermissionsHandle_t process_permissions(nvtxDomainHandle_t domain)
{
    (void)domain;
    return (nvtxMemPermissionsHandle_t)(uintptr_t)PROCESS;
}

static nvtxMemPermissionsHandle_t device_permissions(nvtxDomainHandle_t domain, int device)
{
    (void)domain;
    return device >= 0 && device < MAX_DEVICES
               ? (nvtxMemPermissionsHandle_t)(uintptr_t)(FIRST_DEVICE + (unsigned)device)
               : NULL;
}

static void set_peer_access(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions, int device,
                            uint32_t flags)
{
    (void)domain, (void)permissions, (void)device, (void)flags;
    refused("nvtxMemCudaSetPeerAccess", "Heddle does not enforce peer access");
}

static void mark_initialized(nvtxDomainHandle_t domain, struct CUstream_st *stream, uint8_t own,
                             const nvtxMemMarkInitializedBatch_t *d)
{
    (void)domain, (void)stream, (void)own;
    bool good = IS_BATCH(d);
    for (size_t i = 0; good && i < d->regionDescCount; i++) {
        struct range at = RANGE_AT(d, i);
        mark(&at, true);
    }
    if (!good)
        refused("nvtxMemCudaMarkInitialized", "only virtual addresses are supported");
}

const struct heddle_nvtx_memory *nvtx_memory_functions(const struct nvtx_memory_asks *asks)
{
    static const struct heddle_nvtx_memory functions = {
        register_pool,      unregister_pool,  reset_pool,         register_regions,    resize_regions,
        unregister_regions, name_regions,     assign_permissions, create_permissions,  destroy_permissions,
        reset_permissions,  bind_permissions, unbind_permissions, process_permissions, device_permissions,
        set_peer_access,    mark_initialized};
    said.asks = asks;
    return &functions;
}
