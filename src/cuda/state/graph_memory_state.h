/* Shared by the files of graph memory. Private to graph_memory*.c. */
#ifndef HEDDLE_CUDA_STATE_GRAPH_MEMORY_STATE_H
#define HEDDLE_CUDA_STATE_GRAPH_MEMORY_STATE_H

#include "cuda/state/graph_memory.h"

struct graph_memory {
    struct graph_memory *next, **link;
    _Atomic unsigned refs;
    struct device *device;
    void *start;
    size_t bytes;             /* room that it has */
    struct allocation *given; /* the allocation, or NULL */
    bool there;               /* it has contents, and no checker watches */
};

/* Locks all graph memory. */
void graph_memory_lock(void);
void graph_memory_unlock(void);

#endif
