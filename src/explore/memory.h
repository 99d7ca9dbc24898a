/* Memory of a search outside arenas. If it is exhausted, control returns to memory_try(), as it
 * does for arenas. */
#ifndef HEDDLE_EXPLORE_MEMORY_H
#define HEDDLE_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Like realloc() for `count` elements; new ones are not zeroed. Call within memory_try() only. */
void *memory_grow(void *at, size_t count, size_t size);
/* Like calloc(). */
void *memory_zeroed(size_t count, size_t size);

/* The limit in bytes on the runs of a search: 2 GiB, but at most half of the computer's memory, or
 * of the process's limit (RLIMIT_DATA). */
uint64_t memory_for_runs(void);

/* Runs step(data); returns false if memory was exhausted, also the arena's. Memory that was to be
 * freed by hand may leak then; nothing is freed twice. */
bool memory_try(struct arena *arena, void (*step)(void *), void *data);

#endif
