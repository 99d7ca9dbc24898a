/* Graphs and stream capture ("CUDA Runtime API", 6.29 graph management, 6.4 stream management). A
 * graph's handles are the driver's, and so are most types of node parameters, except those that
 * name a function or a copy of the runtime. graph_versions.c has the differences between versions.
 */
#include "cuda/runtime/runtime.h"

#include <string.h>

static CUcontext current(void)
{
    CUcontext c = NULL;
    cuCtxGetCurrent(&c);
    return c;
}

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    RT_CALL(cuGraphCreate(pGraph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    RT_CALL(cuGraphDestroy(graph));
}

/* ---- kernels ---- */

static cudaError_t kernel_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *to)
{
    struct cudaKernelNodeParamsV2 from;
    CUDA_KERNEL_NODE_PARAMS_v3 made;
    _Static_assert(sizeof from == sizeof *p && sizeof made == sizeof *to, "structures of one layout");
    if (!p)
        return cudaErrorInvalidValue;
    memcpy(&from, p, sizeof from);
    cudaError_t e = rt_kernel_node_of(&from, &made);
    if (!e)
        memcpy(to, &made, sizeof made);
    return e;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p;
    cudaError_t e = kernel_params(pNodeParams, &p);
    return rt_return(e ? e
                       : rt_error_of(cuGraphAddKernelNode_v2(pGraphNode, graph, pDependencies, numDependencies, &p)));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p;
    cudaError_t e = kernel_params(pNodeParams, &p);
    return rt_return(e ? e : rt_error_of(cuGraphKernelNodeSetParams_v2(node, &p)));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p;
    cudaError_t e = kernel_params(pNodeParams, &p);
    return rt_return(e ? e : rt_error_of(cuGraphExecKernelNodeSetParams_v2(hGraphExec, node, &p)));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    cudaError_t e = pNodeParams ? rt_enter() : cudaErrorInvalidValue;
    if (!e)
        e = rt_error_of(cuGraphKernelNodeGetParams_v2(node, &p));
    if (!e)
        *pNodeParams = (struct cudaKernelNodeParams){.func = (void *)rt_function_of((CUkernel)p.func),
                                                     .gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ},
                                                     .blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ},
                                                     .sharedMemBytes = p.sharedMemBytes,
                                                     .kernelParams = p.kernelParams,
                                                     .extra = p.extra};
    return rt_return(e);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value)
{
    return rt_return(rt_error_of(
        cuGraphKernelNodeSetAttribute(hNode, (CUkernelNodeAttrID)attr, (const CUkernelNodeAttrValue *)value)));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value_out)
{
    return rt_return(rt_error_of(
        cuGraphKernelNodeGetAttribute(hNode, (CUkernelNodeAttrID)attr, (CUkernelNodeAttrValue *)value_out)));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    return rt_return(rt_error_of(cuGraphKernelNodeCopyAttributes(hDst, hSrc)));
}

/* ---- copies, fills, host functions ---- */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemcpy3DParms *pCopyParams)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_copy3d_of(pCopyParams, &c);
    return rt_return(
        e ? e : rt_error_of(cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &c, current())));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_copy3d_of(pNodeParams, &c);
    return rt_return(e ? e : rt_error_of(cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &c, current())));
}

