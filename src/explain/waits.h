/* What a warp has issued and waits for later, on the clocks of warps (cost.h): groups of
 * asynchronous copies, and mbarriers. */
#ifndef HEDDLE_EXPLAIN_WAITS_H
#define HEDDLE_EXPLAIN_WAITS_H

#include <stdint.h>

#include "explain/cost.h"

/* *a becomes the later one of the two, level by level. */
static inline void clocks_wait(double a[CLOCK_LEVELS], const double b[CLOCK_LEVELS])
{
    for (unsigned i = 0; i < CLOCK_LEVELS; i++)
        a[i] = b[i] > a[i] ? b[i] : a[i];
}

/* ---- groups of a warp's copies: cp.async, or in bulk ---- */

enum { GROUPS_KNOWN = 8 }; /* of those that have been committed, the last ones */

struct group_clocks {
    double open[CLOCK_LEVELS];               /* when the copies are done that no group has yet */
    double done[GROUPS_KNOWN][CLOCK_LEVELS]; /* by number modulo GROUPS_KNOWN: when it and those before it are done */
    uint64_t committed;
};

void groups_commit(struct group_clocks *g);
/* When all but the `left` newest are done; NULL: at once. */
const double *groups_done(const struct group_clocks *g, uint64_t left);

/* ---- mbarriers of a block ---- */

struct mbarrier_clock {
    uint64_t address;
    double phase[CLOCK_LEVELS]; /* of the phase that is not complete: its last arrival or transaction so far */
    double last[CLOCK_LEVELS];  /* when the phase before it was complete */
};

struct mbarrier_clocks {
    struct mbarrier_clock *at;
    uint32_t n, capacity;
};

/* That at the address, which may be new; NULL where memory is exhausted. */
struct mbarrier_clock *mbarrier_clock(struct mbarrier_clocks *all, uint64_t address);
/* The phase is complete. */
void mbarrier_complete(struct mbarrier_clock *m);

#endif
