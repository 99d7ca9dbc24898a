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

/* How compiled code leaves; registers and pending lanes are back in their records. */
enum leave {
    LEAVE_REFUSED, /* nothing was run: this block is no entry, or the lanes did not come here in order */
    LEAVE_AT,      /* lanes w->mask stand at w->op of block w->at_block */
    LEAVE_SEEDS, /* the same, at a barrier; but rows of what is not divergent are to be made: COMPILED_FILL, block op->next */
    LEAVE_YIELD, /* the budget is spent: they stand at the start of w->at_block */
    LEAVE_ON,    /* the same, with budget left: behind a serial part */
    LEAVE_FAULT,
    LEAVE_PHASE, /* in lockstep: the last warp of the block stands at a barrier, or has ended; no phase follows by itself */
};

/* With a block to enter, or its end: nothing runs, but rows are made of the numbers that lockstep keeps between barrier phases. */
#define COMPILED_FILL (1u << 31)

/* With a block to enter, in lockstep: what ends the block, for a warp of a gang that has dissolved there. */
enum { COMPILED_END_SHIFT = 30 };
#define COMPILED_END (1u << 30)

/* Where warps in lockstep have arrived, in block->arrived: bit n for barrier n, and this one. None where all there is to arrive at
 * is the end: then nothing is recorded. */
enum { ARRIVED_END = 1 << 16 };

/* Barrier phases of a block in lockstep until it gives way: others may have to come on first. */
enum { LOCKSTEP_PHASES = 1 << 10 };

/* Of an access to global memory, the allocation where it was last: it is inside where rotate_right(address - lo, log2 of its bytes)
 * < n. An addition changes what stands so far behind its cells: histogram.c. */
struct inline_cache {
    uint64_t lo, n, shift;
};

/* A register whose lanes compiled code counts on: lane l has `lane_offsets[l]` over the first of its piece, which has so many
 * lanes. */
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
    /* Do n registers have their shapes in the lanes of mask? Asked where lanes did not run in order. */
    bool (*holds)(const struct activation *a, uint32_t mask, const struct compiled_shape *shapes, uint32_t n);
    /* Makes rows of them, from the values in the first lanes of pieces. */
    void (*fill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n);
    /* Lanes stand at a block of a serial part: serial_run(). */
    uint32_t (*serial)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
    /* A lane has tried so often in vain: is it to try again? Waits a little. */
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

/* Serial parts: what their function returns instead of the block that all lanes of the mask have come to. */
enum serial {
    SERIAL_PARKED =
        NO_BLOCK, /* lanes wait in several blocks, which their records say; w->out are those behind the part */
    SERIAL_FAULT = NO_BLOCK - 1,
};

/* Tries of a lane that cost nothing: who finds a new value at the first comes through at the second. */
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
/* Of a warp in lockstep that stands behind a barrier or at the start, or before what ends a block (COMPILED_END): its rows as
 * the interpreter needs them. */
void compiled_fill(compiled_fn *fn, struct warp *w, uint32_t block);

#endif
