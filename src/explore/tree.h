/* The tree of a search, shared out to the threads of a process by parts that nobody is in yet (work
 * stealing).
 *
 * The search is deterministic, so a part is named by the decisions that lead to it, and whoever
 * takes it makes them again. A thread without work makes the tree hungry; the others look at that
 * at each step, and give away what is left of the node that is nearest to the root. So parts become
 * as small as they need to be, and no tree is too uneven.
 *
 * Steps come from the tree, too: a limit, and what is decided by the number of steps, holds for all
 * threads together. */
#ifndef HEDDLE_EXPLORE_TREE_H
#define HEDDLE_EXPLORE_TREE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The branches of a node from `first` on. The node is where the decisions lead: the number of the
 * branch that is taken at each depth. */
struct part {
    struct part *next;
    uint32_t depth;
    uint8_t first;
    uint8_t decisions[];
};

enum tree_end {
    TREE_EXHAUSTED, /* all has been searched */
    TREE_LIMITED,   /* the steps have been used up */
    TREE_SUFFICED,  /* something wrong was found, and the search is long */
    TREE_GAVE_UP,   /* a loop was left by its bound: another bound is tried */
    TREE_SHOWS,     /* rounds of loops were left out, and an access could tell (left_out.c): they are to stay */
    TREE_STOPPED,   /* whatever else ends a search, as the worker that stopped it knows */
};

/* Is the search begun once more, with another bound or with more rounds? */
static inline bool tree_begins_anew(enum tree_end end)
{
    return end == TREE_GAVE_UP || end == TREE_SHOWS;
}

/* When a search gives up in which a loop was left by its bound: after so many steps (0: never), or
 * where one worker has found so much to do in its first ones that this takes so many bytes. */
struct patience {
    uint64_t steps;
    size_t bytes;
};

struct tree {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct part *parts; /* that nobody has taken */
    uint32_t n_parts;
    uint32_t n_workers, n_idle, n_dry; /* idle: without a part; dry: without steps */
    uint32_t n_wanted;                 /* parts that are wanted elsewhere */
    bool is_branch;                    /* of a tree elsewhere, which says when it ends */
    uint64_t steps_left, steps_taken;  /* taken: by workers that have asked for others since, or given the rest back */
    struct patience cut;
    atomic_bool has_cut;
    double
        seconds_found; /* a search that has found something wrong ends after so much processor time of a worker; 0: never */
    atomic_bool has_found;
    atomic_bool hungry, ended;
    enum tree_end end;
    atomic_size_t run_bytes; /* that the runs of all workers take */
    /* Called once, by the worker that has taken `grow_at` steps, to start others (tree_join). */
    void (*grow)(void *data);
    void *data;
    uint64_t grow_at;
};

/* Begins without workers and parts (the whole tree is that of no decisions). `limit`: steps, 0: as
 * many as it takes. */
void tree_begin(struct tree *t, uint64_t limit, struct patience cut);
/* Begins without steps, too, which come from elsewhere as parts do: split.h. */
void tree_begin_branch(struct tree *t);
void tree_free(struct tree *t);
/* One worker more; one less, which is not idle. */
void tree_join(struct tree *t);
void tree_leave(struct tree *t);
/* What to search next: the caller's to free. Waits for it; NULL: the search has ended. */
struct part *tree_take(struct tree *t);
/* Adds a part, with a copy of the decisions; false: there is no memory, and nothing has been given. */
bool tree_give(struct tree *t, const uint8_t *decisions, uint32_t depth, uint8_t first);
void tree_stop(struct tree *t, enum tree_end end);
/* A loop was left by its bound, by a worker whose search takes so many bytes. */
void tree_cuts(struct tree *t, size_t bytes);

/* Steps of a worker. */
struct allowance {
    uint64_t given, left;
    double begun; /* the processor time that its thread had then */
};
/* The processor time of this thread. */
double thread_seconds(void);
/* More steps; waits while others hold the last ones. False: the search has ended. */
bool tree_allow(struct tree *t, struct allowance *a);
/* Gives back what is left, when a part is done. */
void tree_return(struct tree *t, struct allowance *a);

/* The same for a worker that is elsewhere, and that nobody waits for here: it has no part, until
 * tree_try_take() gives it one; no steps, until tree_try_allow() gives it some. */
void tree_idles(struct tree *t);
struct part *tree_try_take(struct tree *t);
void tree_dries(struct tree *t, struct allowance *a);
bool tree_try_allow(struct tree *t, struct allowance *a, uint64_t many);

/* What a branch is to ask for. */
enum tree_needs { TREE_NEEDS_NOTHING, TREE_NEEDS_PART, TREE_NEEDS_STEPS };
enum tree_needs tree_needs(struct tree *t);
/* Steps from elsewhere; those that are left go back there. */
void tree_feed(struct tree *t, uint64_t steps);
uint64_t tree_drain(struct tree *t);
/* So many parts more are wanted elsewhere; one that nobody here waits for, or NULL. */
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
