/* What ptxas 13.0 makes of a function for sm_90 before it contracts products and sums: its routines
 * and basic blocks, and what it copies. Found with many small kernels, of which ptxas was asked
 * what it does; docs/H200.md has the rules. */
#ifndef HEDDLE_IR_PTXAS_H
#define HEDDLE_IR_PTXAS_H

#include "ir/def_use.h"

/* Is it what ptxas has a routine for? */
bool ptxas_is_routine(const struct ir_insn *i);
/* Where ptxas makes several basic blocks: of routines and some others, and of a guard on more than
 * arithmetic. */
bool ptxas_ends_block(const struct ir_insn *i);

/* What ptxas has no register for: a constant; what stands in its bank of constants, a kernel's
 * parameter or a .const variable. */
enum ptxas_fixed { NOT_FIXED, FIXED_CONSTANT, FIXED_IN_BANK };

/* By register. */
uint8_t *ptxas_find_fixed(const struct ir_func *f, const struct ir_defs *defs, struct arena *arena);
static inline enum ptxas_fixed ptxas_fixed_of(const uint8_t *fixed, ir_ref r)
{
    return ir_ref_kind(r) == REF_CONST ? FIXED_CONSTANT
           : ir_ref_kind(r) == REF_REG ? (enum ptxas_fixed)fixed[ir_ref_index(r)]
                                       : NOT_FIXED;
}

/* Blocks first..last in order. */
struct ptxas_range {
    uint32_t first, last;
};

/* By block in order: the blocks that see what the block defines as one value. Others see several:
 * ptxas unrolls counted loops, and of a loop that is left behind a first part it makes one that is
 * left at its end, with that part once more before it. NULL where the function's share of work is
 * spent. */
struct ptxas_range *ptxas_find_copies(const struct ir_func *f, const struct ir_defs *defs, const uint8_t *fixed,
                                      struct arena *arena);

#endif
