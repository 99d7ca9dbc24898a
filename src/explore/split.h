/* A search that is split over ranks (ranks/ranks.h).
 *
 * The first rank has the tree. Each other one is to it a worker, which has many threads: that one
 * has a branch of the tree, whose parts and steps come from the first rank. A part is a series of
 * decisions, and so is what a rank has found: the first rank makes the same decisions again where
 * it needs more than the values of an outcome. So no rank knows of another one's memory, and all is
 * as if one process had searched.
 *
 * Ranks end together or not at all: where one is lost, nothing is said of the others' findings. */
#ifndef HEDDLE_EXPLORE_SPLIT_H
#define HEDDLE_EXPLORE_SPLIT_H

#include "explore/searchers.h"

/* The first rank's: a thread that gives parts to the others, from now on. */
void split_serve(struct search *s);
/* Tells the others how the search has ended, and waits for what they have found; NULL, or why that
 * cannot be had. */
const char *split_end(struct search *s, struct arena *arena);
/* Adds it. */
void split_collect(struct search *s, struct explore_result *r, bool *is_full, bool *interrupted);

/* Another rank's: searches until the first one says how it has ended. False: it gave up, and begins
 * once more. */
bool split_follow(struct search *s);

/* Of a rank that has no search, as its program has not come to the launch: no other one waits for
 * it. */
void split_absent(struct ranks *r);

void split_free(struct search *s);

#endif
