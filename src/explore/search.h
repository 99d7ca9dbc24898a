/* The search for all executions: grows graphs that are closed under dependencies and reads-from,
 * and reaches each by one sequence of decisions.
 *
 * All threads run as far as they can without undecided values. Then there are undecided
 * reads, and meetings at barriers, each with a set of possible answers: the existing writes,
 * and "a later one" if another thread may still write there. A single possible answer is
 * taken. Otherwise the search branches on one read (or meeting): a branch for each existing
 * write, and one in which it reads from none of these. So no graph occurs in two branches,
 * and no table of visited states is needed. A read that waits for a later write and gets none
 * is a dead end; pending_writes.c and pending_writes_exact.c prove for most of them in
 * advance that none can come. */
#ifndef HEDDLE_EXPLORE_SEARCH_H
#define HEDDLE_EXPLORE_SEARCH_H

#include <stdatomic.h>

#include "explore/graph.h"
#include "explore/model.h"
#include "explore/tree.h"
#include "explore/thread.h"

struct verdict;

struct explorer {
    struct program *program;
    struct arena *arena;
    struct runner *runners; /* by thread */
    struct threads threads;
    struct verdict *verdict;
    struct interleavings *interleavings; /* interleave.h; or NULL */
    struct hope *hope;                   /* pending_writes.c */
    uint64_t *open_sets;                 /* sets of undecided reads, while they are examined */
    uint16_t open_words;                 /* words of each of these sets */
    struct state **states;               /* by depth */
    uint32_t n_states;
    struct graph *spare; /* for trials */
    uint32_t n_spare;
    const struct claim *claims; /* condition.h */
    unsigned n_claims;
    const atomic_bool *interrupted;
    /* execution.h: ends the search at the first of these; NULL: finds all executions. */
    const struct wanted *wanted;
    bool stopped;
    size_t run_bytes; /* its own part of tree->run_bytes */
    uint64_t most_run_bytes;
    bool is_full;   /* the runs of all workers exceed their limit of memory */
    bool symmetric; /* executions that differ only by a permutation of threads are explored once */
    uint64_t unroll;
    bool updates_stay;       /* as in struct runner */
    struct machine *machine; /* for executing runs */
    /* Its part of the tree. */
    struct tree *tree;
    const struct part *part;
    struct allowance steps;
    struct state *root;  /* before any decision */
    uint8_t *decisions;  /* by depth: the number of the current branch */
    uint8_t *has_others; /* by depth: there are further branches, which it has not given away */
};

struct state {
    struct graph g;
    struct run **runs; /* by thread */
    uint16_t n_threads, n_runs_room;
};

bool search_begin(struct explorer *x);
/* Searches a part of the tree, and gives away parts that others ask for. */
void search_run(struct explorer *x, const struct part *part);
void search_end(struct explorer *x);
/* Is there no room for more runs, or was the search ended, here or elsewhere? */
bool search_ends(struct explorer *x);

/* ---- advance.c ---- */

/* An event's location has become known; then the same for what a store writes. */
void advance_place(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e);
void advance_value(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e);
/* Brings the events of the threads' runs into the graph. */
void advance(struct explorer *x, struct state *s, uint16_t thread);
void resolve(struct explorer *x, struct state *s, uint16_t event, uint64_t value);
/* Decides the read: it takes the value of a member. */
void take(struct explorer *x, struct state *s, uint16_t event, unsigned member);
/* The same for several reads of one thread. Does nothing and returns false if the thread would then
 * be in a failing iteration. */
struct taken {
    uint16_t event;
    uint16_t member;
};
bool take_all(struct explorer *x, struct state *s, const struct taken *all, unsigned n);
uint64_t member_value(const struct explorer *x, const struct graph *g, uint16_t location, unsigned member);
/* The run that the thread would then have. */
struct run *run_taking(struct explorer *x, struct state *s, uint16_t event, unsigned member);

/* ---- skipped_atomics.c ---- */

/* Called when iterations before the one that begins with the thread's event `round` are left out
 * although they contain atomic operations like the event, which wrote the value they had read; or
 * when an access reaches a place where this was done. If other threads could tell the difference,
 * the search ends. */
void updates_left_out(struct explorer *x, struct graph *g, uint16_t event, uint16_t round);
void access_added(struct explorer *x, const struct graph *g, uint16_t event);

/* ---- stale_writes.c ---- */

/* For all undecided reads of a location: removes what each cannot read because an earlier undecided
 * read has passed it. */
struct open;
void pass_over(struct explorer *x, struct state *s, struct open *all, unsigned n);
/* Are all writes of the location strong, with at least the scope of the GPU? */
bool all_are_strong(struct explorer *x, struct location *l);
/* May a read in the iterations that a run leaves out race with any write of the kernel? */
bool chain_may_race(struct explorer *x, const struct run *run);

/* ---- symmetry.c ---- */

/* A read was decided to read from none of the members `now`. The same reads of threads that can
 * take its thread's place are decided alike: the executions in which they do read from these are
 * found with the threads exchanged. */
void exclude_twins(const struct explorer *x, struct state *s, uint16_t event, const uint64_t *now);

/* ---- barriers.c ---- */

/* A set of arrivals at a barrier that meet. */
enum { MAX_PARTIES = 1024, MAX_WAYS = 64 };
struct meeting {
    uint16_t n;
    uint16_t arrivals[MAX_PARTIES]; /* events */
};
/* Completes meetings that have only one way; false if nothing changed. */
bool meet_all(struct explorer *x, struct state *s);
/* Finds the barrier to branch on: its `way`-th way, false if there is no such way. n_ways: their
 * number; *later: may it also meet arrivals that are not there yet? */
bool meet_choice(struct explorer *x, struct state *s, unsigned way, struct meeting *m, unsigned *n_ways, bool *later);
void meet(struct explorer *x, struct state *s, const struct meeting *m);
/* The arrival that is branched on meets none of the present ones. */
void meet_later(struct explorer *x, struct state *s);
/* Would the barrier open with the arrivals that were passed over? */
bool meets_still(struct explorer *x, struct state *s);

/* ---- pending_writes.c ---- */

/* An undecided read with its possible answers. */
struct open {
    uint16_t event;
    uint8_t urgency;
    uint16_t n_now;  /* members that it can read from so that its thread proceeds */
    uint64_t *now;   /* these members: sets in explorer.open_sets */
    uint64_t *fails; /* members with which its loop repeats */
    bool may_fail;   /* the set `fails` is not empty */
    bool waits;      /* an update with undecided operands */
    bool later;      /* it may read from a future write */
};
enum { MAX_OPEN = 4096, MAX_THREADS = 1024 };

void serve_end(struct explorer *x);
/* Finds which undecided reads without a value may still get one: sets `later`. */
void serve_all(struct explorer *x, struct state *s, struct open *all, unsigned n);
/* May a read get a future value if it reads from none of the existing ones? Call it after
 * serve_all(). */
bool may_be_served(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which);
/* May a thread still arrive at the barrier of a block? */
bool may_arrive(struct explorer *x, struct state *s, uint16_t thread, uint8_t barrier);

/* ---- pending_writes_exact.c ---- */

/* The same as may_be_served(), more exactly and more slowly. */
bool may_come(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which);

#endif
