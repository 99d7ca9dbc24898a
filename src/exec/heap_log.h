/* A log of a launch's calls of the kernels' heap, for launches that can go back (stops.h). When
 * the launch runs again, malloc gives the same addresses; memory that it frees is not reused by
 * others until its end. */
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
    size_t now; /* the number of calls done and not taken back */
};

/* NULL where memory is exhausted. */
void *heap_log_malloc(struct heap_log *g, struct mem *m, uint64_t bytes);
/* False if there is no such allocation. */
bool heap_log_free(struct heap_log *g, struct mem *m, void *p, uint64_t bytes);
/* Goes back to the moment when `now` calls had been done, in two steps: memory freed since
 * exists again, with undefined contents; memory allocated since does not. */
void heap_log_reopen(struct heap_log *g, struct mem *m, size_t now);
void heap_log_back(struct heap_log *g, struct mem *m, size_t now);
/* The launch is over: frees for good what it has freed. */
void heap_log_end(struct heap_log *g, struct mem *m);

#endif
