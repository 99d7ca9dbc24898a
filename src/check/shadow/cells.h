/* Cells of the race detector: a number for each word of memory that has been accessed; for each byte, where accesses smaller than a
 * word have come. Several threads may look them up at once; who looks into one has its lock.
 */
#ifndef HEDDLE_CHECK_CELLS_H
#define HEDDLE_CHECK_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/shadow/numbered.h"

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

enum { CELLS_PAGE_BITS = 20, CELLS_TABLE_BITS = 14, CELLS_ROOT_BITS = 13, CELLS_PART_BITS = 16 };
enum { CELLS_PAGE_BYTES = 1 << CELLS_PAGE_BITS }; /* of memory, and of its cells */
enum { CELLS_PARTS = 1 << (CELLS_PAGE_BITS - CELLS_PART_BITS) };

struct cells_table {
    cell *_Atomic page[1 << CELLS_TABLE_BITS];
    _Atomic uint32_t era[1 << CELLS_TABLE_BITS][CELLS_PARTS]; /* in which the part of the page was accessed last */
};

/* All are empty when an era begins; each part of a page is cleared when it is accessed next. */
struct cells {
    struct cells_table *_Atomic root[1 << CELLS_ROOT_BITS];
    uint32_t era;
    _Atomic uint64_t pages;
    struct budget *budget;
};

void cells_open(struct cells *c, struct budget *budget);
/* Their memory goes; nobody else may be there. They are empty then. */
void cells_close(struct cells *c);
/* The cell of the word at an address; those of the following words of its part follow. NULL where there is no memory. */
cell *cells_find(struct cells *c, uint64_t address);
/* All are empty now, or those of some words. Nobody else may be there. */
void cells_clear(struct cells *c);
void cells_forget(struct cells *c, uint64_t address, uint64_t bytes);
/* Rows of them that have all that are not empty. Who may look into one waits, by its lock. */
void cells_each(struct cells *c, void (*see)(void *data, cell *first, uint32_t count), void *data);
static inline uint64_t cells_bytes(const struct cells *c)
{
    return atomic_load_explicit(&c->pages, memory_order_relaxed) * CELLS_PAGE_BYTES;
}

#endif
