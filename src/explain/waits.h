/* Asynchronous work that a warp has issued and waits for later, on the clocks of warps (cost.h):
 * groups of copies, and mbarriers. */
#ifndef HEDDLE_EXPLAIN_WAITS_H
#define HEDDLE_EXPLAIN_WAITS_H

#include <stdint.h>

#include "explain/cost.h"

/* Sets each level of *a to the later of the two. */
static inline void clocks_wait(double a[CLOCK_LEVELS], const double b[CLOCK_LEVELS])
{
    for (unsigned i = 0; i < CLOCK_LEVELS; i++)
        a[i] = b[i] > a[i] ? b[i] : a[i];
}

/* ---- groups of a warp's copies: cp.async, or in bulk ---- */

enum { GROUPS_KNOWN = 8 }; /* the number of recent committed groups that are kept */

struct group_clocks {
    double open[CLOCK_LEVELS]; /* when the copies are done that no group has been committed for */
    /* by number modulo GROUPS_KNOWN: when this group and those before it are done */
    double done[GROUPS_KNOWN][CLOCK_LEVELS];
    uint64_t committed;
};

void groups_commit(struct group_clocks *g);
/* When all but the `left` newest groups are done; NULL: at once. */
const double *groups_done(const struct group_clocks *g, uint64_t left);

/* ---- mbarriers of a block ---- */

struct mbarrier_clock {
    uint64_t address;
    double phase[CLOCK_LEVELS]; /* the current phase: its last arrival or transaction so far */
    double last[CLOCK_LEVELS];  /* when the previous phase was complete */
};

struct mbarrier_clocks {
    struct mbarrier_clock *at;
    uint32_t n, capacity;
};

/* The clock of the mbarrier at the address, added if it is new; NULL if memory is exhausted. */
struct mbarrier_clock *mbarrier_clock(struct mbarrier_clocks *all, uint64_t address);
/* Completes the current phase. */
void mbarrier_complete(struct mbarrier_clock *m);

#endif
