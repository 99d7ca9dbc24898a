/* Atomic operations on their way to LLVM: what atomic.c, which performs them, and cas_loop.c, which
 * makes many one, share. */
#ifndef HEDDLE_JIT_ATOM_H
#define HEDDLE_JIT_ATOM_H

#include "jit/emit/load_store.h"

struct atom {
    struct transfer x; /* the access to the cells */
    bool shared, is_cas;
    enum atom_cell cell;
    LLVMTypeRef type; /* of a cell */
    ir_ref result;    /* or REF_NONE */
    LLVMAtomicOrdering order;
    value s, t; /* operands: of all lanes one, or rows on the stack where not `uniform` */
    bool uniform[2];
};

/* ---- atom_cell.c, atomic.c, atomic.c ---- */

/* False where the operation is the engine's. */
bool atom_begin(struct emit *e, const struct ir_insn *i, struct atom *t);
/* Does what comes behind it have to come later? */
bool atom_acquires(const struct atom *t);
value atom_read(struct emit *e, const struct atom *t, value at);
/* Writes `now` where `old` still is: {what was there, whether it was that}. */
value atom_swap(struct emit *e, const struct atom *t, value at, value old, value now);
/* Of a comparison that failed: it is a read. */
void atom_fence_of_read(struct emit *e, const struct atom *t);
/* Has the host an instruction for it? And that instruction. */
bool atom_is_by_host(const struct atom *t);
value atom_by_host(struct emit *e, const struct atom *t, value at, value s);
/* The modes' ways to perform it, with addresses, mask and operands found: all lanes that run; the
 * one that does. */
void atom_perform_warp(struct emit *e, const struct atom *t);
void atom_perform_lane(struct emit *e, const struct atom *t);
/* Of a cell that has `old`; `wanted` of comparisons alone. */
value atom_new_value(struct emit *e, const struct atom *t, value old, value s, value wanted);

/* ---- cas_loop.c ---- */

/* Of a serial part, allocas but for the first lines. */
struct cas_loop {
    uint32_t head;            /* the part's first block */
    struct atom t;            /* its only access */
    LLVMBasicBlockRef again;  /* where a pass that has failed goes */
    value failed;             /* how often it was not */
    value at, before, cell;   /* the cell; what was read there, and what it would be now */
    uint32_t n_saved, *saved; /* registers that are in their rows no more when lanes are run again */
    value *copies;
};

/* NULL where the part that `head` heads is none of these. `in`, `out`: the registers that its lanes
 * come with, and that they write, as sets of ir_live. */
struct cas_loop *cas_loop_find(struct emit *e, uint32_t head, const uint64_t *in, const uint64_t *out);
/* A lane begins at the head: the first of a pass goes to `combined`, the version whose comparisons
 * are cas_loop_compare(), where the pass can be one exchange. */
void cas_loop_enter(struct emit *e, struct cas_loop *c, value is_first, LLVMBasicBlockRef combined);
/* The comparison, by the lane that runs. */
value cas_loop_compare(struct emit *e, const struct cas_loop *c, const struct atom *t);
/* The exchange: goes to `settled`, to c->again where it fails. */
void cas_loop_settle(struct emit *e, const struct cas_loop *c, LLVMBasicBlockRef settled);
/* Registers are in their rows again. */
void cas_loop_restore(struct emit *e, const struct cas_loop *c);

/* ---- atom_lane.c ---- */

/* A read-modify-write loop: computes with what has been read, and starts again if somebody has
 * written meanwhile. */
struct exchange {
    LLVMBasicBlockRef again;
    value at, read; /* read: a phi */
};

struct exchange atom_exchange_begin(struct emit *e, const struct atom *t, value at);
/* Ends the loop: writes `now`, and goes to `done`. */
void atom_exchange_end(struct emit *e, const struct atom *t, const struct exchange *x, value now,
                       LLVMBasicBlockRef done);
/* What one lane does; returns what was there, or NULL where nobody asks. */
value atom_do_cell(struct emit *e, const struct atom *t, value at, value s, value wanted);
/* The compare-and-swap in global memory of a lane by itself. */
value atom_try_cell(struct emit *e, const struct atom *t, value at, value s, value wanted);

#endif
