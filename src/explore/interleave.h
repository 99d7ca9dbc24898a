/* Interleavings: which outcomes and findings also show where threads execute one instruction after
 * the other, each at once for all, as Heddle's own engine runs them (sequential consistency).
 *
 * An execution is one if a total order of its accesses has program order, the meetings at barriers,
 * and each read behind the write that it reads from, with no other write to the place between the
 * two. Such an order is looked for in every execution that shows something for which none is known
 * yet. In the engine lanes of a warp part between blocks of code alone, so that an order which
 * parts them within one is no schedule. */
#ifndef HEDDLE_EXPLORE_INTERLEAVE_H
#define HEDDLE_EXPLORE_INTERLEAVE_H

#include "explore/execution.h"

enum interleaved {
    INTERLEAVED_NEVER,     /* by no interleaving, in what has been explored */
    INTERLEAVED_UNKNOWN,   /* in some execution the search for one was ended */
    INTERLEAVED_IN_BLOCKS, /* by some that part lanes of a warp within a block of code */
    INTERLEAVED,
};

/* A thread (or lanes of a warp that go the same way) executes an instruction: an access, or comes
 * to a meeting. */
struct interleaved_step {
    uint32_t block, warp, lanes;
    const struct ir_insn *insn;
    bool meets;
};

struct interleaving {
    enum notice_kind kind;
    const uint64_t *values;      /* of an outcome; else NULL */
    const struct ir_insn *a, *b; /* of a race; of what else has a place: a */
    enum interleaved how;
    struct interleaved_step *steps; /* how == INTERLEAVED */
    uint32_t n;
};

struct interleavings {
    struct arena *arena;
    uint32_t n_observed;
    VEC(struct interleaving) all;
};

/* NULL: no execution has shown it. */
const struct interleaving *interleaving_of(const struct interleavings *all, enum notice_kind kind,
                                           const uint64_t *values, const struct ir_insn *a, const struct ir_insn *b);

/* An execution shows something. */
void interleave(const struct explorer *x, const struct state *s, const struct graph *g, const struct notice *notice);

#endif
