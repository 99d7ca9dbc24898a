/* Pools that give memory in the order of streams. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_POOLS_H
#define HEDDLE_CUDA_STATE_POOLS_H

#include "cuda/state/state.h"

enum { POOL_ATTRIBUTES = CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1 };

struct CUmemPoolHandle_st {
    CUmemoryPool handle;
    struct device *device;
    unsigned refs; /* its handle, and what is allocated from it */
    bool is_default;
    struct physical *file; /* where processes share it, else NULL */
    bool imported;
    uint64_t most_bytes, given_bytes; /* what may be given out, 0: all there is; what is, in units */
    uint64_t values[POOL_ATTRIBUTES]; /* by CUmemPool_attribute */
};

CUresult pool_of(CUmemoryPool handle, CUmemoryPool *p);
CUmemoryPool pool_handle(CUmemoryPool p); /* NULL of NULL */
/* With one reference, that of its handle; NULL: out of memory. */
CUmemoryPool pool_new(struct device *d);
/* The device's own, made at first use: its handle. */
CUresult pool_default(struct device *d, CUmemoryPool *handle);
/* False where it is about to be freed. */
bool pool_keep(CUmemoryPool p);
void pool_drop(CUmemoryPool p);

/* For an allocation, within the limit that the pool was made with; false where it has no more. */
bool pool_take_room(CUmemoryPool p, size_t bytes);
void pool_give_room(CUmemoryPool p, size_t bytes);
/* More, or less, of it is allocated. */
void pool_count(CUmemoryPool p, int64_t bytes);
/* Memory of a pool, or of NULL, has been freed. */
void pool_freed(CUmemoryPool p, size_t bytes);

#endif
