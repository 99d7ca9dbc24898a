/* Emitting atomic operations: what atomic.c, which performs them, and cas_loop.c, which combines
 * many into one, share. */
#ifndef HEDDLE_JIT_ATOM_H
#define HEDDLE_JIT_ATOM_H

#include "jit/emit/load_store.h"

struct atom {
    struct transfer x; /* the access to the locations */
    bool shared, is_cas;
    enum atom_cell cell;
    LLVMTypeRef type; /* of a location */
    ir_ref result;    /* or REF_NONE */
    LLVMAtomicOrdering order;
    value s, t; /* operands: one for all lanes if `uniform`, else rows on the stack */
    bool uniform[2];
};

/* ---- atom_cell.c, atomic.c, atomic.c ---- */

/* False if the engine must perform the operation. */
bool atom_begin(struct emit *e, const struct ir_insn *i, struct atom *t);
/* Does it acquire, so that later accesses stay behind it? */
bool atom_acquires(const struct atom *t);
value atom_read(struct emit *e, const struct atom *t, value at);
/* Compare-and-swap of `old` by `now`. Returns {the old value, whether it was `old`}. */
value atom_swap(struct emit *e, const struct atom *t, value at, value old, value now);
/* The fence of a failed comparison, which is a read. */
void atom_fence_of_read(struct emit *e, const struct atom *t);
/* Does the host have an instruction for it? Emits that instruction. */
bool atom_is_by_host(const struct atom *t);
value atom_by_host(struct emit *e, const struct atom *t, value at, value s);
/* The modes' ways to perform it, when addresses, mask and operands are known: for all running
 * lanes; for the only one. */
void atom_perform_warp(struct emit *e, const struct atom *t);
void atom_perform_lane(struct emit *e, const struct atom *t);
/* The new value of a location that has `old`; `wanted`: only for comparisons. */
value atom_new_value(struct emit *e, const struct atom *t, value old, value s, value wanted);

/* ---- cas_loop.c ---- */

/* A serial part that is a compare-and-swap loop. Members are allocas, except the first ones. */
struct cas_loop {
    uint32_t head;            /* the part's first block */
    struct atom t;            /* its only access */
    LLVMBasicBlockRef again;  /* where a failed pass continues */
    value failed;             /* how many passes failed */
    value at, before, cell;   /* the location; the value read there; its present new value */
    uint32_t n_saved, *saved; /* registers that are not in their rows when lanes are run again */
    value *copies;
};

/* NULL if the part with head `head` is not such a loop. `in`, `out`: the registers that its
 * lanes enter with and that they write, as sets of ir_live. */
struct cas_loop *cas_loop_find(struct emit *e, uint32_t head, const uint64_t *in, const uint64_t *out);
/* A lane begins at the head. If the pass can be one exchange, its first lane goes to `combined`,
 * the version whose comparisons are cas_loop_compare(). */
void cas_loop_enter(struct emit *e, struct cas_loop *c, value is_first, LLVMBasicBlockRef combined);
/* The comparison of the running lane. */
value cas_loop_compare(struct emit *e, const struct cas_loop *c, const struct atom *t);
/* The exchange: goes to `settled`, or to c->again if it fails. */
void cas_loop_settle(struct emit *e, const struct cas_loop *c, LLVMBasicBlockRef settled);
/* Restores registers to their rows. */
void cas_loop_restore(struct emit *e, const struct cas_loop *c);

/* ---- atom_lane.c ---- */

/* A read-modify-write loop: computes a new value from the one read, and starts again if another
 * thread has written in between. */
struct exchange {
    LLVMBasicBlockRef again;
    value at, read; /* `read` is a phi */
};

struct exchange atom_exchange_begin(struct emit *e, const struct atom *t, value at);
/* Ends the loop: writes `now`, and goes to `done`. */
void atom_exchange_end(struct emit *e, const struct atom *t, const struct exchange *x, value now,
                       LLVMBasicBlockRef done);
/* The operation of one lane. Returns the old value, or NULL if nothing uses it. */
value atom_do_cell(struct emit *e, const struct atom *t, value at, value s, value wanted);
/* The compare-and-swap of a single lane in global memory. */
value atom_try_cell(struct emit *e, const struct atom *t, value at, value s, value wanted);

#endif
