/* Side exits from compiled code to the interpreter: registers go to rows, pending lanes to their
 * records; see emit.h. */
#include "jit/emit/emit.h"
#include "jit/passes/passes.h"

/* The pending lanes of all blocks, or of those that need a register. */
static value pending_lanes(struct emit *e, uint32_t number, bool all)
{
    value pending = const_i32(e, 0);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (e->f->pending[b] && (all || ir_in_set(live_in(e->fn, b), number)))
            pending = build_or(e, pending, emit_load_i32(e, e->f->pending[b]));
    return pending;
}

/* Spills uniform and affine registers for pending lanes, once for all blocks where lanes may be
 * pending. A register is stored only in lanes in which it is live: in others its row may be another
 * register's. */
static void spill_for_pending(struct emit *e)
{
    const struct ir_live *live = &e->fn->shapes->live;
    value pending = pending_lanes(e, 0, true);
    if (LLVMIsConstant(pending))
        return;
    LLVMBasicBlockRef none = emit_unless(e, emit_is_zero(e, pending));
    dirty_start_all(e);
    for (uint32_t n = 0; n < live->n; n++) {
        value lanes = e->fn->shapes->regs[live->regs[n]] != SHAPE_DIVERGENT ? pending_lanes(e, n, false) : NULL;
        if (lanes && !LLVMIsConstant(lanes))
            reg_spill(e, live->regs[n], pass_opaque_mask(e->m->b, lanes));
    }
    emit_go_on(e, none);
}

/* The code that all exits share: notes the pending lanes of other blocks in their records. */
void exit_emit_common(struct emit *e)
{
    emit_at_end(e, e->f->leave);
    spill_for_pending(e);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!e->f->pending[b])
            continue;
        value lanes = emit_load_i32(e, e->f->pending[b]);
        LLVMBasicBlockRef none = emit_unless(e, emit_is_zero(e, lanes));
        dirty_start_clean(e, b);
        struct live_state here = live_state_of_set(e, live_in(e->fn, b), SPILL_ROWS, lanes);
        here.regs = live_among(e->fn, here.regs, true);
        exit_spill(e, &here);
        engine_park(e, b, lanes);
        emit_go_on(e, none);
    }
    emit_add_counts(e);
    if (e->fn->loops)
        emit_store_field(e, emit_load_i32(e, e->f->count.budget), e->warp.w, abi.warp_budget);
    if (e->fn->spins) {
        emit_store_field(e, emit_load_i32(e, e->f->count.spun), e->warp.w, abi.warp_spun);
        emit_store_field(e, emit_load_i32(e, e->f->count.ahead), e->warp.w, abi.warp_ahead);
    }
    /* One store, because the interpreter reads both in one load, which
     * would wait for two stores. */
    value high = build_zext(e, emit_load_i32(e, e->f->mask), e->m->i64);
    high = build_shl(e, high, const_i64(e, 32));
    value both = build_or(e, build_zext(e, emit_load_i32(e, e->f->left_at), e->m->i64), high);
    emit_store_field(e, both, e->warp.w, abi.warp_at_block);
    emit_store_field(e, e->warp.w, e->f->of.block, abi.block_stopped);
    build_ret(e, emit_load_i32(e, e->f->how));
}

/* ---- exits ---- */

void exit_record_for_leave(struct emit *e, const struct side_exit *x)
{
    if (x->op != NO_OP)
        emit_store_field(e, emit_op_pointer(e, fn_insn_at(*e->here, x->op)), e->warp.w, abi.warp_op);
    build_store(e, const_i32(e, x->reason), e->f->how);
    build_store(e, const_i32(e, x->block), e->f->left_at);
    build_store(e, x->lanes ? x->lanes : emit_mask(e), e->f->mask);
}

void exit_emit(struct emit *e, const struct side_exit *x)
{
    exit_spill(e, &x->live);
    if (x->arrived)
        emit_arrival(e, fn_insn_at(*e->here, x->op), x->arrived);
    e->mode->record_exit(e, x);
    if (x->by)
        build_br(e, x->by);
}

