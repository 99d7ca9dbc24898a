/* Names of devices, streams and events for profilers (NVTX 3, "Resource naming: CUDA Runtime"): see
 * nvToolsExt.h. */
#ifndef HEDDLE_NVTX3_NVTOOLSEXTCUDART_H
#define HEDDLE_NVTX3_NVTOOLSEXTCUDART_H

#include "../cuda_runtime_api.h"
#include "nvToolsExt.h"

#define HEDDLE_NVTX_NAMES(what, type)                                                                                  \
    HEDDLE_NVTX_FUNCTION void nvtxNameCuda##what##A(type it, const char *name)                                         \
    {                                                                                                                  \
        (void)it, (void)name;                                                                                          \
    }                                                                                                                  \
    HEDDLE_NVTX_FUNCTION void nvtxNameCuda##what##W(type it, const wchar_t *name)                                      \
    {                                                                                                                  \
        (void)it, (void)name;                                                                                          \
    }
HEDDLE_NVTX_NAMES(Device, int)
HEDDLE_NVTX_NAMES(Stream, cudaStream_t)
HEDDLE_NVTX_NAMES(Event, cudaEvent_t)
#undef HEDDLE_NVTX_NAMES

#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent  nvtxNameCudaEventA

#endif
