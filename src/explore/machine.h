/* The state of one thread's registers and own memory while it is run: private to the tree of runs
 * (thread.c) and what executes instructions (step.c). */
#ifndef HEDDLE_EXPLORE_MACHINE_H
#define HEDDLE_EXPLORE_MACHINE_H

#include "explore/thread.h"

struct value {
    uint64_t lo, hi;
    uint64_t needs; /* the events that it waits for, by number % 64; 0: it is known */
    uint16_t from;  /* 1 + the newest event that it derives from, known or not */
    uint32_t set;   /* the step that has set the register */
};

struct frame {
    const struct code *code;
    uint32_t block, at;           /* in the text's order; the instruction within it */
    uint32_t registers;           /* where its registers begin in machine.values */
    uint32_t local;               /* and its frame of local memory */
    const struct ir_insn *called; /* by this instruction of the frame before */
};

/* The head of a loop that the thread is in: what was alive when it was last there. */
struct head {
    uint32_t frame, block;
    uint16_t started; /* events before this round */
    uint32_t retries;
    const struct value *live; /* in the order of ir_live; NULL where the analysis knows of none */
    uint32_t n_local;
    const uint8_t *local;
    uint64_t local_needs;
    const struct head *before; /* the head of the round before, if that has only read */
    uint32_t n_before;
};

struct machine {
    struct frame *frames;
    struct value *values;
    struct head *heads;
    uint8_t *local; /* bytes, what they wait for, what they derive from */
    uint64_t *local_needs;
    uint16_t *local_from;
    uint32_t n_frames, n_values, n_heads, n_local;
    uint32_t frames_room, values_room, heads_room, local_room;
    uint16_t n_events; /* before the next instruction */
    uint32_t n_steps;
    const struct ir_insn *trap; /* as in struct run */
    uint16_t trap_at;
    uint16_t control_from; /* 1 + the newest event that a branch derived from */
};

/* What is being run: the thread, its run that is made, the machine. */
struct execution {
    struct runner *r;
    struct run *run;
    struct machine *m;
    uint32_t events_room;
    uint16_t events_before; /* the instruction that is executed */
    bool kept;              /* the machine, where the unknown part begins */
    enum run_end end;
};

static inline struct frame *top(struct machine *m)
{
    return &m->frames[m->n_frames - 1];
}

/* Executes instructions until the thread stops; says why. */
enum run_end execute(struct execution *x);
/* Keeps the machine for the run, as it was before the instruction, if it is not kept yet. */
void machine_keep(struct execution *x);
void machine_room(struct machine *m, uint32_t frames, uint32_t values, uint32_t local);
/* The thread's next event: that of the run before, or a new one. */
struct run_event *next_event(struct execution *x, enum run_kind kind, const struct ir_insn *i);

/* step_memory.c: false where the thread stops, with x->end. */
bool step_memory(struct execution *x, const struct ir_insn *i, struct value guard);
void local_copy(struct machine *m, uint32_t from, uint32_t to, uint32_t bytes);

/* step.c */
struct value operand(struct execution *x, ir_ref r);
void set_register(struct execution *x, ir_ref r, struct value v);
struct value call_lane(const struct execution *x, lane_id id, struct value a, struct value b, struct value c,
                       struct value *e, uint64_t imm);
bool refuse(struct execution *x, const struct ir_insn *i, const char *what);
/* A fence of the text, or one that stands at an access (change.h). */
void run_fence(struct execution *x, const struct ir_insn *i, uint8_t order, uint8_t scope);

/* What depends on both. */
static inline struct value merge(struct value v, struct value other)
{
    v.needs |= other.needs;
    v.from = v.from > other.from ? v.from : other.from;
    return v;
}

/* loops.c: the thread goes from a block to another; false where it stops, with x->end. */
bool loop_enter(struct execution *x, uint32_t block, bool back);
/* Of the round that begins with the next event. */
enum round_kind loop_round(const struct execution *x);

#endif
