/* What programs say of memory by NVTX's memory extension, for `heddle check`: pools of their own,
 * and which parts of them they have given out; what kernels may do where; names. What launches are
 * held to is what holds when they are put into their streams.
 */
#ifndef HEDDLE_CUDA_WATCH_NVTX_MEMORY_H
#define HEDDLE_CUDA_WATCH_NVTX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "heddle.h"

struct heddle_nvtx_memory;

/* What it asks of others. */
struct nvtx_memory_asks {
    size_t (*allocation)(const void *start); /* the bytes of the allocation that starts there; 0: none does */
    void (*mark)(const void *start, size_t bytes, bool defined);
    void (*refused)(const char *call, const char *why);
};

const struct heddle_nvtx_memory *nvtx_memory_functions(const struct nvtx_memory_asks *asks);

/* The rules for a launch that the calling thread puts into a stream of this device, to be
 * destroyed; NULL: there are none. */
hd_memory_rules *nvtx_memory_rules(int device);
/* Memory has been freed. */
void nvtx_memory_freed(const void *start, size_t bytes);
/* " `NAME`" where the memory that starts there has one, else "", in a text of the caller's, which
 * it returns. */
const char *nvtx_memory_name(const void *start, char *text, size_t bytes);
/* Calls `visit` for each region there that its pool has not taken back. */
void nvtx_memory_each_region(const void *start, size_t bytes, void (*visit)(void *data, size_t bytes, const char *name),
                             void *data);

#endif
