/* See nvtx_memory.h. Handles are addresses and numbers, which are looked up: none is followed. */
#include "cuda/watch/nvtx_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/nvtx3/nvToolsExtMem.h"
#include "cuda/watch/nvtx_text.h"
#include "cuda/state/state.h"

struct range {
    uint64_t start, end;
};

/* A pool; a region of one, which it has given out; what somebody calls a part of memory. */
struct pool {
    struct pool *next;
    struct range at;
    char *name; /* or NULL */
};
struct region {
    struct region *next;
    struct range at;
    const struct pool *of;
};
struct name {
    struct name *next;
    uint64_t start;
    char *text;
};

/* What is allowed where, by an object of permissions: which is that of the process, of a device, or one that threads bind. */
enum { PROCESS = 1, FIRST_DEVICE = 2, FIRST_MADE = FIRST_DEVICE + MAX_DEVICES };
struct permission {
    struct permission *next;
    uint32_t object;
    struct range at;
    unsigned uses;
};
struct object {
    struct object *next;
    uint32_t number;
    unsigned excludes; /* of what others allow, HD_MEMORY_* */
};

static struct {
    pthread_mutex_t lock;
    struct pool *pools;
    struct region *regions;
    struct name *names;
    struct permission *permissions;
    struct object *objects;
    uint32_t n_objects;
    uint64_t changes;
    bool any; /* something has been said: read without the lock */
    const struct nvtx_memory_asks *asks;
    /* The rules that were made last: */
    hd_memory_rules *made;
    uint64_t made_at;
    uint32_t made_for; /* object */
    int made_on;       /* device */
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The object that the thread has bound, and the bits that its binding takes from others. */
static _Thread_local uint32_t bound;
static _Thread_local unsigned bound_excludes;

static void changed(void)
{
    said.changes++;
    __atomic_store_n(&said.any, true, __ATOMIC_RELEASE);
}

/* As compute-sanitizer: a warning, and nothing happens. */
static void refused(const char *call, const char *why)
{
    said.asks->refused(call, why);
}

static bool is_in(const struct range *inner, const struct range *outer)
{
    return inner->start >= outer->start && inner->end <= outer->end && inner->start < inner->end;
}

/* ---- lists ---- */

/* Takes those out of a list that a test names. */
#define REMOVE(type, list, test, give_up)                                                                              \
    for (struct type **link_ = &(list), *x; (x = *link_);) {                                                           \
        if (test) {                                                                                                    \
            *link_ = x->next;                                                                                          \
            give_up;                                                                                                   \
            free(x);                                                                                                   \
        } else {                                                                                                       \
            link_ = &x->next;                                                                                          \
        }                                                                                                              \
    }

static void forget_permissions(const struct range *at)
{
    REMOVE(permission, said.permissions, is_in(&x->at, at), (void)0)
}

static void remove_region(const struct range *at)
{
    struct range gone = *at;
    REMOVE(region, said.regions, x->at.start == gone.start && x->at.end == gone.end, (void)0)
    forget_permissions(&gone);
    REMOVE(name, said.names, x->start == gone.start, free(x->text))
}

static void empty_pool(const struct pool *p)
{
    for (struct region *r = said.regions, *next; r; r = next) {
        next = r->next;
        if (r->of == p)
            remove_region(&r->at);
    }
}

static struct pool *find_pool(const void *handle)
{
    struct pool *p = said.pools;
    while (p && p->at.start != (uint64_t)(uintptr_t)handle)
        p = p->next;
    return p;
}

static struct region *find_region(uint64_t start)
{
    struct region *r = said.regions;
    while (r && r->at.start != start)
        r = r->next;
    return r;
}

/* A region, or an allocation, by where it starts. */
static bool find_memory(uint32_t type, const nvtxMemRegionRef_t *ref, struct range *at)
{
    const void *start = type == NVTX_MEM_REGION_REF_TYPE_POINTER ? ref->pointer : (const void *)ref->handle;
    const struct region *r = find_region((uint64_t)(uintptr_t)start);
    size_t bytes = r ? 0 : said.asks->allocation(start);
    if (r)
        *at = r->at;
    else
        *at = (struct range){(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    return r || bytes;
}

static void set_name(uint64_t start, char *text)
{
    REMOVE(name, said.names, x->start == start, free(x->text))
    struct name *n = text ? malloc(sizeof *n) : NULL;
    if (n) {
        *n = (struct name){said.names, start, text};
        said.names = n;
    } else {
        free(text);
    }
}

static const char *name_of(uint64_t start)
{
    const struct name *n = said.names;
    while (n && n->start != start)
        n = n->next;
    return n ? n->text : NULL;
}

/* ---- pools and their regions ---- */

static nvtxMemHeapHandle_t register_pool(nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *d)
{
    (void)domain;
    const nvtxMemVirtualRangeDesc_t *r = d ? d->typeSpecificDesc : NULL;
    if (!d || d->structSize < sizeof *d || d->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || !r ||
        d->typeSpecificDescSize < sizeof *r || !r->ptr || !r->size || r->size > UINT64_MAX - (uintptr_t)r->ptr) {
        refused("nvtxMemHeapRegister", "it wants the addresses of memory (NVTX_MEM_TYPE_VIRTUAL_ADDRESS)");
        return NULL;
    }
    nvtxMemHeapHandle_t handle = (nvtxMemHeapHandle_t)r->ptr;
    if (d->usage != NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR) /* a layout says nothing of what may be accessed */
        return handle;
    struct pool *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    uint64_t start = (uint64_t)(uintptr_t)r->ptr;
    *p = (struct pool){.at = {start, start + r->size}, .name = nvtx_text(d->messageType, d->message.ascii)};
    pthread_mutex_lock(&said.lock);
    p->next = said.pools;
    said.pools = p;
    changed();
    pthread_mutex_unlock(&said.lock);
    return handle;
}

static void unregister_pool(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t handle)
{
    (void)domain;
    pthread_mutex_lock(&said.lock);
    struct pool *p = find_pool(handle);
    if (p)
        empty_pool(p);
    REMOVE(pool, said.pools, x == p, free(x->name))
    changed();
    pthread_mutex_unlock(&said.lock);
}

static void reset_pool(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t handle)
{
    (void)domain;
    pthread_mutex_lock(&said.lock);
    for (const struct pool *p = said.pools; p; p = p->next)
        if (!handle || p->at.start == (uint64_t)(uintptr_t)handle)
            empty_pool(p);
    changed();
    pthread_mutex_unlock(&said.lock);
}

/* What a pool gives out is as undefined as what cudaMalloc gives. */
static void mark(const struct range *at, bool defined)
{
    said.asks->mark((const void *)(uintptr_t)at->start, at->end - at->start, defined);
}

/* The i-th of some elements that stand so many bytes apart. */
static const void *element(const void *elements, size_t bytes, size_t i)
{
    return (const char *)elements + i * bytes;
}

static struct range range_of(const void *elements, size_t bytes, size_t i)
{
    const nvtxMemVirtualRangeDesc_t *d = element(elements, bytes, i);
    return (struct range){(uint64_t)(uintptr_t)d->ptr, (uint64_t)(uintptr_t)d->ptr + d->size};
}

static bool add_region(const struct range *at, const struct pool *p)
{
    struct region *r = p && is_in(at, &p->at) ? malloc(sizeof *r) : NULL;
    if (!r)
        return false;
    *r = (struct region){said.regions, *at, p};
    said.regions = r;
    return true;
}

static void register_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *d)
{
    (void)domain;
    bool good = d && d->structSize >= sizeof *d && d->regionType == NVTX_MEM_TYPE_VIRTUAL_ADDRESS &&
                d->regionDescElementSize >= sizeof(nvtxMemVirtualRangeDesc_t);
    for (size_t i = 0; good && i < d->regionCount; i++) {
        struct range at = range_of(d->regionDescElements, d->regionDescElementSize, i);
        pthread_mutex_lock(&said.lock);
        good = add_region(&at, find_pool(d->heap));
        changed();
        pthread_mutex_unlock(&said.lock);
        if (good)
            mark(&at, false);
        if (d->regionHandleElementsOut)
            d->regionHandleElementsOut[i] = good ? (nvtxMemRegionHandle_t)(uintptr_t)at.start : NULL;
    }
    if (!good)
        refused("nvtxMemRegionsRegister", "a region lies within a pool that nvtxMemHeapRegister has made of memory");
}

static void resize_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsResizeBatch_t *d)
{
    (void)domain;
    bool good = d && d->structSize >= sizeof *d && d->regionType == NVTX_MEM_TYPE_VIRTUAL_ADDRESS &&
                d->regionDescElementSize >= sizeof(nvtxMemVirtualRangeDesc_t);
    for (size_t i = 0; good && i < d->regionDescCount; i++) {
        struct range at = range_of(d->regionDescElements, d->regionDescElementSize, i), more = {0};
        pthread_mutex_lock(&said.lock);
        struct region *r = find_region(at.start);
        good = r && is_in(&at, &r->of->at);
        if (good) {
            more = (struct range){r->at.end, at.end};
            for (struct permission *p = said.permissions; p; p = p->next)
                if (p->at.start == r->at.start && p->at.end == r->at.end)
                    p->at = at;
            r->at = at;
            changed();
        }
        pthread_mutex_unlock(&said.lock);
        if (more.start < more.end)
            mark(&more, false);
    }
    if (!good)
        refused("nvtxMemRegionsResize", "no region that was registered starts there, or it does not fit into its pool");
}

static void unregister_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsUnregisterBatch_t *d)
{
    (void)domain;
    bool good = d && d->structSize >= sizeof *d && d->refElementSize >= sizeof *d->refElements;
    for (size_t i = 0; good && i < d->refCount; i++) {
        const nvtxMemRegionRef_t *ref = element(d->refElements, d->refElementSize, i);
        pthread_mutex_lock(&said.lock);
        const struct region *r = find_region((uint64_t)(uintptr_t)ref->pointer);
        good = r;
        if (r)
            remove_region(&r->at);
        changed();
        pthread_mutex_unlock(&said.lock);
    }
    if (!good)
        refused("nvtxMemRegionsUnregister", "no region that was registered starts there");
}

