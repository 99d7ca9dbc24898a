/* Multi-warp vectorisation: a gang is two to eight warps of a block that run together, instruction
 * by instruction. So the CPU always has independent work while each warp waits for its own results,
 * and what is common to all warps is done once; see docs/JIT.md.
 *
 * gang_plan.c decides which blocks of code have a second version for gangs. A gang begins when a
 * warp, and the following warps, begin with all lanes at an entry. Each warp has a copy of `struct
 * emit` with its own registers and rows, so the emission of instructions does not know of gangs.
 * All warps of a gang branch alike. If they would not, or would leave the planned blocks, or have
 * spent the budget, the gang dissolves: all warps stop before the block's terminator, their
 * registers go to their rows, and the code for single warps continues each of them (e->f->end). If
 * one warp exits to the interpreter in the middle of a block, each warp records its own position,
 * and the block leaves lockstep (exec/lockstep.c). If the gang is the whole block (plan.is_block),
 * a barrier that it reaches opens, and a branch around a side region does not split it: each warp
 * runs the region by itself.
 */
#include "jit/emit/gang.h"

#include <string.h>

/* ---- leaving ---- */

static void emit_exit_through(struct emit *e, struct gang *g)
{
    if (!g->exit_through)
        return;
    emit_at_end(e, g->exit_through);
    for (unsigned k = 0; k < g->n; k++)
        exit_spill_through(&g->warps[k]);
    build_br(e, g->leave);
}

static void emit_leave(struct emit *e, struct gang *g)
{
    emit_at_end(e, g->leave);
    emit_add_counts(e);
    build_ret(e, const_i32(e, LEAVE_AT));
}

/* Where the gang dissolves at the end of the block. A pure block that
 * runs once may also restart. */
static LLVMBasicBlockRef to_dissolve(struct emit *e, struct gang *g)
{
    if (g->pure && !fn_goes_to(e->fn, e->here->block, e->here->block) && gang_may_restart(e->fn, e->here->block))
        return gang_to_restart(e, g);
    if (!g->dissolve)
        g->dissolve = emit_new_block(e, "dissolve");
    return g->dissolve;
}

static void emit_dissolve(struct emit *e, struct gang *g, uint32_t order)
{
    emit_at_end(e, g->dissolve);
    gang_count_pure(g);
    for (unsigned k = 0; k < g->n; k++)
        gang_stop_warp(&g->warps[k], fn_block_end(e->fn, order), SPILL_SEEDS);
    build_br(e, gang_to_alone(e, const_i32(e, order | COMPILED_END)));
}

/* ---- accesses by the engine ---- */

/* Emits the engine's path of the current access behind it, if some warp needs it. */
static void emit_slow(struct emit *e, struct gang *g)
{
    struct slow *s = &g->slow;
    struct emit x = g->warps[0];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->b);
    if (!s->block)
        return;
    emit_at_end(e, s->block);
    x.regs = s->regs;
    x.lanes.known = NULL; /* it may be any of them */
    x.warp.w = build_load(e, e->m->ptr, s->w);
    x.warp.a = build_load(e, e->m->ptr, s->a);
    x.warp.base[ROW_FRAME] = build_load(e, e->m->ptr, s->rows);
    s->access.mask = emit_load_i32(e, s->mask);
    if (s->access.cache)
        access_find_cache(&x, &s->access);
    access_call_engine(&x, &s->access);
    value which = emit_load_i32(e, s->which);
    value choose = LLVMBuildSwitch(e->m->b, which, s->back[s->access_of], g->n);
    for (unsigned k = s->access_of + 1; k < g->n; k++)
        if (s->back[k]) /* what is done once has one warp's values */
            LLVMAddCase(choose, const_i32(e, k), s->back[k]);
    emit_at_end(e, here);
}

/* ---- going on ---- */

static void go_to(struct emit *e, struct gang *g, uint32_t order, uint32_t target)
{
    if (target == NO_BLOCK || !g->block[target]) {
        build_br(e, to_dissolve(e, g));
        return;
    }
    if (target <= order) { /* a backward branch spends from the budget: spend() in branch.c */
        value left = emit_load_i32(e, e->f->count.budget);
        left = build_sub(e, left, const_i32(e, 1));
        build_store(e, left, e->f->count.budget);
        LLVMBasicBlockRef some = emit_new_block(e, "");
        emit_likely(e, build_sge(e, left, const_i32(e, 0)), some, to_dissolve(e, g));
        emit_at_end(e, some);
    }
    gang_count_pure(g);
    build_br(e, target == order && g->unchecked ? g->unchecked : g->block[target]);
}

