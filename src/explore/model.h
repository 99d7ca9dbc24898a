/* The memory consistency model of PTX (PTX ISA 9.0, chapter 8), for accesses of equal size at equal
 * places in the generic proxy.
 *
 * All axioms are in model.c and coherence.c, for reading beside the chapter. They are monotone:
 * more events, or more order, never make an inconsistent execution consistent. So a prefix of an
 * execution that is closed under dependencies and reads-from is consistent if the whole is. Axiom
 * No Thin Air (8.10.4) needs no check: graphs grow along dependencies and reads-from (thread.h,
 * search.h), so these have no cycle. Coherence order and Fence-SC order are not parts of a graph:
 * they are only required to exist. */
#ifndef HEDDLE_EXPLORE_MODEL_H
#define HEDDLE_EXPLORE_MODEL_H

#include "explore/graph.h"

/* 8.7 Morally strong operations. */
bool model_morally_strong(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b);

/* Call it when a fence was added, a read or an update was placed, or a write is complete: finds the
 * patterns that the event is part of. */
void model_added(struct graph *g, const struct threads *t, uint16_t event);

/* Lets an undecided read read from a member. `kind`: what the event then is; the last argument:
 * what an update writes. */
void model_read(struct graph *g, const struct threads *t, uint16_t event, unsigned from, enum graph_kind kind,
                uint64_t wrote);

/* Is the graph consistent, judging by the locations that have changed? */
bool model_check(struct graph *g);
/* The same; also orders fences for which single locations leave only one way. */
bool model_settle(struct graph *g, const struct threads *t);

/* Sets have g->words words. */

/* The members that an undecided read may read from; the others are impossible. Call model_check()
 * before. */
void model_choices(const struct graph *g, uint16_t event, uint64_t *choices);

/* The members that another update has read from, so that an undecided update cannot (axiom
 * Atomicity). */
void model_taken(const struct graph *g, uint16_t event, uint64_t *taken);

/* The writes of a location that can be last in a coherence order. */
void model_last(const struct graph *g, uint16_t location, uint64_t *last);

/* Can all of these be last in one coherence order? Only writes that are not morally strong with
 * each other can. */
bool model_are_last(const struct graph *g, uint16_t location, const uint64_t *writes);
/* A coherence order in which these are last (none: any order), as rows of followers; false if there
 * is none. */
bool model_order(const struct graph *g, uint16_t location, const uint64_t *last, uint64_t *co);
/* Computes g->cause for all locations, even if the graph is inconsistent. */
void model_causality(struct graph *g);
/* The members that are not known to have a follower. */
void model_may_be_last(const struct graph *g, uint16_t location, uint64_t *last);

/* Do two accesses of one location race (8.7.1, Conflict and Data-races)? */
bool model_races(const struct graph *g, uint16_t a, uint16_t b);

/* Must two fences be ordered in Fence-SC order, and are they not yet? */
bool model_open_fences(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b);

#endif
