/* Shadow cells of the race detector: a number for each accessed word of memory, or for each of
 * its bytes after accesses smaller than a word. Several threads may look up cells at once;
 * reading or changing one needs its lock. */
#ifndef HEDDLE_CHECK_CELLS_H
#define HEDDLE_CHECK_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/shadow/shadow.h"

/* 0: empty. Otherwise the number of a history and, above it, the lane that the history's lanes
 * are relative to; or CELL_SPLIT and the number of a struct split. */
typedef uint32_t cell;
#define CELL_SPLIT 0x80000000u
enum { CELL_HISTORY_BITS = 26, CELL_HISTORY = (1 << CELL_HISTORY_BITS) - 1 };

static inline uint32_t cell_history(cell c)
{
    return c & CELL_HISTORY;
}
static inline unsigned cell_lane(cell c)
{
    return c >> CELL_HISTORY_BITS & 31;
}
static inline cell cell_of(uint32_t history, unsigned lane)
{
    return history ? history | (lane & 31) << CELL_HISTORY_BITS : 0;
}
/* The same history, shifted by `lanes` lanes. */
static inline cell cell_further(cell c, unsigned lanes)
{
    return (c + (lanes << CELL_HISTORY_BITS)) & ~CELL_SPLIT;
}

/* The cells of a word's bytes. */
struct split {
    cell byte[4];
};

enum { CELLS_PAGE_BITS = 20, CELLS_PART_BITS = 16, CELLS_PARTS = 1 << (CELLS_PAGE_BITS - CELLS_PART_BITS) };

/* When an era begins all cells are empty. A part of a page is cleared at its first access in the
 * era. */
struct cells {
    struct shadow pages; /* struct cells_page */
    uint32_t era;
};

/* False without memory. */
bool cells_open(struct cells *c, struct budget *budget);
void cells_close(struct cells *c);
/* The cell of the word at an address; the cells of the following words of its part come after
 * it. NULL without memory. */
cell *cells_find(struct cells *c, uint64_t address);
/* Empties all cells (`give`: and frees their memory), or those of a range. Nobody else may be
 * using them. */
void cells_clear(struct cells *c, bool give);
void cells_forget(struct cells *c, uint64_t address, uint64_t bytes);
/* Calls `see` for ranges of cells that include all non-empty ones. The caller holds all locks. */
void cells_each(const struct cells *c, void (*see)(void *data, cell *first, uint32_t count), void *data);
static inline uint64_t cells_bytes(const struct cells *c)
{
    return atomic_load_explicit(&c->pages.bytes, memory_order_relaxed);
}

#endif
