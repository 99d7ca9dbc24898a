/* Rows that hold what their registers hold, so that nothing needs to be stored where the interpreter takes over; see emit.h.
 *
 * A register is clean from where a warp is entered, which loads it from its row, to where it is written. A kernel that goes
 * from barrier to barrier has most of its registers clean most of the time. Lanes that wait keep what they had (such a
 * register is held), so what was clean where they left for a block is clean when they run it.
 *
 * In lockstep a row may hold no more than the number of what does not vary (spill_sparely): where the warp is entered next
 * that is enough, for the interpreter it is not. So there are two sets, one behind the other: of rows that hold all, and of
 * those that hold so much.
 */
#include "jit/emit/emit.h"

#include <string.h>

/* Words of both. */
uint32_t dirty_words(const struct emit *e)
{
    return 2 * e->shapes->live.words;
}

uint64_t *dirty_sets(const struct emit *e, uint32_t block)
{
    return e->clean_in + (size_t)block * dirty_words(e);
}

/* From one of them. */
static void drop(const struct emit *e, uint64_t *set, ir_ref r)
{
    uint32_t n = ir_ref_kind(r) == REF_REG ? e->shapes->live.number[ir_ref_index(r)] : 0;
    if (n)
        set[(n - 1) / 64] &= ~(1ull << ((n - 1) % 64));
}

void dirty_clear(const struct emit *e, uint64_t *sets, ir_ref r)
{
    drop(e, sets, r);
    drop(e, sets + e->shapes->live.words, r);
}

/* What is clean behind a block. */
static void pass_block(const struct emit *e, uint32_t order, uint64_t *sets)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[order]];
    memcpy(sets, dirty_sets(e, order), dirty_words(e) * sizeof *sets);
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = &e->ir->insns.at[block->first + k];
        dirty_clear(e, sets, i->d);
        dirty_clear(e, sets, i->e); /* where it is read, too: never mind */
        for (unsigned n = 0; n < 8 && (i->kind == IR_LD || i->kind == IR_ATOM); n++)
            dirty_clear(e, sets, i->access->regs[n]);
    }
}

static bool meet(const struct emit *e, uint32_t block, const uint64_t *sets)
{
    uint64_t *in = dirty_sets(e, block), lost = 0;
    for (uint32_t w = 0; w < dirty_words(e); w++) {
        lost |= in[w] & ~sets[w];
        in[w] &= sets[w];
    }
    return lost != 0;
}

/* Behind what is the interpreter's, a warp is entered anew: function.c's emit_insn. */
static bool goes_on(const struct emit *e, uint32_t order, bool passes_barriers)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[order]];
    switch (block->n ? e->ir->insns.at[block->first + block->n - 1].kind : IR_JUMP) {
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

/* Of what does not vary a row may hold one number only. */
static void enter_sparely(struct emit *e, uint32_t block)
{
    const struct ir_live *live = &e->shapes->live;
    for (uint32_t n = 0; n < live->n; n++)
        if (e->shapes->regs[live->regs[n]] != SHAPE_VARYING && e->ir->regs.at[live->regs[n]].width > 1)
            drop(e, dirty_sets(e, block), ir_make_ref(REF_REG, live->regs[n]));
}

/* All that is loaded where a warp is entered. */
static void enter(struct emit *e, uint32_t block)
{
    const struct ir_live *live = &e->shapes->live;
    uint64_t *sets = dirty_sets(e, block);
    for (uint32_t w = 0; w < dirty_words(e); w++)
        sets[w] &= live_in(e, block)[w % live->words];
    if (is_spare(e, block))
        enter_sparely(e, block);
}

void find_clean(struct emit *e, const uint8_t *entries, bool passes_barriers)
{
    uint32_t n = e->ir->n_ordered;
    uint64_t *behind = ARENA_ARRAY(e->arena, uint64_t, dirty_words(e));
    bool changed = true;
    e->clean = ARENA_ARRAY(e->arena, uint64_t, dirty_words(e));
    e->clean_in = ARENA_ARRAY(e->arena, uint64_t, (size_t)n *dirty_words(e));
    memset(e->clean_in, 0xff, (size_t)n * dirty_words(e) * sizeof *e->clean_in);
    for (uint32_t b = 0; b < n; b++) {
        if (entries[b])
            enter(e, b);
        if (!passes_barriers && e->plan.is_block &&
            e->plan.inside[b]) /* where its gang begins anew, or has dissolved */
            enter_sparely(e, b);
    }
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < n; b++) {
            uint32_t of = e->ir->order[b],
                     successors = goes_on(e, b, passes_barriers) ? ir_successor_count(e->ir, of) : 0;
            pass_block(e, b, behind);
            for (uint32_t s = 0; s < successors; s++)
                changed |= meet(e, e->ir->blocks.at[ir_successor(e->ir, of, s)].order, behind);
        }
    }
}
