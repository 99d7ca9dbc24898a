/* What an exploration has found: the outcomes, races, traps, deadlocks and livelocks of all
 * executions; counts. */
#ifndef HEDDLE_EXPLORE_VERDICT_H
#define HEDDLE_EXPLORE_VERDICT_H

#include "explore/search.h"

/* A read of an execution. */
struct example_read {
    const struct ir_insn *insn, *from; /* from: what wrote it; NULL: it was there at first */
    uint32_t block, thread, from_block, from_thread;
    uint64_t value;
};

/* An execution: what its threads read. Of long ones the beginning. */
enum { EXAMPLE_READS = 64 };
struct example {
    uint32_t n;
    bool is_cut; /* there are more */
    struct example_read reads[];
};

/* Where an execution is in the tree: the number of the branch at each depth. Whatever parts the
 * tree is searched in, and in which order, of all executions that show something the first is its
 * example. */
struct decisions {
    const uint8_t *at;
    uint32_t n;
};

/* An instruction where something happens in some execution; NULL: in none. */
struct sight {
    const struct ir_insn *insn;
    const struct example *example;
    struct decisions decisions;
};

/* Two accesses that can race: instructions, the one with the smaller line first. */
struct race {
    const struct ir_insn *a, *b;
    const struct example *example;
    struct decisions decisions;
};
struct stop {
    const struct ir_insn *insn;
    const char *fault; /* NULL: a trap */
    const struct example *example;
    struct decisions decisions;
};

struct verdict {
    struct arena *arena;
    uint16_t *observed; /* locations */
    uint32_t n_observed;
    /* Outcomes of completed runs: n_observed values each, by hash. */
    VEC(uint64_t *) outcomes;
    VEC(const struct example *) examples; /* by outcome */
    VEC(struct decisions) reached;        /* by outcome */
    uint32_t *outcome_table;
    uint32_t outcome_room;
    VEC(struct race) races;
    VEC(struct stop) stops;
    struct sight deadlock, livelock;
    struct sight livelock_by_atomics; /* some of the threads repeat atomic operations that write what they read */
    bool breaks_claim;                /* some outcome does */
    struct sight cut;                 /* a loop that an execution left by its bound */
    const struct ir_insn
        *unseen; /* a loop of which rounds were left out that may race, and are not put back (rounds.c) */
    const struct execution *caught; /* the search was for this one: execution.h */
    uint64_t graphs, blocked, dead, duplicates;
    /* Hashes of graphs, to count those that come twice. */
    uint64_t *seen;
    uint64_t n_seen, seen_room;
    struct decisions here; /* of the execution that is looked at */
};

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* Add what the execution shows: the place for its example, NULL where an earlier execution shows
 * that, too. */
const struct example **verdict_outcome(struct verdict *v, const uint64_t *values);
const struct example **verdict_race(struct verdict *v, const struct ir_insn *a, const struct ir_insn *b);
/* Would that be the first execution with the race? */
bool verdict_is_first_race(const struct verdict *v, const struct ir_insn *a, const struct ir_insn *b);
const struct example **verdict_stop(struct verdict *v, const struct ir_insn *insn, const char *fault);
const struct example **verdict_sight(struct verdict *v, struct sight *sight, const struct ir_insn *insn);
/* Rounds of a loop at the instruction have been left out, and are not looked at. */
void verdict_unseen(struct verdict *v, const struct ir_insn *insn);
/* Would it be the first one? */
bool verdict_is_first(const struct verdict *v, const struct sight *sight);
/* Notes a graph by its hash, to count those that come twice. */
void verdict_graph(struct verdict *v, uint64_t hash);
struct example *example_new(struct arena *arena, uint32_t n);

void verdict_begin(struct verdict *v, struct arena *arena);
void verdict_end(struct verdict *v);
/* leaf.c: nothing can move any more: looks at what the execution is. */
void verdict_leaf(struct explorer *x, struct state *s);
/* Has anything been found that is wrong? */
static inline bool verdict_is_bad(const struct verdict *v)
{
    return v->races.n || v->stops.n || v->deadlock.insn || v->livelock.insn || v->livelock_by_atomics.insn ||
           v->breaks_claim;
}
/* Some read has nothing to read from: from a thread that was cut off it might have. */
void verdict_dead_end(struct explorer *x, const struct state *s);
/* rounds.c: calls `look` for each execution with a round of a loop that was left out, where that
 * may race. */
void look_at_rounds(struct explorer *x, const struct state *s,
                    void (*look)(struct explorer *x, const struct state *with));
/* Adds what another part of the tree has found. */
void verdict_add(struct verdict *to, const struct verdict *from);
/* In the order of their values, and of lines. */
void verdict_sort(struct verdict *v);

#endif
