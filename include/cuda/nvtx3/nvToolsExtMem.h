/* NVTX's calls about memory, by which a program says what its own pools have given out, what
 * kernels may do where, and what memory is called (NVTX 3, memory extension). Under `heddle check`
 * they are heard; elsewhere they do nothing, and return NULL.
 */
#ifndef HEDDLE_NVTX3_NVTOOLSEXTMEM_H
#define HEDDLE_NVTX3_NVTOOLSEXTMEM_H

#include "nvToolsExt.h"

#define NVTX_EXT_MODULEID_MEM 1
#define NVTX_EXT_COMPATID_MEM 0x0102

typedef struct nvtxMemHeap_v1 nvtxMemHeap_t, *nvtxMemHeapHandle_t;
typedef struct nvtxMemRegion_v1 nvtxMemRegion_t, *nvtxMemRegionHandle_t;
typedef struct nvtxMemPermissions_v1 nvtxMemPermissions_t, *nvtxMemPermissionsHandle_t;

#define NVTX_MEM_HEAP_HANDLE_NO_TOOL             ((nvtxMemHeapHandle_t)(intptr_t)-1)
#define NVTX_MEM_REGION_HANDLE_NO_TOOL           ((nvtxMemRegionHandle_t)(intptr_t)-1)
#define NVTX_MEM_PERMISSIONS_HANDLE_NO_TOOL      ((nvtxMemPermissionsHandle_t) - 1)
#define NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE        ((nvtxMemHeapHandle_t)0)
#define NVTX_MEM_PERMISSIONS_HANDLE_PROCESS_WIDE ((nvtxMemPermissionsHandle_t)0)

#define NVTX_MEM_HEAP_USAGE_UNKNOWN            0x0
#define NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR 0x1
#define NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT        0x2

#define NVTX_MEM_TYPE_UNKNOWN         0x0
#define NVTX_MEM_TYPE_VIRTUAL_ADDRESS 0x1

#define NVTX_MEM_REGION_REF_TYPE_UNKNOWN 0x0
#define NVTX_MEM_REGION_REF_TYPE_POINTER 0x1
#define NVTX_MEM_REGION_REF_TYPE_HANDLE  0x2

#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_NONE   0x0
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ   0x1
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE  0x2
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC 0x4
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET  0x8

#define NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE                  0x0
#define NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_READ   0x1
#define NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_WRITE  0x2
#define NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_ATOMIC 0x4

#define NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE          0x0
#define NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_READ   0x1
#define NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_WRITE  0x2
#define NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_ATOMIC 0x4

#define NVTX_MEM_PERMISSIONS_BIND_SCOPE_UNKNOWN     0x0
#define NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD  0x1
#define NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM 0x2

typedef union nvtxMemRegionRef_t {
    void const *pointer;
    nvtxMemRegionHandle_t handle;
} nvtxMemRegionRef_t;

typedef struct nvtxMemVirtualRangeDesc_v1 {
    size_t size;
    void const *ptr;
} nvtxMemVirtualRangeDesc_v1, nvtxMemVirtualRangeDesc_t;

/* extCompatID and structSize: NVTX_EXT_COMPATID_MEM, and the bytes of the structure */
typedef struct nvtxMemHeapDesc_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    uint32_t usage; /* NVTX_MEM_HEAP_USAGE_* */
    uint32_t type;  /* NVTX_MEM_TYPE_* */
    size_t typeSpecificDescSize;
    void const *typeSpecificDesc; /* a nvtxMemVirtualRangeDesc_t */
    uint32_t category;
    uint32_t messageType; /* nvtxMessageType_t */
    nvtxMessageValue_t message;
} nvtxMemHeapDesc_v1, nvtxMemHeapDesc_t;

typedef struct nvtxMemRegionsRegisterBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType; /* NVTX_MEM_TYPE_* */
    nvtxMemHeapHandle_t heap;
    size_t regionCount, regionDescElementSize;
    void const *regionDescElements; /* of nvtxMemVirtualRangeDesc_t */
    nvtxMemRegionHandle_t *regionHandleElementsOut;
} nvtxMemRegionsRegisterBatch_v1, nvtxMemRegionsRegisterBatch_t;

typedef struct nvtxMemRegionsResizeBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    void const *regionDescElements;
} nvtxMemRegionsResizeBatch_v1, nvtxMemRegionsResizeBatch_t;

typedef struct nvtxMemRegionsUnregisterBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t refType; /* NVTX_MEM_REGION_REF_TYPE_* */
    size_t refCount, refElementSize;
    nvtxMemRegionRef_t const *refElements;
} nvtxMemRegionsUnregisterBatch_v1, nvtxMemRegionsUnregisterBatch_t;

typedef struct nvtxMemRegionNameDesc_v1 {
    uint32_t regionRefType, nameType;
    nvtxMemRegionRef_t region;
    nvtxMessageValue_t name;
    uint32_t category, reserved0;
} nvtxMemRegionNameDesc_v1, nvtxMemRegionNameDesc_t;

typedef struct nvtxMemRegionsNameBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    size_t regionCount, regionElementSize;
    nvtxMemRegionNameDesc_t const *regionElements;
    size_t reserved1;
} nvtxMemRegionsNameBatch_v1, nvtxMemRegionsNameBatch_t;

typedef struct nvtxMemPermissionsAssignRegionDesc_v1 {
    uint32_t flags; /* NVTX_MEM_PERMISSIONS_REGION_FLAGS_* */
    uint32_t regionRefType;
    nvtxMemRegionRef_t region;
} nvtxMemPermissionsAssignRegionDesc_v1, nvtxMemPermissionsAssignRegionDesc_t;

typedef struct nvtxMemPermissionsAssignBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    nvtxMemPermissionsHandle_t permissions;
    size_t regionCount, regionElementSize;
    nvtxMemPermissionsAssignRegionDesc_t const *regionElements;
    size_t reserved1;
} nvtxMemPermissionsAssignBatch_v1, nvtxMemPermissionsAssignBatch_t;

/* of nvToolsExtMemCudaRt.h */
typedef struct nvtxMemMarkInitializedBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    void const *regionDescElements;
} nvtxMemMarkInitializedBatch_v1, nvtxMemMarkInitializedBatch_t;

/* HEDDLE_NVTX_MEMORY(type, name, result, arguments, parameters): the functions, in the order of
 * their numbers. */
