/* A gang while it is emitted: what gang.c, which runs its code, and gang_exit.c, which leaves it, share. */
#ifndef HEDDLE_JIT_GANG_H
#define HEDDLE_JIT_GANG_H

#include "jit/emit/load_store.h"

/* The slow way of the present access: who comes here, with copies of the registers that it reads or writes. */
struct slow {
    LLVMBasicBlockRef block, back[MAX_GANG];
    value which, w, a, rows, mask;
    struct access access;
    unsigned access_of; /* the first warp that comes here: those behind it do, too */
    value *regs;
};

struct gang {
    struct emit warps[MAX_GANG];
    unsigned n;
    LLVMBasicBlockRef *block; /* by block: the gang's code, or NULL */
    LLVMBasicBlockRef leave;  /* to the interpreter */
    /* Of the present block, where they are gone to; or NULL: on the way to `leave`; the gang dissolves at the block's end, or
     * before all of it. */
    LLVMBasicBlockRef exit_through, dissolve, restart;
    LLVMBasicBlockRef unchecked; /* the present block's version without tests (loop_version.c), or NULL */
    bool pure;                   /* so far the block has changed nothing but registers */
    value *before; /* registers as they were where it began, of those that it writes: by register, piece and warp */
    struct slow slow;
};

extern const struct lanes_mode gang_mode, side_region_mode; /* gang_exit.c */

/* A block that has changed nothing is counted where it is left for another, since it may begin anew up to there. */
void gang_count_pure(struct gang *g);
/* Where the present block begins anew, by single warps. */
LLVMBasicBlockRef gang_to_restart(struct emit *e, struct gang *g);
/* The warp stands before an operation of the present block. */
void gang_record_place(struct emit *x, uint32_t index);

#endif
