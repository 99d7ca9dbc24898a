/* The entry points for which stream 0 is the calling thread's own (--default-stream per-thread):
 * the name with _ptsz where it takes a stream, with _ptds where it does the work at once ("CUDA
 * Runtime API", 3 "Stream synchronization behavior").
 */
#include "cuda/runtime/runtime.h"

#define PTSZ(name, parameters, arguments)                                                                              \
    RT_API cudaError_t name##_ptsz parameters;                                                                         \
    cudaError_t name##_ptsz parameters                                                                                 \
    {                                                                                                                  \
        return name arguments;                                                                                         \
    }

/* Submits the work to the thread's own stream, and waits for it. */
#define PTDS(name, parameters, arguments)                                                                              \
    RT_API cudaError_t name##_ptds parameters;                                                                         \
    cudaError_t name##_ptds parameters                                                                                 \
    {                                                                                                                  \
        cudaError_t e = name##Async arguments;                                                                         \
        return e ? e : cudaStreamSynchronize(cudaStreamPerThread);                                                     \
    }

PTDS(cudaMemcpy, (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind),
     (dst, src, n, kind, cudaStreamPerThread))
PTDS(cudaMemcpy2D,
     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind),
     (dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread))
PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p, cudaStreamPerThread))
PTDS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p, cudaStreamPerThread))
PTDS(cudaMemset, (void *p, int value, size_t n), (p, value, n, cudaStreamPerThread))
PTDS(cudaMemset2D, (void *p, size_t pitch, int value, size_t width, size_t height),
     (p, pitch, value, width, height, cudaStreamPerThread))
PTDS(cudaMemset3D, (struct cudaPitchedPtr p, int value, struct cudaExtent extent),
     (p, value, extent, cudaStreamPerThread))
PTDS(cudaMemcpyToSymbol, (const void *symbol, const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind),
     (symbol, src, n, offset, kind, cudaStreamPerThread))
PTDS(cudaMemcpyFromSymbol, (void *dst, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind),
     (dst, symbol, n, offset, kind, cudaStreamPerThread))

PTSZ(cudaMemcpyAsync, (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t s),
     (dst, src, n, kind, rt_own(s)))
PTSZ(cudaMemcpy2DAsync,
     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
      cudaStream_t s),
     (dst, dpitch, src, spitch, width, height, kind, rt_own(s)))
PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), (p, rt_own(s)))
PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t s), (p, rt_own(s)))
PTSZ(cudaMemcpyToSymbolAsync,
     (const void *symbol, const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t s),
     (symbol, src, n, offset, kind, rt_own(s)))
PTSZ(cudaMemcpyFromSymbolAsync,
     (void *dst, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t s),
     (dst, symbol, n, offset, kind, rt_own(s)))
PTSZ(cudaMemsetAsync, (void *p, int value, size_t n, cudaStream_t s), (p, value, n, rt_own(s)))
PTSZ(cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s),
     (p, pitch, value, width, height, rt_own(s)))
PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t s),
     (p, value, extent, rt_own(s)))
PTSZ(cudaMallocAsync, (void **p, size_t n, cudaStream_t s), (p, n, rt_own(s)))
PTSZ(cudaMallocFromPoolAsync, (void **p, size_t n, cudaMemPool_t pool, cudaStream_t s), (p, n, pool, rt_own(s)))
PTSZ(cudaFreeAsync, (void *p, cudaStream_t s), (p, rt_own(s)))
PTSZ(cudaStreamSynchronize, (cudaStream_t s), (rt_own(s)))
PTSZ(cudaStreamQuery, (cudaStream_t s), (rt_own(s)))
PTSZ(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags), (rt_own(s), event, flags))
PTSZ(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags),
     (rt_own(s), f, data, flags))
PTSZ(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned flags), (rt_own(s), p, n, flags))
PTSZ(cudaStreamGetPriority, (cudaStream_t s, int *priority), (rt_own(s), priority))
PTSZ(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), (rt_own(s), flags))
PTSZ(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), (rt_own(s), id))
PTSZ(cudaStreamGetDevice, (cudaStream_t s, int *device), (rt_own(s), device))
PTSZ(cudaStreamSetAttribute, (cudaStream_t s, cudaStreamAttrID id, const cudaStreamAttrValue *value),
     (rt_own(s), id, value))
PTSZ(cudaStreamGetAttribute, (cudaStream_t s, cudaStreamAttrID id, cudaStreamAttrValue *value), (rt_own(s), id, value))
PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (rt_own(to), rt_own(from)))
PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t s), (event, rt_own(s)))
PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t s, unsigned flags), (event, rt_own(s), flags))
PTSZ(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *data), (rt_own(s), f, data))
PTSZ(cudaLaunchKernel, (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s),
     (f, grid, block, args, shared, rt_own(s)))
PTSZ(cudaLaunchCooperativeKernel, (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s),
     (f, grid, block, args, shared, rt_own(s)))
PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t s), (exec, rt_own(s)))
PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t s), (exec, rt_own(s)))
PTSZ(cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode mode), (rt_own(s), mode))
PTSZ(cudaStreamBeginCaptureToGraph,
     (cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *data, size_t n,
      enum cudaStreamCaptureMode mode),
     (rt_own(s), graph, after, data, n, mode))
PTSZ(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *graph), (rt_own(s), graph))
PTSZ(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), (rt_own(s), status))

RT_API cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                       cudaGraphInstantiateParams *params);
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams *params)
{
    if (params)
        params->uploadStream = rt_own(params->uploadStream);
    return cudaGraphInstantiateWithParams(exec, graph, params);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                    cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, rt_own(stream));
}

RT_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    if (!config)
        return rt_return(cudaErrorInvalidValue);
    cudaLaunchConfig_t c = *config;
    c.stream = rt_own(c.stream);
    return cudaLaunchKernelExC(&c, func, args);
}

RT_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function, unsigned version,
                                                         unsigned long long flags,
                                                         enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function, unsigned version,
                                                  unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult *status)
{
    if (flags == cudaEnableDefault)
        flags = cudaEnablePerThreadDefaultStream;
    return rt_driver_entry_point(symbol, function, version, flags, status);
}
