/* Pools for allocations in stream order. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_POOLS_H
#define HEDDLE_CUDA_STATE_POOLS_H

#include "cuda/state/state.h"

enum { POOL_ATTRIBUTES = CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1 };

struct CUmemPoolHandle_st {
    CUmemoryPool handle;
    struct device *device;
    unsigned refs; /* of its handle, and of its allocations */
    bool is_default;
    struct physical *file; /* if processes share it; else NULL */
    bool imported;
    uint64_t most_bytes, given_bytes; /* the size limit, 0: none; allocated bytes, in units */
    uint64_t values[POOL_ATTRIBUTES]; /* by CUmemPool_attribute */
};

CUresult pool_of(CUmemoryPool handle, CUmemoryPool *p);
CUmemoryPool pool_handle(CUmemoryPool p); /* NULL gives NULL */
/* With one reference, its handle's; NULL if memory is exhausted. */
CUmemoryPool pool_new(struct device *d);
/* The handle of the device's own pool, which is created on first use. */
CUresult pool_default(struct device *d, CUmemoryPool *handle);
/* Returns false if it is about to be freed. */
bool pool_keep(CUmemoryPool p);
void pool_drop(CUmemoryPool p);

/* Counts an allocation against the pool's size limit; false if that is exceeded. */
bool pool_take_room(CUmemoryPool p, size_t bytes);
void pool_give_room(CUmemoryPool p, size_t bytes);
/* Adds to, or subtracts from, its allocated bytes. */
void pool_count(CUmemoryPool p, int64_t bytes);
/* Memory of a pool (or NULL) was freed. */
void pool_freed(CUmemoryPool p, size_t bytes);

#endif
