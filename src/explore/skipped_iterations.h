/* The search for left-out iterations that are put back into one execution: skipped_iterations.c. */
#ifndef HEDDLE_EXPLORE_SKIPPED_ITERATIONS_H
#define HEDDLE_EXPLORE_SKIPPED_ITERATIONS_H

#include "explore/verdict.h"

enum { MAX_READS = 64 }; /* limit for one iteration; longer ones are not examined */

/* The write that a read of the iteration reads from. */
struct choice {
    uint16_t po;
    uint16_t from; /* an event; NO_EVENT: the initial value */
};

struct rounds {
    struct explorer *x;
    const struct state *s;
    uint16_t thread, first; /* the iteration's first event */
    struct choice choices[MAX_READS];
    uint64_t *hashes; /* hashes of the values at the graph's places; 0: not computed yet */
    unsigned n;
    void (*look)(struct explorer *x, const struct state *with);
};

/* ---- skipped_iterations_race.c ---- */

/* Has any failing iteration that begins at the end of a run a read that may race? */
bool rounds_may_race(const struct rounds *r, struct run *run);
/* May another thread's write race with the read, in a race that is not known yet? */
bool round_read_may_race(const struct rounds *r, const struct run_event *read);
/* Is it morally strong with reads of the iteration's thread? */
bool round_is_strong(const struct rounds *r, const struct event *write, const struct run_event *read);
/* The read that the next choice is for; NULL if there is none. */
const struct run_event *round_next_read(const struct run *run);
/* The state of the iteration once its read `po` has a value. */
enum round_end { ROUND_GOES_ON, ROUND_FAILS, ROUND_IS_NONE };
enum round_end round_end(const struct rounds *r, const struct run *run, uint16_t po);

#endif
