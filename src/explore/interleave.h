/* Interleavings: which outcomes and findings also occur if threads execute one instruction after
 * the other, with accesses that are visible to all at once, as Heddle's engine runs them
 * (sequential consistency).
 *
 * An execution is an interleaving if a total order of its accesses respects program order and the
 * meetings at barriers, and puts each read behind the write it reads from, with no other write to
 * the place between the two. The search looks for such an order in every execution that shows
 * something for which none is known yet. In the engine, lanes of a warp diverge only between blocks
 * of code; an order that separates them within a block is not a schedule. */
#ifndef HEDDLE_EXPLORE_INTERLEAVE_H
#define HEDDLE_EXPLORE_INTERLEAVE_H

#include "explore/execution.h"

enum interleaved {
    INTERLEAVED_NEVER,     /* no explored execution is an interleaving */
    INTERLEAVED_UNKNOWN,   /* the search for an order was interrupted in some execution */
    INTERLEAVED_IN_BLOCKS, /* only orders that separate lanes of a warp within a block of code */
    INTERLEAVED,
};

/* A thread (or lanes of a warp that run together) executes an access, or reaches a meeting. */
struct interleaved_step {
    uint32_t block, warp, lanes;
    const struct ir_insn *insn;
    bool meets;
};

struct interleaving {
    enum notice_kind kind;
    const uint64_t *values;      /* for an outcome; else NULL */
    const struct ir_insn *a, *b; /* for a race, both; for other findings with a place: a */
    enum interleaved how;
    struct interleaved_step *steps; /* if how == INTERLEAVED */
    uint32_t n;
};

struct interleavings {
    struct arena *arena;
    uint32_t n_observed;
    VEC(struct interleaving) all;
};

/* NULL: no execution showed it. */
const struct interleaving *interleaving_of(const struct interleavings *all, enum notice_kind kind,
                                           const uint64_t *values, const struct ir_insn *a, const struct ir_insn *b);

/* Called for an execution that shows something. */
void interleave(const struct explorer *x, const struct state *s, const struct graph *g, const struct notice *notice);

#endif
