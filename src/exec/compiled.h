/* Compiled code of a kernel, as the engine runs it beside the interpreter (made by src/jit;
 * docs/JIT.md). abi.h is their interface.
 *
 * A compiled function runs the lanes of one activation from the start of a basic block on, over
 * the interpreter's records: a warp can change engines between any two blocks. It is entered
 * with all lanes of the activation together, and exits before every operation that may wait,
 * call or end; the interpreter executes that one and goes on.
 */
#ifndef HEDDLE_EXEC_COMPILED_H
#define HEDDLE_EXEC_COMPILED_H

#include "exec/abi.h"
#include "exec/warp.h"

struct worker;
struct launch;

extern const struct compiled_calls compiled_calls;

struct compiled {
    compiled_fn **functions; /* by code->index; NULL: interpreted */
    /* The same: serial parts (ir/serial_parts.c), for one lane after the other. */
    compiled_fn **serial;
    uint32_t n_inline_caches; /* of all functions */
};

/* Runs lanes that are at a block of a serial part; returns the result of its function
 * (exec/serial.c). */
uint32_t serial_run(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
/* Is there compiled code of the block for single lanes? */
static inline bool serial_has(const struct compiled *c, const struct activation *a, uint32_t block)
{
    return a->code->blocks[block].serial_to && c->serial[a->code->index];
}
bool serial_back_off(struct warp *w, uint32_t tries);

/* Runs compiled code like compiled_fn; returns LEAVE_AT instead of LEAVE_SEEDS. */
enum leave compiled_run(compiled_fn *fn, struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
/* Makes whole rows of seeds, which the interpreter needs, for a warp in lockstep after a
 * barrier, at the start, or before a block's terminator (COMPILED_END). */
void compiled_fill(compiled_fn *fn, struct warp *w, uint32_t block);

/* The launch's compiled code, if it may run: no client wants its events, and no schedule directs
 * it. */
const struct compiled *worker_find_compiled(struct worker *k, struct launch *l);
/* Forgets the compiled code that the worker ran last. */
void worker_drop_compiled(struct worker *k);

#endif
