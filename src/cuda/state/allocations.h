/* Memory that a program has asked for: the lists of its contexts. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_ALLOCATIONS_H
#define HEDDLE_CUDA_STATE_ALLOCATIONS_H

#include "cuda/state/state.h"

/* The allocation that an address lies in, or NULL; *info, if not NULL, as hd_find says. */
struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device);
/* Is it the host's memory as well as the device's: of cuMemAllocManaged, or a .managed variable? */
bool allocation_is_managed(const hd_memory_info *info);
/* Is this address in managed memory? driver/managed.c */
bool managed_holds(const void *p);
/* `host`: which the host reads and writes itself. */
CUresult allocation_new(CUcontext c, size_t bytes, bool host, struct allocation **allocation);
/* Of memory of a graph, which is the graph's: graph_memory.h. */
CUresult allocation_of_graph(CUcontext c, void *start, size_t bytes, struct graph_memory *m,
                             struct allocation **allocation);
/* Nothing has been written into it yet, which checkers are to know. */
void allocation_is_undefined(const struct allocation *a);
/* Takes it out of its context's list and forgets it; the memory is not freed. False where another
 * call has done so. */
bool allocation_forget(struct allocation *a);
/* The same of one that is in no list any more, and whose memory has been freed. */
void allocation_end(struct allocation *a);

#endif