static void name_regions(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t *d)
{
    (void)domain;
    bool good = d && d->structSize >= sizeof *d && d->regionElementSize >= sizeof *d->regionElements;
    for (size_t i = 0; good && i < d->regionCount; i++) {
        const nvtxMemRegionNameDesc_t *n = element(d->regionElements, d->regionElementSize, i);
        struct range at;
        pthread_mutex_lock(&said.lock);
        good = find_memory(n->regionRefType, &n->region, &at);
        if (good)
            set_name(at.start, nvtx_text(n->nameType, n->name.ascii));
        changed();
        pthread_mutex_unlock(&said.lock);
    }
    if (!good)
        refused("nvtxMemRegionsName", "neither a region nor an allocation starts there");
}

/* ---- what is allowed ---- */

static uint32_t object_of(nvtxMemPermissionsHandle_t handle)
{
    uint32_t number = handle ? (uint32_t)(uintptr_t)handle : PROCESS;
    const struct object *o = said.objects;
    while (o && o->number != number)
        o = o->next;
    return number < FIRST_MADE || o ? number : 0;
}

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

static void assign_permissions(nvtxDomainHandle_t domain, const nvtxMemPermissionsAssignBatch_t *d)
{
    (void)domain;
    bool good = d && d->structSize >= sizeof *d && d->regionElementSize >= sizeof *d->regionElements;
    for (size_t i = 0; good && i < d->regionCount; i++) {
        const nvtxMemPermissionsAssignRegionDesc_t *r = element(d->regionElements, d->regionElementSize, i);
        struct range at;
        pthread_mutex_lock(&said.lock);
        uint32_t object = object_of(d->permissions);
        good = object && find_memory(r->regionRefType, &r->region, &at) && assign(object, &at, r->flags);
        changed();
        pthread_mutex_unlock(&said.lock);
    }
    if (!good)
        refused("nvtxMemPermissionsAssign",
                "neither a region nor an allocation starts there, or there is no such object");
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
    changed();
    pthread_mutex_unlock(&said.lock);
    return (nvtxMemPermissionsHandle_t)(uintptr_t)o->number;
}

