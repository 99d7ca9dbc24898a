/* Memory of workers: free lists by size of what blocks, warps and activations need, and windows
 * (mem/window.h) behind which kernels see shared and local memory. A worker takes from its own
 * lists without a lock. */
#ifndef HEDDLE_EXEC_POOL_H
#define HEDDLE_EXEC_POOL_H

#include <pthread.h>

#include "mem/window.h"

struct pool_item;
struct worker;

enum { POOL_CLASSES = 58 };

/* Memory behind windows, and what of it no worker has: pool.c. */
struct windows {
    pthread_mutex_t lock;
    struct window_area area;
    struct pool_item *free[POOL_CLASSES];
};

/* At least `bytes` bytes, aligned to 64; contents undefined, so that what kernels can read has to
 * be cleared; NULL where the machine's limit or the system's is reached. */
void *pool_take(struct worker *k, size_t bytes);
void pool_give(struct worker *k, void *p, size_t bytes);
/* The same of what kernels address as shared or local memory. */
void *pool_take_window(struct worker *k, size_t bytes);
void pool_give_window(struct worker *k, void *p, size_t bytes);
void windows_open(struct windows *w);
void windows_close(struct windows *w);
void pool_free_all(struct worker *k);
/* Between launches, when all is free: keeps it where it is little. */
void pool_trim(struct worker *k);

#endif
