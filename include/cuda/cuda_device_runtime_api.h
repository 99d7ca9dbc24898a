/* What a kernel calls of the CUDA Runtime API: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism" and "Programmatic
 * Dependent Launch". Heddle's kernels launch no kernels. CUB and Thrust have functions that would, for both sides: they compile
 * by what is declared here, and a kernel that comes to call it is an error.
 */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#ifdef __CUDA__

#include "driver_types.h"
#include "heddle/define.h"
#include "heddle/device_graphs.h"

#define HEDDLE_NO_DYNAMIC_PARALLELISM                                                                                  \
    __device__ __attribute__((error("a kernel launches no kernels here: Heddle has no dynamic parallelism")))

extern "C" {
HEDDLE_NO_DYNAMIC_PARALLELISM void *cudaGetParameterBuffer(size_t alignment, size_t size);
HEDDLE_NO_DYNAMIC_PARALLELISM void *cudaGetParameterBufferV2(void *func, dim3 gridDimension, dim3 blockDimension,
                                                             unsigned int sharedMemSize);
HEDDLE_NO_DYNAMIC_PARALLELISM cudaError_t cudaLaunchDevice(void *func, void *parameterBuffer, dim3 gridDimension,
                                                           dim3 blockDimension, unsigned int sharedMemSize,
                                                           cudaStream_t stream);
HEDDLE_NO_DYNAMIC_PARALLELISM cudaError_t cudaLaunchDeviceV2(void *parameterBuffer, cudaStream_t stream);
HEDDLE_NO_DYNAMIC_PARALLELISM cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}
#undef HEDDLE_NO_DYNAMIC_PARALLELISM

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

#endif

#endif
