/* The part of the model that concerns single locations: the causality order of a location's
 * accesses, and the axioms that require a coherence order to exist. model.h describes the
 * functions. */
#ifndef HEDDLE_EXPLORE_COHERENCE_H
#define HEDDLE_EXPLORE_COHERENCE_H

#include "explore/graph.h"

struct coherence {
    bool (*check)(struct graph *g, uint16_t location);
    void (*causality)(struct graph *g, uint16_t location);
    void (*choices)(const struct graph *g, uint16_t event, uint64_t *choices);
    void (*taken)(const struct graph *g, uint16_t event, uint64_t *taken);
    void (*may_be_last)(const struct graph *g, uint16_t location, uint64_t *last);
    void (*last)(const struct graph *g, uint16_t location, uint64_t *last);
    bool (*are_last)(const struct graph *g, uint16_t location, const uint64_t *writes);
    bool (*order)(const struct graph *g, uint16_t location, const uint64_t *last, uint64_t *co);
};

/* For graphs whose sets are one word; for all graphs. */
extern const struct coherence coherence_narrow, coherence_wide;

static inline const struct coherence *coherence_of(const struct graph *g)
{
    return g->words == 1 ? &coherence_narrow : &coherence_wide;
}

#endif
