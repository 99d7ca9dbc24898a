/* Which launches of a program that has many alike are counted.
 *
 * All of them, until those of a counter have executed a number of warp instructions; from then on,
 * of the launches of a kernel with the same sizes, one after each that was counted and half as many
 * as there were until then: 1, 2, 4, 7, 11, 17, 26, ... Each of the others runs uncounted, at the
 * speed of compiled code, and is taken to be as the last one of its like that was counted. How far
 * off that can be is measured: by how much those that were counted differ, each from the one before
 * it.
 */
#ifndef HEDDLE_EXPLAIN_SAMPLE_H
#define HEDDLE_EXPLAIN_SAMPLE_H

#include "exec/launch.h"
#include "explain/tables.h"

/* Launches of a kernel with the same grid, block, cluster and shared memory. */
struct launch_shape {
    struct launch_shape *next;
    struct launch_dims dims;
    uint64_t launches, next_counted;
    bool is_known;               /* one has been counted: */
    struct kernel_counters last; /* without what is in arenas */
    struct tables tables;
};

/* That of the request, which may be new; NULL where there are too many, or memory is exhausted. */
struct launch_shape *shape_of(struct launch_shape **all, const struct launch_request *q);
void shapes_free(struct launch_shape *all);

/* Is this further launch to be counted? */
bool shape_is_counted(struct launch_shape *s, bool all);
/* What was counted of one; launches that it stands for may be running. Returns by how much it
 * differs from the one before: in warp instructions, active lanes, sectors or wavefronts, as a
 * share of the larger; 0 where it is the first. */
double shape_keep(struct launch_shape *s, const struct kernel_counters *c, const struct tables *t,
                  const struct sites *sites);

#endif