static void reset_object(uint32_t object, bool destroy)
{
    pthread_mutex_lock(&said.lock);
    REMOVE(permission, said.permissions, x->object == object, (void)0)
    REMOVE(object, said.objects, destroy && x->number == object, (void)0)
    changed();
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
    if (scope == NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD) /* of what the host does itself */
        return;
    if (scope != NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM || number < FIRST_MADE) {
        refused("nvtxMemPermissionsBind", "it takes an object of nvtxMemPermissionsCreate, and the scope of streams");
        return;
    }
    bound = number;
    bound_excludes = flags & HD_MEMORY_ALL;
}

static void unbind_permissions(nvtxDomainHandle_t domain, uint32_t scope)
{
    (void)domain;
    if (scope == NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM)
        bound = bound_excludes = 0;
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
    refused("nvtxMemCudaSetPeerAccess", "Heddle does not hold kernels to it");
}

static void mark_initialized(nvtxDomainHandle_t domain, struct CUstream_st *stream, uint8_t own,
                             const nvtxMemMarkInitializedBatch_t *d)
{
    (void)domain, (void)stream, (void)own;
    bool good = d && d->structSize >= sizeof *d && d->regionType == NVTX_MEM_TYPE_VIRTUAL_ADDRESS &&
                d->regionDescElementSize >= sizeof(nvtxMemVirtualRangeDesc_t);
    for (size_t i = 0; good && i < d->regionDescCount; i++) {
        struct range at = range_of(d->regionDescElements, d->regionDescElementSize, i);
        mark(&at, true);
    }
    if (!good)
        refused("nvtxMemCudaMarkInitialized", "it wants the addresses of memory");
}

