/* What differs between the major versions of the runtime: layouts of structures, signatures under one name. Compiled once
 * for each version, with CUDART_MAJOR set to 11, 12 or 13 ("CUDA Runtime API", "Difference between versions"; the release
 * notes of CUDA 12 and 13).
 */
#include "cuda/runtime/runtime.h"

#include <string.h>

#if CUDART_MAJOR == 13
enum { VERSION = 13000 };
#elif CUDART_MAJOR == 12
enum { VERSION = 12080 };
#else
enum { VERSION = 11080 };
#endif

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return rt_return(cudaErrorInvalidValue);
    *runtimeVersion = VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return rt_driver_entry_point(symbol, funcPtr, VERSION, flags, driverStatus);
}

RT_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags,
                                                enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *status)
{
    unsigned long long own = flags == cudaEnableDefault ? cudaEnablePerThreadDefaultStream : flags;
    return rt_driver_entry_point(symbol, function, VERSION, own, status);
}

/* ---- properties of devices ---- */

#if CUDART_MAJOR < 13
/* The properties of CUDA 12; those of CUDA 11 end before hostRegisterSupported. */
struct prop12 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture1DLinear;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int reserved[63];
};

#define PROPERTIES struct prop12
enum { BYTES_11 = offsetof(struct prop12, hostRegisterSupported) };
_Static_assert(sizeof(struct prop12) == 1032 && BYTES_11 == 728, "the sizes that programs of CUDA 12 and 11 have");
#else
#define PROPERTIES struct cudaDeviceProp
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "the size that programs of CUDA 13 have");
#endif

static cudaError_t properties(PROPERTIES *p, int device)
{
    int value;
    cudaError_t e = rt_check_device(device);
    if (e)
        return e;
    *p = (PROPERTIES){0};
    CUresult r = cuDeviceGetName(p->name, sizeof p->name, device);
    if (!r)
        r = cuDeviceGetUuid_v2(&p->uuid, device);
    if (!r)
        r = cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
#define PROP(member, attribute)                                                                                        \
    if (!r && !(r = cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_##attribute, device)))                            \
        p->member = (typeof(p->member))value;
#if CUDART_MAJOR < 13
#define PROP12(member, attribute) PROP(member, attribute)
#define PROP13(member, attribute)
#else
#define PROP12(member, attribute)
#define PROP13(member, attribute) PROP(member, attribute)
#endif
#include "cuda/runtime/device_prop.def"
    return rt_error_of(r);
}

#if CUDART_MAJOR < 13

/* Both under this name: programs that were built with CUDA 11 load libcudart.so.11.0, but CUDA 12 kept the layout of 11
 * under it. */
RT_API cudaError_t old_properties(void *prop, int device) __asm__("cudaGetDeviceProperties");
cudaError_t old_properties(void *prop, int device)
{
    PROPERTIES p;
    cudaError_t e = prop ? properties(&p, device) : cudaErrorInvalidValue;
    if (!e)
        memcpy(prop, &p, BYTES_11);
    return rt_return(e);
}
#endif

#if CUDART_MAJOR == 12
RT_API cudaError_t cudaGetDeviceProperties_v2(PROPERTIES *prop, int device);
cudaError_t cudaGetDeviceProperties_v2(PROPERTIES *prop, int device)
{
    return rt_return(prop ? properties(prop, device) : cudaErrorInvalidValue);
}
#elif CUDART_MAJOR == 13
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    return rt_return(prop ? properties(prop, device) : cudaErrorInvalidValue);
}
#endif

/* ---- structures that have grown ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    enum { BYTES = CUDART_MAJOR == 11 ? offsetof(struct cudaFuncAttributes, clusterDimMustBeSet) : sizeof *attr };
    struct cudaFuncAttributes a;
    cudaError_t e = attr ? rt_func_attributes(&a, func) : cudaErrorInvalidValue;
    if (!e)
        memcpy(attr, &a, BYTES);
    return rt_return(e);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    enum { BYTES = CUDART_MAJOR < 13 ? offsetof(struct cudaPointerAttributes, reserved) : sizeof *attributes };
    struct cudaPointerAttributes a;
    bool takes_null = CUDART_MAJOR >= 13; /* it is memory of the host's that CUDA does not know, as an H200 says */
    cudaError_t e = attributes && (ptr || takes_null) ? rt_pointer_attributes(&a, ptr) : cudaErrorInvalidValue;
    if (!e)
        memcpy(attributes, &a, BYTES);
    return rt_return(e);
}

