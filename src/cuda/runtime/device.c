/* Attributes and settings of a device, peers, versions, profiling ("CUDA Runtime API", 6.1 device
 * management, 6.14 peer access, 6.31 version management, 6.33 driver entry points). Properties are
 * in properties.c. */
#include "cuda/runtime/runtime.h"

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    cudaError_t e = rt_check_device(device);
    /* enum cudaDeviceAttr has the driver's numbers */
    return rt_return(e ? e : rt_error_of(cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device)));
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceGetPCIBusId(pciBusId, len, device)));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    cudaError_t e = rt_check_device(0);
    return rt_return(e ? e : rt_error_of(cuDeviceGetByPCIBusId(device, pciBusId)));
}

/* All devices are alike, so the first is as good as any. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    cudaError_t e = device && prop ? rt_check_device(0) : cudaErrorInvalidValue;
    if (!e)
        *device = 0;
    return rt_return(e);
}

/* ---- limits and preferences ---- */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RT_CALL(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    RT_CALL(cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    RT_CALL(cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    RT_CALL(cuCtxGetCacheConfig((CUfunc_cache *)pCacheConfig));
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    RT_CALL(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    RT_CALL(cuCtxGetSharedMemConfig((CUsharedconfig *)pConfig));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    RT_CALL(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    RT_CALL(cuCtxResetPersistingL2Cache());
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                               enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    bool known = target == cudaFlushGPUDirectRDMAWritesTargetCurrentDevice &&
                 (scope == cudaFlushGPUDirectRDMAWritesToOwner || scope == cudaFlushGPUDirectRDMAWritesToAllDevices);
    /* there is no other device that could have written */
    return rt_return(known ? rt_enter() : cudaErrorInvalidValue);
}

/* ---- peers ---- */

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    cudaError_t e = rt_check_device(device);
    if (!e)
        e = rt_check_device(peerDevice);
    return rt_return(e ? e : rt_error_of(cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice)));
}

/* Calls the driver with the peer's primary context: the driver names a peer by its context. */
static cudaError_t with_peer(int peer, CUresult (*call)(CUcontext, unsigned), unsigned flags)
{
    CUcontext context;
    cudaError_t e = rt_check_device(peer);
    if (!e)
        e = rt_enter();
    if (!e)
        e = rt_error_of(cuDevicePrimaryCtxRetain(&context, peer));
    if (e)
        return rt_return(e);
    e = rt_error_of(call(context, flags));
    cuDevicePrimaryCtxRelease(peer);
    return rt_return(e);
}

static CUresult disable(CUcontext peer, unsigned flags)
{
    (void)flags;
    return cuCtxDisablePeerAccess(peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    return with_peer(peerDevice, cuCtxEnablePeerAccess, flags);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    return with_peer(peerDevice, disable, 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    cudaError_t e = rt_check_device(srcDevice);
    if (!e)
        e = rt_check_device(dstDevice);
    return rt_return(
        e ? e : rt_error_of(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice)));
}

/* ---- versions and entry points ---- */

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    return rt_return(rt_error_of(cuDriverGetVersion(driverVersion)));
}

cudaError_t rt_driver_entry_point(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                  enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult r = cuGetProcAddress_v2(symbol, function, (int)version, flags, &found);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    /* *status has the answer. */
    return rt_return(r == CUDA_ERROR_NOT_FOUND ? cudaSuccess : rt_error_of(r));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return rt_driver_entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

/* ---- profiling: nothing listens ---- */

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

/* ---- channels ---- */

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
