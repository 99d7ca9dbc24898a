/* Tracks dirty registers: which rows already contain their registers' values, so that a side exit
 * need not store them; see function.h.
 *
 * A register is clean from the warp's entry, which loads it from its row, to its next write. In a
 * kernel that runs from barrier to barrier, most registers are clean most of the time. Pending
 * lanes keep their values (such a register is live in them), so what was clean when they left for a
 * block is clean when they run it.
 *
 * The engine reads matrix fragments from rows: they are written through, so that a product of
 * loaded values and earlier products moves none of them.
 *
 * In lockstep a row may contain only the seed of a register that is not divergent (reg_spill_seed):
 * enough where the warp is entered next, but not for the interpreter. So there are two sets: rows
 * that contain all lanes, and rows that contain at least the seed.
 */
#include "jit/analysis/function.h"

#include <string.h>

/* The size of both sets in words. */
uint32_t dirty_words(const struct function *fn)
{
    return 2 * fn->shapes->live.words;
}

static uint64_t *sets_of(const struct function *fn, uint64_t *in, uint32_t block)
{
    return in + (size_t)block * dirty_words(fn);
}

void dirty_clear(const struct function *fn, uint64_t *sets, ir_ref r)
{
    bool through = ir_ref_kind(r) == REF_REG && fn->written_through[ir_ref_index(r)];
    (through ? live_add : live_remove)(fn, sets, r);
    (through ? live_add : live_remove)(fn, sets + fn->shapes->live.words, r);
}

/* Not if other code than that of single warps writes: gangs may restart, and serial lanes have
 * values of their own. */
static bool may_write_through(const struct function *fn, uint32_t order)
{
    return !fn->shapes->lane_serial[order] && !(fn->plan.n && fn->plan.inside[order]);
}

void dirty_find_written_through(struct function *fn)
{
    uint8_t *found = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->regs.n);
    fn->written_through = found;
    if (serial_parts_exist(fn))
        return;
    for (uint32_t n = 0; n < fn->ir->insns.n; n++) {
        const struct ir_insn *i = &fn->ir->insns.at[n];
        for (unsigned k = 0; i->kind == IR_MATRIX && k < i->matrix->n_reads; k++) {
            ir_ref r = i->matrix->reads[k];
            if (ir_ref_kind(r) == REF_REG && fn_ref_shape(fn, r) == SHAPE_DIVERGENT)
                found[ir_ref_index(r)] = 1;
        }
    }
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        for (uint32_t k = 0; k < block_at(fn, b)->n && !may_write_through(fn, b); k++) {
            ir_ref refs[IR_MAX_REFS];
            for (unsigned j = ir_writes(fn_insn(fn, b, k), refs); j-- > 0;)
                found[ir_ref_index(refs[j])] = 0;
        }
}

/* Computes which registers are clean behind a block. */
static void pass_block(const struct function *fn, uint64_t *in, uint32_t order, uint64_t *sets)
{
    const struct ir_block *block = block_at(fn, order);
    memcpy(sets, sets_of(fn, in, order), dirty_words(fn) * sizeof *sets);
    for (uint32_t k = 0; k < block->n; k++) {
        ir_ref refs[IR_MAX_REFS];
        for (unsigned n = 0, count = ir_writes(&fn->ir->insns.at[block->first + k], refs); n < count; n++)
            dirty_clear(fn, sets, refs[n]);
    }
}

static bool meet(const struct function *fn, uint64_t *sets_in, uint32_t block, const uint64_t *sets)
{
    uint64_t *in = sets_of(fn, sets_in, block), lost = 0;
    for (uint32_t w = 0; w < dirty_words(fn); w++) {
        lost |= in[w] & ~sets[w];
        in[w] &= sets[w];
    }
    return lost != 0;
}

/* Does compiled code continue behind the block? Behind an interpreter's operation the warp is
 * entered again: emit_insn in insn.c. */
static bool goes_on(const struct function *fn, uint32_t order, bool passes_barriers)
{
    const struct ir_block *block = block_at(fn, order);
    switch (block->n ? fn->ir->insns.at[block->first + block->n - 1].kind : IR_JUMP) {
    case IR_BAR: return passes_barriers;
    case IR_MBARRIER:
    case IR_NANOSLEEP:
    case IR_BRX:
    case IR_CALL:
    case IR_RET:
    case IR_EXIT:
    case IR_TRAP:
    case IR_BRKPT: return false;
    default: return true;
    }
}

/* For a block that warps enter with seeds: rows of registers that are not divergent may contain
 * only seeds. */
static void enter_with_seeds(const struct function *fn, uint64_t *in, uint32_t block)
{
    const struct ir_live *live = &fn->shapes->live;
    for (uint32_t n = 0; n < live->n; n++)
        if (fn->shapes->regs[live->regs[n]] != SHAPE_DIVERGENT && fn->ir->regs.at[live->regs[n]].width > 1)
            live_remove(fn, sets_of(fn, in, block), ir_make_ref(REF_REG, live->regs[n]));
}

/* For a block where warps enter: everything that is loaded there is clean. */
static void enter(const struct function *fn, uint64_t *in, uint32_t block)
{
    const struct ir_live *live = &fn->shapes->live;
    uint64_t *sets = sets_of(fn, in, block);
    for (uint32_t w = 0; w < dirty_words(fn); w++)
        sets[w] &= live_in(fn, block)[w % live->words];
    if (fn_is_seed_block(fn, block))
        enter_with_seeds(fn, in, block);
}

uint64_t *dirty_find_clean(const struct function *fn, const uint8_t *entries, bool passes_barriers)
{
    uint32_t n = fn->ir->n_ordered;
    uint64_t *behind = ARENA_ARRAY(fn->arena, uint64_t, dirty_words(fn));
    bool changed = true;
    uint64_t *in = ARENA_ARRAY(fn->arena, uint64_t, (size_t)n *dirty_words(fn));
    memset(in, 0xff, (size_t)n * dirty_words(fn) * sizeof *in);
    for (uint32_t b = 0; b < n; b++) {
        if (entries[b])
            enter(fn, in, b);
        /* Where its gang restarts, or has dissolved. */
        if (!passes_barriers && fn->plan.is_block && fn->plan.inside[b])
            enter_with_seeds(fn, in, b);
    }
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < n; b++) {
            uint32_t of = fn->ir->order[b],
                     successors = goes_on(fn, b, passes_barriers) ? ir_successor_count(fn->ir, of) : 0;
            pass_block(fn, in, b, behind);
            for (uint32_t s = 0; s < successors; s++)
                changed |= meet(fn, in, fn->ir->blocks.at[ir_successor(fn->ir, of, s)].order, behind);
        }
    }
    return in;
}
