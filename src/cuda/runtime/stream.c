/* Streams and events ("CUDA Runtime API", 6.4 stream management, 6.5 event management). */
#include "cuda/runtime/runtime.h"

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    RT_CALL(cuStreamCreate(pStream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    return cudaStreamCreateWithFlags(pStream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    RT_CALL(cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return rt_return(cudaErrorInvalidResourceHandle);
    RT_CALL(cuStreamDestroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    RT_CALL(cuStreamSynchronize(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    RT_CALL(cuStreamQuery(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    RT_CALL(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                  unsigned int flags)
{
    RT_CALL(cuStreamAddCallback(stream, (CUstreamCallback)(void *)callback, userData, flags));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags)
{
    RT_CALL(cuStreamAttachMemAsync(stream, (CUdeviceptr)devPtr, length, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    RT_CALL(cuStreamGetPriority(hStream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    RT_CALL(cuStreamGetFlags(hStream, flags));
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    RT_CALL(cuStreamGetId(hStream, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    RT_CALL(cuStreamGetDevice(hStream, device));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue *value)
{
    RT_CALL(cuStreamSetAttribute(hStream, (CUstreamAttrID)attr, (const CUstreamAttrValue *)value));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue *value_out)
{
    RT_CALL(cuStreamGetAttribute(hStream, (CUstreamAttrID)attr, (CUstreamAttrValue *)value_out));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    RT_CALL(cuStreamCopyAttributes(dst, src));
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    RT_CALL(cuEventCreate(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RT_CALL(cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    RT_CALL(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    RT_CALL(cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    RT_CALL(cuEventSynchronize(event));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    RT_CALL(cuEventDestroy(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    RT_CALL(cuEventElapsedTime(ms, start, end));
}
