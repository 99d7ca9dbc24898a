/* The state of a gang while its code is emitted: gang.c emits its code, gang_exit.c its exits. */
#ifndef HEDDLE_JIT_GANG_H
#define HEDDLE_JIT_GANG_H

#include "jit/emit/load_store.h"

/* The current access performed by the engine, in code that the gang's warps share: the number of
 * the warp, and copies of the registers that the access reads or writes. */
struct slow {
    LLVMBasicBlockRef block, back[MAX_GANG];
    value which, w, a, rows, mask;
    struct transfer access;
    unsigned access_of; /* the first warp with this access; later warps share its code */
    value *regs;
};

struct gang {
    struct emit warps[MAX_GANG];
    unsigned n;
    struct cursor *here;      /* the position of all warps */
    LLVMBasicBlockRef *block; /* by block: the gang's code, or NULL */
    LLVMBasicBlockRef leave;  /* the exit to the interpreter */
    /* For the current block, made at the first branch to it; else NULL: the way to `leave`;
     * where the gang dissolves at the block's end; where it dissolves before the block, which
     * single warps then restart. */
    LLVMBasicBlockRef exit_through, dissolve, restart;
    /* the current loop's version without bounds checks (loop_version.c), or NULL */
    LLVMBasicBlockRef unchecked;
    bool pure; /* so far the block has changed only registers */
    /* the values at the block's start of registers that it writes: by register, piece and warp */
    value *before;
    /* by instruction: the variable that says how far ahead a load
     * prefetches, or NULL (prefetch.c) */
    value *ahead;
    struct slow slow;
};

extern const struct lanes_mode gang_mode, side_region_mode; /* gang_exit.c */

/* Counts a pure block's instructions when control leaves it: before that it may be restarted. */
void gang_count_pure(struct gang *g);
/* The code where single warps restart the current block. */
LLVMBasicBlockRef gang_to_restart(struct emit *e, struct gang *g);
/* An exit of one warp of the gang before operation `index` of the current block, written into
 * its record; see exit_emit(). */
void gang_stop_warp(struct emit *x, uint32_t index, enum spill_form form);

/* ---- gang_begin.c ---- */

/* Branches to e->f->warps.alone, the code for single warps, to enter it at `enter_at`. */
LLVMBasicBlockRef gang_to_alone(struct emit *e, value enter_at);
void gang_begin_pure(struct emit *e, struct gang *g);
/* Saves the registers that the block both needs and writes: g->before. */
void gang_find_before(struct emit *e, struct gang *g);
void gang_emit_restart(struct emit *e, struct gang *g, uint32_t order);
/* Goes to the gang's code if the warp begins at one of the gang's entries, which most barrier
 * phases do not. */
void gang_go_on_at_entries(struct emit *e);
void gang_open_warps(struct emit *e, struct gang *g);
void gang_emit_entries(struct emit *e, struct gang *g);

#endif
