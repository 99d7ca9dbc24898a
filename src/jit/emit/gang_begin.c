/* Where a gang begins, and where its block is restarted by single warps; see gang.c. */
#include "jit/emit/gang.h"

/* ---- making one ---- */

/* Can a gang begin? In lockstep, all lanes of this warp and of the following ones are at the start
 * of one block. An i1. */
static value may_begin(struct emit *e)
{
    const uint32_t *b = e->fn->shapes->block;
    uint32_t whole = b[0] * b[1] * b[2] / WARP_LANES;
    value phase = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_phase);
    value index = emit_load_field(e, e->m->i32, e->warp.w, abi.warp_index);
    value first = build_urem(e, index, const_i32(e, e->fn->plan.n));
    value tests[3] = {emit_is_zero(e, first), build_ule(e, index, const_i32(e, whole - e->fn->plan.n)),
                      build_eq(e, e->enter_with, const_i32(e, UINT32_MAX))};
    value all = build_eq(e, phase, const_i32(e, BLOCK_LOCKSTEP));
    for (int k = 0; k < 3; k++)
        all = build_and(e, all, tests[k]);
    return all;
}

LLVMBasicBlockRef gang_to_alone(struct emit *e, value enter_at)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(e->f->warps.enter_alone, &enter_at, &from, 1);
    return e->f->warps.alone;
}

void emit_gang_start(struct emit *e, struct warp_loop *warps)
{
    value may = may_begin(e);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->b);
    warps->gang = emit_new_block(e, "gang_start");
    warps->alone = emit_new_block(e, "alone");
    emit_at_end(e, e->f->warps.alone);
    warps->enter_alone = build_phi(e, e->m->i32);
    emit_at_end(e, here);
    build_cond_br(e, may, e->f->warps.gang, gang_to_alone(e, e->enter_at));
    emit_at_end(e, e->f->warps.alone);
}

static void open_warp(struct emit *e, struct gang *g, unsigned k)
{
    struct emit *x = &g->warps[k];
    *x = *e;
    x->mode = &gang_mode;
    x->lanes = (struct lanes){.gang = g, .place = k, .known = e->fn->plan.known};
    memset(x->copied, 0, sizeof x->copied);
    if (k) {
        x->warp.w = emit_pointer_at(e, e->warp.w, k * abi.warp_size);
        x->warp.a = emit_load_field(e, e->m->ptr, x->warp.w, abi.warp_act);
        emit_warp(x);
    }
    x->unchecked.covered = ARENA_ARRAY(e->arena, bool, e->fn->ir->insns.n);
    x->regs = ARENA_ARRAY(e->arena, value, (size_t)e->fn->ir->regs.n * MAX_PIECES);
    for (size_t r = MAX_PIECES; r < (size_t)e->fn->ir->regs.n * MAX_PIECES; r++) {
        bool shared = k && e->fn->plan.common[r / MAX_PIECES];
        if (e->regs[r])
            x->regs[r] = shared ? g->warps[0].regs[r] : emit_alloca(e, LLVMGetAllocatedType(e->regs[r]));
    }
}

static value stands_with_first(struct emit *e, const struct emit *x)
{
    /* Two loads, because mostly two stores wrote it: one load would wait for both. */
    value where = emit_load_field(e, e->m->i32, x->warp.w, abi.warp_at_block);
    value lanes = emit_load_field(e, e->m->i32, x->warp.w, abi.warp_mask);
    value is_whole = emit_all_run(e, lanes);
    return build_and(e, build_eq(e, where, e->enter_at), is_whole);
}

void gang_go_on_at_entries(struct emit *e)
{
    LLVMBasicBlockRef on = emit_new_block(e, "");
    value choose = LLVMBuildSwitch(e->m->b, e->enter_at, gang_to_alone(e, e->enter_at), 4);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (e->fn->plan.entries[b])
            LLVMAddCase(choose, const_i32(e, b), on);
    emit_at_end(e, on);
}

void gang_open_warps(struct emit *e, struct gang *g)
{
    value parted = const_int(e->m->i8, 0), together = NULL;
    for (unsigned k = 0; k < g->n; k++) {
        open_warp(e, g, k);
        value p = emit_load_field(e, e->m->i8, g->warps[k].warp.a, abi.activation_parted);
        parted = build_or(e, parted, p);
        if (k) {
            value with = stands_with_first(e, &g->warps[k]);
            together = together ? build_and(e, together, with) : with;
        }
    }
    together = build_and(e, together, emit_is_zero(e, parted));
    LLVMBasicBlockRef on = emit_new_block(e, "");
    build_cond_br(e, together, on, gang_to_alone(e, e->enter_at));
    emit_at_end(e, on);
}

/* Tests that a common register is equal in all warps: they may come from
 * code where they diverged. */
