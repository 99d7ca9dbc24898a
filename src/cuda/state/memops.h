/* Waits for values in memory, and writes of values, as work ("CUDA Driver API", 6.20,
 * cuStreamBatchMemOp). Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_MEMOPS_H
#define HEDDLE_CUDA_STATE_MEMOPS_H

#include "cuda/state/state.h"

enum { MOST_MEMOPS = 256 };

/* Shared by everything that may still run them. */
struct memops {
    _Atomic unsigned refs;
    CUcontext context; /* its handle */
    unsigned count;
    CUstreamBatchMemOpParams at[];
};

/* Can they be nodes, which may have any address; and can they run? */
CUresult memops_check(const CUstreamBatchMemOpParams *ops, unsigned count);
CUresult memops_check_memory(const CUstreamBatchMemOpParams *ops, unsigned count);
/* Returned with a reference; NULL if memory is exhausted. */
struct memops *memops_new(CUcontext context, const CUstreamBatchMemOpParams *ops, unsigned count);
struct memops *memops_hold(struct memops *m);
void memops_release(struct memops *m);
/* Submits them to a stream. */
CUresult memops_run(hd_stream *stream, CUcontext c, const CUstreamBatchMemOpParams *ops, unsigned count);

#endif