/* ---- managed memory: places were numbers of devices before CUDA 13 ---- */

static cudaError_t advise(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation at)
{
    RT_CALL(cuMemAdvise_v2((CUdeviceptr)p, n, (CUmem_advise)advice, *(CUmemLocation *)&at));
}

static cudaError_t prefetch(const void *p, size_t n, struct cudaMemLocation to, unsigned flags, cudaStream_t stream)
{
    RT_CALL(cuMemPrefetchAsync_v2((CUdeviceptr)p, n, *(CUmemLocation *)&to, flags, stream));
}

cudaError_t rt_bad_dimensions(void)
{
    return CUDART_MAJOR < 13 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

cudaError_t rt_no_kernel(void)
{
    return CUDART_MAJOR < 13 ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
}

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

#if CUDART_MAJOR == 13

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    return advise(devPtr, count, advice, location);
}

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream)
{
    return prefetch(devPtr, count, location, flags, stream);
}

RT_API cudaError_t cudaMemPrefetchAsync_ptsz(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                             cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                      cudaStream_t stream)
{
    return prefetch(p, n, to, flags, own(stream));
}

#else

static struct cudaMemLocation location_of(int device)
{
    enum cudaMemLocationType type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    return (struct cudaMemLocation){type, device == cudaCpuDeviceId ? 0 : device};
}

RT_API cudaError_t old_advise(const void *p, size_t n, enum cudaMemoryAdvise advice,
                              int device) __asm__("cudaMemAdvise");
cudaError_t old_advise(const void *p, size_t n, enum cudaMemoryAdvise advice, int device)
{
    return advise(p, n, advice, location_of(device));
}

RT_API cudaError_t old_prefetch(const void *p, size_t n, int device,
                                cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
cudaError_t old_prefetch(const void *p, size_t n, int device, cudaStream_t stream)
{
    return prefetch(p, n, location_of(device), 0, stream);
}

RT_API cudaError_t old_prefetch_ptsz(const void *p, size_t n, int device,
                                     cudaStream_t stream) __asm__("cudaMemPrefetchAsync_ptsz");
cudaError_t old_prefetch_ptsz(const void *p, size_t n, int device, cudaStream_t stream)
{
    return prefetch(p, n, location_of(device), 0, own(stream));
}

#if CUDART_MAJOR == 12

RT_API cudaError_t cudaMemAdvise_v2(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation at);
cudaError_t cudaMemAdvise_v2(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation at)
{
    return advise(p, n, advice, at);
}

RT_API cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                           cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                    cudaStream_t stream)
{
    return prefetch(p, n, to, flags, stream);
}

RT_API cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                                cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                         cudaStream_t stream)
{
    return prefetch(p, n, to, flags, own(stream));
}

RT_API cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return cudaEventElapsedTime(ms, start, end);
}

#endif

/* ---- cudaThread...: the names of CUDA 3 for functions of the device ---- */

RT_API cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

RT_API cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

RT_API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

RT_API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}

RT_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

RT_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config);
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

#endif

/* ---- graphs ---- */

/* What a capture has so far; any of the answers may be left out. */
static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                size_t *n)
{
    RT_CALL(cuStreamGetCaptureInfo_v3(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph, nodes,
                                      (const CUgraphEdgeData **)edges, n));
}

static cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    const cudaGraphEdgeData *edges, size_t n)
{
    RT_CALL(cuGraphAddDependencies_v2(graph, from, to, (const CUgraphEdgeData *)edges, n));
}

static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    RT_CALL(cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info));
}

#if CUDART_MAJOR > 11

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    return update(hGraphExec, hGraph, resultInfo);
}

#else

