/* What the files of graphs' memory share. Private to graph_memory*.c. */
#ifndef HEDDLE_CUDA_STATE_GRAPH_MEMORY_STATE_H
#define HEDDLE_CUDA_STATE_GRAPH_MEMORY_STATE_H

#include "cuda/state/graph_memory.h"

struct graph_memory {
    struct graph_memory *next, **link;
    _Atomic unsigned refs;
    struct device *device;
    void *start;
    size_t bytes;             /* that there is room for */
    struct allocation *given; /* or NULL */
    bool there;               /* something is behind the addresses, and nobody watches */
};

/* Of all of them. */
void graph_memory_lock(void);
void graph_memory_unlock(void);

#endif
