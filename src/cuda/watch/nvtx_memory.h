/* Annotations of memory by NVTX's memory extension, for `heddle check`: a program's own pools and
 * the parts that they gave out, permissions of kernels, names. A launch is checked by the
 * annotations at its submission.
 */
#ifndef HEDDLE_CUDA_WATCH_NVTX_MEMORY_H
#define HEDDLE_CUDA_WATCH_NVTX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "heddle.h"

struct heddle_nvtx_memory;

/* Callbacks of the extension. */
struct nvtx_memory_asks {
    /* the size of the allocation that starts there; 0 if there is none */
    size_t (*allocation)(const void *start);
    void (*mark)(const void *start, size_t bytes, bool defined);
    void (*refused)(const char *call, const char *why);
};

const struct heddle_nvtx_memory *nvtx_memory_functions(const struct nvtx_memory_asks *asks);

/* The rules for a launch that the calling thread submits to this device; the caller frees them.
 * NULL if there are none. */
hd_memory_rules *nvtx_memory_rules(int device);
/* Memory was freed. */
void nvtx_memory_freed(const void *start, size_t bytes);
/* Writes " `NAME`" into the caller's buffer if the memory that starts there has a name, else "",
 * and returns it. */
const char *nvtx_memory_name(const void *start, char *text, size_t bytes);
/* Calls `visit` for each region there that its pool has not taken back. */
void nvtx_memory_each_region(const void *start, size_t bytes, void (*visit)(void *data, size_t bytes, const char *name),
                             void *data);

#endif
