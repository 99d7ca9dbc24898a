/* The kind of memory at an address, as far as calls depend on it: when a copy returns, and for what
 * a pointer may be used. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_MEMORY_KIND_H
#define HEDDLE_CUDA_STATE_MEMORY_KIND_H

#include "cuda/state/state.h"

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_MANAGED,
    MEMORY_PINNED, /* of the host: allocated by CUDA, or registered */
    MEMORY_PAGEABLE,
};

static inline bool memory_is_host(enum memory_kind kind)
{
    return kind >= MEMORY_PINNED;
}

/* *info (or NULL): the allocation or variable; its start is NULL where the memory is the host's
 * own. */
enum memory_kind memory_kind_of(const void *p, hd_memory_info *info);

#endif
