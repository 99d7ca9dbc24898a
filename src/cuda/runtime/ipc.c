/* Memory and events that processes share ("CUDA Runtime API", 6.9
 * cudaIpcGetMemHandle, 6.11 pools). */
#include "cuda/runtime/runtime.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                   sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle),
               "handles are the driver's");

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    RT_CALL(cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)devPtr));
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle driver;
    CUdeviceptr p = 0;
    cudaError_t e = devPtr ? rt_enter() : cudaErrorInvalidValue;
    memcpy(&driver, &handle, sizeof driver);
    if (!e)
        e = rt_error_of(cuIpcOpenMemHandle(&p, driver, flags));
    if (!e)
        *devPtr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    RT_CALL(cuIpcCloseMemHandle((CUdeviceptr)devPtr));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    RT_CALL(cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle driver;
    memcpy(&driver, &handle, sizeof driver);
    RT_CALL(cuIpcOpenEventHandle(event, driver));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               enum cudaMemAllocationHandleType handleType, unsigned int flags)
{
    RT_CALL(cuMemPoolExportToShareableHandle(shareableHandle, memPool, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 enum cudaMemAllocationHandleType handleType, unsigned int flags)
{
    RT_CALL(cuMemPoolImportFromShareableHandle(memPool, shareableHandle, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    RT_CALL(cuMemPoolExportPointer((CUmemPoolPtrExportData *)exportData, (CUdeviceptr)ptr));
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData)
{
    CUdeviceptr p = 0;
    cudaError_t e = ptr ? rt_enter() : cudaErrorInvalidValue;
    if (!e)
        e = rt_error_of(cuMemPoolImportPointer(&p, memPool, (CUmemPoolPtrExportData *)exportData));
    if (!e)
        *ptr = (void *)p;
    return rt_return(e);
}
