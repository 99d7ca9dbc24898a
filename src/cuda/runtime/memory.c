/* Memory: allocations, pinned and managed memory, pools, attributes of a pointer ("CUDA
 * Runtime API", 6.9 memory management, 6.11 stream ordered memory allocator, 6.13 unified
 * addressing). */
#include "cuda/runtime/runtime.h"

/* ---- device memory ---- */

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    CUdeviceptr p = 0;
    cudaError_t e = devPtr ? rt_enter() : cudaErrorInvalidValue;
    if (!e && size) /* 0 bytes give a null pointer */
        e = rt_error_of(cuMemAlloc(&p, size));
    if (!e)
        *devPtr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaFree(void *devPtr)
{
    RT_CALL(cuMemFree((CUdeviceptr)devPtr));
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CUdeviceptr p = 0;
    cudaError_t e = devPtr && size ? rt_enter() : cudaErrorInvalidValue;
    if (!e)
        e = rt_error_of(cuMemAllocManaged(&p, size, flags));
    if (!e)
        *devPtr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr p = 0;
    cudaError_t e = devPtr && pitch ? rt_enter() : cudaErrorInvalidValue;
    if (!e && width && height)
        e = rt_error_of(cuMemAllocPitch(&p, pitch, width, height, 4));
    else if (!e)
        *pitch = 0;
    if (!e)
        *devPtr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows = extent.height * extent.depth;
    if (!pitchedDevPtr || (extent.depth && rows / extent.depth != extent.height))
        return rt_return(cudaErrorInvalidValue);
    struct cudaPitchedPtr p = {.xsize = extent.width, .ysize = extent.height};
    cudaError_t e = cudaMallocPitch(&p.ptr, &p.pitch, extent.width, rows);
    if (!e)
        *pitchedDevPtr = p;
    return e;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    size_t free_bytes, total_bytes;
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_error_of(cuMemGetInfo(&free_bytes, &total_bytes));
    if (!e && free)
        *free = free_bytes;
    if (!e && total)
        *total = total_bytes;
    return rt_return(e);
}

/* ---- memory of the host ---- */

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    void *p = NULL;
    cudaError_t e = pHost ? rt_enter() : cudaErrorInvalidValue;
    if (!e && size)
        e = rt_error_of(cuMemHostAlloc(&p, size, flags));
    if (!e)
        *pHost = p;
    return rt_return(e);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *ptr)
{
    cudaError_t e = rt_enter();
    return rt_return(e ? e : rt_error_of(cuMemFreeHost(ptr)));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    RT_CALL(cuMemHostRegister(ptr, size, flags));
}

cudaError_t cudaHostUnregister(void *ptr)
{
    RT_CALL(cuMemHostUnregister(ptr));
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CUdeviceptr p;
    cudaError_t e = pDevice ? rt_enter() : cudaErrorInvalidValue;
    if (!e)
        e = rt_error_of(cuMemHostGetDevicePointer(&p, pHost, flags));
    if (!e)
        *pDevice = (void *)p;
    return rt_return(e);
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    RT_CALL(cuMemHostGetFlags(pFlags, pHost));
}

/* ---- what is known of memory ---- */

cudaError_t rt_pointer_attributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    CUmemorytype type = 0;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    unsigned managed = 0;
    int ordinal = cudaInvalidDeviceId;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &device_pointer, &host_pointer, &managed, &ordinal};
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_error_of(cuPointerGetAttributes(sizeof what / sizeof what[0], what, values, (CUdeviceptr)ptr));
    if (e)
        return e;
    *attributes = (struct cudaPointerAttributes){
        .type = managed                      ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                : type                       ? cudaMemoryTypeDevice
                                             : cudaMemoryTypeUnregistered,
        .device = ordinal,
        .devicePointer = (void *)device_pointer,
        .hostPointer = host_pointer,
    };
    if (!type && !managed) { /* host memory that CUDA does not know */
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = (void *)ptr;
    }
    return cudaSuccess;
}

/* The attributes have the driver's numbers. */
cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                     const void *devPtr, size_t count)
{
    RT_CALL(cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute, (CUdeviceptr)devPtr, count));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes,
                                      size_t numAttributes, const void *devPtr, size_t count)
{
    RT_CALL(cuMemRangeGetAttributes(data, dataSizes, (CUmem_range_attribute *)attributes, numAttributes,
                                    (CUdeviceptr)devPtr, count));
}

/* ---- stream-ordered memory ---- */

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    CUdeviceptr p = 0;
    cudaError_t e = devPtr ? rt_enter() : cudaErrorInvalidValue;
    if (!e && size)
        e = rt_error_of(cuMemAllocAsync(&p, size, hStream));
    if (!e)
        *devPtr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    CUdeviceptr p = 0;
    cudaError_t e = ptr ? rt_enter() : cudaErrorInvalidValue;
    if (!e && size)
        e = rt_error_of(cuMemAllocFromPoolAsync(&p, size, memPool, stream));
    if (!e)
        *ptr = (void *)p;
    return rt_return(e);
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    RT_CALL(cuMemFreeAsync((CUdeviceptr)devPtr, hStream));
}

/* The pool types have the driver's layout, with other names. */
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps) &&
                   sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                   sizeof(struct cudaMemLocation) == sizeof(CUmemLocation),
               "pools are the driver's");

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    RT_CALL(cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    RT_CALL(cuMemPoolDestroy(memPool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    RT_CALL(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    RT_CALL(cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    RT_CALL(cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count)
{
    RT_CALL(cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location)
{
    RT_CALL(cuMemPoolGetAccess((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceGetDefaultMemPool(memPool, device)));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceGetMemPool(memPool, device)));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceSetMemPool(device, memPool)));
}
