/* Privatised histograms: atomic additions of compiled code to the cells of an array go to sums of
 * the worker's own, which are brought to the array before anybody else can look (histogram.c). */
#ifndef HEDDLE_EXEC_HISTOGRAM_H
#define HEDDLE_EXEC_HISTOGRAM_H

#include <stdint.h>

struct worker;
struct op;
struct mem_block;

enum { MAX_HISTOGRAMS = 4 };

/* Sums of what a worker's lanes add to the cells of arrays, by one kernel's compiled code:
 * histogram.c. */
struct histograms {
    enum { HISTOGRAMS_UNKNOWN, HISTOGRAMS_ALLOWED, HISTOGRAMS_REFUSED } state;
    uint32_t n, n_closed, n_settled; /* how many there are; how often all were closed, and settled for the engine */
    struct histogram {
        uint64_t start, bytes, cell_bytes; /* of the array */
        uint64_t room;                     /* bytes of sums: whole lines */
        uint8_t *sums;                     /* of the cells, in their order */
    } at[MAX_HISTOGRAMS];
};

/* For the code that inline_caches belong to. */
void histogram_begin(struct worker *k);
/* Where compiled code performs an operation that was in the allocation: how far from the cells are
 * the sums that it is to change instead; 0: the cells themselves. To be called after
 * histogram_settle() (worker.h). */
uint64_t histogram_shift(struct worker *k, const struct op *o, const struct mem_block *b);
/* Brings all sums to their arrays. */
void histogram_settle_all(struct worker *k);
void histogram_settle_for_engine(struct worker *k);
/* The same, and from here on there are none. */
void histogram_close_all(struct worker *k);

#endif