/* An exit inside a block is rare, and uses small code; at the block's end it uses fast code. Behind
 * a barrier that all lanes reach, compiled code continues, for which seeds suffice. */
void exit_of_warp(struct emit *e, uint32_t index)
{
    const struct ir_block *block = block_at(e->fn, e->here->block);
    bool is_cold = index < fn_block_end(e->fn, e->here->block);
    struct side_exit x = {.reason = LEAVE_AT, .block = e->here->block, .op = index, .by = e->f->leave};
    x.arrived = fn_arrival(e->fn, fn_insn_at(*e->here, index));
    if (index + 1 == block->n && fn_seed_block(e->fn, e->here->block) != NO_BLOCK) {
        x.reason = LEAVE_SEEDS;
        x.live = live_state_behind(e);
    } else {
        x.live = live_state_at(e, index, is_cold ? SPILL_COLD : SPILL_ROWS);
    }
    if (is_cold && !e->exit_through)
        e->exit_through = emit_new_block(e, "");
    if (is_cold)
        x.by = e->exit_through;
    exit_emit(e, &x);
}

void exit_emit_at(struct emit *e, uint32_t index)
{
    e->mode->leave_at(e, index);
}

void exit_emit_through(struct emit *e)
{
    if (!e->exit_through)
        return;
    emit_at_end(e, e->exit_through);
    exit_spill_through(e);
    build_br(e, e->f->leave);
}

value engine_call(struct emit *e, uint64_t function, LLVMTypeRef result, value *args, unsigned n)
{
    LLVMTypeRef types[n];
    for (unsigned k = 0; k < n; k++)
        types[k] = LLVMTypeOf(args[k]);
    value call = emit_load_field(e, e->m->ptr, e->f->calls, function);
    return LLVMBuildCall2(e->m->b, LLVMFunctionType(result, types, n, false), call, args, n, "");
}

void engine_park(struct emit *e, uint32_t block, value lanes)
{
    engine_call(e, abi.compiled_calls_park, e->m->void_type, (value[]){e->warp.a, const_i32(e, block), lanes}, 3);
}

value engine_call_op(struct emit *e, uint64_t function, const struct ir_insn *i, value mask)
{
    return engine_call(e, function, e->m->i1, (value[]){e->warp.w, e->warp.a, emit_op_pointer(e, i), mask}, 4);
}

void emit_call_op(struct emit *e, const struct ir_insn *i, value mask)
{
    emit_require(e, engine_call_op(e, abi.compiled_calls_op, i, mask), e->f->fault);
}

static value lane_offsets_array(struct emit *e, uint16_t shape)
{
    if (!e->f->lane_offsets[shape]) {
        value lanes[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            lanes[l] = const_i64(e, (uint64_t)e->fn->shapes->lane_offsets.at[shape].at[l]);
        e->f->lane_offsets[shape] = emit_constant(e, LLVMConstArray2(e->m->i64, lanes, WARP_LANES));
    }
    return e->f->lane_offsets[shape];
}

value exit_shapes_table(struct emit *e, const struct reg_list *l)
{
    value rows[l->n + 1];
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t reg = l->regs[k];
        uint16_t shape = e->fn->shapes->regs[reg];
        value fields[4] = {const_i32(e, e->fn->ir->regs.at[reg].slot), const_i32(e, e->fn->ir->regs.at[reg].width),
                           const_i64(e, WARP_LANES / fn_pieces(e->fn, shape)), lane_offsets_array(e, shape)};
        rows[k] = LLVMConstStructInContext(e->m->context, fields, 4, false);
    }
    return l->n ? emit_constant(e, LLVMConstArray2(LLVMTypeOf(rows[0]), rows, l->n)) : NULL;
}

void exit_fill_rows(struct emit *e, const struct reg_list *l)
{
    if (!l->n)
        return;
    value args[3] = {e->warp.a, exit_shapes_table(e, l), const_i32(e, l->n)};
    engine_call(e, abi.compiled_calls_fill, e->m->void_type, args, 3);
}

