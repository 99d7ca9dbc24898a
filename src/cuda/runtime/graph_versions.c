/* Graph functions whose signatures differ between the major versions ("CUDA Runtime API", 6.30,
 * 6.4). Compiled once for each, like versions.c.
 */
#include "cuda/runtime/runtime.h"

/* The state of a capture; any output may be NULL. */
static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                size_t *n)
{
    RT_CALL(cuStreamGetCaptureInfo_v3(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph, nodes,
                                      (const CUgraphEdgeData **)edges, n));
}

static cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    const cudaGraphEdgeData *edges, size_t n)
{
    RT_CALL(cuGraphAddDependencies_v2(graph, from, to, (const CUgraphEdgeData *)edges, n));
}

static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    RT_CALL(cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info));
}

#if CUDART_MAJOR > 11

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    return update(hGraphExec, hGraph, resultInfo);
}

#else

RT_API cudaError_t old_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error, char *log,
                                   size_t bytes) __asm__("cudaGraphInstantiate");
cudaError_t old_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error, char *log, size_t bytes)
{
    RT_CALL(cuGraphInstantiate_v2(exec, graph, error, log, bytes));
}

RT_API cudaError_t old_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error,
                              enum cudaGraphExecUpdateResult *result) __asm__("cudaGraphExecUpdate");
cudaError_t old_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error,
                       enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {0};
    cudaError_t e = update(exec, graph, &info);
    if (error)
        *error = info.errorNode;
    if (result)
        *result = info.result;
    return e;
}

#endif

#if CUDART_MAJOR == 13

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    return add_dependencies(graph, from, to, edgeData, numDependencies);
}

#define CAPTURE_INFO_ALL cudaStreamGetCaptureInfo
#else

RT_API cudaError_t old_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t n) __asm__("cudaGraphAddDependencies");
cudaError_t old_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
    return add_dependencies(graph, from, to, NULL, n);
}

#define CAPTURE_INFO_ALL cudaStreamGetCaptureInfo_v3
#define CAPTURE_INFO(name, own)                                                                                        \
    RT_API cudaError_t old_##name(cudaStream_t stream, enum cudaStreamCaptureStatus *status,                           \
                                  unsigned long long *id) __asm__(#name);                                              \
    cudaError_t old_##name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)          \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, NULL, NULL, NULL, NULL);                                          \
    }
#define CAPTURE_INFO_2(name, own)                                                                                      \
    RT_API cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n);                             \
    cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,                \
                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n)                                     \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, graph, nodes, NULL, n);                                           \
    }
CAPTURE_INFO(cudaStreamGetCaptureInfo, )
CAPTURE_INFO(cudaStreamGetCaptureInfo_ptsz, rt_own)
CAPTURE_INFO_2(cudaStreamGetCaptureInfo_v2, )
CAPTURE_INFO_2(cudaStreamGetCaptureInfo_v2_ptsz, rt_own)

#endif

/* Sets the nodes that the stream's next node depends on; with the edges' data since CUDA 13, or in
 * CUDA 12 by a function with _v2. */
static cudaError_t set_dependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges,
                                    size_t n, unsigned flags)
{
    RT_CALL(cuStreamUpdateCaptureDependencies_v2(stream, nodes, (const CUgraphEdgeData *)edges, n, flags));
}

#define SET_DEPENDENCIES(name, own)                                                                                    \
    RT_API cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n,                                \
                                 unsigned flags) __asm__(#name);                                                       \
    cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n, unsigned flags)                       \
    {                                                                                                                  \
        return set_dependencies(own(stream), nodes, NULL, n, flags);                                                   \
    }
#define SET_DEPENDENCIES_2(name, own)                                                                                  \
    RT_API cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges,          \
                                 size_t n, unsigned flags) __asm__(#name);                                             \
    cudaError_t name##_of(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n,       \
                          unsigned flags)                                                                              \
    {                                                                                                                  \
        return set_dependencies(own(stream), nodes, edges, n, flags);                                                  \
    }
#if CUDART_MAJOR == 13
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies, )
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_ptsz, rt_own)
#else
SET_DEPENDENCIES(cudaStreamUpdateCaptureDependencies, )
SET_DEPENDENCIES(cudaStreamUpdateCaptureDependencies_ptsz, rt_own)
#endif
#if CUDART_MAJOR == 12
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_v2, )
SET_DEPENDENCIES_2(cudaStreamUpdateCaptureDependencies_v2_ptsz, rt_own)
#endif

#if CUDART_MAJOR == 12

RT_API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t n)
{
    return add_dependencies(graph, from, to, edges, n);
}

#endif

#if CUDART_MAJOR > 11

#define NAME_(name, suffix) name##suffix
#define NAME(name, suffix)  NAME_(name, suffix)
#define CAPTURE_INFO_3(name, own)                                                                                      \
    RT_API cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,         \
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,        \
                            size_t *n);                                                                                \
    cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,                \
                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *n)    \
    {                                                                                                                  \
        return capture_info(own(stream), status, id, graph, nodes, edges, n);                                          \
    }
CAPTURE_INFO_3(CAPTURE_INFO_ALL, )
CAPTURE_INFO_3(NAME(CAPTURE_INFO_ALL, _ptsz), rt_own)

#endif
