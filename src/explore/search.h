/* The search for all executions: graphs grown closed under dependencies and reads-from, each
 * reached by one series of decisions.
 *
 * All threads run as far as they can without a value that is open. Then there are open reads, and
 * meetings at barriers; each has a set of possible answers: the writes that are there, and "a later
 * one", if another thread may still write there. Where a single answer is left it is taken; else
 * one read (or one meeting) is decided: a branch for each write that is there, and one in which it
 * is none of these. So of two branches no graph comes twice, and no table of seen states is needed.
 * A read that waits for a later write, and gets none, is a dead end: serve.c proves for most of
 * them beforehand that none can come. */
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
    struct hope *hope;                   /* serve.c */
    uint64_t *open_sets;                 /* of open reads, while they are looked at */
    uint16_t open_words;                 /* of each of these sets */
    struct state **states;               /* by depth */
    uint32_t n_states;
    struct graph *spare; /* for what is tried out */
    uint32_t n_spare;
    const struct claim *claims; /* condition.h */
    unsigned n_claims;
    const atomic_bool *interrupted;
    const struct wanted
        *wanted; /* execution.h: the search ends with the first of these; NULL: it looks for all there is */
    bool stopped;
    size_t run_bytes; /* of tree->run_bytes, its own */
    uint64_t most_run_bytes;
    bool is_full;   /* the runs of all workers take more memory than they may */
    bool symmetric; /* executions that differ by an exchange of threads are explored once */
    uint64_t unroll;
    bool updates_stay;       /* as of struct runner */
    struct machine *machine; /* that runs are made on */
    /* The part of the tree that it is in. */
    struct tree *tree;
    const struct part *part;
    struct allowance steps;
    struct state *root;  /* before any decision */
    uint8_t *decisions;  /* by depth: the number of the branch that it is in */
    uint8_t *has_others; /* by depth: behind this branch there are others, which are still its own */
};

struct state {
    struct graph g;
    struct run **runs; /* by thread */
    uint16_t n_threads, n_runs_room;
};

bool search_begin(struct explorer *x);
/* Searches a part of the tree; what others ask for meanwhile, it gives away. */
void search_run(struct explorer *x, const struct part *part);
void search_end(struct explorer *x);
/* Is there no room for more runs, or has the search been ended, here or elsewhere? */
bool search_ends(struct explorer *x);

/* ---- advance.c ---- */

/* Where an event is, is known now; what a store writes. */
void advance_place(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e);
void advance_value(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e);
/* Brings what the threads' runs say into the graph. */
void advance(struct explorer *x, struct state *s, uint16_t thread);
void resolve(struct explorer *x, struct state *s, uint16_t event, uint64_t value);
/* The read takes the value of a member. */
void take(struct explorer *x, struct state *s, uint16_t event, unsigned member);
/* The same of several reads of one thread; false, and nothing is done, where the thread would be in
 * a failing round then. */
struct taken {
    uint16_t event;
    uint16_t member;
};
bool take_all(struct explorer *x, struct state *s, const struct taken *all, unsigned n);
uint64_t member_value(const struct explorer *x, const struct graph *g, uint16_t location, unsigned member);
/* The run that the thread would be in. */
struct run *run_taking(struct explorer *x, struct state *s, uint16_t event, unsigned member);

/* ---- left_out.c ---- */

/* Rounds of a loop have been left out, before the one that begins with the thread's event `round`,
 * with atomic operations like the event, which wrote what they had read; or an access has come to a
 * place where such have been. Where others could tell, the search ends. */
void updates_left_out(struct explorer *x, struct graph *g, uint16_t event, uint16_t round);
void access_added(struct explorer *x, const struct graph *g, uint16_t event);

/* ---- passed.c ---- */

/* Of all open reads of a location: takes from what each may read from what it cannot, as an open
 * read before it does not either. */
struct open;
void pass_over(struct explorer *x, struct state *s, struct open *all, unsigned n);
/* May a read of the rounds that a run leaves out race, with any write of the kernel? */
bool chain_may_race(struct explorer *x, const struct run *run);

/* ---- symmetry.c ---- */

/* A read has been decided to read from none of the members `now`: nor do, then, the same reads of
 * threads that can take its thread's place, as the executions in which they do are there with the
 * two exchanged. */
void exclude_twins(const struct explorer *x, struct state *s, uint16_t event, const uint64_t *now);

/* ---- meet.c ---- */

/* A way in which arrivals at a barrier meet. */
enum { MAX_PARTIES = 1024, MAX_WAYS = 64 };
struct meeting {
    uint16_t n;
    uint16_t arrivals[MAX_PARTIES]; /* events */
};
/* Lets meet who has to; false where nothing has changed. */
bool meet_all(struct explorer *x, struct state *s);
/* The barrier where several ways are open: `way` of them, false where there is none such. n_ways:
 * how many; *later: may it also be another that is not there yet? */
bool meet_choice(struct explorer *x, struct state *s, unsigned way, struct meeting *m, unsigned *n_ways, bool *later);
void meet(struct explorer *x, struct state *s, const struct meeting *m);
/* The arrival whose choice that is meets none of those that are there. */
void meet_later(struct explorer *x, struct state *s);
/* Are so many at a barrier that have been passed over that it would open? */
bool meets_still(struct explorer *x, struct state *s);

/* ---- serve.c ---- */

/* An open read with what it may be decided to. */
struct open {
    uint16_t event;
    uint8_t urgency;
    uint16_t n_now;  /* members that it can read from, and go on */
    uint64_t *now;   /* these: sets of explorer.open_sets */
    uint64_t *fails; /* members with which its loop goes round again */
    bool may_fail;   /* there are some */
    bool waits;      /* an update whose operands are not known */
    bool later;      /* it may read from a write that is not there yet */
};
enum { MAX_OPEN = 4096, MAX_THREADS = 1024 };

void serve_end(struct explorer *x);
/* Which of the open reads that have no value now may get one: sets `later`. */
void serve_all(struct explorer *x, struct state *s, struct open *all, unsigned n);
/* May a read get a value that is not there yet, if it reads from none of those that are? After
 * serve_all(). */
bool may_be_served(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which);
/* May a thread still arrive at the barrier of a block? */
bool may_arrive(struct explorer *x, struct state *s, uint16_t thread, uint8_t barrier);

#endif
