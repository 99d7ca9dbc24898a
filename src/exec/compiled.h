/* Compiled code of a kernel, as the engine runs it beside the interpreter (made by src/jit;
 * docs/JIT.md). What both know of each other stands in abi.h.
 *
 * A compiled function runs the lanes of one activation from the start of a block of code on, over
 * the same records as the interpreter: a warp passes from one engine to the other between any two
 * blocks. It is entered with all lanes of the activation together, and leaves before every
 * operation that may wait, call or end: the interpreter does that one and goes on.
 */
#ifndef HEDDLE_EXEC_COMPILED_H
#define HEDDLE_EXEC_COMPILED_H

#include "exec/abi.h"
#include "exec/warp.h"

struct worker;
struct launch;

extern const struct compiled_calls compiled_calls;

struct compiled {
    compiled_fn **functions;  /* by code->index; NULL: interpreted */
    compiled_fn **serial;     /* the same: serial parts (ir/serial_parts.c), for one lane after the other */
    uint32_t n_inline_caches; /* of all functions */
};

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
/* Makes whole rows of seeds, as the interpreter needs them, for a warp in lockstep that stands
 * behind a barrier, at the start, or before a block's terminator (COMPILED_END). */
void compiled_fill(compiled_fn *fn, struct warp *w, uint32_t block);

/* The launch's compiled code, where it may run: it tells nobody what it does, and takes no orders
 * from a schedule. */
const struct compiled *worker_find_compiled(struct worker *k, struct launch *l);
/* Forgets the compiled code that the worker has run last. */
void worker_drop_compiled(struct worker *k);

#endif
