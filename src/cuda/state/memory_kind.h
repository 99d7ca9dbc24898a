/* The kind of memory at an address, which determines when a copy returns and what a pointer may be
 * used for. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_MEMORY_KIND_H
#define HEDDLE_CUDA_STATE_MEMORY_KIND_H

#include "cuda/state/state.h"

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_MANAGED,
    MEMORY_PINNED, /* host memory allocated or registered by CUDA */
    MEMORY_PAGEABLE,
};

static inline bool memory_is_host(enum memory_kind kind)
{
    return kind >= MEMORY_PINNED;
}

/* Did a kernel allocate what was found, by malloc or cudaMalloc? */
bool memory_is_of_kernels(const hd_memory_info *info);
/* *info (or NULL): the allocation or variable; its start is NULL for the host's own memory. */
enum memory_kind memory_kind_of(const void *p, hd_memory_info *info);
/* May kernels use these bytes, at least one? */
bool memory_is_usable(const void *p, size_t bytes);

#endif
