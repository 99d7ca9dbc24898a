/* What a thread may still do behind the end of a run: the places that it may write, the barriers
 * that it may come to. More than it can do may be there, never less: what a register may have is an
 * interval, a load gives any value. */
#ifndef HEDDLE_EXPLORE_FUTURE_H
#define HEDDLE_EXPLORE_FUTURE_H

#include "explore/thread.h"

struct future {
    bool anywhere;     /* it may write at any place */
    uint32_t barriers; /* by number; the cluster's is CLUSTER_BARRIER's */
    unsigned n;
    struct future_range {
        uint32_t block; /* as in struct location */
        uint64_t first, last;
    } *ranges;
};

const struct future *future_of(struct runner *r, struct run *run);
/* Of the whole thread, from its beginning: what it may write by weak writes, or strong ones in a
 * scope that is less than the gpu's. */
const struct future *future_weak(struct runner *r);
bool future_writes(const struct future *f, const struct location *l);

#endif
