/* Differences between the runtime's major versions: layouts of structures, signatures of one name.
 * Compiled once for each version, with CUDART_MAJOR set to 11, 12 or 13 ("CUDA Runtime API",
 * "Difference between versions"; the release notes of CUDA 12 and 13).
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

/* ---- structures that have grown ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    /* as on an H200, what is reserved keeps the caller's values */
    enum {
        BYTES = CUDART_MAJOR == 11 ? offsetof(struct cudaFuncAttributes, clusterDimMustBeSet)
                                   : offsetof(struct cudaFuncAttributes, reserved)
    };
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
    /* NULL counts as host memory that CUDA does not know, as on an H200 */
    bool takes_null = CUDART_MAJOR >= 13;
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
    return prefetch(p, n, to, flags, rt_own(stream));
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
    return prefetch(p, n, location_of(device), 0, rt_own(stream));
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
    return prefetch(p, n, to, flags, rt_own(stream));
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
