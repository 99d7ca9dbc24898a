/* A pool of equal things that are named by numbers of 32 bits, from 1. Address space is reserved
 * for all; memory is used as numbers are taken, and counted in a budget. Several threads may take
 * numbers at once.
 *
 * All can be cleared at once. Or garbage is collected: those in use are marked, and of the others
 * either the numbers are used again (numbered_sweep), or the memory goes and the numbers are not
 * (numbered_drop).
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
    struct budget *budget;          /* or NULL */
    uint64_t *marks;                /* a bit for each number; NULL: there was no collection yet */
    uint32_t swept, kept;           /* at the last collection: the numbers were below this; so many were in use */
    _Atomic uint32_t region, again; /* where reservations look for free numbers next; how many they have found */
    uint64_t dropped_bytes;
};

/* Numbers that a thread has reserved: consecutive ones, and a region that may have more. */
struct reservation {
    uint32_t next, left;
    uint32_t region, region_end;
};

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget);
void numbered_close(struct numbered *n);
/* The first of `count` consecutive numbers, whose things are not initialised; 0 where there are no
 * more, or no memory. */
uint32_t numbered_take_many(struct numbered *n, uint32_t count);
static inline uint32_t numbered_take(struct numbered *n)
{
    return numbered_take_many(n, 1);
}
/* Refills a reservation with at least `count` consecutive numbers, swept ones first; what was left
 * in it is lost until the next collection. False where there are none. */
bool numbered_refill(struct numbered *n, struct reservation *s, uint32_t count);
static inline void *numbered_at(const struct numbered *n, uint32_t number)
{
    return n->at + number * n->each_bytes;
}
/* Clears all, which nobody may be using. Keeps up to so many bytes of memory. */
void numbered_clear(struct numbered *n, uint64_t keep_bytes);
/* Bytes that have been taken; that were since the last collection; that could be taken still. */
static inline uint64_t numbered_bytes(const struct numbered *n)
{
    return (uint64_t)atomic_load_explicit(&n->next, memory_order_relaxed) * n->each_bytes;
}
uint64_t numbered_bytes_since(const struct numbered *n);
uint64_t numbered_bytes_left(const struct numbered *n);

/* A collection, while nobody takes numbers nor has any reserved, begins with none marked; false
 * without memory. Then those in use are marked, `count` consecutive ones at a time, which returns
 * whether the first was not marked before; */
bool numbered_unmark(struct numbered *n);
bool numbered_mark(struct numbered *n, uint32_t first, uint32_t count);
static inline bool numbered_is_marked(const struct numbered *n, uint32_t number)
{
    return n->marks[number / 64] >> number % 64 & 1;
}
/* and the others can be taken again, */
void numbered_sweep(struct numbered *n);
/* or their memory is given back, by whole pages, and they stay taken. */
void numbered_drop(struct numbered *n);

#endif
