/* Launches, and attributes of a kernel ("CUDA Runtime API", 6.7 execution control, 6.8
 * occupancy). */
#include "cuda/runtime/runtime.h"

/* ---- the configuration of <<<>>> ---- */

/* nvcc turns k<<<g, b, s, t>>>(args) into a push and a call of the kernel's stub, which pops. The
 * arguments are evaluated in between and may launch kernels themselves, so this is a stack. */
struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

enum { MAX_CONFIGURATIONS = 64 };

static _Thread_local struct {
    struct configuration at[MAX_CONFIGURATIONS];
    unsigned n;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, struct CUstream_st *stream)
{
    if (pushed.n == MAX_CONFIGURATIONS)
        return (unsigned)rt_return(cudaErrorLaunchMaxDepthExceeded);
    pushed.at[pushed.n++] = (struct configuration){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream)
{
    if (!pushed.n)
        return rt_return(cudaErrorMissingConfiguration);
    const struct configuration *c = &pushed.at[--pushed.n];
    *gridDim = c->grid;
    *blockDim = c->block;
    *sharedMem = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* ---- launches ---- */

/* Does a size fit three consecutive attributes: ..._DIM_X, _Y and _Z? */
static bool fits(dim3 size, int x, int device)
{
    const unsigned sizes[] = {size.x, size.y, size.z};
    for (int i = 0; i < 3; i++) {
        int most = 0;
        cuDeviceGetAttribute(&most, (CUdevice_attribute)(x + i), device);
        if (!sizes[i] || sizes[i] > (unsigned)most)
            return false;
    }
    return true;
}

/* The driver returns "invalid value" for every bad argument; runtimes before 13 distinguish bad
 * dimensions. */
static cudaError_t launch_error(CUresult r, dim3 grid, dim3 block)
{
    int device, most = 0;
    if (r != CUDA_ERROR_INVALID_VALUE || rt_current_device(&device))
        return rt_error_of(r);
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    bool good = fits(grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device) &&
                fits(block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device) &&
                (size_t)block.x * block.y * block.z <= (size_t)most;
    return good ? cudaErrorInvalidValue : rt_bad_dimensions();
}

static cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (shared <= UINT32_MAX)
        r = cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared,
                           stream, args, NULL);
    return r ? launch_error(r, grid, block) : cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                             cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t e = rt_kernel_to_launch(func, &kernel);
    return rt_return(e ? e : launch(kernel, gridDim, blockDim, args, sharedMem, stream));
}

/* `kernel`: from __cudaGetKernel. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                               cudaStream_t stream)
{
    return kernel ? cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream)
                  : rt_return(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                        cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t e = sharedMem > UINT32_MAX ? cudaErrorInvalidValue : rt_kernel_to_launch(func, &kernel);
    if (e)
        return rt_return(e);
    CUresult r = cuLaunchCooperativeKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                                           blockDim.z, (unsigned)sharedMem, stream, args);
    return rt_return(r ? launch_error(r, gridDim, blockDim) : cudaSuccess);
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value),
               "attributes of launches are the driver's");

static CUlaunchConfig driver_config(const cudaLaunchConfig_t *c)
{
    return (CUlaunchConfig){.gridDimX = c->gridDim.x,
                            .gridDimY = c->gridDim.y,
                            .gridDimZ = c->gridDim.z,
                            .blockDimX = c->blockDim.x,
                            .blockDimY = c->blockDim.y,
                            .blockDimZ = c->blockDim.z,
                            .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
                            .hStream = c->stream,
                            .attrs = (CUlaunchAttribute *)c->attrs,
                            .numAttrs = c->numAttrs};
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    CUkernel kernel;
    cudaError_t e =
        config && config->dynamicSmemBytes <= UINT32_MAX ? rt_kernel_to_launch(func, &kernel) : cudaErrorInvalidValue;
    if (e)
        return rt_return(e);
    CUlaunchConfig c = driver_config(config);
    CUresult r = cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL);
    return rt_return(r ? launch_error(r, config->gridDim, config->blockDim) : cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    RT_CALL(cuLaunchHostFunc(stream, fn, userData));
}

/* ---- kernels ---- */

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    CUkernel kernel = NULL;
    cudaError_t e = kernelPtr ? rt_kernel_of(entryFuncAddr, &kernel) : cudaErrorInvalidValue;
    if (!e)
        *kernelPtr = kernel;
    return rt_return(e);
}

