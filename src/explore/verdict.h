/* The results of an exploration: outcomes, races, traps, deadlocks and livelocks over all
 * executions; and counts. */
#ifndef HEDDLE_EXPLORE_VERDICT_H
#define HEDDLE_EXPLORE_VERDICT_H

#include "explore/search.h"

/* A read of an execution. */
struct example_read {
    /* from: what wrote the value; NULL: it is the initial value. */
    const struct ir_insn *insn, *from;
    uint32_t block, thread, from_block, from_thread;
    uint64_t value;
};

/* An execution, as what its threads read. Long ones are cut. */
enum { EXAMPLE_READS = 64 };
struct example {
    uint32_t n;
    bool is_cut; /* there are more reads */
    struct example_read reads[];
};

/* The position of an execution in the tree: the number of the branch at each depth. However the
 * tree is split up, the first execution that shows something is its example. */
struct decisions {
    const uint8_t *at;
    uint32_t n;
};

/* An instruction at which something happens in some execution; NULL if in none. */
struct sight {
    const struct ir_insn *insn;
    const struct example *example;
    struct decisions decisions;
};

/* Two accesses that can race, the one with the smaller line first. */
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
    /* Outcomes of completed executions: n_observed values each; a hash table. */
    VEC(uint64_t *) outcomes;
    VEC(const struct example *) examples; /* by outcome */
    VEC(struct decisions) reached;        /* by outcome */
    uint32_t *outcome_table;
    uint32_t outcome_room;
    VEC(struct race) races;
    VEC(struct stop) stops;
    struct sight deadlock, livelock;
    /* some spinning threads repeat atomic operations that write the value they read */
    struct sight livelock_by_atomics;
    bool breaks_claim; /* some outcome violates a claim */
    struct sight cut;  /* a loop that a bound cut off */
    /* A loop whose left-out iterations may race, and are not put back (skipped_iterations.c). */
    const struct ir_insn *unseen;
    const struct execution *caught; /* the execution that the search looked for: execution.h */
    uint64_t graphs, blocked, dead, duplicates;
    /* Hashes of graphs, to count duplicates. */
    uint64_t *seen;
    uint64_t n_seen, seen_room;
    struct decisions here; /* position of the current execution */
};

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* Add what the execution shows. They return where to put the example; NULL if an earlier execution
 * shows the same. */
const struct example **verdict_outcome(struct verdict *v, const uint64_t *values);
const struct example **verdict_race(struct verdict *v, const struct ir_insn *a, const struct ir_insn *b);
/* Would this be the first execution with the race? */
bool verdict_is_first_race(const struct verdict *v, const struct ir_insn *a, const struct ir_insn *b);
const struct example **verdict_stop(struct verdict *v, const struct ir_insn *insn, const char *fault);
const struct example **verdict_sight(struct verdict *v, struct sight *sight, const struct ir_insn *insn);
/* Iterations of a loop at the instruction were left out, and are not examined. */
void verdict_unseen(struct verdict *v, const struct ir_insn *insn);
/* Would this be the first one? */
bool verdict_is_first(const struct verdict *v, const struct sight *sight);
/* Counts a graph, by its hash, as new or as a duplicate. */
void verdict_graph(struct verdict *v, uint64_t hash);
struct example *example_new(struct arena *arena, uint32_t n);

void verdict_begin(struct verdict *v, struct arena *arena);
void verdict_end(struct verdict *v);
/* examine_execution.c: nothing can proceed: examines the execution. */
void verdict_leaf(struct explorer *x, struct state *s);
/* Was any error found? */
static inline bool verdict_is_bad(const struct verdict *v)
{
    return v->races.n || v->stops.n || v->deadlock.insn || v->livelock.insn || v->livelock_by_atomics.insn ||
           v->breaks_claim;
}
/* A read has nothing to read from; a thread that was cut off might have written it. */
void verdict_dead_end(struct explorer *x, const struct state *s);
/* skipped_iterations.c: calls `look` for each execution with a left-out iteration that may race. */
void look_at_rounds(struct explorer *x, const struct state *s,
                    void (*look)(struct explorer *x, const struct state *with));
/* Adds the results of another part of the tree. */
void verdict_add(struct verdict *to, const struct verdict *from);
/* Sorts outcomes by their values, and findings by their lines. */
void verdict_sort(struct verdict *v);

#endif
