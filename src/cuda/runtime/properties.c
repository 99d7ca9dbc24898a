/* Device properties ("CUDA Runtime API", 6.1, cudaGetDeviceProperties), whose structure grows with
 * the major versions. Compiled once for each, like versions.c.
 */
#include "cuda/runtime/runtime.h"

#include <string.h>

#if CUDART_MAJOR < 13
/* CUDA 12's properties; CUDA 11's end before hostRegisterSupported. */
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

/* What CUDA 13 has taken back is filled in, too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

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
#define PROP13(member, attribute)
#else
#define PROP13(member, attribute) PROP(member, attribute)
#endif
#include "cuda/runtime/device_prop.def"
    return rt_error_of(r);
}

#if CUDART_MAJOR < 13

/* Both versions have this name: programs built with CUDA 11 load libcudart.so.11.0, but CUDA 12
 * kept CUDA 11's layout under it. */
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
