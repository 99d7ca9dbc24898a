/* Finds sets of changes that forbid an execution, on its graph alone (execution.h). Each set is
 * minimal among those that were tried. */
#ifndef HEDDLE_EXPLORE_FORBID_H
#define HEDDLE_EXPLORE_FORBID_H

#include "base/vec.h"
#include "explore/execution.h"

struct forbidding {
    struct changes changes; /* including the changes that were there before */
    unsigned cost;          /* of all changes */
};
typedef VEC(struct forbidding) forbidding_list;

/* The strongest changes to all sites of the execution: every access is strong and ordered, in a
 * scope of all its threads, with a fence.sc before it (only if `fences`). What they still allow is
 * sequentially consistent. In the arena, as are all results below. */
struct changes forbid_top(struct arena *arena, const struct execution *e, bool fences);
unsigned changes_cost(const struct changes *c);

/* The sets that forbid it in addition to `now`, cheapest first: single changes, and pairs that cost
 * no more; if none forbids it, a few larger sets. An empty list: even `top` allows it. Call within
 * memory_try(). */
forbidding_list forbid(struct arena *arena, const struct execution *e, const struct changes *now);
/* A minimal subset of `all` that forbids it, as `forbids` decides. */
struct changes forbid_least(struct arena *arena, struct changes all, const struct changes *now,
                            bool (*forbids)(void *data, const struct changes *c), void *data);

#endif