/* Does the guard hold in all lanes of all warps? In any? Two i1. */
static void find_agreement(struct emit *e, struct gang *g, const struct ir_insn *i, value *all, value *any)
{
    bool is_divergent = fn_ref_shape(e->fn, i->guard) == SHAPE_DIVERGENT;
    bool common = ir_ref_kind(i->guard) != REF_REG || e->fn->plan.common[ir_ref_index(i->guard)];
    for (unsigned k = 0; k < (common ? 1 : g->n); k++) {
        struct emit *x = &g->warps[k];
        value holds = is_divergent ? reg_read_lanes(x, i->guard) : reg_read_scalar(x, i->guard);
        *all = k ? build_and(e, *all, holds) : holds;
        *any = k ? build_or(e, *any, holds) : holds;
    }
    if (is_divergent) {
        *all = emit_all_run(e, *all);
        *any = build_ne(e, *any, const_i32(e, 0));
    } else if (common) {
        *any = NULL; /* one value for all */
    }
}

/* An i1: scalars show that all lanes of all warps take the branch, or that none does. NULL where
 * they cannot show it. */
static value gang_agrees(struct emit *e, struct gang *g, const struct ir_insn *i, bool taken)
{
    value all = NULL;
    if (fn_ref_shape(e->fn, i->guard) != SHAPE_DIVERGENT || ir_ref_kind(i->guard) != REF_REG)
        return NULL;
    for (unsigned k = 0; k < (e->fn->plan.common[ir_ref_index(i->guard)] ? 1 : g->n); k++) {
        value own = emit_agreement(&g->warps[k], i, taken);
        if (!own)
            return NULL;
        all = all ? build_and(e, all, own) : own;
    }
    return all;
}

/* Emits the side region behind the current block's branch, for one warp. If an access fails its
 * test, the engine performs it for this warp alone: the others are before or behind the region. */
static void emit_side_region(struct emit *x, uint32_t region, const struct ir_insn *branch)
{
    const struct cursor *branch_at = x->here;
    value holds = reg_read_lanes(x, branch->guard);
    bool where_not = branch->guard_negated == (fn_target(x->fn, branch_at->block) == region);
    value lanes = where_not ? build_not(x, holds) : holds;
    if (LLVMIsConstant(lanes) && LLVMIsNull(lanes))
        return;
    LLVMBasicBlockRef done = emit_unless(x, emit_is_zero(x, lanes));
    x->lanes.within = fn_ref_shape(x->fn, branch->guard) == SHAPE_DIVERGENT ? lanes : const_i32(x, UINT32_MAX);
    x->mode = &side_region_mode;
    uint32_t end = fn_block_end(x->fn, region);
    struct cursor here = {.fn = x->fn, .check_groups = access_groups_alone(x->arena, end)};
    emit_stand_at(x, &here, region);
    emit_count(x, 1);
    for (; here.index < end; here.index++)
        emit_insn(x, fn_insn_at(here, here.index));
    emit_go_on(x, done);
    x->lanes.within = NULL;
    x->mode = &gang_mode;
    x->here = branch_at;
}

static void emit_side_regions(struct emit *e, struct gang *g, const struct ir_insn *i)
{
    gang_mode.has_effects(&g->warps[0]);
    for (unsigned k = 0; k < g->n; k++)
        emit_side_region(&g->warps[k], e->fn->plan.side_region[e->here->block], i);
    go_to(e, g, e->here->block, gang_side_region_end(e->fn, e->here->block));
}

