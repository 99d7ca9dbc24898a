/* NVTX's calls about CUDA's memory: see nvToolsExtMem.h. */
#ifndef HEDDLE_NVTX3_NVTOOLSEXTMEMCUDART_H
#define HEDDLE_NVTX3_NVTOOLSEXTMEMCUDART_H

#include "../cuda.h"
#include "../cuda_runtime_api.h"
#include "nvToolsExtMem.h"

#define NVTX_MEM_TYPE_CUDA_ARRAY       0x11
#define NVTX_MEM_TYPE_CU_ARRAY         0x12
#define NVTX_MEM_CUDA_PEER_ALL_DEVICES -1

#define HEDDLE_NVTX_MEMORY(type, name, result, arguments, ...)                                                         \
    static inline __attribute__((unused)) type name(__VA_ARGS__)                                                       \
    {                                                                                                                  \
        const struct heddle_nvtx *listener = heddle_nvtx_listener();                                                   \
        return listener && listener->memory ? listener->memory->name##_ arguments : result;                            \
    }
HEDDLE_NVTX_MEMORY_CUDA_CALLS
#undef HEDDLE_NVTX_MEMORY

#endif
