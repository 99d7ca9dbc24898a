/* Runs: what access_groups.c finds and interleaved.c moves. */
#ifndef HEDDLE_JIT_INTERLEAVED_H
#define HEDDLE_JIT_INTERLEAVED_H

#include "jit/emit/access.h"

enum { MAX_VALUES = 8, MAX_ELEMENTS = MAX_VALUES * WARP_LANES };

struct run {
    uint32_t first, last;               /* instructions of the block */
    int64_t from;                       /* where it begins, as of a group */
    unsigned n, elements;               /* values: an element of each lane; from the first element to the last */
    unsigned at[MAX_VALUES];            /* by value: element of the lane that comes first */
    unsigned lane_at[WARP_LANES];       /* elements behind that lane's */
    bool is_inside;                     /* no member needs a test */
    value values[MAX_GANG][MAX_VALUES]; /* by the gang's warp: vectors of 32, or their allocas */
};

/* Elements of several vectors: index[l] counts through all of them; negative: any. */
value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES]);

#endif
