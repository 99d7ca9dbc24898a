/* What a thread may still do behind the end of a run: the places that it may write, and the
 * barriers that it may reach. An over-approximation: registers are intervals, and a load may return
 * any value. */
#ifndef HEDDLE_EXPLORE_FUTURE_H
#define HEDDLE_EXPLORE_FUTURE_H

#include "explore/thread.h"

struct future {
    bool anywhere;     /* it may write at any place */
    uint32_t barriers; /* by number; CLUSTER_BARRIER is the cluster's */
    unsigned n;
    struct future_range {
        uint32_t block; /* as in struct location */
        uint64_t first, last;
    } *ranges;
};

const struct future *future_of(struct runner *r, struct run *run);
/* For the whole thread from its beginning: the places of its weak writes, and of strong writes in a
 * scope smaller than gpu. */
const struct future *future_weak(struct runner *r);
bool future_writes(const struct future *f, const struct location *l);

#endif
