/* Things in great number that are known by a number of 32 bits, from 1: address space is reserved for all, memory is taken as they
 * are, and counted in a budget. Several threads may take at once.
 *
 * They stay until all go, or until those that are still needed have been marked: of the others either the numbers are taken again, or
 * the memory goes, and the numbers stay as they are.
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
    uint64_t *marks;                /* a bit for each number; NULL: nothing has been marked yet */
    uint32_t swept, kept;           /* when they were swept last: numbers were below this, and so many stayed */
    _Atomic uint32_t region, again; /* where reservations look for free ones next; so many they have found */
    uint64_t dropped_bytes;
};

/* Numbers that one thread has at hand: consecutive ones, and behind them a region that may have more. */
struct reservation {
    uint32_t next, left;
    uint32_t region, region_end;
};

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget);
void numbered_close(struct numbered *n);
/* The first of `count` consecutive ones, which hold anything; 0 where there are no more, or no memory for them. */
uint32_t numbered_take_many(struct numbered *n, uint32_t count);
static inline uint32_t numbered_take(struct numbered *n)
{
    return numbered_take_many(n, 1);
}
/* The reservation has `count` consecutive ones, and more at hand; what was left in it is not used. False where there are none. Of numbers
 * that are free again, too: a reservation that is asked for small counts alone loses none of these. */
bool numbered_refill(struct numbered *n, struct reservation *s, uint32_t count);
static inline void *numbered_at(const struct numbered *n, uint32_t number)
{
    return n->at + number * n->each_bytes;
}
/* All go; nobody may be using them. Up to so many bytes of memory stay at hand. */
void numbered_clear(struct numbered *n, uint64_t keep_bytes);
/* Bytes of memory that they take; that have been taken since they were swept last; that could be still. */
static inline uint64_t numbered_bytes(const struct numbered *n)
{
    return (uint64_t)atomic_load_explicit(&n->next, memory_order_relaxed) * n->each_bytes;
}
uint64_t numbered_bytes_since(const struct numbered *n);
uint64_t numbered_bytes_left(const struct numbered *n);

/* While nobody takes any, nor has any reserved: none is marked; false where memory is exhausted. Then those that are needed are
 * marked, `count` consecutive ones: was the first not yet? */
bool numbered_unmark(struct numbered *n);
bool numbered_mark(struct numbered *n, uint32_t first, uint32_t count);
static inline bool numbered_is_marked(const struct numbered *n, uint32_t number)
{
    return n->marks[number / 64] >> number % 64 & 1;
}
/* The others can be taken again. */
void numbered_sweep(struct numbered *n);
/* Or their memory goes, by whole pages of it, and they stay taken. */
void numbered_drop(struct numbered *n);

#endif
