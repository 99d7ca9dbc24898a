/* The warps of one block over time: what they do by their clocks (cost.h), with global loads from
 * L2.
 *
 * A clock knows how long a warp's own instructions wait for each other, and where it meets others;
 * not what it costs that warps share a multiprocessor. So the spans show who waits for whom, and
 * not how long a block takes.
 */
#ifndef HEDDLE_EXPLAIN_TIMELINE_H
#define HEDDLE_EXPLAIN_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind {
    SPAN_RUN,
    SPAN_WAIT, /* for what earlier instructions have begun: loads, mostly */
    SPAN_BARRIER,
};

struct span {
    float from, to; /* cycles since the block's start */
    enum span_kind kind;
};

enum { MOST_SPANS = 128 }; /* of a warp; what comes behind is left out */

struct timeline {
    uint32_t block[3];
    uint32_t n_warps;
    bool cut; /* a warp has had more */
    struct warp_spans {
        uint32_t n;
        float at; /* end of the last span */
        struct span span[MOST_SPANS];
    } warps[];
};

/* NULL where memory is exhausted. Freed with free(). */
struct timeline *timeline_new(uint32_t n_warps);
/* The warp runs from where its last span ended to `from`, and then does this until `to`. */
void timeline_add(struct timeline *t, uint32_t warp, double from, double to, enum span_kind kind);

#endif
