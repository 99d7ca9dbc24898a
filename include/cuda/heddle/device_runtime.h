/* Functions of CUDA's device runtime that Thrust and CUB name and, on the host's behalf, never call: declared, and not there,
 * since a kernel launches no kernels. Whoever calls one is told its name when the program is loaded. */
#ifndef HEDDLE_DEVICE_RUNTIME_H
#define HEDDLE_DEVICE_RUNTIME_H

#include "../cuda_runtime_api.h"

extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void *function, void *parameters, dim3 grid, dim3 block, unsigned shared,
                                        cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance();
}

#endif