/* ---- rules of a launch ---- */

/* What an object allows there: true where it says anything. */
static bool allowed_by(uint32_t object, const struct range *at, unsigned *uses)
{
    for (const struct permission *p = said.permissions; p; p = p->next)
        if (p->object == object && p->at.start == at->start && p->at.end == at->end) {
            *uses = p->uses;
            return true;
        }
    return false;
}

/* The nearest object that says something holds: what the thread has bound, the device, the process. */
static unsigned allowed_at(const struct range *at, int device)
{
    unsigned uses = HD_MEMORY_ALL, excludes = bound ? bound_excludes : 0;
    if (bound && object_of((nvtxMemPermissionsHandle_t)(uintptr_t)bound) && allowed_by(bound, at, &uses))
        return uses;
    for (const struct object *o = said.objects; o; o = o->next)
        excludes |= o->number == bound ? o->excludes : 0;
    if (!allowed_by(FIRST_DEVICE + (uint32_t)device, at, &uses))
        allowed_by(PROCESS, at, &uses);
    return uses | excludes;
}

static int by_start(const void *a, const void *b)
{
    const hd_memory_rule *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static hd_memory_rule rule_of(uint64_t start, uint64_t end, unsigned uses, bool given)
{
    return (hd_memory_rule){(const void *)(uintptr_t)start, end - start, uses, given, given ? name_of(start) : NULL};
}

/* Where rules lie over each other, as regions of one pool may, the earlier one is cut where the later begins. Returns how many are left. */
static size_t untangle(hd_memory_rule *rules, size_t n)
{
    size_t to = 0;
    qsort(rules, n, sizeof *rules, by_start);
    for (size_t i = 0; i < n; i++) {
        if (to && (const char *)rules[to - 1].start + rules[to - 1].bytes > (const char *)rules[i].start)
            rules[to - 1].bytes = (size_t)((const char *)rules[i].start - (const char *)rules[to - 1].start);
        to -= to && !rules[to - 1].bytes;
        rules[to++] = rules[i];
    }
    return to;
}

/* The regions of a pool, already among the rules from `first` on, and the gaps between them. */
static size_t add_gaps(hd_memory_rule *rules, size_t first, size_t n, const struct pool *p)
{
    uint64_t at = p->at.start;
    size_t regions = untangle(rules + first, n - first), to = first + regions;
    for (size_t i = first; i < first + regions; i++) {
        uint64_t start = (uint64_t)(uintptr_t)rules[i].start;
        if (start > at)
            rules[to++] = rule_of(at, start, 0, false);
        at = start + rules[i].bytes;
    }
    if (at < p->at.end)
        rules[to++] = rule_of(at, p->at.end, 0, false);
    return to;
}

static bool is_of_pool(const struct range *at)
{
    for (const struct pool *p = said.pools; p; p = p->next)
        if (at->start < p->at.end && at->end > p->at.start)
            return true;
    return false;
}

/* With the lock held. */
static hd_memory_rules *make_rules(int device)
{
    size_t most = 0, n = 0;
    for (const struct region *r = said.regions; r; r = r->next)
        most += 2;
    for (const struct pool *p = said.pools; p; p = p->next)
        most++;
    for (const struct permission *p = said.permissions; p; p = p->next)
        most++;
    hd_memory_rule *rules = calloc(most + 1, sizeof *rules);
    hd_memory_rules *made = NULL;
    for (const struct pool *p = rules ? said.pools : NULL; p; p = p->next) {
        size_t first = n;
        for (const struct region *r = said.regions; r; r = r->next)
            if (r->of == p)
                rules[n++] = rule_of(r->at.start, r->at.end, allowed_at(&r->at, device), true);
        n = add_gaps(rules, first, n, p);
    }
    for (const struct permission *p = rules ? said.permissions : NULL; p; p = p->next)
        if (!is_of_pool(&p->at))
            rules[n++] = rule_of(p->at.start, p->at.end, allowed_at(&p->at, device), true);
    n = rules ? untangle(rules, n) : 0;
    if (n)
        hd_memory_rules_create(rules, n, &made);
    free(rules);
    return made;
}

hd_memory_rules *nvtx_memory_rules(int device)
{
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return NULL;
    pthread_mutex_lock(&said.lock);
    if (said.made_at != said.changes || said.made_for != bound || said.made_on != device || bound_excludes) {
        hd_memory_rules_destroy(said.made);
        said.made = make_rules(device);
        said.made_at = said.changes;
        said.made_for = bound;
        said.made_on = device;
    }
    hd_memory_rules *rules = hd_memory_rules_keep(said.made);
    pthread_mutex_unlock(&said.lock);
    return rules;
}

/* ---- what others ask ---- */

void nvtx_memory_freed(const void *start, size_t bytes)
{
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return;
    struct range at = {(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    pthread_mutex_lock(&said.lock);
    for (const struct pool *p = said.pools; p; p = p->next)
        if (is_in(&p->at, &at))
            empty_pool(p);
    REMOVE(pool, said.pools, is_in(&x->at, &at), free(x->name))
    forget_permissions(&at);
    REMOVE(name, said.names, x->start >= at.start && x->start < at.end, free(x->text))
    changed();
    pthread_mutex_unlock(&said.lock);
}

const char *nvtx_memory_name(const void *start, char *text, size_t bytes)
{
    text[0] = 0;
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return text;
    pthread_mutex_lock(&said.lock);
    const char *name = name_of((uint64_t)(uintptr_t)start);
    if (name)
        snprintf(text, bytes, " `%s`", name);
    pthread_mutex_unlock(&said.lock);
    return text;
}

void nvtx_memory_each_region(const void *start, size_t bytes, void (*visit)(void *data, size_t bytes, const char *name),
                             void *data)
{
    struct range at = {(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    pthread_mutex_lock(&said.lock);
    for (const struct region *r = said.regions; r; r = r->next)
        if (is_in(&r->at, &at))
            visit(data, r->at.end - r->at.start, name_of(r->at.start));
    pthread_mutex_unlock(&said.lock);
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
