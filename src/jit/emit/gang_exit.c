/* The modes of a gang's warps: exits in the middle of a block, accesses by the engine, side
 * regions; see gang.h. */
#include "jit/emit/atom.h"
#include "jit/emit/gang.h"

void gang_count_pure(struct gang *g)
{
    if (g->pure)
        emit_count(&g->warps[0], g->n);
}

static void has_effects(struct emit *e)
{
    gang_count_pure(e->lanes.gang);
    e->lanes.gang->pure = false;
}

LLVMBasicBlockRef gang_to_restart(struct emit *e, struct gang *g)
{
    if (!g->restart)
        g->restart = emit_new_block(e, "restart");
    return g->restart;
}

/* Writes the warp's own record, because other warps of the gang stop, too. */
static void record_exit(struct emit *x, const struct side_exit *s)
{
    value where = const_i64(x, (uint64_t)UINT32_MAX << 32 | s->block);
    if (s->op != NO_OP)
        emit_store_field(x, emit_op_pointer(x, fn_insn_at(*x->here, s->op)), x->warp.w, abi.warp_op);
    emit_store_field(x, where, x->warp.w, abi.warp_at_block);
    if (s->op != NO_OP)
        emit_store_field(x, const_i32(x, s->reason), x->warp.w, abi.warp_left);
}

void gang_stop_warp(struct emit *x, uint32_t index, enum spill_form form)
{
    exit_emit(x, &(struct side_exit){
                     .live = live_state_at(x, index, form), .reason = LEAVE_AT, .block = x->here->block, .op = index});
}

static void leave_at(struct emit *e, uint32_t index)
{
    struct gang *g = e->lanes.gang;
    if (g->pure) {
        build_br(e, gang_to_restart(e, g));
        return;
    }
    uint32_t first = block_at(e->fn, e->here->block)->first;
    bool once = e->fn->plan.once[first + e->here->index];
    for (unsigned k = 0; k < g->n; k++) {
        uint32_t there = k == e->lanes.place || once ? index : k < e->lanes.place ? e->here->index + 1 : e->here->index;
        gang_stop_warp(&g->warps[k], there, SPILL_COLD);
    }
    emit_store_field(e, e->warp.w, e->f->of.block, abi.block_stopped);
    if (!g->exit_through)
        g->exit_through = emit_new_block(e, "");
    build_br(e, g->exit_through);
}

static void begin_slow(struct emit *e, struct gang *g, const struct transfer *t)
{
    struct slow *s = &g->slow;
    *s = (struct slow){.block = emit_new_block(e, "slow"),
                       .which = emit_alloca(e, e->m->i32),
                       .w = emit_alloca(e, e->m->ptr),
                       .a = emit_alloca(e, e->m->ptr),
                       .rows = emit_alloca(e, e->m->ptr),
                       .mask = emit_alloca(e, e->m->i32),
                       .access = *t,
                       .access_of = e->lanes.place,
                       .regs = ARENA_ARRAY(e->arena, value, (size_t)e->fn->ir->regs.n * MAX_PIECES)};
}

/* Copies an access's registers to those of the shared slow code, or back. */
static void pass(struct emit *e, struct slow *s, const ir_ref *refs, unsigned n, bool back)
{
    for (unsigned k = 0; k < n; k++) {
        uint32_t reg = ir_ref_index(refs[k]);
        for (unsigned p = 0; ir_ref_kind(refs[k]) == REF_REG && p < fn_pieces(e->fn, e->fn->shapes->regs[reg]); p++) {
            value *copy = &s->regs[(size_t)reg * MAX_PIECES + p], own = e->regs[(size_t)reg * MAX_PIECES + p];
            LLVMTypeRef type = LLVMGetAllocatedType(own);
            if (!*copy)
                *copy = emit_alloca(e, type);
            build_store(e, build_load(e, type, back ? *copy : own), back ? own : *copy);
        }
        if (back && ir_ref_kind(refs[k]) == REF_REG)
            dirty_note(e, reg);
    }
}

static void access_of_one(struct emit *e, const struct transfer *t)
{
    struct gang *g = e->lanes.gang;
    struct slow *s = &g->slow;
    ir_ref reads[IR_MAX_REFS], writes[IR_MAX_REFS];
    unsigned n_reads = ir_reads(t->a->i, reads), n_writes = ir_writes(t->a->i, writes);
    if (g->pure) {
        build_br(e, gang_to_restart(e, g));
        emit_at_end(e, emit_new_block(e, "")); /* unreachable */
        return;
    }
    if (!s->block)
        begin_slow(e, g, t);
    pass(e, s, reads, n_reads, false);
    pass(e, s, writes, n_writes, false); /* also registers that a guard leaves unchanged */
    build_store(e, const_i32(e, e->lanes.place), s->which);
    build_store(e, e->warp.w, s->w);
    build_store(e, e->warp.a, s->a);
    build_store(e, e->warp.base[ROW_FRAME], s->rows);
    build_store(e, t->mask, s->mask);
    build_br(e, s->block);
    s->back[e->lanes.place] = emit_new_block(e, "");
    emit_at_end(e, s->back[e->lanes.place]);
    pass(e, s, writes, n_writes, true);
}

