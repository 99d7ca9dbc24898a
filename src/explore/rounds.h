/* The search for rounds that have been left out, in one execution, and are put back into it:
 * rounds.c. */
#ifndef HEDDLE_EXPLORE_ROUNDS_H
#define HEDDLE_EXPLORE_ROUNDS_H

#include "explore/verdict.h"

enum { MAX_READS = 64 }; /* of a round; of longer ones nothing is said */

/* What a round's read reads from. */
struct choice {
    uint16_t po;
    uint16_t from; /* an event; NO_EVENT: the initial value */
};

struct rounds {
    struct explorer *x;
    const struct state *s;
    uint16_t thread, first; /* the round's first event */
    struct choice choices[MAX_READS];
    uint64_t *hashes; /* of the values at the graph's places; 0: not asked for yet */
    unsigned n;
    void (*look)(struct explorer *x, const struct state *with);
};

/* ---- rounds_ahead.c ---- */

/* Does any failing round, of those that begin where a run ends, have a read that may race? */
bool rounds_may_race(const struct rounds *r, struct run *run);
/* Some write of others there may race with the read, and that they do is not known yet. */
bool round_read_may_race(const struct rounds *r, const struct run_event *read);
/* Is it morally strong with a read of the round's thread? */
bool round_is_strong(const struct rounds *r, const struct event *write, const struct run_event *read);
/* The read that the round's next choice is of; NULL: there is none. */
const struct run_event *round_next_read(const struct run *run);
/* Where the round is, once its read `po` has a value. */
enum round_end { ROUND_GOES_ON, ROUND_FAILS, ROUND_IS_NONE };
enum round_end round_end(const struct rounds *r, const struct run *run, uint16_t po);

#endif