/* nvcc's stubs call this once, keep the kernel, and ignore errors. If there is no kernel, the
 * function itself stands for it, and its launch reports why. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *hostFun)
{
    cudaError_t e = cudaGetKernel(kernel, hostFun);
    if (e && kernel)
        *kernel = (cudaKernel_t)hostFun;
    return e;
}

/* Ends an entry point by a driver call about the kernel of `func`; `call` uses `kernel` and
 * `device`. */
#define KERNEL_CALL(func, call)                                                                                        \
    do {                                                                                                               \
        CUkernel kernel;                                                                                               \
        int device;                                                                                                    \
        cudaError_t error = rt_kernel_of(func, &kernel);                                                               \
        if (!error)                                                                                                    \
            error = rt_current_device(&device);                                                                        \
        return rt_return(error ? error : rt_error_of(call));                                                           \
    } while (0)

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CUkernel kernel;
    cudaError_t e = rt_kernel_of(symbolPtr, &kernel);
    if (e == rt_no_kernel())
        e = cudaErrorInvalidDeviceFunction;
    return rt_return(e ? e : rt_error_of(cuKernelGetFunction(functionPtr, kernel)));
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    /* enum cudaFuncAttribute has the driver's numbers */
    KERNEL_CALL(func, cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, device));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    KERNEL_CALL(func, cuKernelSetCacheConfig(kernel, (CUfunc_cache)cacheConfig, device));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    /* "has no effect" since compute capability 5.0 */
    KERNEL_CALL(func, (unsigned)config > cudaSharedMemBankSizeEightByte ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    KERNEL_CALL(func, cuKernelGetName(name, kernel));
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    KERNEL_CALL(func, cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags)
{
    KERNEL_CALL(func, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (CUfunction)kernel, blockSize,
                                                                           dynamicSMemSize, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                          size_t dynamicSMemSize)
{
    KERNEL_CALL(func,
                cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (CUfunction)kernel, blockSize, dynamicSMemSize));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                      int blockSize)
{
    KERNEL_CALL(func,
                cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (CUfunction)kernel, numBlocks, blockSize));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func, const cudaLaunchConfig_t *config)
{
    CUlaunchConfig c = config ? driver_config(config) : (CUlaunchConfig){0};
    KERNEL_CALL(func, cuOccupancyMaxPotentialClusterSize(clusterSize, (CUfunction)kernel, config ? &c : NULL));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *config)
{
    CUlaunchConfig c = config ? driver_config(config) : (CUlaunchConfig){0};
    KERNEL_CALL(func, cuOccupancyMaxActiveClusters(numClusters, (CUfunction)kernel, config ? &c : NULL));
}

/* ---- attributes of kernels ---- */

#define ATTRIBUTE(field, number)                                                                                       \
    {number, offsetof(struct cudaFuncAttributes, field), sizeof((struct cudaFuncAttributes *)0)->field == 8}
static const struct {
    CUfunction_attribute number;
    size_t offset;
    bool wide; /* a size_t; else an int */
} attributes[] = {
    ATTRIBUTE(sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
    ATTRIBUTE(constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
    ATTRIBUTE(localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
    ATTRIBUTE(maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    ATTRIBUTE(numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS),
    ATTRIBUTE(ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION),
    ATTRIBUTE(binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
    ATTRIBUTE(cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA),
    ATTRIBUTE(maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
    ATTRIBUTE(preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
    ATTRIBUTE(clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
    ATTRIBUTE(requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
    ATTRIBUTE(requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
    ATTRIBUTE(requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
    ATTRIBUTE(clusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE),
    ATTRIBUTE(nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
};
#undef ATTRIBUTE

cudaError_t rt_func_attributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUkernel kernel;
    int device, value;
    *attr = (struct cudaFuncAttributes){0};
    cudaError_t e = rt_kernel_of(func, &kernel);
    if (!e)
        e = rt_current_device(&device);
    for (size_t i = 0; !e && i < sizeof attributes / sizeof attributes[0]; i++) {
        char *field = (char *)attr + attributes[i].offset;
        e = rt_error_of(cuKernelGetAttribute(&value, attributes[i].number, kernel, device));
        if (!e && attributes[i].wide)
            *(size_t *)(void *)field = (size_t)value;
        else if (!e)
            *(int *)(void *)field = value;
    }
    return e;
}
