/* What CUDA 13 has taken back from the driver's interface, for C++ sources of CUDA 11 and 12 whose
 * calls have the parameters of then ("CUDA Toolkit Release Notes", CUDA 13.0); see earlier.h. The
 * names below are macros of cuda.h: the newest version's. */
#ifndef HEDDLE_DRIVER_EARLIER_H
#define HEDDLE_DRIVER_EARLIER_H

#define HEDDLE_EARLIER(instead) template <int = 0> [[deprecated("CUDA 13 has " instead)]] inline CUresult

HEDDLE_EARLIER("one more argument, for the context's parameters")
cuCtxCreate(CUcontext *pctx, unsigned flags, CUdevice dev)
{
    return ::cuCtxCreate(pctx, nullptr, flags, dev);
}

/* ---- managed memory: places were numbers of devices ---- */

inline CUmemLocation heddle_driver_location_of(CUdevice device)
{
    CUmemLocation location = {};
    location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
}
HEDDLE_EARLIER("a CUmemLocation for the device")
cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return ::cuMemPrefetchAsync(devPtr, count, heddle_driver_location_of(dstDevice), 0, hStream);
}
HEDDLE_EARLIER("a CUmemLocation for the device")
cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return ::cuMemAdvise(devPtr, count, advice, heddle_driver_location_of(device));
}

/* ---- graphs: edges had no data ---- */

HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies)
{
    return ::cuGraphAddDependencies(hGraph, from, to, nullptr, numDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies)
{
    return ::cuGraphRemoveDependencies(hGraph, from, to, nullptr, numDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return ::cuGraphGetEdges(hGraph, from, to, nullptr, numEdges);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    return ::cuGraphNodeGetDependencies(hNode, dependencies, nullptr, numDependencies);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    return ::cuGraphNodeGetDependentNodes(hNode, dependentNodes, nullptr, numDependentNodes);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
               CUgraphNodeParams *nodeParams)
{
    return ::cuGraphAddNode(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out = nullptr,
                       CUgraph *graph_out = nullptr, const CUgraphNode **dependencies_out = nullptr,
                       size_t *numDependencies_out = nullptr)
{
    return ::cuStreamGetCaptureInfo(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                    numDependencies_out);
}
HEDDLE_EARLIER("one more argument, for the data of edges")
cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies, unsigned flags)
{
    return ::cuStreamUpdateCaptureDependencies(hStream, dependencies, nullptr, numDependencies, flags);
}

#undef HEDDLE_EARLIER

#endif
