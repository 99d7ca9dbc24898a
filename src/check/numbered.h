/* Things in great number that are known by a number of 32 bits, from 1: address space is reserved for all, memory is taken as they
 * are, and counted in a budget. They stay until all go. Several threads may take at once.
 */
#ifndef HEDDLE_CHECK_NUMBERED_H
#define HEDDLE_CHECK_NUMBERED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/budget.h"

struct numbered {
    uint8_t *at;
    size_t each_bytes;
    uint32_t most;
    _Atomic uint32_t next;
    struct budget *budget; /* or NULL */
};

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget);
void numbered_close(struct numbered *n);
/* The first of `count` in a row, which hold anything; 0 where there are no more, or no memory for them. */
uint32_t numbered_take_row(struct numbered *n, uint32_t count);
static inline uint32_t numbered_take(struct numbered *n)
{
    return numbered_take_row(n, 1);
}
static inline void *numbered_at(const struct numbered *n, uint32_t number)
{
    return n->at + number * n->each_bytes;
}
/* All go; nobody may be using them. Up to so many bytes of memory stay at hand. */
void numbered_clear(struct numbered *n, uint64_t keep_bytes);
/* Bytes of memory that they take. */
static inline uint64_t numbered_bytes(const struct numbered *n)
{
    return (uint64_t)atomic_load_explicit(&n->next, memory_order_relaxed) * n->each_bytes;
}

#endif