static void enter_common(struct emit *e, struct gang *g, uint32_t reg)
{
    ir_ref r = ir_make_ref(REF_REG, reg);
    value all = const_i32(e, UINT32_MAX), equal = const_i1(e, true);
    unsigned pieces = fn_pieces(e->fn, e->fn->shapes->regs[reg]);
    value first[MAX_PIECES];
    for (unsigned k = g->n; k-- > 0;) { /* the first one last, so that it is kept */
        reg_reload(&g->warps[k], reg, all);
        for (unsigned p = 0; p < pieces; p++) {
            value v = reg_read_piece(&g->warps[0], r, p);
            if (k + 1 < g->n)
                equal = build_and(e, equal, build_eq(e, v, first[p]));
            first[p] = v;
        }
    }
    emit_require(e, equal, gang_to_alone(e, e->enter_at));
}

static void emit_entry(struct emit *e, struct gang *g, uint32_t order)
{
    const struct ir_live *live = &e->fn->shapes->live;
    const uint64_t *in = live_in(e->fn, order);
    for (uint32_t n = 0; n < live->n; n++) {
        if (!ir_in_set(in, n))
            continue;
        if (e->fn->plan.common[live->regs[n]])
            enter_common(e, g, live->regs[n]);
        else
            for (unsigned k = 0; k < g->n; k++)
                reg_reload(&g->warps[k], live->regs[n], const_i32(e, UINT32_MAX));
    }
    build_br(e, g->block[order]);
}

void gang_emit_entries(struct emit *e, struct gang *g)
{
    value choose = LLVMBuildSwitch(e->m->b, e->enter_at, gang_to_alone(e, e->enter_at), 4);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!e->fn->plan.entries[b])
            continue;
        emit_case(e, choose, b, "gang_entry");
        emit_entry(e, g, b);
    }
}

/* ---- beginning the block anew, by single warps ---- */

static void keep_before(struct emit *e, struct gang *g, uint32_t reg)
{
    for (unsigned k = 0; k < (e->fn->plan.common[reg] ? 1 : g->n); k++)
        for (unsigned p = 0; p < fn_pieces(e->fn, e->fn->shapes->regs[reg]); p++) {
            size_t at = (size_t)reg * MAX_PIECES + p;
            g->before[at * MAX_GANG + k] = emit_alloca(e, LLVMGetAllocatedType(g->warps[k].regs[at]));
        }
}

void gang_find_before(struct emit *e, struct gang *g)
{
    const struct ir_block *block = block_at(e->fn, e->here->block);
    ir_ref writes[IR_MAX_REFS];
    size_t n_slots = (size_t)e->fn->ir->regs.n * MAX_PIECES * MAX_GANG;
    memset(g->before, 0, n_slots * sizeof *g->before);
    for (uint32_t k = 0; k < block->n; k++) {
        unsigned n = ir_writes(&e->fn->ir->insns.at[block->first + k], writes);
        for (unsigned w = 0; w < n; w++) {
            uint32_t reg = ir_ref_index(writes[w]);
            if (live_has(e->fn, live_in(e->fn, e->here->block), writes[w]) &&
                !g->before[(size_t)reg * MAX_PIECES * MAX_GANG])
                keep_before(e, g, reg);
        }
    }
}

void gang_begin_pure(struct emit *e, struct gang *g)
{
    size_t n_slots = (size_t)e->fn->ir->regs.n * MAX_PIECES * MAX_GANG;
    g->pure = true;
    for (size_t n = 0; n < n_slots; n++) {
        value before = g->before[n], now = before ? g->warps[n % MAX_GANG].regs[n / MAX_GANG] : NULL;
        if (before)
            build_store(e, emit_kept(e, now), before);
    }
}

static void spill_before(struct gang *g, unsigned k, uint32_t order)
{
    struct emit x = g->warps[k];
    size_t n_slots = (size_t)x.fn->ir->regs.n * MAX_PIECES;
    x.regs = ARENA_ARRAY(x.arena, value, n_slots);
    for (size_t r = 0; r < n_slots; r++) {
        value before = g->before[r * MAX_GANG + (x.fn->plan.common[r / MAX_PIECES] ? 0 : k)];
        x.regs[r] = before ? before : g->warps[k].regs[r];
    }
    exit_emit(&x, &(struct side_exit){.live = live_state_of_set(&x, live_in(x.fn, order), SPILL_SEEDS, NULL),
                                      .block = order,
                                      .op = NO_OP});
}

void gang_emit_restart(struct emit *e, struct gang *g, uint32_t order)
{
    if (!g->restart)
        return;
    emit_at_end(e, g->restart);
    dirty_start_clean(e, order);
    for (unsigned k = 0; k < g->n; k++)
        spill_before(g, k, order);
    build_br(e, gang_to_alone(e, const_i32(e, order)));
}
