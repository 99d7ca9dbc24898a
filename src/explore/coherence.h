/* The part of the model that looks at one location: causality order of its accesses, and the axioms that ask whether a coherence order
 * exists; see model.h, which has what is said of each function. */
#ifndef HEDDLE_EXPLORE_COHERENCE_H
#define HEDDLE_EXPLORE_COHERENCE_H

#include "explore/graph.h"

enum { NARROW_MEMBERS = 64 };

struct coherence {
    bool (*check)(struct graph *g, uint16_t location);
    void (*causality)(struct graph *g, uint16_t location);
    members (*choices)(const struct graph *g, uint16_t event);
    members (*taken)(const struct graph *g, uint16_t event);
    members (*may_be_last)(const struct graph *g, uint16_t location);
    members (*last)(const struct graph *g, uint16_t location);
    bool (*are_last)(const struct graph *g, uint16_t location, members writes);
    bool (*order)(const struct graph *g, uint16_t location, members last, members *co);
};

/* Of locations with up to NARROW_MEMBERS members; of all. */
extern const struct coherence coherence_narrow, coherence_wide;

static inline const struct coherence *coherence_of(const struct graph *g, uint16_t location)
{
    return g->locations[location].n <= NARROW_MEMBERS ? &coherence_narrow : &coherence_wide;
}

#endif