/* The shared code is behind the access: values that a warp computed
 * before are not available there. */
static void first_anew(struct emit *e, struct transfer *t)
{
    t->cache = NULL;
    access_find_first(e, t);
}

static void group_by_engine(struct emit *e, const struct ir_insn *i, LLVMBasicBlockRef done)
{
    (void)i, (void)done; /* the gang exits to the code for single warps */
    e->mode->leave_at(e, e->here->index);
}

/* For lanes selected by a guard, mostly none: those of a cp.async that
 * do not read a whole source. */
static void async_by_engine(struct emit *e, const struct ir_insn *i)
{
    LLVMBasicBlockRef done = access_skip_if_none(e, i, emit_guarded_mask(e, i));
    e->mode->leave_at(e, e->here->index);
    emit_at_end(e, done);
}

/* ---- accesses of lanes that are known ---- */

/* Are the addresses of the lanes that run the side region inside? Lanes and addresses may be known:
 * those of `part[t - 1]` for all threads but the first, for example. */
static bool is_inside_within(const struct emit *e, const struct transfer *t)
{
    bool known = LLVMIsAConstantInt(t->mask) && LLVMIsAConstantInt(t->first[0]);
    if (!known || t->a->mem->space != SPACE_SHARED || t->a->pieces > 1 || t->a->n > 1 ||
        mem_access_is_strong(t->a->mem) || !access_can_mask(e->fn, t->a) || !access_is_consecutive(t->a) ||
        fn_ref_width(e->fn, t->a->i->a) > 32)
        return false;
    uint32_t mask = (uint32_t)LLVMConstIntGetZExtValue(t->mask),
             first = (uint32_t)LLVMConstIntGetZExtValue(t->first[0]);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t at = first + (uint32_t)t->a->offset[l];
        if (mask >> l & 1 && (at % t->a->all || (uint64_t)at + t->a->all > e->fn->request->static_shared_bytes))
            return false;
    }
    return true;
}

/* Addresses of lanes that do not run may be below the block's memory. */
static bool transfer_known(struct emit *e, struct transfer *t)
{
    if (!is_inside_within(e, t))
        return false;
    t->first[0] = build_sext(e, build_trunc(e, t->first[0], e->m->i32), e->m->i64);
    access_set_pointers(e, t);
    if (t->a->i->kind == IR_LD)
        transfer_load_within(e, t, LLVMConstIntGetSExtValue(t->first[0]), e->fn->request->static_shared_bytes);
    else
        transfer_store_under_mask(e, t);
    return true;
}

/* ---- the modes ---- */

static bool is_full(const struct function *fn, uint32_t block)
{
    (void)fn, (void)block;
    return true;
}

static bool is_not_full(const struct function *fn, uint32_t block)
{
    (void)fn, (void)block;
    return false;
}

static bool yes(const struct emit *e)
{
    (void)e;
    return true;
}

static bool no(const struct emit *e)
{
    (void)e;
    return false;
}

static bool nothing_is_pending_live(const struct emit *e, uint32_t reg)
{
    (void)e, (void)reg;
    return false;
}

static value lanes_within(struct emit *e)
{
    return e->lanes.within;
}

/* Of a side region: only what is known about the warp counts. */
static bool all_within(const struct emit *e)
{
    value lanes = e->lanes.within;
    return LLVMIsAConstantInt(lanes) && (uint32_t)LLVMConstIntGetZExtValue(lanes) == UINT32_MAX;
}

const struct lanes_mode gang_mode = {
    .is_full = is_full,
    .all_run = yes,
    .has_pending = no,
    .is_pending_live = nothing_is_pending_live,
    .spill = reg_spill_row,
    .reload = reg_reload_row,
    .read_sreg = reg_read_sreg_row,
    .leave_at = leave_at,
    .record_exit = record_exit,
    .has_effects = has_effects,
    .access_by_engine = access_of_one,
    .async_by_engine = async_by_engine,
    .group_by_engine = group_by_engine,
    .first_anew = first_anew,
    .perform_atom = atom_perform_warp,
    .moves_local = true,
    .bounds_atomics = true,
};

const struct lanes_mode side_region_mode = {
    .is_full = is_not_full,
    .all_run = all_within,
    .has_pending = no,
    .is_pending_live = mode_is_pending_live,
    .mask = lanes_within,
    .spill = reg_spill_row,
    .reload = reg_reload_row,
    .read_sreg = reg_read_sreg_row,
    .leave_at = leave_at,
    .record_exit = record_exit,
    .has_effects = has_effects,
    .access_by_engine = access_call_engine,
    .async_by_engine = async_by_engine,
    .group_by_engine = group_by_engine,
    .first_anew = first_anew,
    .transfer_known = transfer_known,
    .perform_atom = atom_perform_warp,
    .moves_local = true,
    .bounds_atomics = true,
};
