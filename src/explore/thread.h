/* The runs of one thread, whatever the others do: a tree.
 *
 * What a thread does follows from the values that its reads return, and from nothing else. A run is
 * a thread's events so far, in program order, with what stops it; run_resolve() gives the run in
 * which one of its events has got its value. A run that was asked for before is the same again, so
 * that the search (search.h) costs no instructions: they are executed once for each different
 * history of a thread.
 *
 * An event need not have its value for the thread to go on: what depends on it by registers (or by
 * memory that is the thread's own) is unknown, and an event with an unknown address, operand or
 * guard is there, in its place, but not complete. A thread stops where a branch, a barrier's number
 * or the like is unknown. So an event is complete when all that it depends on, by data, address or
 * control, has a value: the search never makes a value out of thin air.
 *
 * The meaning of pure instructions is isa/lanes.h's. */
#ifndef HEDDLE_EXPLORE_THREAD_H
#define HEDDLE_EXPLORE_THREAD_H

#include "explore/program.h"

enum run_kind {
    RUN_READ,
    RUN_WRITE,
    RUN_UPDATE, /* an atomic read-modify-write that may write; a compare-and-swap that has failed is a RUN_READ */
    RUN_FENCE,
    RUN_BARRIER,  /* bar, barrier, barrier.cluster: mode, barrier, count */
    RUN_EXCHANGE, /* what lanes of a warp do together: mode, mask, operands */
    RUN_NOTHING,  /* its guard does not hold */
};

enum run_flags {
    RUN_STRONG = 1,
    RUN_RED = 2,      /* red: it returns nothing, so it acquires nothing */
    RUN_PLACED = 4,   /* it is known that it happens, and where */
    RUN_VALUED = 8,   /* what it writes is known: of RUN_WRITE */
    RUN_RESOLVED = 16 /* it has its value: reads, updates, barriers and exchanges that return */
};

enum { ROUNDS_PUT_BACK = 2 }; /* rounds.c looks for races in so many together, which leave all as it was */
enum round_kind {
    ROUND_NONE,
    ROUND_SINGLE,  /* one that may be left out, with no other read */
    ROUND_SEVERAL, /* or with several */
};

struct run_event {
    uint8_t kind, flags, order, mode; /* enum ir_order; enum bar_mode or enum collective */
    uint8_t scope;                    /* enum scope, model.h */
    uint8_t barrier;                  /* its number */
    uint8_t round;                    /* enum round_kind: of the round of a loop that begins with it */
    uint16_t location;
    uint16_t compares_from; /* of a compare-and-swap: 1 + the newest event that the comparand derives from */
    uint32_t step;          /* the instruction's number in the run */
    uint32_t count;         /* of a barrier: threads, 0: all; of an exchange: the mask of lanes */
    uint64_t read, wrote;
    uint64_t operand[2];               /* of an exchange: a; b | c << 32 */
    uint64_t place_needs, value_needs; /* bits by number % 64 of the events that it waits for */
    const struct ir_insn *insn;
};

enum run_end {
    RUN_WAITS, /* for the values of events: run.needs */
    RUN_MEETS, /* its last event is a barrier or an exchange, which has not got its value */
    RUN_DONE,
    RUN_FAULTED, /* an access that leads nowhere: run.fault */
    RUN_SPINS,   /* a round of an await loop has failed: it would be the same again */
    RUN_CUT,     /* a bound has been reached: --unroll */
    RUN_REFUSED, /* program.refusal */
};

struct run {
    uint16_t n_events;
    uint16_t complete;   /* so many events at its beginning are */
    uint16_t round;      /* RUN_SPINS: the first event of the round */
    bool is_chain;       /* RUN_SPINS: it is not one round, or two, but more */
    bool leaves_updates; /* RUN_SPINS: the round has atomic operations that wrote what they had read */
    uint8_t end;         /* enum run_end */
    struct run_event *events;
    uint64_t needs;       /* RUN_WAITS: as place_needs */
    uint64_t round_needs; /* likewise: to know whether a round of a loop has left all as it was */
    uint16_t beyond;      /* the first event behind that round: it is there if the round has not; else NO_EVENT */
    const struct ir_insn *stopped; /* where it stands */
    const char *fault;
    const struct ir_insn *trap; /* the first `trap`, or failed assertion; NULL: none */
    uint16_t trap_at;           /* the events before it: a thread that does nothing behind it has been stopped by it */
    /* Private to thread.c: */
    struct run_child *children;
    struct machine *machine;         /* from where the unknown part is run again */
    struct future *future;           /* what it may still do: future.h */
    struct rounds_seen *rounds_seen; /* rounds.c */
};

struct runner {
    struct program *program;
    struct arena *arena;
    struct place_in_grid at;
    uint64_t unroll;   /* rounds of a retry loop */
    bool updates_stay; /* no round with an atomic operation that writes is left out */
    struct machine *scratch;
    const struct machine *entry; /* before the first instruction */
    struct run *start;
    struct future *weak; /* future.h */
    uint64_t n_runs;
};

/* The machine that a runner executes on; all runners of an exploration may have the same. */
struct machine *run_machine(struct arena *arena);
void run_machine_free(struct machine *m);
/* The run up to where the thread first stops. */
struct run *run_begin(struct runner *r);
/* The run in which events, which are placed and not resolved, have values. */
struct answer {
    uint64_t value;
    uint16_t event;
};
struct run *run_resolve_all(struct runner *r, struct run *run, const struct answer *answers, unsigned n);
struct run *run_resolve(struct runner *r, struct run *run, unsigned event, uint64_t value);

/* The machine as it is where the run ends; it is the runner's, until it makes another run. */
const struct machine *run_stop(struct runner *r, const struct run *run);

#endif
