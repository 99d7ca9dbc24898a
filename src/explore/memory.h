/* Memory of a search that is not an arena's. Where it runs out, the thread is back in memory_try(),
 * as it is where its arenas have none. */
#ifndef HEDDLE_EXPLORE_MEMORY_H
#define HEDDLE_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* As realloc(): `count` elements, of which new ones are not zeroed. Within memory_try() only. */
void *memory_grow(void *at, size_t count, size_t size);
/* As calloc(). */
void *memory_zeroed(size_t count, size_t size);

/* How many bytes the runs of a search may take: 2 GiB, but no more than half of the computer's
 * memory, or of the process's limit (RLIMIT_DATA). */
uint64_t memory_for_runs(void);

/* Runs step(data); false where memory ran out, also the arena's. What was to be freed by hand may
 * be lost then, but nothing is freed twice. */
bool memory_try(struct arena *arena, void (*step)(void *), void *data);

#endif
