/* Who defines registers: the definitions of each in the order of execution, found once, so that
 * nobody scans for them. */
#ifndef HEDDLE_IR_DEF_USE_H
#define HEDDLE_IR_DEF_USE_H

#include "ir/ir.h"

struct ir_def {
    uint32_t order, insn; /* its block in the order of execution, itself */
};

struct ir_defs {
    const struct ir_func *f;
    uint32_t *first; /* by register r: all[first[r]] to all[first[r + 1] - 1] */
    struct ir_def *all;
    uint8_t *zeroed; /* by register: it may be read before it is written */
};

/* Definitions of one register. */
struct ir_def_list {
    const struct ir_def *at;
    uint32_t n;
};

/* Of code that can be reached; in the arena, for a function that does not change. */
struct ir_defs *ir_find_defs(const struct ir_func *f, struct arena *arena);
/* Those in blocks from..to - 1 of the order; none of what is no register. */
struct ir_def_list ir_defs_within(const struct ir_defs *d, ir_ref r, uint32_t from, uint32_t to);
/* The last one before instruction `insn` in that block, or NULL. */
const struct ir_def *ir_def_before(const struct ir_defs *d, ir_ref r, uint32_t order, uint32_t insn);
/* Is i the one definition of r, which dominates every use of it, and in all lanes? */
bool ir_is_only_def(const struct ir_defs *d, ir_ref r, const struct ir_insn *i);

#endif
