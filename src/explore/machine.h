/* The registers and local memory of one thread during a run, for the tree of runs (thread.c) and
 * the execution of instructions (step.c). */
#ifndef HEDDLE_EXPLORE_MACHINE_H
#define HEDDLE_EXPLORE_MACHINE_H

#include "explore/thread.h"

struct value {
    uint64_t lo, hi;
    uint64_t needs; /* the events whose values it needs, by number % 64; 0: the value is known */
    uint16_t from;  /* 1 + the newest event that it depends on, known or not */
    uint32_t set;   /* the step that wrote the register */
};

struct frame {
    const struct code *code;
    uint32_t block, at;           /* by index in the text; the instruction within the block */
    uint32_t registers;           /* index of its first register in machine.values */
    uint32_t local;               /* offset of its frame of local memory */
    const struct ir_insn *called; /* the caller's call instruction */
};

/* The head of a loop that the thread is in, with the live values at its last visit. */
struct head {
    uint32_t frame, block;
    uint16_t started; /* number of events before this iteration */
    uint32_t retries;
    const struct value *live; /* in the order of ir_live; NULL without live information */
    uint32_t n_local;
    const uint8_t *local;
    uint64_t local_needs;
    const struct head *before; /* the head at the previous iteration, if that only read */
    uint32_t n_before;
};

struct machine {
    struct frame *frames;
    struct value *values;
    struct head *heads;
    uint8_t *local; /* its bytes, the events that they need, the events that they depend on */
    uint64_t *local_needs;
    uint16_t *local_from;
    uint32_t n_frames, n_values, n_heads, n_local;
    uint32_t frames_room, values_room, heads_room, local_room;
    uint16_t n_events; /* before the next instruction */
    uint32_t n_steps;
    const struct ir_insn *trap; /* as in struct run */
    uint16_t trap_at;
    uint16_t control_from; /* 1 + the newest event that a branch depended on */
};

/* The state of an execution: the thread, its new run, the machine. */
struct execution {
    struct runner *r;
    struct run *run;
    struct machine *m;
    uint32_t events_room;
    uint16_t events_before; /* number of events before the current instruction */
    bool kept;              /* the machine where the unknown part begins was saved */
    enum run_end end;
};

static inline struct frame *top(struct machine *m)
{
    return &m->frames[m->n_frames - 1];
}

/* Executes instructions until the thread stops; returns why. */
enum run_end execute(struct execution *x);
/* Saves the machine for the run, as it was before the instruction, unless one is saved already. */
void machine_keep(struct execution *x);
void machine_room(struct machine *m, uint32_t frames, uint32_t values, uint32_t local);
/* The thread's next event: the previous run's, or a new one. */
struct run_event *next_event(struct execution *x, enum run_kind kind, const struct ir_insn *i);

/* step_memory.c: returns false if the thread stops, with x->end. */
bool step_memory(struct execution *x, const struct ir_insn *i, struct value guard);
void local_copy(struct machine *m, uint32_t from, uint32_t to, uint32_t bytes);

/* step.c */
struct value operand(struct execution *x, ir_ref r);
void set_register(struct execution *x, ir_ref r, struct value v);
struct value call_lane(const struct execution *x, lane_id id, struct value a, struct value b, struct value c,
                       struct value *e, uint64_t imm);
bool refuse(struct execution *x, const struct ir_insn *i, const char *what);
/* Runs a fence of the text, or one that a change adds to an access (change.h). */
void run_fence(struct execution *x, const struct ir_insn *i, uint8_t order, uint8_t scope);

/* The thread stops: until values are known, or for good. Both return false. */
static inline bool stop_until(struct execution *x, uint64_t needs)
{
    x->run->needs = needs;
    x->end = RUN_WAITS;
    return false;
}
static inline bool stop_at_fault(struct execution *x, const char *fault)
{
    x->run->fault = fault;
    x->end = RUN_FAULTED;
    return false;
}

/* A value that depends on both. */
static inline struct value merge(struct value v, struct value other)
{
    v.needs |= other.needs;
    v.from = v.from > other.from ? v.from : other.from;
    return v;
}

/* loops.c: the thread goes from one block to another; false if it stops, with x->end. */
bool loop_enter(struct execution *x, uint32_t block, bool back);
/* The kind of the iteration that begins with the next event. */
enum round_kind loop_round(const struct execution *x);

#endif
