/* A search that is split over ranks (ranks/ranks.h).
 *
 * The first rank has the tree. Every other rank is like a worker with many threads: it has a branch
 * of the tree, and gets parts and steps from the first rank. A part is a sequence of decisions, and
 * so is what a rank found: the first rank repeats these decisions if it needs more than the values
 * of an outcome. So no rank knows another one's memory, and the results are those of one process.
 *
 * If a rank is lost, the search ends on all ranks, and nothing is
 * reported of the others' findings. */
#ifndef HEDDLE_EXPLORE_SPLIT_H
#define HEDDLE_EXPLORE_SPLIT_H

#include "explore/searchers.h"

/* First rank: starts a thread that gives parts to the others. */
void split_serve(struct search *s);
/* Tells the others how the search ended, and waits for their findings; returns NULL, or why these
 * cannot be had. */
const char *split_end(struct search *s, struct arena *arena);
/* Adds the others' findings. */
void split_collect(struct search *s, struct explore_result *r, bool *is_full, bool *interrupted);

/* Other ranks: searches until the first rank tells how the search ended. Returns false if it gave
 * up and starts again. */
bool split_follow(struct search *s);

/* For a rank without a search, because its program did not reach the launch: no other rank waits
 * for it. */
void split_absent(struct ranks *r);

void split_free(struct search *s);

#endif
