/* What a launch that can go back (stops.h) has done to the heap of kernels, in order: where it comes
 * there again, malloc gives the same addresses, and what it frees is nobody else's until its end. */
#ifndef HEDDLE_EXEC_HEAP_LOG_H
#define HEDDLE_EXEC_HEAP_LOG_H

#include "mem/space.h"

struct heap_entry {
    void *of;
    uint64_t bytes;
    bool is_free;
};

struct heap_log {
    struct heap_entry *at;
    size_t n, capacity;
    size_t now; /* so many have been done, and not been taken back */
};

/* NULL where memory is exhausted. */
void *heap_log_malloc(struct heap_log *g, struct mem *m, uint64_t bytes);
/* False where there is no such allocation. */
bool heap_log_free(struct heap_log *g, struct mem *m, void *p, uint64_t bytes);
/* Back to when so many had been done, in two steps: what was freed since is there again, with
 * undefined contents; what was allocated since is not. */
void heap_log_reopen(struct heap_log *g, struct mem *m, size_t now);
void heap_log_back(struct heap_log *g, struct mem *m, size_t now);
/* The launch is over: what it has freed is. */
void heap_log_end(struct heap_log *g, struct mem *m);

#endif