#define HEDDLE_NVTX_MEMORY_CALLS                                                                                       \
    HEDDLE_NVTX_MEMORY(nvtxMemHeapHandle_t, nvtxMemHeapRegister, NULL, (domain, desc), nvtxDomainHandle_t domain,      \
                       nvtxMemHeapDesc_t const *desc)                                                                  \
    HEDDLE_NVTX_MEMORY(void, nvtxMemHeapUnregister, (void)0, (domain, heap), nvtxDomainHandle_t domain,                \
                       nvtxMemHeapHandle_t heap)                                                                       \
    HEDDLE_NVTX_MEMORY(void, nvtxMemHeapReset, (void)0, (domain, heap), nvtxDomainHandle_t domain,                     \
                       nvtxMemHeapHandle_t heap)                                                                       \
    HEDDLE_NVTX_MEMORY(void, nvtxMemRegionsRegister, (void)0, (domain, desc), nvtxDomainHandle_t domain,               \
                       nvtxMemRegionsRegisterBatch_t const *desc)                                                      \
    HEDDLE_NVTX_MEMORY(void, nvtxMemRegionsResize, (void)0, (domain, desc), nvtxDomainHandle_t domain,                 \
                       nvtxMemRegionsResizeBatch_t const *desc)                                                        \
    HEDDLE_NVTX_MEMORY(void, nvtxMemRegionsUnregister, (void)0, (domain, desc), nvtxDomainHandle_t domain,             \
                       nvtxMemRegionsUnregisterBatch_t const *desc)                                                    \
    HEDDLE_NVTX_MEMORY(void, nvtxMemRegionsName, (void)0, (domain, desc), nvtxDomainHandle_t domain,                   \
                       nvtxMemRegionsNameBatch_t const *desc)                                                          \
    HEDDLE_NVTX_MEMORY(void, nvtxMemPermissionsAssign, (void)0, (domain, desc), nvtxDomainHandle_t domain,             \
                       nvtxMemPermissionsAssignBatch_t const *desc)                                                    \
    HEDDLE_NVTX_MEMORY(nvtxMemPermissionsHandle_t, nvtxMemPermissionsCreate, NULL, (domain, flags),                    \
                       nvtxDomainHandle_t domain, int32_t flags)                                                       \
    HEDDLE_NVTX_MEMORY(void, nvtxMemPermissionsDestroy, (void)0, (domain, permissions), nvtxDomainHandle_t domain,     \
                       nvtxMemPermissionsHandle_t permissions)                                                         \
    HEDDLE_NVTX_MEMORY(void, nvtxMemPermissionsReset, (void)0, (domain, permissions), nvtxDomainHandle_t domain,       \
                       nvtxMemPermissionsHandle_t permissions)                                                         \
    HEDDLE_NVTX_MEMORY(void, nvtxMemPermissionsBind, (void)0, (domain, permissions, scope, flags),                     \
                       nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions, uint32_t scope,              \
                       uint32_t flags)                                                                                 \
    HEDDLE_NVTX_MEMORY(void, nvtxMemPermissionsUnbind, (void)0, (domain, scope), nvtxDomainHandle_t domain,            \
                       uint32_t scope)

/* nvToolsExtMemCudaRt.h has these. `stream`: a cudaStream_t. */
#define HEDDLE_NVTX_MEMORY_CUDA_CALLS                                                                                  \
    HEDDLE_NVTX_MEMORY(nvtxMemPermissionsHandle_t, nvtxMemCudaGetProcessWidePermissions, NULL, (domain),               \
                       nvtxDomainHandle_t domain)                                                                      \
    HEDDLE_NVTX_MEMORY(nvtxMemPermissionsHandle_t, nvtxMemCudaGetDeviceWidePermissions, NULL, (domain, device),        \
                       nvtxDomainHandle_t domain, int device)                                                          \
    HEDDLE_NVTX_MEMORY(void, nvtxMemCudaSetPeerAccess, (void)0, (domain, permissions, device, flags),                  \
                       nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions, int device, uint32_t flags)  \
    HEDDLE_NVTX_MEMORY(void, nvtxMemCudaMarkInitialized, (void)0, (domain, stream, own, desc),                         \
                       nvtxDomainHandle_t domain, struct CUstream_st *stream, uint8_t own,                             \
                       nvtxMemMarkInitializedBatch_t const *desc)

struct CUstream_st;

/* Who listens: heddle_nvtx.memory. */
struct heddle_nvtx_memory {
#define HEDDLE_NVTX_MEMORY(type, name, result, arguments, ...) type (*name##_)(__VA_ARGS__);
    HEDDLE_NVTX_MEMORY_CALLS
    HEDDLE_NVTX_MEMORY_CUDA_CALLS
#undef HEDDLE_NVTX_MEMORY
};

#define HEDDLE_NVTX_MEMORY(type, name, result, arguments, ...)                                                         \
    static inline __attribute__((unused)) type name(__VA_ARGS__)                                                       \
    {                                                                                                                  \
        const struct heddle_nvtx *listener = heddle_nvtx_listener();                                                   \
        return listener && listener->memory ? listener->memory->name##_ arguments : result;                            \
    }
HEDDLE_NVTX_MEMORY_CALLS
#undef HEDDLE_NVTX_MEMORY

#endif
