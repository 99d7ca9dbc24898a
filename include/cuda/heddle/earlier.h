/* What CUDA 13 has taken back from the runtime's interface, for sources of CUDA 11 and
 * 12: functions that have other parameters now, and names of them that ended in _v2
 * ("CUDA Toolkit Release Notes", CUDA 13.0; "CUDA Runtime API" of CUDA 12). nvcc 13
 * refuses them, so each is deprecated.
 *
 * They are templates, so that a program which has such a function for CUDA 13 gets its own, and so
 * that a call which fits CUDA 13's function is one of that. */
#ifndef HEDDLE_EARLIER_H
#define HEDDLE_EARLIER_H

#include "cuda_runtime_api.h"

#define HEDDLE_EARLIER(instead) template <int = 0> [[deprecated("CUDA 13 has " instead)]] inline cudaError_t

/* ---- threads ---- */

HEDDLE_EARLIER("cudaDeviceSynchronize instead") cudaThreadSynchronize()
{
    return ::cudaDeviceSynchronize();
}
HEDDLE_EARLIER("cudaDeviceReset instead") cudaThreadExit()
{
    return ::cudaDeviceReset();
}
HEDDLE_EARLIER("cudaDeviceGetLimit instead") cudaThreadGetLimit(size_t *pValue, cudaLimit limit)
{
    return ::cudaDeviceGetLimit(pValue, limit);
}
HEDDLE_EARLIER("cudaDeviceSetLimit instead") cudaThreadSetLimit(cudaLimit limit, size_t value)
{
    return ::cudaDeviceSetLimit(limit, value);
}
HEDDLE_EARLIER("cudaDeviceGetCacheConfig instead") cudaThreadGetCacheConfig(cudaFuncCache *pCacheConfig)
{
    return ::cudaDeviceGetCacheConfig(pCacheConfig);
}
HEDDLE_EARLIER("cudaDeviceSetCacheConfig instead") cudaThreadSetCacheConfig(cudaFuncCache cacheConfig)
{
    return ::cudaDeviceSetCacheConfig(cacheConfig);
}

/* ---- managed memory: places were numbers of devices ---- */

inline cudaMemLocation heddle_location_of(int device)
{
    const bool is_host = device == cudaCpuDeviceId;
    return {is_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, is_host ? 0 : device};
}
HEDDLE_EARLIER("a cudaMemLocation for the device")
cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream = 0)
{
    return ::cudaMemPrefetchAsync(devPtr, count, heddle_location_of(dstDevice), 0, stream);
}
HEDDLE_EARLIER("a cudaMemLocation for the device")
cudaMemAdvise(const void *devPtr, size_t count, cudaMemoryAdvise advice, int device)
{
    return ::cudaMemAdvise(devPtr, count, advice, heddle_location_of(device));
}

/* ---- graphs: edges had no data ---- */

HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                         size_t numDependencies)
{
    return ::cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                            size_t numDependencies)
{
    return ::cudaGraphRemoveDependencies(graph, from, to, nullptr, numDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *numEdges)
{
    return ::cudaGraphGetEdges(graph, from, to, nullptr, numEdges);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, size_t *pNumDependencies)
{
    return ::cudaGraphNodeGetDependencies(node, pDependencies, nullptr, pNumDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, size_t *pNumDependentNodes)
{
    return ::cudaGraphNodeGetDependentNodes(node, pDependentNodes, nullptr, pNumDependentNodes);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                 size_t numDependencies, cudaGraphNodeParams *nodeParams)
{
    return ::cudaGraphAddNode(pGraphNode, graph, pDependencies, nullptr, numDependencies, nodeParams);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                         cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return ::cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                      numDependencies_out);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t numDependencies,
                                    unsigned flags = 0)
{
    return ::cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, numDependencies, flags);
}

#undef HEDDLE_EARLIER

/* ---- names ---- */

#define cudaGetDeviceProperties_v2             cudaGetDeviceProperties
#define cudaEventElapsedTime_v2                cudaEventElapsedTime
#define cudaMemAdvise_v2                       cudaMemAdvise
#define cudaMemPrefetchAsync_v2                cudaMemPrefetchAsync
#define cudaGraphAddDependencies_v2            cudaGraphAddDependencies
#define cudaGraphRemoveDependencies_v2         cudaGraphRemoveDependencies
#define cudaGraphGetEdges_v2                   cudaGraphGetEdges
#define cudaGraphNodeGetDependencies_v2        cudaGraphNodeGetDependencies
#define cudaGraphNodeGetDependentNodes_v2      cudaGraphNodeGetDependentNodes
#define cudaGraphAddNode_v2                    cudaGraphAddNode
#define cudaStreamGetCaptureInfo_v2            cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo_v3            cudaStreamGetCaptureInfo
#define cudaStreamUpdateCaptureDependencies_v2 cudaStreamUpdateCaptureDependencies
#define cudaSignalExternalSemaphoresAsync_v2   cudaSignalExternalSemaphoresAsync
#define cudaWaitExternalSemaphoresAsync_v2     cudaWaitExternalSemaphoresAsync

#endif
