/* Memory of graphs: nodes that allocate and free it, and how much a device has ("CUDA Driver API",
 * 6.23). */
#include "cuda/state/graph_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/driver/graph.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/machines.h"

/* ---- nodes ---- */

static CUresult check_access(const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    NEED(p->accessDescs || !p->accessDescCount);
    for (size_t i = 0; i < p->accessDescCount; i++) {
        const CUmemAccessDesc *a = &p->accessDescs[i];
        if (a->location.type != CU_MEM_LOCATION_TYPE_DEVICE || a->location.id < 0 || a->location.id >= device_count())
            return CUDA_ERROR_INVALID_DEVICE;
        if (a->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static CUresult check_properties(const CUmemPoolProps *p, struct device **d)
{
    const unsigned shared = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                            CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    NEED(p->allocType == CU_MEM_ALLOCATION_TYPE_PINNED && ((unsigned)p->handleTypes & ~shared) == 0);
    if (p->handleTypes || p->location.type == CU_MEM_LOCATION_TYPE_HOST)
        return CUDA_ERROR_NOT_SUPPORTED;
    NEED(p->location.type == CU_MEM_LOCATION_TYPE_DEVICE && p->location.id >= 0 && p->location.id < device_count());
    return device_get(p->location.id, d);
}

/* Keeps the requested access in the node, for cuGraphMemAllocNodeGetParams. */
static CUresult keep_access(CUgraphNode n, const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    size_t bytes = p->accessDescCount * sizeof *p->accessDescs;
    if (!bytes)
        return CUDA_SUCCESS;
    n->access = malloc(bytes);
    if (!n->access)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(n->access, p->accessDescs, bytes);
    n->n_access = p->accessDescCount;
    return CUDA_SUCCESS;
}

static CUresult add_alloc(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, struct device *d,
                          CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    struct work w = {.kind = WORK_GIVE, .memory = {.bytes = p->bytesize}};
    CUgraphNode made;
    TRY(graph_find_memory(g, d, p->bytesize, after, n, &w.memory.at));
    CUresult r = graph_add_node(g->handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &w, NULL, after, n, node);
    if (!r && node_of(*node, &made) == CUDA_SUCCESS)
        r = keep_access(made, p);
    if (!r)
        p->dptr = (CUdeviceptr)(uintptr_t)graph_memory_start(w.memory.at);
    graph_memory_release(w.memory.at);
    return r;
}

CU_API CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    CUgraph g;
    struct device *d;
    TRY(graph_of(graph, &g));
    NEED(node && p && (after || !n) && p->bytesize);
    TRY(check_properties(&p->poolProps, &d));
    TRY(check_access(p));
    TRY(graph_has_nodes(g, after, n));
    if (g->is_moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    return add_alloc(node, g, after, n, d, p);
}

CU_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(p && n->work.kind == WORK_GIVE);
    static const CUmemAccessDesc none; /* an H200 requires an address even without entries */
    const struct graph_memory *m = n->work.memory.at;
    *p = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = graph_memory_device(m)->ordinal}},
        .accessDescs = n->access ? n->access : &none,
        .accessDescCount = n->n_access,
        .bytesize = n->work.memory.bytes,
        .dptr = (CUdeviceptr)(uintptr_t)graph_memory_start(m)};
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                                      CUdeviceptr pointer)
{
    struct work w = {.kind = WORK_TAKE};
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(node && (after || !n));
    if (g->is_moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    TRY(graph_find_freed(g, (void *)(uintptr_t)pointer, &w.memory.at));
    CUresult r = graph_add_node(graph, CU_GRAPH_NODE_TYPE_MEM_FREE, &w, NULL, after, n, node);
    graph_memory_release(w.memory.at);
    return r;
}

CU_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *pointer)
{
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(pointer && n->work.kind == WORK_TAKE);
    *pointer = (CUdeviceptr)(uintptr_t)graph_memory_start(n->work.memory.at);
    return CUDA_SUCCESS;
}

/* ---- a device's ---- */

CU_API CUresult cuDeviceGraphMemTrim(CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    TRY(capture_unsafe());
    contexts_wait();
    graph_memory_trim(d);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute a, void *value)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(value && (unsigned)a <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
    *(cuuint64_t *)value = graph_memory_amount(d, a);
    return CUDA_SUCCESS;
}

/* The high watermarks can be reset to the current values. */
CU_API CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute a, void *value)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(value && *(cuuint64_t *)value == 0);
    NEED(a == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || a == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
    graph_memory_reset_high(d, a);
    return CUDA_SUCCESS;
}
