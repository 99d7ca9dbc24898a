/* Where compiled code can be entered: at its start, behind operations that suspend warps, and where
 * a gang or serial lanes may have left it.
 *
 * An entry loads the live registers, so each of them becomes a phi there, and LLVM's time grows
 * faster than the number of phis. Behind a collective, code continues without an entry; one is
 * needed only for warps whose lanes did not arrive together. Straight code with hundreds of
 * shuffles would have as many entries. So if a function has too many phis, an entry behind a
 * collective is kept only if at least as many instructions follow the previous entry as registers
 * are live there. Then there are no more such phis than instructions, and a warp in the interpreter
 * runs at most about as many instructions as an entry would load rows.
 */
#include "jit/analysis/function.h"
#include "jit/costs.h"

enum { NONE, KEPT, BEHIND_COLLECTIVE };

static void find_all(const struct function *fn, uint8_t *entries)
{
    serial_parts_find_exits(fn, entries);
    entries[0] = KEPT;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        const struct ir_block *block = block_at(fn, b);
        uint32_t next = fn_next(fn, b), target = fn_target(fn, b);
        const struct ir_insn *i = block->n ? last_insn(fn, block) : NULL;
        bool suspends = i && ir_ends_block((enum ir_kind)i->kind) && i->kind != IR_BRA && i->kind != IR_TRAP;
        if (next != NO_BLOCK && (next <= b || (suspends && !fn_is_collective(i))))
            entries[next] = KEPT;
        else if (next != NO_BLOCK && suspends && !entries[next])
            entries[next] = BEHIND_COLLECTIVE;
        if (target <= b)
            entries[target] = KEPT;
        if (gang_may_restart(fn, b))
            entries[b] = KEPT;
        if (i && i->kind == IR_BRX)
            for (uint32_t k = 0; k < i->n_targets; k++)
                entries[layout_order(fn->ir, i->targets[k])] = KEPT;
    }
}

static uint32_t count_alive(const struct function *fn, uint32_t order)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < fn->shapes->live.words; w++)
        n += (uint32_t)__builtin_popcountll(live_in(fn, order)[w]);
    return n;
}

void fn_find_entries(const struct function *fn, uint8_t *entries)
{
    uint32_t phis = 0, behind_last = 0;
    find_all(fn, entries);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        phis += entries[b] ? count_alive(fn, b) : 0;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        if (entries[b] == BEHIND_COLLECTIVE && phis > LIMIT_entry_phis && behind_last < count_alive(fn, b))
            entries[b] = NONE;
        behind_last = (entries[b] ? 0 : behind_last) + block_at(fn, b)->n;
    }
}
