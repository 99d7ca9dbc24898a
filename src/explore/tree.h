/* The tree of a search, shared by the threads of a process: they steal parts that nobody has
 * entered yet (work stealing).
 *
 * The search is deterministic, so a part is named by the decisions that lead to it, and the thread
 * that takes it repeats them. A thread without work makes the tree hungry; the others check this at
 * each step, and give away what is left of the node nearest to the root. So parts become as small
 * as necessary, however uneven the tree is.
 *
 * The tree also hands out steps, so that a limit, and decisions by the number of steps, apply to
 * all threads together. */
#ifndef HEDDLE_EXPLORE_TREE_H
#define HEDDLE_EXPLORE_TREE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The branches of a node from `first` on. The decisions lead to the node: the number of the branch
 * at each depth. */
struct part {
    struct part *next;
    uint32_t depth;
    uint8_t first;
    uint8_t decisions[];
};

enum tree_end {
    TREE_EXHAUSTED, /* everything was searched */
    TREE_LIMITED,   /* the steps have been used up */
    TREE_SUFFICED,  /* an error was found, and the search takes long */
    TREE_GAVE_UP,   /* a bound cut a loop off: another bound is tried */
    /* Iterations were left out, and an access could tell (skipped_atomics.c): they must stay. */
    TREE_SHOWS,
    TREE_STOPPED, /* any other reason, known to the worker that stopped it */
};

/* Does the search start again, with another bound or with more iterations? */
static inline bool tree_begins_anew(enum tree_end end)
{
    return end == TREE_GAVE_UP || end == TREE_SHOWS;
}

/* When a search that has cut a loop off gives up: after this many steps (0: never), or when a
 * worker's runs take this many bytes, because its first steps left so much to do. */
struct patience {
    uint64_t steps;
    size_t bytes;
};

struct tree {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct part *parts; /* parts that nobody has taken */
    uint32_t n_parts;
    uint32_t n_workers, n_idle, n_dry; /* idle: without a part; dry: without steps */
    uint32_t n_wanted;                 /* parts that other ranks want */
    /* A branch of another rank's tree, which decides when it ends. */
    bool is_branch;
    /* taken: by workers that have since asked for more, or returned the rest */
    uint64_t steps_left, steps_taken;
    struct patience cut;
    atomic_bool has_cut;
    /* After a finding the search ends when a worker has used this much processor time; 0: never. */
    double seconds_found;
    atomic_bool has_found;
    atomic_bool hungry, ended;
    enum tree_end end;
    atomic_size_t run_bytes; /* bytes of the runs of all workers */
    /* Called once, by the worker that has taken `grow_at` steps, to start others (tree_join). */
    void (*grow)(void *data);
    void *data;
    uint64_t grow_at;
};

/* Begins without workers and parts (no decisions name the whole tree). `limit`: steps, 0 for no
 * limit. */
void tree_begin(struct tree *t, uint64_t limit, struct patience cut);
/* Begins without steps, too: they come from another rank, like parts: split.h. */
void tree_begin_branch(struct tree *t);
void tree_free(struct tree *t);
/* Adds a worker; removes one, which is not idle. */
void tree_join(struct tree *t);
void tree_leave(struct tree *t);
/* Returns the next part to search, which the caller frees. Waits for it; NULL if the search has
   ended. */
struct part *tree_take(struct tree *t);
/* Adds a part, with a copy of the decisions; false if memory is
 * exhausted, and nothing was given. */
bool tree_give(struct tree *t, const uint8_t *decisions, uint32_t depth, uint8_t first);
void tree_stop(struct tree *t, enum tree_end end);
/* Called when a worker has cut a loop off; `bytes`: the size of its search. */
void tree_cuts(struct tree *t, size_t bytes);

/* A worker's steps. */
struct allowance {
    uint64_t given, left;
    double begun; /* its thread's processor time then */
};
/* The processor time of the calling thread. */
double thread_seconds(void);
/* Gets more steps; waits while others hold the last ones. Returns false if the search has ended. */
bool tree_allow(struct tree *t, struct allowance *a);
/* Returns the remaining steps when a part is done. */
void tree_return(struct tree *t, struct allowance *a);

/* For a worker in another rank, which nobody here waits for: it is without a part until
 * tree_try_take() returns one, and without steps until tree_try_allow() returns some. */
void tree_idles(struct tree *t);
struct part *tree_try_take(struct tree *t);
void tree_dries(struct tree *t, struct allowance *a);
bool tree_try_allow(struct tree *t, struct allowance *a, uint64_t many);

/* What a branch must request. */
enum tree_needs { TREE_NEEDS_NOTHING, TREE_NEEDS_PART, TREE_NEEDS_STEPS };
enum tree_needs tree_needs(struct tree *t);
/* Adds steps from another rank; unused ones go back there. */
void tree_feed(struct tree *t, uint64_t steps);
uint64_t tree_drain(struct tree *t);
/* Another rank wants more parts; tree_spare() returns one that no
 * worker here waits for, or NULL. */
void tree_want(struct tree *t, uint32_t n);
struct part *tree_spare(struct tree *t);

static inline bool tree_is_hungry(const struct tree *t)
{
    return atomic_load_explicit(&t->hungry, memory_order_relaxed);
}
static inline bool tree_has_ended(const struct tree *t)
{
    return atomic_load_explicit(&t->ended, memory_order_relaxed);
}
static inline bool tree_step(struct tree *t, struct allowance *a)
{
    return (a->left || tree_allow(t, a)) && (a->left--, true);
}

#endif
