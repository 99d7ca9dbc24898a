/* What a kernel calls of the CUDA Runtime API: CUDA C++ Programming Guide, "CUDA Dynamic
 * Parallelism" and "Programmatic Dependent Launch". The functions are the machine's
 * (src/ir/syscalls.def).
 */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#ifdef __CUDA__

#include "driver_types.h"
#include "heddle/define.h"
#include "heddle/device_graphs.h"

#define cudaStreamTailLaunch    ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

/* NESTED(result, name, parameters, arguments): __cudaCDP2NAME(), and cudaNAME() of device code. */
#define HEDDLE_NESTED(result, name, parameters, arguments)                                                             \
    extern "C" __device__ result __cudaCDP2##name parameters;                                                          \
    HEDDLE_INLINE result cuda##name parameters                                                                         \
    {                                                                                                                  \
        return __cudaCDP2##name arguments;                                                                             \
    }
/* The same of one that takes a stream, and its twin for programs whose stream 0 is the thread's
 * own: there its name is a macro for that. */
#ifdef cudaStreamWaitEvent
#define HEDDLE_NESTED_IN_STREAM(name, parameters, arguments)                                                           \
    extern "C" __device__ cudaError_t __cudaCDP2##name parameters;                                                     \
    HEDDLE_NESTED(cudaError_t, name##_ptsz, parameters, arguments)
#else
#define HEDDLE_NESTED_IN_STREAM(name, parameters, arguments)                                                           \
    HEDDLE_NESTED(cudaError_t, name, parameters, arguments)                                                            \
    HEDDLE_NESTED(cudaError_t, name##_ptsz, parameters, arguments)
#endif

HEDDLE_NESTED(cudaError_t, DeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device),
              (value, attr, device))
HEDDLE_NESTED(cudaError_t, DeviceGetLimit, (size_t *value, enum cudaLimit limit), (value, limit))
HEDDLE_NESTED(cudaError_t, DeviceGetCacheConfig, (enum cudaFuncCache * config), (config))
HEDDLE_NESTED(cudaError_t, DeviceGetSharedMemConfig, (enum cudaSharedMemConfig * config), (config))
HEDDLE_NESTED(cudaError_t, GetLastError, (void), ())
HEDDLE_NESTED(cudaError_t, PeekAtLastError, (void), ())
HEDDLE_NESTED(const char *, GetErrorString, (cudaError_t error), (error))
HEDDLE_NESTED(const char *, GetErrorName, (cudaError_t error), (error))
HEDDLE_NESTED(cudaError_t, GetDeviceCount, (int *count), (count))
HEDDLE_NESTED(cudaError_t, GetDevice, (int *device), (device))
HEDDLE_NESTED(cudaError_t, RuntimeGetVersion, (int *version), (version))
HEDDLE_NESTED(cudaError_t, StreamCreateWithFlags, (cudaStream_t * stream, unsigned int flags), (stream, flags))
HEDDLE_NESTED(cudaError_t, StreamDestroy, (cudaStream_t stream), (stream))
HEDDLE_NESTED_IN_STREAM(StreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
                        (stream, event, flags))
HEDDLE_NESTED(cudaError_t, EventCreateWithFlags, (cudaEvent_t * event, unsigned int flags), (event, flags))
HEDDLE_NESTED_IN_STREAM(EventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
HEDDLE_NESTED(cudaError_t, EventDestroy, (cudaEvent_t event), (event))
HEDDLE_NESTED(cudaError_t, FuncGetAttributes, (struct cudaFuncAttributes * attr, const void *func), (attr, func))
HEDDLE_NESTED(cudaError_t, Malloc, (void **pointer, size_t size), (pointer, size))
HEDDLE_NESTED(cudaError_t, Free, (void *pointer), (pointer))
HEDDLE_NESTED_IN_STREAM(MemcpyAsync,
                        (void *to, const void *from, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
                        (to, from, count, kind, stream))
HEDDLE_NESTED_IN_STREAM(Memcpy2DAsync,
                        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind, cudaStream_t stream),
                        (to, to_pitch, from, from_pitch, width, height, kind, stream))
HEDDLE_NESTED_IN_STREAM(Memcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream), (p, stream))
HEDDLE_NESTED_IN_STREAM(MemsetAsync, (void *pointer, int value, size_t count, cudaStream_t stream),
                        (pointer, value, count, stream))
HEDDLE_NESTED_IN_STREAM(Memset2DAsync,
                        (void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
                        (pointer, pitch, value, width, height, stream))
HEDDLE_NESTED_IN_STREAM(Memset3DAsync,
                        (struct cudaPitchedPtr pointer, int value, struct cudaExtent extent, cudaStream_t stream),
                        (pointer, value, extent, stream))
HEDDLE_NESTED(cudaError_t, OccupancyMaxActiveBlocksPerMultiprocessor,
              (int *blocks, const void *func, int threads, size_t shared), (blocks, func, threads, shared))
HEDDLE_NESTED(cudaError_t, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
              (int *blocks, const void *func, int threads, size_t shared, unsigned int flags),
              (blocks, func, threads, shared, flags))
HEDDLE_NESTED(void *, GetParameterBuffer, (size_t alignment, size_t size), (alignment, size))
HEDDLE_NESTED(void *, GetParameterBufferV2, (void *func, dim3 grid, dim3 block, unsigned int shared),
              (func, grid, block, shared))
HEDDLE_NESTED_IN_STREAM(LaunchDevice,
                        (void *func, void *buffer, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream),
                        (func, buffer, grid, block, shared, stream))
HEDDLE_NESTED_IN_STREAM(LaunchDeviceV2, (void *buffer, cudaStream_t stream), (buffer, stream))
HEDDLE_NESTED_IN_STREAM(GraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))

#undef HEDDLE_NESTED
#undef HEDDLE_NESTED_IN_STREAM

/* Of CDP1; CUB and Thrust name it. */
extern "C" __device__ __attribute__((error("a kernel cannot wait for its children: launch what comes after them into "
                                           "cudaStreamTailLaunch"))) cudaError_t
__cudaDeviceSynchronizeDeprecationAvoidance(void);

HEDDLE_INLINE void cudaGridDependencySynchronize()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __asm__ __volatile__("griddepcontrol.wait;" ::: "memory");
#endif
}
HEDDLE_INLINE void cudaTriggerProgrammaticLaunchCompletion()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __asm__ __volatile__("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#include "heddle/nested.h"

/* Of any type: a pointer, a kernel. */
template <class T> HEDDLE_INLINE cudaError_t cudaMalloc(T **pointer, size_t size)
{
    return ::cudaMalloc((void **)pointer, size);
}
template <class T> HEDDLE_INLINE cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *kernel)
{
    return ::cudaFuncGetAttributes(attr, (const void *)kernel);
}
template <class T>
HEDDLE_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int threads,
                                                                        size_t shared)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
template <class T>
HEDDLE_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int threads,
                                                                                 size_t shared, unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, threads, shared,
                                                                    flags);
}

#endif

#endif
