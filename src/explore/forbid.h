/* Sets of changes that forbid an execution, found on its graph alone (execution.h): each is minimal
 * among those that were tried. */
#ifndef HEDDLE_EXPLORE_FORBID_H
#define HEDDLE_EXPLORE_FORBID_H

#include "base/vec.h"
#include "explore/execution.h"

struct forbidding {
    struct changes changes; /* with those that were there before */
    unsigned cost;          /* of all */
};
typedef VEC(struct forbidding) forbidding_list;

/* The strongest that all sites of the execution can be: every access strong and ordered, in a scope
 * of all its threads, with a fence.sc before it (`fences`: or without). What it allows is
 * sequentially consistent. In the arena, as all below. */
struct changes forbid_top(struct arena *arena, const struct execution *e, bool fences);
unsigned changes_cost(const struct changes *c);

/* The sets that forbid it beyond `now`: single steps, and pairs that are not dearer; where none
 * does, a few larger sets. None: `top` allows it. From the cheapest on. Within memory_try(). */
forbidding_list forbid(struct arena *arena, const struct execution *e, const struct changes *now);
/* Of what forbids it (`all`), a part of which nothing can be left out. `forbids` says what counts. */
struct changes forbid_least(struct arena *arena, struct changes all, const struct changes *now,
                            bool (*forbids)(void *data, const struct changes *c), void *data);

#endif
