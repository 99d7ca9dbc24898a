/* Cells of the race detector: a number for each word of memory that has been accessed; for each byte, where accesses smaller than a
 * word have come. Several threads may look them up at once; who looks into one has its lock.
 */
#ifndef HEDDLE_CHECK_CELLS_H
#define HEDDLE_CHECK_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/numbered.h"

typedef uint32_t cell; /* number of a history; or of a struct split, | CELL_SPLIT */
#define CELL_SPLIT 0x80000000u

/* The bytes of a word. */
struct split {
    cell byte[4];
};

enum { CELLS_PAGE_BITS = 20, CELLS_TABLE_BITS = 14, CELLS_ROOT_BITS = 13 };
enum { CELLS_PAGE_BYTES = 1 << CELLS_PAGE_BITS }; /* of memory, and of its cells */

struct cells {
    cell *_Atomic *_Atomic root[1 << CELLS_ROOT_BITS];
    _Atomic uint64_t pages;
};

/* The cell of the word at an address; those of the following words of its page follow. NULL where there is no memory. */
cell *cells_find(struct cells *c, uint64_t address);
/* The same where it has been accessed; else NULL. */
cell *cells_look(const struct cells *c, uint64_t address);
/* All go, or those of some words. Nobody else may be there. */
void cells_clear(struct cells *c);
void cells_forget(struct cells *c, uint64_t address, uint64_t bytes);

#endif
