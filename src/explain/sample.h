/* Decides which launches are counted in a program that has many similar ones.
 *
 * All launches are counted until they have executed a given number of warp instructions. From then
 * on, of the launches of a kernel with equal sizes only the 1st, 2nd, 4th, 7th, 11th, 17th, 26th
 * ... are counted: after each one, half as many as there were so far are skipped. A skipped launch
 * runs as compiled code, at full speed, and takes the figures of the last counted launch of its
 * shape. The possible error is measured: it is the difference between each counted launch and the
 * one before it.
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
    bool is_known;               /* one was counted: */
    struct kernel_counters last; /* without its arena data */
    struct tables tables;
};

/* The shape of the request, added if it is new; NULL if there are too
 * many, or memory is exhausted. */
struct launch_shape *shape_of(struct launch_shape **all, const struct launch_request *q);
void shapes_free(struct launch_shape *all);

/* Is the next launch of this shape to be counted? */
bool shape_is_counted(struct launch_shape *s, bool all);
/* Keeps the figures of a counted launch, even while launches that it stands for may be running.
 * Returns the largest relative difference to the one before, in warp instructions, active lanes,
 * sectors or wavefronts; 0 for the first. */
double shape_keep(struct launch_shape *s, const struct kernel_counters *c, const struct tables *t,
                  const struct sites *sites);

#endif
