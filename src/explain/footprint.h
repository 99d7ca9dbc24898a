/* Which sectors of global memory a launch reads and writes, each once, and how often atomics meet
 * at one.
 *
 * A worker has one, which nobody else touches; at the end they become one. Addresses are the
 * host's.
 */
#ifndef HEDDLE_EXPLAIN_FOOTPRINT_H
#define HEDDLE_EXPLAIN_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explain/rules.h"

enum { REGION_LINES = 1024, REGION_WORDS = REGION_LINES * LINE_SECTORS / 64 };

/* A part of memory: a bit a sector. */
struct region {
    uint64_t number;
    uint64_t read[REGION_WORDS], written[REGION_WORDS];
};

struct heat {
    uint64_t sector; /* 1 + its number, or 0 */
    uint64_t n;
};

struct footprint {
    struct region **regions; /* by hash; NULL: free */
    size_t n_regions, room;
    struct region *last;
    struct heat *heat; /* by hash */
    size_t n_heat, heat_room;
    bool lost; /* memory has run out: there is more than is here */
};

enum { FOOTPRINT_READ = 1, FOOTPRINT_WRITE = 2 };
void footprint_touch(struct footprint *f, const struct line *line, unsigned how);
/* Operations of atomics at the sector. */
void footprint_heat(struct footprint *f, uint64_t sector, uint64_t n);
/* Adds what is in `from`, which is emptied. */
void footprint_merge(struct footprint *f, struct footprint *from);
void footprint_free(struct footprint *f);

struct footprint_sum {
    uint64_t read, read_pairs, written, touched, lines; /* pairs: 64 bytes, what DRAM reads */
};
struct footprint_sum footprint_sum(const struct footprint *f);

/* The n sectors that atomics have met at most, the hottest first; of equal ones that of the lower
 * address. Without operations: there are not so many. */
struct hot_sector {
    uint64_t address, operations;
};
void footprint_hottest(const struct footprint *f, struct hot_sector *hottest, unsigned n);

#endif
