/* The lists of a program's allocations, by context. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_ALLOCATIONS_H
#define HEDDLE_CUDA_STATE_ALLOCATIONS_H

#include "cuda/state/state.h"

/* The allocation that contains an address, or NULL; *info, if not NULL, as from hd_find(). */
struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device);
/* Is it the host's memory as well as the device's: of cuMemAllocManaged, or a .managed variable? */
bool allocation_is_managed(const hd_memory_info *info);
/* Is this address in managed memory? driver/managed.c */
bool managed_holds(const void *p);
/* Allocates memory; with `host`, memory that the host can access itself. */
CUresult allocation_new(CUcontext c, size_t bytes, bool host, struct allocation **allocation);
/* Registers an allocation of graph memory, which the graph owns: graph_memory.h. */
CUresult allocation_of_graph(CUcontext c, void *start, size_t bytes, struct graph_memory *m,
                             struct allocation **allocation);
/* Tells checkers that nothing has been written into it yet. */
void allocation_is_undefined(const struct allocation *a);
/* Removes it from its context's list, without freeing the memory. False: another call has already
 * done so. */
bool allocation_forget(struct allocation *a);
/* Frees the record of an allocation that is in no list and whose memory was freed. */
void allocation_end(struct allocation *a);

#endif
