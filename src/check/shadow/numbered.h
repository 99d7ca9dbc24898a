/* A pool of objects of one size with 32-bit numbers, from 1. It reserves address space for the
 * maximum; memory is used as numbers are taken, and counted in a budget. Several threads may take
 * numbers at once.
 *
 * All objects can be cleared at once. Or garbage is collected: objects in use are marked, and
 * then either the other numbers can be taken again (numbered_sweep), or their memory is freed
 * and the numbers stay taken (numbered_drop).
 */
#ifndef HEDDLE_CHECK_NUMBERED_H
#define HEDDLE_CHECK_NUMBERED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/shadow/budget.h"

struct numbered {
    uint8_t *at;
    size_t each_bytes;
    uint32_t most;
    _Atomic uint32_t next;
    struct budget *budget; /* or NULL */
    uint64_t *marks;       /* a bit for each number; NULL: no collection yet */
    /* At the last collection: the end of the numbers; how many were in use. */
    uint32_t swept, kept;
    /* where reservations look for free numbers next; how many they have found */
    _Atomic uint32_t region, again;
    uint64_t dropped_bytes;
};

/* Numbers reserved by a thread: consecutive ones, and a region that may have more. */
struct reservation {
    uint32_t next, left;
    uint32_t region, region_end;
};

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget);
void numbered_close(struct numbered *n);
/* Takes `count` consecutive numbers and returns the first; their objects are not initialised. 0
 * if there are none left, or no memory. */
uint32_t numbered_take_many(struct numbered *n, uint32_t count);
static inline uint32_t numbered_take(struct numbered *n)
{
    return numbered_take_many(n, 1);
}
/* Refills a reservation with at least `count` consecutive numbers, swept ones first. Numbers
 * that were left in it are lost until the next collection. False if there are none. */
bool numbered_refill(struct numbered *n, struct reservation *s, uint32_t count);
static inline void *numbered_at(const struct numbered *n, uint32_t number)
{
    return n->at + number * n->each_bytes;
}
/* Clears all objects, which nobody may be using. Keeps at most `keep_bytes` of memory. */
void numbered_clear(struct numbered *n, uint64_t keep_bytes);
/* Bytes taken; taken since the last collection; still available. */
static inline uint64_t numbered_bytes(const struct numbered *n)
{
    return (uint64_t)atomic_load_explicit(&n->next, memory_order_relaxed) * n->each_bytes;
}
uint64_t numbered_bytes_since(const struct numbered *n);
uint64_t numbered_bytes_left(const struct numbered *n);

/* A collection runs while nobody takes numbers or has any reserved. It begins with all objects
 * unmarked; false without memory. Then objects in use are marked, `count` consecutive ones at a
 * time; that returns whether the first was unmarked. */
bool numbered_unmark(struct numbered *n);
bool numbered_mark(struct numbered *n, uint32_t first, uint32_t count);
static inline bool numbered_is_marked(const struct numbered *n, uint32_t number)
{
    return n->marks[number / 64] >> number % 64 & 1;
}
/* Then unmarked numbers can be taken again, */
void numbered_sweep(struct numbered *n);
/* or their memory is freed, in whole pages, and the numbers stay taken. */
void numbered_drop(struct numbered *n);

#endif
