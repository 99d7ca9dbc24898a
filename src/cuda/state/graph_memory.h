/* Memory of graphs ("CUDA C++ Programming Guide", "Graph Memory Nodes"). A node has its addresses
 * from its creation. The memory is allocated when a launch reaches the node, and used like any
 * other until a node or a call frees it; then the addresses can be reused. The order of a program's
 * calls determines what it may do with it. The contents stay between two launches until the device
 * is trimmed. Under a checker the memory is allocated and freed in stream order, so that uses
 * before and after are found. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_GRAPH_MEMORY_H
#define HEDDLE_CUDA_STATE_GRAPH_MEMORY_H

#include "cuda/state/state.h"

struct graph_memory;

/* Makes graph memory; the caller gets a reference. */
CUresult graph_memory_new(struct device *d, size_t bytes, struct graph_memory **m);
struct graph_memory *graph_memory_hold(struct graph_memory *m); /* NULL gives NULL */
void graph_memory_release(struct graph_memory *m);              /* NULL is allowed */
/* The graph memory that begins at the address, with a reference; NULL: none does. */
struct graph_memory *graph_memory_at(const void *start);
void *graph_memory_start(const struct graph_memory *m);
size_t graph_memory_bytes(const struct graph_memory *m);
struct device *graph_memory_device(const struct graph_memory *m);
bool graph_memory_is_given(const struct graph_memory *m);

/* Like hd_find() for graph memory; *given: it is allocated now. */
struct device *graph_memory_find(const void *address, hd_memory_info *info, bool *given);

/* A launch allocates the memory in a context; then frees it. */
CUresult graph_memory_give(struct graph_memory *m, hd_stream *stream, CUcontext c, size_t bytes);
CUresult graph_memory_take(struct graph_memory *m, hd_stream *stream);
/* Frees an allocation of graph memory for the program. If `stream` is NULL, the context's work has
 * ended. */
CUresult graph_memory_free(struct allocation *a, hd_stream *stream);

/* The context in which it was allocated has ended. */
void graph_memory_drop(struct graph_memory *m);

/* Updates a device's counts of graph memory (CUgraphMem_attribute). `needs`: memory of the launched
 * graph, in whole blocks. */
void graph_memory_count(struct device *d, size_t needs);
size_t graph_memory_blocks(size_t bytes); /* bytes rounded up to blocks */
cuuint64_t graph_memory_amount(const struct device *d, CUgraphMem_attribute a);
void graph_memory_reset_high(struct device *d, CUgraphMem_attribute a);
void graph_memory_trim(struct device *d);

#endif