static void emit_branch(struct emit *e, struct gang *g, uint32_t order, const struct ir_insn *i)
{
    uint32_t target = fn_target(e->fn, order), next = fn_next(e->fn, order);
    if (!i->guard || target == next) {
        go_to(e, g, order, target);
        return;
    }
    if (e->fn->plan.is_block && e->fn->plan.side_region[order] && g->block[gang_side_region_end(e->fn, order)]) {
        emit_side_regions(e, g, i);
        return;
    }
    value all = NULL, any = NULL;
    LLVMBasicBlockRef whole = emit_new_block(e, ""), other = emit_new_block(e, ""), none = other;
    bool backwards = target <= order;
    value agree = gang_agrees(e, g, i, backwards);
    if (agree) {
        none = emit_new_block(e, "");
        LLVMBasicBlockRef ask = emit_new_block(e, "");
        emit_likely(e, agree, backwards != i->guard_negated ? whole : none, ask);
        emit_at_end(e, ask);
    }
    find_agreement(e, g, i, &all, &any);
    if (any && none == other)
        none = emit_new_block(e, "");
    build_cond_br(e, all, whole, other);
    if (any) {
        emit_at_end(e, other);
        build_cond_br(e, any, to_dissolve(e, g), none);
    }
    emit_at_end(e, whole);
    go_to(e, g, order, i->guard_negated ? next : target);
    emit_at_end(e, none);
    go_to(e, g, order, i->guard_negated ? target : next);
}

/* The gang is the whole block, and has reached a barrier: the barrier opens, and the gang continues
 * with its registers. In a loop, the last phase of a quantum ends normally, so that the block
 * yields; returns true if this may be that phase. */
static bool pass_barrier(struct emit *e, struct gang *g, uint32_t next)
{
    LLVMBasicBlockRef on = emit_new_block(e, "gang_phase"), last = NULL;
    if (gang_barrier_is_passed_again(e->fn, e->here->block)) {
        last = emit_new_block(e, "");
        value left = emit_load_i32(e, e->f->count.phases);
        left = build_sub(e, left, const_i32(e, 1));
        emit_likely(e, build_not(e, emit_is_zero(e, left)), on, last);
        emit_at_end(e, on);
        build_store(e, left, e->f->count.phases);
    } else {
        emit_go_on(e, on);
    }
    if (e->fn->loops)
        build_store(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_budget), e->f->count.budget);
    build_br(e, g->block[next]);
    if (last)
        emit_at_end(e, last);
    return last != NULL;
}

static void emit_phase_end(struct emit *e, struct gang *g, const struct ir_insn *i, uint32_t arrived)
{
    uint32_t next = fn_next(e->fn, e->here->block);
    gang_count_pure(g);
    bool passes = e->fn->plan.is_block && arrived != ARRIVED_END && g->block[next];
    if (passes && !pass_barrier(e, g, next))
        return;
    for (unsigned k = 0; k < g->n; k++) {
        struct emit *x = &g->warps[k];
        bool seeds = fn_seed_block(x->fn, x->here->block) != NO_BLOCK;
        struct live_state live = seeds ? live_state_behind(x) : live_state_at(x, x->here->index, SPILL_ROWS);
        exit_spill(x, &live);
        warp_loop_record_arrival(x, i, arrived);
    }
    warp_loop_go_to_next(&g->warps[g->n - 1]);
}

static void emit_end(struct emit *e, struct gang *g, uint32_t order)
{
    const struct ir_insn *i = fn_end_insn(e->fn, order);
    uint32_t arrived = fn_arrival_at(e->fn, order);
    g->here->index = fn_block_end(e->fn, order);
    if (!i) {
        go_to(e, g, order, fn_next(e->fn, order));
    } else if (i->kind == IR_BRA) {
        emit_branch(e, g, order, i);
    } else if (arrived) {
        emit_phase_end(e, g, i, arrived);
    } else if (fn_is_plain_shuffle(e->fn, i)) {
        for (unsigned k = 0; k < g->n; k++)
            emit_collective(&g->warps[k], i);
        go_to(e, g, order, fn_next(e->fn, order));
    } else {
        build_br(e, to_dissolve(e, g));
    }
}

static void emit_together(struct emit *e, struct gang *g, uint32_t index)
{
    const struct ir_insn *i = fn_insn_at(*g->here, index);
    g->here->index = index;
    g->slow.block = NULL;
    bool changes = gang_changes(e->fn, g->here->block, index);
    for (unsigned k = 0; k < (e->fn->plan.once[i - e->fn->ir->insns.at] ? 1 : g->n); k++) {
        /* A store that fails its test has changed nothing. */
        if (changes && (k == 1 || i->kind != IR_ST))
            gang_mode.has_effects(&g->warps[k]);
        emit_insn(&g->warps[k], i);
    }
    emit_slow(e, g);
}

