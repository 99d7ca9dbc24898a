/* What a kernel calls of graphs: CUDA Runtime API, "Device Runtime". */
#ifndef HEDDLE_DEVICE_GRAPHS_H
#define HEDDLE_DEVICE_GRAPHS_H

#include "driver_types.h"
#include "heddle/define.h"

#define cudaStreamGraphTailLaunch             (cudaStream_t)0x0100000000000000
#define cudaStreamGraphFireAndForget          (cudaStream_t)0x0200000000000000
#define cudaStreamGraphFireAndForgetAsSibling (cudaStream_t)0x0300000000000000

extern "C" {
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
__device__ cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const void *value,
                                                   size_t size);
__device__ cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable);
__device__ cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 gridDim);
__device__ cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate *updates, size_t updateCount);
}

__device__ inline cudaGraphExec_t cudaGetCurrentGraphExec(void)
{
    unsigned long long exec;
    __asm__("mov.u64 %0, %%current_graph_exec;" : "=l"(exec));
    return (cudaGraphExec_t)exec;
}

template <class T>
__device__ inline cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const T &value)
{
    return cudaGraphKernelNodeSetParam(node, offset, &value, sizeof(T));
}

#endif