/* ---- live state, to rows and back ---- */

static value pending_mask(struct emit *e)
{
    return e->mode->has_pending(e) ? emit_mask(e) : NULL;
}

struct live_state live_state_at(struct emit *e, uint32_t index, enum spill_form form)
{
    struct reg_list live = live_at(*e->here, index), rest = {.regs = live.regs};
    const uint64_t *through = live_through(e->fn, e->here->block);
    for (uint32_t k = 0; k < live.n; k++)
        if (form != SPILL_COLD || !live_has(e->fn, through, ir_make_ref(REF_REG, live.regs[k])))
            rest.regs[rest.n++] = live.regs[k];
    return (struct live_state){rest, form, form == SPILL_SEEDS ? NULL : pending_mask(e)};
}

struct live_state live_state_behind(struct emit *e)
{
    return live_state_of_set(e, live_out(e->fn, e->here->block), SPILL_SEEDS, NULL);
}

struct live_state live_state_of_set(struct emit *e, const uint64_t *set, enum spill_form form, value mask)
{
    return (struct live_state){live_of_set(e->fn, set), form, mask};
}

static void spill_seeds(struct emit *e, const struct reg_list *l)
{
    for (uint32_t k = 0; k < l->n; k++)
        reg_spill_seed(e, l->regs[k]);
}

static bool has_seeds(const struct emit *e, uint32_t reg)
{
    unsigned width = e->fn->ir->regs.at[reg].width;
    return e->fn->shapes->regs[reg] != SHAPE_DIVERGENT && width >= 16 && width <= 64;
}

static void spill_by_engine(struct emit *e, const struct reg_list *l, value mask)
{
    if (!l->n)
        return;
    value args[5] = {e->warp.a, exit_shapes_table(e, l), const_i32(e, l->n), e->f->seeds,
                     mask ? mask : const_i32(e, UINT32_MAX)};
    engine_call(e, abi.compiled_calls_spill, e->m->void_type, args, 5);
}

void exit_spill_cold(struct emit *e, const struct reg_list *l, value mask)
{
    struct reg_list rest = {.regs = ARENA_ARRAY(e->arena, uint32_t, l->n + 1)};
    unsigned n = 0;
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t reg = l->regs[k];
        ir_ref r = ir_make_ref(REF_REG, reg);
        unsigned pieces = fn_pieces(e->fn, fn_ref_shape(e->fn, r));
        if (!has_seeds(e, reg)) {
            reg_spill(e, reg, mask);
            continue;
        }
        if (dirty_is_clean(e, reg))
            continue;
        if (n + pieces > MAX_SEEDS) {
            spill_by_engine(e, &rest, mask);
            rest.n = n = 0;
        }
        for (unsigned p = 0; p < pieces; p++, n++)
            /* Other bits: any. */
            build_store(e, reg_read_piece(e, r, p), emit_pointer_at(e, e->f->seeds, 8 * n));
        rest.regs[rest.n++] = reg;
    }
    spill_by_engine(e, &rest, mask);
}

void exit_spill(struct emit *e, const struct live_state *s)
{
    if (s->form == SPILL_SEEDS)
        spill_seeds(e, &s->regs);
    else if (s->form == SPILL_COLD)
        exit_spill_cold(e, &s->regs, s->mask);
    else
        for (uint32_t k = 0; k < s->regs.n; k++)
            reg_spill(e, s->regs.regs[k], s->mask);
}

void exit_spill_through(struct emit *e)
{
    dirty_start_clean(e, e->here->block);
    struct live_state through = live_state_of_set(e, live_through(e->fn, e->here->block), SPILL_COLD, pending_mask(e));
    exit_spill(e, &through);
}

void exit_reload_live(struct emit *e, uint32_t index)
{
    struct reg_list live = live_at(*e->here, index);
    for (uint32_t k = 0; k < live.n; k++)
        reg_reload(e, live.regs[k], const_i32(e, UINT32_MAX));
}