/* A one-dimensional copy as a three-dimensional one. */
static struct cudaMemcpy3DParms flat(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){
        .srcPtr = {.ptr = (void *)src}, .dstPtr = {.ptr = dst}, .extent = {count, 1, 1}, .kind = kind};
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                     const void *src, size_t count, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = flat(dst, src, count, kind);
    return cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &p);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                               const void *src, size_t count, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = flat(dst, src, count, kind);
    return cudaGraphExecMemcpyNodeSetParams(hGraphExec, node, &p);
}

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS) &&
                   sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS) &&
                   sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
               "parameters of nodes are the driver's");

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemsetParams *pMemsetParams)
{
    RT_CALL(cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies,
                                 (const CUDA_MEMSET_NODE_PARAMS *)pMemsetParams, current()));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    RT_CALL(cuGraphExecMemsetNodeSetParams(hGraphExec, node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams, current()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                 size_t numDependencies, const struct cudaHostNodeParams *pNodeParams)
{
    RT_CALL(cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies,
                               (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *pNodeParams)
{
    RT_CALL(cuGraphExecHostNodeSetParams(hGraphExec, node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

/* ---- changes of nodes ---- */

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_copy3d_of(pNodeParams, &c);
    return rt_return(e ? e : rt_error_of(cuGraphMemcpyNodeSetParams(node, &c)));
}

static struct cudaPitchedPtr pitched(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                                     size_t width, size_t height)
{
    return (struct cudaPitchedPtr){.ptr = type == CU_MEMORYTYPE_HOST ? (void *)host : (void *)device,
                                   .pitch = pitch,
                                   .xsize = width,
                                   .ysize = height};
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    return from == CU_MEMORYTYPE_HOST ? to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice
           : to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost
                                      : cudaMemcpyDeviceToDevice;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D c;
    size_t bytes = 1;
    cudaError_t e = p ? rt_enter() : cudaErrorInvalidValue;
    if (!e)
        e = rt_error_of(cuGraphMemcpyNodeGetParams(node, &c));
    if (!e && (c.srcArray || c.dstArray))
        e = rt_texel_bytes((cudaArray_t)c.srcArray, (cudaArray_t)c.dstArray, &bytes);
    if (e)
        return rt_return(e);
    *p = (struct cudaMemcpy3DParms){.srcArray = (cudaArray_t)c.srcArray,
                                    .srcPos = {c.srcXInBytes / bytes, c.srcY, c.srcZ},
                                    .dstArray = (cudaArray_t)c.dstArray,
                                    .dstPos = {c.dstXInBytes / bytes, c.dstY, c.dstZ},
                                    .extent = {c.WidthInBytes / bytes, c.Height, c.Depth},
                                    .kind = kind_of(c.srcMemoryType, c.dstMemoryType)};
    if (!c.srcArray)
        p->srcPtr = pitched(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch, c.WidthInBytes, c.srcHeight);
    if (!c.dstArray)
        p->dstPtr = pitched(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, c.WidthInBytes, c.dstHeight);
    return rt_return(cudaSuccess);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                           enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = flat(dst, src, count, kind);
    return cudaGraphMemcpyNodeSetParams(node, &p);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    RT_CALL(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)pNodeParams));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams)
{
    RT_CALL(cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams)
{
    RT_CALL(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams)
{
    RT_CALL(cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    RT_CALL(cuGraphEventRecordNodeGetEvent(node, event_out));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RT_CALL(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    RT_CALL(cuGraphEventWaitNodeGetEvent(node, event_out));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RT_CALL(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event)
{
    RT_CALL(cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event)
{
    RT_CALL(cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event));
}

/* ---- other nodes, and what is known of nodes ---- */

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                  size_t numDependencies)
{
    RT_CALL(cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph)
{
    RT_CALL(cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    RT_CALL(cuGraphChildGraphNodeGetGraph(node, pGraph));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph)
{
    RT_CALL(cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaEvent_t event)
{
    RT_CALL(cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaEvent_t event)
{
    RT_CALL(cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    RT_CALL(cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned references,
                                 unsigned flags)
{
    RT_CALL(cuUserObjectCreate(object, data, destroy, references, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    RT_CALL(cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    RT_CALL(cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags)
{
    RT_CALL(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    RT_CALL(cuGraphReleaseUserObject(graph, object, count));
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    RT_CALL(cuGraphClone(pGraphClone, originalGraph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph)
{
    RT_CALL(cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    RT_CALL(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
    RT_CALL(cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    RT_CALL(cuGraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled)
{
    RT_CALL(cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int *isEnabled)
{
    RT_CALL(cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

/* ---- executable graphs ---- */

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    RT_CALL(cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    RT_CALL(cuGraphInstantiateWithParams(pGraphExec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    RT_CALL(cuGraphExecGetFlags(graphExec, (cuuint64_t *)flags));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    RT_CALL(cuGraphUpload(graphExec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    RT_CALL(cuGraphLaunch(graphExec, stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    RT_CALL(cuGraphExecDestroy(graphExec));
}

/* ---- capture ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    RT_CALL(cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                          enum cudaStreamCaptureMode mode)
{
    RT_CALL(cuStreamBeginCaptureToGraph(stream, graph, dependencies, (const CUgraphEdgeData *)dependencyData,
                                        numDependencies, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    RT_CALL(cuStreamEndCapture(stream, pGraph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    RT_CALL(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)pCaptureStatus));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    RT_CALL(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}
