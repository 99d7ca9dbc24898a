/* Counts which sectors of global memory a launch reads and writes, each once, and how often atomics
 * access a sector.
 *
 * Each worker has its own footprint; they are merged at the end. Addresses are the host's.
 */
#ifndef HEDDLE_EXPLAIN_FOOTPRINT_H
#define HEDDLE_EXPLAIN_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explain/rules.h"

enum { REGION_LINES = 1024, REGION_WORDS = REGION_LINES * LINE_SECTORS / 64 };

/* A region of memory, with a bit for each sector. */
struct region {
    uint64_t number;
    uint64_t read[REGION_WORDS], written[REGION_WORDS];
};

struct heat {
    uint64_t sector; /* 1 + its number, or 0 */
    uint64_t n;
};

struct footprint {
    struct region **regions; /* hash table; NULL: free */
    size_t n_regions, room;
    struct region *last;
    struct heat *heat; /* hash table */
    size_t n_heat, heat_room;
    bool lost; /* memory was exhausted: the footprint is incomplete */
};

enum { FOOTPRINT_READ = 1, FOOTPRINT_WRITE = 2 };
void footprint_touch(struct footprint *f, const struct line *line, unsigned how);
/* Adds operations of atomics at the sector. */
void footprint_heat(struct footprint *f, uint64_t sector, uint64_t n);
/* Adds the contents of `from`, and empties it. */
void footprint_merge(struct footprint *f, struct footprint *from);
void footprint_free(struct footprint *f);

struct footprint_sum {
    /* pairs: 64 bytes, the unit of DRAM reads. */
    uint64_t read, read_pairs, written, touched, lines;
};
struct footprint_sum footprint_sum(const struct footprint *f);

/* The n sectors with most atomic operations, the hottest first, and equal ones by address. Entries
 * without operations fill the rest. */
struct hot_sector {
    uint64_t address, operations;
};
void footprint_hottest(const struct footprint *f, struct hot_sector *hottest, unsigned n);

#endif
