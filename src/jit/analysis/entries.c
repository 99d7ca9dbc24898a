/* Where compiled code may be entered: at its start, behind what suspends warps, and where a gang or serial lanes may have left it. */
#include "jit/analysis/function.h"

void fn_find_entries(const struct function *fn, uint8_t *entries)
{
    serial_parts_find_exits(fn, entries);
    entries[0] = 1;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        const struct ir_block *block = block_at(fn, b);
        uint32_t next = fn_next(fn, b), target = fn_target(fn, b);
        const struct ir_insn *i = block->n ? last_insn(fn, block) : NULL;
        bool suspends = i && i->kind >= IR_SHFL && i->kind != IR_BRA && i->kind != IR_TRAP && i->kind != IR_FENCE &&
                        i->kind != IR_ACTIVEMASK && i->kind != IR_ASYNC && i->kind != IR_GROUP;
        if (next != NO_BLOCK && (suspends || next <= b))
            entries[next] = 1;
        if (target <= b)
            entries[target] = 1;
        entries[b] |= gang_may_restart(fn, b);
        if (i && i->kind == IR_BRX)
            for (uint32_t k = 0; k < i->n_targets; k++)
                entries[layout_order(fn->ir, i->targets[k])] = 1;
    }
}