/* A label that LLVM's scheduler moves nothing across. */
static void emit_label(struct emit *e)
{
    LLVMMetadataRef text = LLVMMDStringInContext2(e->m->context, "", 0);
    value label = LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, &text, 1));
    emit_intrinsic_of(e, "llvm.codeview.annotation", NULL, 0, &label, 1);
}

/* Emits `n` instructions for some warps after others, which keeps fewer values live:
 * gang_count_in_turns(). */
static void emit_in_turns(struct emit *e, struct gang *g, uint32_t from, uint32_t n)
{
    bool changes = false;
    for (uint32_t k = from; k < from + n; k++)
        changes |= gang_changes(e->fn, g->here->block, k);
    if (changes)
        gang_mode.has_effects(&g->warps[0]);
    for (unsigned first = 0; first < g->n; first += e->fn->plan.turn) {
        for (g->here->index = from; g->here->index < from + n; g->here->index++) {
            const struct ir_insn *i = fn_insn_at(*g->here, g->here->index);
            bool once = e->fn->plan.once[i - e->fn->ir->insns.at];
            for (unsigned w = first; w < g->n && w < first + e->fn->plan.turn; w++)
                if (!w || !once)
                    emit_insn(&g->warps[w], i);
        }
        emit_label(e);
    }
}

/* If the accesses of the current loop can be tested before it: emits the test, and continues in the
 * unchecked version. */
static void test_loop(struct emit *e, struct gang *g)
{
    value holds = NULL;
    for (unsigned k = 0; k < g->n; k++) {
        value own = loop_test(&g->warps[k], block_at(e->fn, e->here->block));
        if (!own)
            return;
        holds = holds ? build_and(e, holds, own) : own;
    }
    g->unchecked = emit_new_block(e, "gang_unchecked");
    gang_begin_pure(e, g);
    emit_likely(e, holds, g->unchecked, gang_to_restart(e, g));
    emit_at_end(e, g->unchecked);
    for (unsigned k = 0; k < g->n; k++)
        g->warps[k].unchecked.block = g->unchecked;
}

static void emit_block(struct emit *e, struct gang *g, uint32_t order)
{
    g->dissolve = g->exit_through = g->restart = g->unchecked = NULL;
    for (unsigned k = 0; k < g->n; k++)
        g->warps[k].unchecked.block = NULL;
    emit_begin_block(&g->warps[0], g->here, order);
    emit_at_end(e, g->block[order]);
    gang_find_before(e, g);
    test_loop(e, g);
    gang_begin_pure(e, g);
    for (uint32_t n = 0; n < fn_block_end(e->fn, order);) {
        uint32_t in_turns = gang_count_in_turns(e->fn, order, n, g->pure);
        if (in_turns)
            emit_in_turns(e, g, n, in_turns);
        else
            emit_together(e, g, n);
        n += in_turns ? in_turns : 1;
    }
    emit_end(e, g, order);
    if (g->dissolve)
        emit_dissolve(e, g, order);
    emit_exit_through(e, g);
    gang_emit_restart(e, g, order);
}

void emit_gang(struct emit *e, struct cursor *here)
{
    struct gang g = {
        .n = e->fn->plan.n, .here = here, .block = ARENA_ARRAY(e->arena, LLVMBasicBlockRef, e->fn->ir->n_ordered)};
    g.ahead = ARENA_ARRAY(e->arena, value, e->fn->ir->insns.n);
    g.before = ARENA_ARRAY(e->arena, value, (size_t)e->fn->ir->regs.n * MAX_PIECES * MAX_GANG);
    if (e->fn->plan.is_block) /* blocks behind barriers are entered with their own registers */
        dirty_begin(e, dirty_find_clean(e->fn, e->fn->plan.entries, true));
    emit_at_end(e, e->f->warps.gang);
    if (e->fn->plan.is_straight)
        gang_go_on_at_entries(e);
    gang_open_warps(e, &g);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (e->fn->plan.inside[b])
            g.block[b] = emit_new_block(e, "gang");
    g.leave = emit_new_block(e, "gang_leave");
    gang_emit_entries(e, &g);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (g.block[b])
            emit_block(e, &g, b);
    emit_leave(e, &g);
}
