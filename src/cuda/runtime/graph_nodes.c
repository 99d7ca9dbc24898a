/* Graph nodes with the runtime's parameters: by one structure, with symbols, memory, conditions
 * ("CUDA Runtime API", 6.30). */
#include "cuda/runtime/runtime.h"

#include <string.h>

/* ---- one structure for all ---- */

static CUcontext current(void)
{
    CUcontext c = NULL;
    cuCtxGetCurrent(&c);
    return c;
}

cudaError_t rt_kernel_node_of(const struct cudaKernelNodeParamsV2 *p, CUDA_KERNEL_NODE_PARAMS_v3 *to)
{
    CUkernel kernel;
    cudaError_t e = rt_kernel_of(p->func, &kernel);
    if (!e)
        *to = (CUDA_KERNEL_NODE_PARAMS_v3){.func = (CUfunction)kernel,
                                           .gridDimX = p->gridDim.x,
                                           .gridDimY = p->gridDim.y,
                                           .gridDimZ = p->gridDim.z,
                                           .blockDimX = p->blockDim.x,
                                           .blockDimY = p->blockDim.y,
                                           .blockDimZ = p->blockDim.z,
                                           .sharedMemBytes = p->sharedMemBytes,
                                           .kernelParams = p->kernelParams,
                                           .extra = p->extra};
    return e;
}

static cudaError_t copy_of(const struct cudaMemcpyNodeParams *p, CUDA_MEMCPY_NODE_PARAMS *to)
{
    if (p->flags || p->reserved[0] || p->reserved[1] || p->reserved[2])
        return cudaErrorInvalidValue;
    to->copyCtx = current();
    return rt_copy3d_of(&p->copyParams, &to->copyParams);
}

/* The driver checks what follows the members of the node's type. */
static cudaError_t params_of(const struct cudaGraphNodeParams *p, CUgraphNodeParams *to)
{
    _Static_assert(sizeof *p == sizeof *to && sizeof p->reserved1 == sizeof to->reserved1, "structures of one size");
    cudaError_t e = p ? rt_enter() : cudaErrorInvalidValue;
    if (e)
        return e;
    memcpy(to, p, sizeof *to);
    switch (p->type) {
    case cudaGraphNodeTypeKernel: return rt_kernel_node_of(&p->kernel, &to->kernel);
    case cudaGraphNodeTypeMemcpy:
        memset(to->reserved1, 0, sizeof to->reserved1);
        return copy_of(&p->memcpy, &to->memcpy);
    case cudaGraphNodeTypeMemset: to->memset.ctx = current(); return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        if (to->conditional.ctx) /* the runtime's structure has no context */
            return cudaErrorInvalidValue;
        to->conditional.ctx = current();
        return cudaSuccess;
    default: return cudaSuccess;
    }
}

cudaError_t rt_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                        const cudaGraphEdgeData *data, size_t n, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams to;
    cudaError_t e = params_of(p, &to);
    e = e ? e : rt_error_of(cuGraphAddNode_v2(node, graph, after, (const CUgraphEdgeData *)data, n, &to));
    if (!e && p->type == cudaGraphNodeTypeMemAlloc)
        p->alloc.dptr = (void *)to.alloc.dptr;
    if (!e && p->type == cudaGraphNodeTypeConditional)
        p->conditional.phGraph_out = to.conditional.phGraph_out;
    return rt_return(e);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams to;
    cudaError_t e = params_of(nodeParams, &to);
    return rt_return(e ? e : rt_error_of(cuGraphNodeSetParams(node, &to)));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams to;
    cudaError_t e = params_of(nodeParams, &to);
    return rt_return(e ? e : rt_error_of(cuGraphExecNodeSetParams(graphExec, node, &to)));
}

/* ---- symbols ---- */

/* The address of a part of a symbol, if the copy's direction is valid. */
static cudaError_t symbol_at(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                             enum cudaMemcpyKind other, void **p)
{
    CUdeviceptr address;
    size_t bytes;
    cudaError_t e = rt_enter();
    e = e ? e : rt_variable_of(symbol, &address, &bytes);
    if (!e && (offset > bytes || count > bytes - offset))
        e = cudaErrorInvalidValue;
    if (!e && kind != other && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        e = cudaErrorInvalidMemcpyDirection;
    if (!e)
        *p = (char *)address + offset;
    return e;
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                           const void *symbol, const void *src, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyHostToDevice, &p);
    return e ? rt_return(e)
             : cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, p, src, count, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                             const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyDeviceToHost, &p);
    return e ? rt_return(e)
             : cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, dst, p, count, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                 size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyHostToDevice, &p);
    return e ? rt_return(e) : cudaGraphMemcpyNodeSetParams1D(node, p, src, count, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t count,
                                                   size_t offset, enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyDeviceToHost, &p);
    return e ? rt_return(e) : cudaGraphMemcpyNodeSetParams1D(node, dst, p, count, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const void *symbol, const void *src, size_t count, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyHostToDevice, &p);
    return e ? rt_return(e) : cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, p, src, count, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                       const void *symbol, size_t count, size_t offset,
                                                       enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, kind, cudaMemcpyDeviceToHost, &p);
    return e ? rt_return(e) : cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, p, count, kind);
}

/* ---- memory ---- */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "parameters of nodes are the driver's");

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     struct cudaMemAllocNodeParams *nodeParams)
{
    RT_CALL(cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                   (CUDA_MEM_ALLOC_NODE_PARAMS *)nodeParams));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out)
{
    RT_CALL(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params_out));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dptr)
{
    RT_CALL(cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies, (CUdeviceptr)dptr));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    RT_CALL(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)dptr_out));
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceGraphMemTrim(device)));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value)));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    cudaError_t e = rt_check_device(device);
    return rt_return(e ? e : rt_error_of(cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value)));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    RT_CALL(cuGraphDebugDotPrint(graph, path, flags));
}

/* ---- conditions ---- */

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                             unsigned int defaultLaunchValue, unsigned int flags)
{
    _Static_assert(sizeof *pHandle_out == sizeof(CUgraphConditionalHandle), "handles are the driver's");
    RT_CALL(cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)pHandle_out, graph, current(),
                                           defaultLaunchValue, flags));
}