RT_API cudaError_t old_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error, char *log,
                                   size_t bytes) __asm__("cudaGraphInstantiate");
cudaError_t old_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error, char *log, size_t bytes)
{
    RT_CALL(cuGraphInstantiate_v2(exec, graph, error, log, bytes));
}

RT_API cudaError_t old_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error,
                              enum cudaGraphExecUpdateResult *result) __asm__("cudaGraphExecUpdate");
cudaError_t old_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error,
                       enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {0};
    cudaError_t e = update(exec, graph, &info);
    if (error)
        *error = info.errorNode;
    if (result)
        *result = info.result;
    return e;
}

#endif

#if CUDART_MAJOR == 13

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    return add_dependencies(graph, from, to, edgeData, numDependencies);
}

#define CAPTURE_INFO_ALL cudaStreamGetCaptureInfo
#else

RT_API cudaError_t old_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t n) __asm__("cudaGraphAddDependencies");
cudaError_t old_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
    return add_dependencies(graph, from, to, NULL, n);
}

#define CAPTURE_INFO_ALL cudaStreamGetCaptureInfo_v3
#define CAPTURE_INFO(name, own)                                                                                        \
    RT_API cudaError_t old_##name(cudaStream_t stream, enum cudaStreamCaptureStatus *status,                           \
                                  unsigned long long *id) __asm__(#name);                                              \
    cudaError_t old_##name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)          \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, NULL, NULL, NULL, NULL);                                          \
    }
#define CAPTURE_INFO_2(name, own)                                                                                      \
    RT_API cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n);                             \
    cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,                \
                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n)                                     \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, graph, nodes, NULL, n);                                           \
    }
CAPTURE_INFO(cudaStreamGetCaptureInfo, )
CAPTURE_INFO(cudaStreamGetCaptureInfo_ptsz, own)
CAPTURE_INFO_2(cudaStreamGetCaptureInfo_v2, )
CAPTURE_INFO_2(cudaStreamGetCaptureInfo_v2_ptsz, own)

#endif

/* The nodes that a stream's next one depends on: since CUDA 13 with the edges' data, which in CUDA 12 a function with _v2 has. */
static cudaError_t set_dependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges,
                                    size_t n, unsigned flags)
{
    RT_CALL(cuStreamUpdateCaptureDependencies_v2(stream, nodes, (const CUgraphEdgeData *)edges, n, flags));
}

#define SET_DEPENDENCIES(name, own)                                                                                    \
    RT_API cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n,                                \
                                 unsigned flags) __asm__(#name);                                                       \
    cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n, unsigned flags)                       \
    {                                                                                                                  \
        return set_dependencies(own(stream), nodes, NULL, n, flags);                                                   \
    }
#define SET_DEPENDENCIES_2(name, own)                                                                                  \
    RT_API cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges,          \
                                 size_t n, unsigned flags) __asm__(#name);                                             \
    cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n,       \
                          unsigned flags)                                                                              \
    {                                                                                                                  \
        return set_dependencies(own(stream), nodes, edges, n, flags);                                                  \
    }
#if CUDART_MAJOR == 13
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies, )
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_ptsz, own)
#else
SET_DEPENDENCIES(cudaStreamUpdateCaptureDependencies, )
SET_DEPENDENCIES(cudaStreamUpdateCaptureDependencies_ptsz, own)
#endif
#if CUDART_MAJOR == 12
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_v2, )
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_v2_ptsz, own)
#endif

#if CUDART_MAJOR == 12

RT_API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t n)
{
    return add_dependencies(graph, from, to, edges, n);
}

#endif

#if CUDART_MAJOR > 11

#define NAME_(name, suffix) name##suffix
#define NAME(name, suffix)  NAME_(name, suffix)
#define CAPTURE_INFO_3(name, own)                                                                                      \
    RT_API cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,        \
                            size_t *n);                                                                                \
    cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,                \
                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *n)    \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, graph, nodes, edges, n);                                          \
    }
CAPTURE_INFO_3(CAPTURE_INFO_ALL, )
CAPTURE_INFO_3(NAME(CAPTURE_INFO_ALL, _ptsz), own)

#endif
