/* Cells of the race detector: a number for each word of memory that has been accessed; for each byte, where accesses smaller than a
 * word have come. Several threads may look them up at once; who looks into one has its lock.
 */
#ifndef HEDDLE_CHECK_CELLS_H
#define HEDDLE_CHECK_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/numbered.h"

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

enum { CELLS_PAGE_BITS = 20, CELLS_TABLE_BITS = 14, CELLS_ROOT_BITS = 13 };
enum { CELLS_PAGE_BYTES = 1 << CELLS_PAGE_BITS }; /* of memory, and of its cells */

struct cells {
    cell *_Atomic *_Atomic root[1 << CELLS_ROOT_BITS];
    _Atomic uint64_t pages;
    struct budget *budget;
};

/* The cell of the word at an address; those of the following words of its page follow. NULL where there is no memory. */
cell *cells_find(struct cells *c, uint64_t address);
/* The same where it has been accessed; else NULL. */
cell *cells_look(const struct cells *c, uint64_t address);
/* All go, or those of some words. Nobody else may be there. */
void cells_clear(struct cells *c);
void cells_forget(struct cells *c, uint64_t address, uint64_t bytes);

#endif
