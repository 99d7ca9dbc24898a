/* Privatised histograms: compiled code adds to a worker's own copy of an array's elements. The
 * sums are added to the array before anybody else can look at it (histogram.c). */
#ifndef HEDDLE_EXEC_HISTOGRAM_H
#define HEDDLE_EXEC_HISTOGRAM_H

#include <stdint.h>

struct worker;
struct op;
struct mem_block;

enum { MAX_HISTOGRAMS = 4 };

/* The sums of what a worker's lanes add to arrays, by one kernel's compiled code: histogram.c. */
struct histograms {
    enum { HISTOGRAMS_UNKNOWN, HISTOGRAMS_ALLOWED, HISTOGRAMS_REFUSED } state;
    /* their number; how often all were closed; how often all were settled for the engine */
    uint32_t n, n_closed, n_settled;
    struct histogram {
        uint64_t start, bytes, cell_bytes; /* of the array */
        uint64_t room;                     /* bytes of sums: whole lines */
        uint8_t *sums;                     /* by element */
    } at[MAX_HISTOGRAMS];
};

/* For the code that inline_caches belong to. */
void histogram_begin(struct worker *k);
/* For an operation of compiled code whose array is in the allocation: the distance from the
 * array to the sums that it must change instead; 0: the array itself. To be called after
 * histogram_settle() (worker.h). */
uint64_t histogram_shift(struct worker *k, const struct op *o, const struct mem_block *b);
/* Adds all sums to their arrays. */
void histogram_settle_all(struct worker *k);
void histogram_settle_for_engine(struct worker *k);
/* The same, and drops all private histograms. */
void histogram_close_all(struct worker *k);

#endif
