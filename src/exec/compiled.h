/* Compiled code of a kernel, as the engine runs it beside the interpreter (made by src/jit; docs/JIT.md).
 *
 * A compiled function runs the lanes of one activation from the start of a block of code on, over the same records as
 * the interpreter: a warp passes from one engine to the other between any two blocks. It is entered with all lanes of
 * the activation together, and leaves before every operation that may wait, call or end: the interpreter does that
 * one and goes on.
 */
#ifndef HEDDLE_EXEC_COMPILED_H
#define HEDDLE_EXEC_COMPILED_H

#include "exec/warp.h"

/* Exit reasons of compiled code; registers and pending lanes are back in their records. */
enum leave {
    LEAVE_REFUSED, /* nothing was run: this block is no entry, or the lanes did not come here in order */
    LEAVE_AT,      /* lanes w->mask stand at w->op of block w->at_block */
    LEAVE_SEEDS, /* the same, at a barrier, but some rows have seeds only: COMPILED_FILL of block op->next makes them whole */
    LEAVE_YIELD, /* the budget is spent: they stand at the start of w->at_block */
    LEAVE_ON,    /* the same, with budget left: behind a serial part */
    LEAVE_FAULT,
    LEAVE_PHASE, /* in lockstep: the last warp of the block stands at a barrier, or has ended; no phase follows by itself */
};

/* Added to the block that compiled code is entered at, or to its end: nothing runs, but rows are made of the seeds that lockstep
 * keeps between barrier phases. */
#define COMPILED_FILL (1u << 31)

/* Added to the block that a warp enters, in lockstep: it begins at the block's terminator, where its gang has dissolved. */
enum { COMPILED_END_SHIFT = 30 };
#define COMPILED_END (1u << 30)

/* Bits of block->arrived, where warps in lockstep have arrived: bit n is barrier n, ARRIVED_END the end. In a kernel without barriers
 * nothing is recorded. */
enum { ARRIVED_END = 1 << 16 };

/* After so many barrier phases a block in lockstep gives way, so that other resident blocks can make progress. */
enum { LOCKSTEP_PHASES = 1 << 10 };

/* Of an access to global memory, the allocation where it was last. The access is inside if rotate_right(address - lo, log2 of its
 * bytes) < n. An addition changes sums that stand `shift` behind its cells, if there is a private histogram (histogram.c). */
struct inline_cache {
    uint64_t lo, n, shift;
};

/* The shape that compiled code relies on, of a register: lane l is the first lane of its piece plus `lane_offsets[l]`. */
struct compiled_shape {
    uint32_t slot, width;
    uint64_t piece_lanes;
    const int64_t *lane_offsets;
};

/* An access of a block of code: its operation there, its cache by number, and the distance from its first lane's bytes to
 * its last's. */
struct compiled_access {
    uint32_t op, cache;
    uint64_t span;
};

/* What compiled code calls. */
struct compiled_calls {
    /* Runs one operation on the rows of the activation, as the interpreter does; false after a fault. Of an access to
     * global memory, *cache is filled for the next time; `span` is the distance from the first lane's bytes to those of
     * the last. */
    bool (*op)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    bool (*access)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, struct inline_cache *cache,
                   uint64_t span);
    /* Lanes come to a collective: false where they would have to wait, and nothing has been done. */
    bool (*collective)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    void (*park)(struct activation *a, uint32_t block, uint32_t lanes);
    /* Do n registers have their shapes in the lanes of mask? Compiled code asks where lanes did not run in order. */
    bool (*holds)(const struct activation *a, uint32_t mask, const struct compiled_shape *shapes, uint32_t n);
    /* Makes whole rows of n registers from their seeds, the values in the first lanes of pieces. */
    void (*fill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n);
    /* Lanes stand at a block of a serial part: serial_run(). */
    uint32_t (*serial)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
    /* A lane of a serial part has tried in vain so often: pauses. Is it to try again? */
    bool (*back_off)(struct warp *w, uint32_t tries);
    /* Runs a block of code up to its branch, on rows, and fills the inline caches of n accesses; false after a fault. */
    bool (*iteration)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                      const struct compiled_access *accesses, uint32_t n);
};

/* Is it an addition that may go to a private histogram? histogram.c. */
static inline bool histogram_takes(const struct op *o)
{
    const struct op_access *x = o->access;
    return o->kind == OP_ATOM && x->n == 1 && !x->has_reg[0] && x->space != SPACE_SHARED && x->order <= ORDER_RELAXED &&
           x->scope != MOD_sys && atom_cell_sums(op_access_cell(x, false));
}

extern const struct compiled_calls compiled_calls;

typedef uint32_t compiled_fn(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                             const struct compiled_calls *calls);

struct compiled {
    compiled_fn **functions;  /* by code->index; NULL: interpreted */
    compiled_fn **serial;     /* the same: serial parts (ir/serial_parts.c), for one lane after the other */
    uint32_t n_inline_caches; /* of all functions */
};

/* The function of a serial part returns the block that all lanes of the mask have come to, or one of these. */
enum serial {
    SERIAL_PARKED =
        NO_BLOCK, /* lanes wait in several blocks, which their records say; w->out are those behind the part */
    SERIAL_FAULT = NO_BLOCK - 1,
};

/* Tries of a lane before it backs off: a lane that finds a new value at the first comes through at the second. */
enum { FREE_TRIES = 2 };

/* Runs lanes that stand at a block of a serial part; returns as its function does (exec/serial.c). */
uint32_t serial_run(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
/* Has the block compiled code for one lane after the other? */
static inline bool serial_has(const struct compiled *c, const struct activation *a, uint32_t block)
{
    return a->code->blocks[block].serial_to && c->serial[a->code->index];
}
bool serial_back_off(struct warp *w, uint32_t tries);

/* Runs compiled code as compiled_fn; LEAVE_SEEDS has become LEAVE_AT. */
enum leave compiled_run(compiled_fn *fn, struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
/* Makes whole rows of seeds, as the interpreter needs them, for a warp in lockstep that stands behind a barrier, at the start, or
 * before a block's terminator (COMPILED_END). */
void compiled_fill(compiled_fn *fn, struct warp *w, uint32_t block);

#endif
