/* Entry points of stream capture ("CUDA Driver API", 6.17); capture.h describes it. */
#include "cuda/state/capture.h"

#include "cuda/state/graph.h"
#include "cuda/state/streams.h"

/* Finds a stream that may capture; for the legacy stream, the error that it gets. */
static CUresult capturable(CUstream handle, struct CUstream_st **s, CUresult legacy)
{
    CUcontext c;
    TRY(stream_object(handle, s, &c));
    if (*s)
        return CUDA_SUCCESS;
    TRY(capture_legacy(c));
    return legacy;
}

CU_API CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    struct CUstream_st *s;
    TRY(state_ready());
    NEED((unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    TRY(capturable(handle, &s, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    return capture_begin(s, NULL, NULL, NULL, 0, mode);
}

CU_API CUresult cuStreamBeginCapture(CUstream s)
{
    return cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CU_API CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *after,
                                            const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode)
{
    struct CUstream_st *s;
    struct CUgraph_st *g;
    TRY(graph_of(graph, &g));
    NEED((unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED && (after || !n));
    TRY(capturable(handle, &s, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    return capture_begin(s, g, after, data, n, mode);
}

/* If the caller wants no graph, the captured graph is freed, unless it belongs to a node. */
CU_API CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    struct CUstream_st *s;
    struct CUgraph_st *made = NULL;
    CUresult r = capturable(handle, &s, CUDA_ERROR_ILLEGAL_STATE);
    r = r ? r : capture_end(s, &made);
    if (graph)
        *graph = made ? made->handle : NULL;
    else if (made && !made->is_child)
        graph_end(made);
    return r;
}

CU_API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    struct CUstream_st *s;
    CUcontext c;
    TRY(stream_object(handle, &s, &c));
    NEED(status);
    if (!s && capture_blocks_legacy(c))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = s ? capture_status(s) : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **after, const CUgraphEdgeData **edges,
                                          size_t *n)
{
    struct CUstream_st *s;
    TRY(cuStreamIsCapturing(handle, status));
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    TRY(stream_object(handle, &s, NULL));
    return capture_look(s, id, graph, after, edges, n);
}

CU_API CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                          const CUgraphNode **after, size_t *n)
{
    return cuStreamGetCaptureInfo_v3(s, status, id, graph, after, NULL, n);
}

CU_API CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return cuStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL);
}

CU_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes, const CUgraphEdgeData *data,
                                                     size_t n, unsigned flags)
{
    struct CUstream_st *s;
    TRY(capturable(handle, &s, CUDA_ERROR_ILLEGAL_STATE));
    return capture_set_tail(s, nodes, data, n, flags);
}

CU_API CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *nodes, size_t n, unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(s, nodes, NULL, n, flags);
}

#define OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

CU_API CUresult cuStreamBeginCapture_v2_ptsz(CUstream s, CUstreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(OWN(s), mode);
}

CU_API CUresult cuStreamBeginCapture_ptsz(CUstream s)
{
    return cuStreamBeginCapture(OWN(s));
}

CU_API CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream s, CUgraph graph, const CUgraphNode *after,
                                                 const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode)
{
    return cuStreamBeginCaptureToGraph(OWN(s), graph, after, data, n, mode);
}

CU_API CUresult cuStreamGetCaptureInfo_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return cuStreamGetCaptureInfo(OWN(s), status, id);
}

CU_API CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream s, CUgraphNode *nodes, const CUgraphEdgeData *data,
                                                          size_t n, unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(OWN(s), nodes, data, n, flags);
}

CU_API CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream s, CUgraphNode *nodes, size_t n, unsigned flags)
{
    return cuStreamUpdateCaptureDependencies(OWN(s), nodes, n, flags);
}

CU_API CUresult cuStreamEndCapture_ptsz(CUstream s, CUgraph *graph)
{
    return cuStreamEndCapture(OWN(s), graph);
}

CU_API CUresult cuStreamIsCapturing_ptsz(CUstream s, CUstreamCaptureStatus *status)
{
    return cuStreamIsCapturing(OWN(s), status);
}

CU_API CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
                                               CUgraph *graph, const CUgraphNode **after, const CUgraphEdgeData **edges,
                                               size_t *n)
{
    return cuStreamGetCaptureInfo_v3(OWN(s), status, id, graph, after, edges, n);
}

CU_API CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
                                               CUgraph *graph, const CUgraphNode **after, size_t *n)
{
    return cuStreamGetCaptureInfo_v2(OWN(s), status, id, graph, after, n);
}

/* Accepts any mode, as the driver does. */
CU_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    NEED(mode);
    CUstreamCaptureMode old = *capture_mode();
    *capture_mode() = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
