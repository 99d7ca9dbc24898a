/* The warps of one block over time, by their clocks (cost.h), with global loads from L2.
 *
 * A clock knows how long a warp's own instructions wait for each other, and where warps meet. It
 * does not know the cost of sharing a multiprocessor. So the spans show which warp waits for which,
 * not how long a block takes.
 */
#ifndef HEDDLE_EXPLAIN_TIMELINE_H
#define HEDDLE_EXPLAIN_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind {
    SPAN_RUN,
    SPAN_WAIT, /* for results of earlier instructions, mostly loads */
    SPAN_BARRIER,
};

struct span {
    float from, to; /* cycles since the block's start */
    enum span_kind kind;
};

enum { MOST_SPANS = 128 }; /* per warp; further spans are left out */

struct timeline {
    uint32_t block[3];
    uint32_t n_warps;
    bool cut; /* a warp had more spans */
    struct warp_spans {
        uint32_t n;
        float at; /* end of the last span */
        struct span span[MOST_SPANS];
    } warps[];
};

/* Returns NULL if memory is exhausted. Freed with free(). */
struct timeline *timeline_new(uint32_t n_warps);
/* The warp runs from the end of its last span to `from`; the new span lasts until `to`. */
void timeline_add(struct timeline *t, uint32_t warp, double from, double to, enum span_kind kind);

#endif
