/* The memory consistency model of PTX (PTX ISA 9.0, chapter 8), for accesses of equal size at equal
 * places in the generic proxy.
 *
 * All axioms stand in model.c and coherence.c, to be read beside the chapter. They are monotone:
 * more events, or more order, never make an execution consistent that was not. So a part of an
 * execution that is closed under dependencies and reads-from is consistent if the whole is. The
 * axiom No Thin Air (8.10.4) is not there: graphs grow along dependencies and reads-from (thread.h,
 * search.h), so that no cycle of them comes to be. Coherence order and Fence-SC order are not a
 * part of a graph: they are only required to exist. */
#ifndef HEDDLE_EXPLORE_MODEL_H
#define HEDDLE_EXPLORE_MODEL_H

#include "explore/graph.h"

/* 8.7 Morally strong operations. */
bool model_morally_strong(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b);

/* A fence has been added, a read or an update has been placed, a write is complete: the patterns
 * that it makes a part of. */
void model_added(struct graph *g, const struct threads *t, uint16_t event);

/* The event, an open read at a location, reads from a member. `kind`: what it then is; what an
 * update writes. */
void model_read(struct graph *g, const struct threads *t, uint16_t event, unsigned from, enum graph_kind kind,
                uint64_t wrote);

/* Is the graph consistent, as far as the locations that have changed? */
bool model_check(struct graph *g);
/* The same, and orders fences where single locations leave one way only. */
bool model_settle(struct graph *g, const struct threads *t);

/* Sets are g->words words. */

/* The members that an open read may read from: none that is left out is possible. model_check() has
 * been called. */
void model_choices(const struct graph *g, uint16_t event, uint64_t *choices);

/* Those of which an open update cannot be the one that writes next: another has done that (axiom
 * Atomicity). */
void model_taken(const struct graph *g, uint16_t event, uint64_t *taken);

/* The writes of a location that can be the last ones of a coherence order. */
void model_last(const struct graph *g, uint16_t location, uint64_t *last);

/* Can they all be last in one coherence order? Writes that are not morally strong with each other
 * can. */
bool model_are_last(const struct graph *g, uint16_t location, const uint64_t *writes);
/* A coherence order in which these are (none: whichever), as rows of who follows; false: there is
 * none. */
bool model_order(const struct graph *g, uint16_t location, const uint64_t *last, uint64_t *co);
/* g->cause, of all locations, whether the graph is consistent or not. */
void model_causality(struct graph *g);
/* Those of which nothing says yet that another follows. */
void model_may_be_last(const struct graph *g, uint16_t location, uint64_t *last);

/* Do two accesses of one location race (8.7.1 Conflict and Data-races)? */
bool model_races(const struct graph *g, uint16_t a, uint16_t b);

/* Do two fences have to be in Fence-SC order, and are not ordered yet? */
bool model_open_fences(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b);

#endif
