/* The runs of one thread, independent of the other threads: a tree.
 *
 * What a thread does depends only on the values that its reads return. A run is a thread's events
 * so far, in program order, with the reason why it stopped; run_resolve() gives the run in which
 * one of its events has a value. A run that is requested again is shared, so the search (search.h)
 * executes the instructions once for each different history of a thread.
 *
 * A thread proceeds past an event without a value: what depends on it by registers (or by local
 * memory) is unknown. An event with an unknown address, operand or guard has its place in program
 * order, but is incomplete. A thread stops at a branch, a barrier's number or the like that is
 * unknown. So an event is complete when everything that it depends on by data, address or control
 * has a value: the search never creates values out of thin air.
 *
 * The meaning of pure instructions is in isa/lanes.h. */
#ifndef HEDDLE_EXPLORE_THREAD_H
#define HEDDLE_EXPLORE_THREAD_H

#include "explore/program.h"

enum run_kind {
    RUN_READ,
    RUN_WRITE,
    /* An atomic read-modify-write that may write; a failed compare-and-swap is a RUN_READ. */
    RUN_UPDATE,
    RUN_FENCE,
    RUN_BARRIER,  /* bar, barrier, barrier.cluster: mode, barrier, count */
    RUN_EXCHANGE, /* a collective of a warp: mode, mask, operands */
    RUN_NOTHING,  /* not executed: its guard is false */
};

enum run_flags {
    RUN_STRONG = 1,
    RUN_RED = 2,    /* red: has no result, so it does not acquire */
    RUN_PLACED = 4, /* it is known to happen, and where */
    RUN_VALUED = 8, /* RUN_WRITE: its value is known */
    /* It has its value: for reads, updates, barriers and exchanges with results. */
    RUN_RESOLVED = 16
};

/* skipped_iterations.c searches for races in this many iterations together that
 * leave the state unchanged */
enum { ROUNDS_PUT_BACK = 2 };
enum round_kind {
    ROUND_NONE,
    ROUND_SINGLE,  /* may be left out, and has no other read */
    ROUND_SEVERAL, /* may be left out, and has several reads */
};

struct run_event {
    uint8_t kind, flags, order, mode; /* enum ir_order; enum bar_mode or enum collective */
    uint8_t scope;                    /* enum scope, model.h */
    uint8_t barrier;                  /* its number */
    uint8_t round;                    /* enum round_kind of the iteration that begins with it */
    uint16_t location;
    /* compare-and-swap: 1 + the newest event that the comparand depends on. */
    uint16_t compares_from;
    uint32_t step;  /* the instruction's number within the run */
    uint32_t count; /* barriers: number of threads, 0: all; exchanges: the mask of lanes */
    uint64_t read, wrote;
    uint64_t operand[2];               /* exchanges: a; b | c << 32 */
    uint64_t place_needs, value_needs; /* the events that it needs, as bits by number % 64 */
    const struct ir_insn *insn;
};

enum run_end {
    RUN_WAITS, /* for values of events: run.needs */
    RUN_MEETS, /* its last event is a barrier or an exchange without a result yet */
    RUN_DONE,
    RUN_FAULTED, /* an invalid access: run.fault */
    RUN_SPINS,   /* an iteration of an await loop failed, and would repeat */
    RUN_CUT,     /* --unroll was reached */
    RUN_REFUSED, /* program.refusal */
};

struct run {
    uint16_t n_events;
    uint16_t complete; /* number of complete events at its beginning */
    uint16_t round;    /* RUN_SPINS: the first event of the iteration */
    bool is_chain;     /* RUN_SPINS: more than two iterations until the state repeats */
    /* RUN_SPINS: the iteration has atomic operations that wrote the value they had read. */
    bool leaves_updates;
    uint8_t end; /* enum run_end */
    struct run_event *events;
    uint64_t needs; /* RUN_WAITS: events, as in place_needs */
    /* likewise: needed to know whether an iteration left the state unchanged. */
    uint64_t round_needs;
    /* the first event behind that iteration, which exists only if it did not; else NO_EVENT */
    uint16_t beyond;
    const struct ir_insn *stopped; /* where it stopped */
    const char *fault;
    const struct ir_insn *trap; /* the first trap or failed assertion; NULL: none */
    /* number of events before it: a thread that does nothing behind it was stopped by it */
    uint16_t trap_at;
    /* Private to thread.c: */
    struct run_child *children;
    struct machine *machine;         /* the state from which the unknown part is run again */
    struct future *future;           /* what the thread may still do: future.h */
    struct rounds_seen *rounds_seen; /* skipped_iterations.c */
};

struct runner {
    struct program *program;
    struct arena *arena;
    struct place_in_grid at;
    uint64_t unroll;   /* bound for iterations of a retry loop */
    bool updates_stay; /* iterations with atomic operations that write are not left out */
    struct machine *scratch;
    const struct machine *entry; /* before the first instruction */
    struct run *start;
    struct future *weak; /* future.h */
    uint64_t n_runs;
};

/* The machine that runners execute on; all runners of an exploration may share one. */
struct machine *run_machine(struct arena *arena);
void run_machine_free(struct machine *m);
/* The run up to the thread's first stop. */
struct run *run_begin(struct runner *r);
/* The run in which these events, placed and not resolved, have these values. */
struct answer {
    uint64_t value;
    uint16_t event;
};
struct run *run_resolve_all(struct runner *r, struct run *run, const struct answer *answers, unsigned n);
struct run *run_resolve(struct runner *r, struct run *run, unsigned event, uint64_t value);
/* The same for a value that the event may never get. NULL if that run cannot be explored. */
struct run *run_try(struct runner *r, struct run *run, unsigned event, uint64_t value);

/* The machine at the end of the run; the runner owns it, until it makes another run. */
const struct machine *run_stop(struct runner *r, const struct run *run);

#endif
