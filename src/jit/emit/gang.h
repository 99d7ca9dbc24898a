/* A gang while its code is emitted: gang.c emits how it runs, gang_exit.c how it is left. */
#ifndef HEDDLE_JIT_GANG_H
#define HEDDLE_JIT_GANG_H

#include "jit/emit/load_store.h"

/* The present access by the engine, in code that the gang's warps share: which warp comes, with
 * copies of the registers that the access reads or writes. */
struct slow {
    LLVMBasicBlockRef block, back[MAX_GANG];
    value which, w, a, rows, mask;
    struct transfer access;
    unsigned access_of; /* the first warp whose access this is; those behind it share the code */
    value *regs;
};

struct gang {
    struct emit warps[MAX_GANG];
    unsigned n;
    struct cursor *here;      /* of all warps */
    LLVMBasicBlockRef *block; /* by block: the gang's code, or NULL */
    LLVMBasicBlockRef leave;  /* to the interpreter */
    /* Of the present block, made when first branched to, or NULL: on the way to `leave`; where the
     * gang dissolves at the block's end; where it dissolves before the block, which single warps
     * then begin anew. */
    LLVMBasicBlockRef exit_through, dissolve, restart;
    LLVMBasicBlockRef unchecked; /* the present loop's version without bounds checks (loop_version.c), or NULL */
    bool pure;                   /* so far the block has changed nothing but registers */
    value *before; /* of registers that the block writes, what they were at its begin: by register, piece and warp */
    struct slow slow;
};

extern const struct lanes_mode gang_mode, side_region_mode; /* gang_exit.c */

/* Counts a pure block's instructions, where it is left for another: up to there it may begin anew. */
void gang_count_pure(struct gang *g);
/* The place where single warps begin the present block anew. */
LLVMBasicBlockRef gang_to_restart(struct emit *e, struct gang *g);
/* An exit of one warp of the gang, before operation `index` of the present block, into its record;
 * see exit_emit(). */
void gang_stop_warp(struct emit *x, uint32_t index, enum spill_form form);

/* ---- gang_begin.c ---- */

/* Branches to e->f->warps.alone, the code for single warps, which is then entered at `enter_at`. */
LLVMBasicBlockRef gang_to_alone(struct emit *e, value enter_at);
void gang_begin_pure(struct emit *e, struct gang *g);
/* Finds the registers that the block both needs and writes, and saves them: g->before. */
void gang_find_before(struct emit *e, struct gang *g);
void gang_emit_restart(struct emit *e, struct gang *g, uint32_t order);
/* Goes to the gang's code if the warp begins at one of the gang's entries: most barrier phases of a
 * block may not. */
void gang_go_on_at_entries(struct emit *e);
void gang_open_warps(struct emit *e, struct gang *g);
void gang_emit_entries(struct emit *e, struct gang *g);

#endif
