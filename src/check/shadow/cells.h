/* Shadow cells of the race detector: a number for each word of memory that has been accessed; for each byte of it, once accesses smaller
 * than a word have come. Several threads may look cells up at once; who looks into one has its lock.
 */
#ifndef HEDDLE_CHECK_CELLS_H
#define HEDDLE_CHECK_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/shadow/shadow.h"

/* 0: nobody has accessed it. The number of a history, and above it a lane of a warp, to which the lanes of that are relative; or
 * CELL_SPLIT and the number of a struct split. */
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
/* What a cell, which has a history, is for lanes that are `lanes` further. */
static inline cell cell_further(cell c, unsigned lanes)
{
    return (c + (lanes << CELL_HISTORY_BITS)) & ~CELL_SPLIT;
}

/* The bytes of a word. */
struct split {
    cell byte[4];
};

enum { CELLS_PAGE_BITS = 20, CELLS_PART_BITS = 16, CELLS_PARTS = 1 << (CELLS_PAGE_BITS - CELLS_PART_BITS) };

/* All are empty when an era begins; each part of a page is cleared when it is accessed next. */
struct cells {
    struct shadow pages; /* struct cells_page */
    uint32_t era;
};

/* False where memory is exhausted. */
bool cells_open(struct cells *c, struct budget *budget);
void cells_close(struct cells *c);
/* The cell of the word at an address; those of the following words of its part follow. NULL where there is no memory. */
cell *cells_find(struct cells *c, uint64_t address);
/* All are empty now (`give`: and their memory goes), or those of some words. Nobody else may be there. */
void cells_clear(struct cells *c, bool give);
void cells_forget(struct cells *c, uint64_t address, uint64_t bytes);
/* Rows of them that have all that are not empty. Who may look into one waits, by its lock. */
void cells_each(const struct cells *c, void (*see)(void *data, cell *first, uint32_t count), void *data);
static inline uint64_t cells_bytes(const struct cells *c)
{
    return atomic_load_explicit(&c->pages.bytes, memory_order_relaxed);
}

#endif
