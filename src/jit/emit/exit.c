/* Side exits, where compiled code leaves for the interpreter: registers go to rows, pending lanes to their records; see emit.h. */
#include "jit/emit/emit.h"
#include "jit/passes/passes.h"

void exit_spill_out_seeds(struct emit *e)
{
    const struct ir_live *live = &e->fn->shapes->live;
    const uint64_t *out = live->out + (size_t)e->at * live->words;
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(out, n))
            reg_spill_seed(e, live->regs[n]);
}

void exit_spill_set(struct emit *e, const uint64_t *set, value mask)
{
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++)
        if (ir_in_set(set, n))
            reg_spill(e, e->fn->shapes->live.regs[n], mask);
}

static void spill_divergent(struct emit *e, const uint64_t *set, value mask)
{
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++)
        if (ir_in_set(set, n) && e->fn->shapes->regs[e->fn->shapes->live.regs[n]] == SHAPE_DIVERGENT)
            reg_spill(e, e->fn->shapes->live.regs[n], mask);
}

void exit_with(struct emit *e, enum leave how, uint32_t block, value mask, LLVMBasicBlockRef by)
{
    LLVMBuildStore(e->b, const_int(e, e->i32, how), e->how);
    LLVMBuildStore(e->b, const_int(e, e->i32, block), e->left_at);
    LLVMBuildStore(e->b, mask, e->mask);
    LLVMBuildBr(e->b, by);
}

/* The pending lanes, of all blocks or of those that need a register. */
static value pending_lanes(struct emit *e, uint32_t number, bool all)
{
    value pending = const_int(e, e->i32, 0);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (e->pending[b] && (all || ir_in_set(live_in(e->fn, b), number)))
            pending = LLVMBuildOr(e->b, pending, emit_load_i32(e, e->pending[b]), "");
    return pending;
}

/* Spills uniform and affine registers for pending lanes, once for all blocks where lanes may be pending. A register is stored only in
 * lanes in which it is live: in others its row may be another register's. */
static void spill_for_pending(struct emit *e)
{
    const struct ir_live *live = &e->fn->shapes->live;
    value pending = pending_lanes(e, 0, true);
    if (LLVMIsConstant(pending))
        return;
    LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, "");
    LLVMBuildCondBr(e->b, emit_is_zero(e, pending), none, some);
    emit_at_end(e, some);
    dirty_start_all(e);
    for (uint32_t n = 0; n < live->n; n++) {
        value lanes = e->fn->shapes->regs[live->regs[n]] != SHAPE_DIVERGENT ? pending_lanes(e, n, false) : NULL;
        if (lanes && !LLVMIsConstant(lanes))
            reg_spill(e, live->regs[n], pass_opaque_mask(e->b, lanes));
    }
    LLVMBuildBr(e->b, none);
    emit_at_end(e, none);
}

/* The code that all exits share: notes the pending lanes of other blocks in their records. */
void exit_emit_common(struct emit *e)
{
    emit_at_end(e, e->leave);
    spill_for_pending(e);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!e->pending[b])
            continue;
        LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, "");
        value lanes = emit_load_i32(e, e->pending[b]);
        LLVMBuildCondBr(e->b, emit_is_zero(e, lanes), none, some);
        emit_at_end(e, some);
        dirty_start_clean(e, b);
        spill_divergent(e, live_in(e->fn, b), lanes);
        value args[3] = {e->a, const_int(e, e->i32, b), lanes};
        value park = emit_load_field(e, e->ptr, e->calls, abi.compiled_calls_park, "");
        LLVMBuildCall2(e->b, e->types.park, park, args, 3, "");
        LLVMBuildBr(e->b, none);
        emit_at_end(e, none);
    }
    emit_add_to_counter(e, e->count.instructions, abi.worker_warp_instructions);
    emit_add_to_counter(e, e->count.lane_instructions, abi.worker_lane_instructions);
    if (e->fn->loops)
        emit_store_field(e, emit_load_i32(e, e->count.budget), e->w, abi.warp_budget);
    if (e->fn->spins) {
        emit_store_field(e, emit_load_i32(e, e->count.spun), e->w, abi.warp_spun);
        emit_store_field(e, emit_load_i32(e, e->count.ahead), e->w, abi.warp_ahead);
    }
    /* in one store, as the interpreter reads them in one load: a load behind two stores would wait for both */
    value high = LLVMBuildZExt(e->b, emit_load_i32(e, e->mask), e->i64, "");
    high = LLVMBuildShl(e->b, high, const_int(e, e->i64, 32), "");
    value both = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, emit_load_i32(e, e->left_at), e->i64, ""), high, "");
    emit_store_field(e, both, e->w, abi.warp_at_block);
    emit_store_field(e, e->w, e->of.block, abi.block_stopped);
    LLVMBuildRet(e->b, emit_load_i32(e, e->how));
}

void exit_of_warp(struct emit *e, uint32_t index)
{
    const struct ir_block *block = &e->fn->ir->blocks.at[e->fn->ir->order[e->at]];
    const struct ir_insn *i = &e->fn->ir->insns.at[block->first + index];
    const struct op *o = &e->fn->code->ops[e->fn->code->blocks[e->at].first + index];
    uint32_t arrived = fn_arrival(e->fn, i, o);
    bool seeds = index + 1 == block->n && fn_seed_block(e->fn, e->at) != NO_BLOCK;
    bool cold = index < fn_block_end(e->fn, e->at);
    if (seeds)
        exit_spill_out_seeds(e);
    else if (cold)
        exit_spill_cold(e, index);
    else
        exit_spill_live(e, index);
    if (arrived)
        emit_arrival(e, o, arrived);
    if (cold && !e->exit_through)
        e->exit_through = emit_new_block(e, "");
    emit_store_field(e, emit_op_pointer(e, o), e->w, abi.warp_op);
    exit_with(e, seeds ? LEAVE_SEEDS : LEAVE_AT, e->at, emit_mask(e), cold ? e->exit_through : e->leave);
}

void emit_exit(struct emit *e, uint32_t index)
{
    e->mode->leave_at(e, index);
}

void exit_emit_through(struct emit *e)
{
    if (!e->exit_through)
        return;
    emit_at_end(e, e->exit_through);
    exit_spill_through(e);
    LLVMBuildBr(e->b, e->leave);
}

void emit_call_op(struct emit *e, const struct op *o, value mask)
{
    value args[4] = {e->w, e->a, emit_op_pointer(e, o), mask};
    value call = emit_load_field(e, e->ptr, e->calls, abi.compiled_calls_op, "");
    value ok = LLVMBuildCall2(e->b, e->types.op, call, args, 4, "");
    LLVMBasicBlockRef next = emit_new_block(e, "");
    emit_likely(e, ok, next, e->fault);
    emit_at_end(e, next);
}

void exit_yielding(struct emit *e, uint32_t block, value mask)
{
    exit_with(e, LEAVE_YIELD, block, mask, e->leave);
}

static value lane_offsets_array(struct emit *e, uint16_t shape)
{
    if (!e->lane_offsets[shape]) {
        value lanes[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            lanes[l] = const_int(e, e->i64, (uint64_t)e->fn->shapes->lane_offsets.at[shape].at[l]);
        e->lane_offsets[shape] = emit_constant(e, LLVMConstArray2(e->i64, lanes, WARP_LANES));
    }
    return e->lane_offsets[shape];
}

value exit_shapes_table(struct emit *e, const struct reg_list *l)
{
    value rows[l->n + 1];
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t reg = l->regs[k];
        uint16_t shape = e->fn->shapes->regs[reg];
        value fields[4] = {const_int(e, e->i32, e->fn->ir->regs.at[reg].slot),
                           const_int(e, e->i32, e->fn->ir->regs.at[reg].width),
                           const_int(e, e->i64, WARP_LANES / fn_pieces(e->fn, shape)), lane_offsets_array(e, shape)};
        rows[k] = LLVMConstStructInContext(e->context, fields, 4, false);
    }
    return l->n ? emit_constant(e, LLVMConstArray2(LLVMTypeOf(rows[0]), rows, l->n)) : NULL;
}

void emit_fill_call(struct emit *e, const struct reg_list *l)
{
    if (!l->n)
        return;
    value args[3] = {e->a, exit_shapes_table(e, l), const_int(e, e->i32, l->n)};
    value call = emit_load_field(e, e->ptr, e->calls, abi.compiled_calls_fill, "");
    LLVMBuildCall2(e->b, e->types.fill, call, args, 3, "");
}

/* ---- what is live, to rows and back ---- */

static bool lives_through(const struct emit *e, uint32_t reg)
{
    uint32_t n = e->fn->shapes->live.number[reg];
    return n && ir_in_set(live_through(e->fn, e->at), n - 1);
}

static void spill_list(struct emit *e, const struct reg_list *l, value mask)
{
    for (uint32_t k = 0; k < l->n; k++)
        reg_spill(e, l->regs[k], mask);
}

static void spill_seeds(struct emit *e, const struct reg_list *l)
{
    for (uint32_t k = 0; k < l->n; k++)
        reg_spill_seed(e, l->regs[k]);
}

/* Spills by little code, for rare exits: of registers that are not divergent only the seed, of which the library makes a row; whole
 * rows while lanes are pending. */
static void spill_list_cold(struct emit *e, const struct reg_list *l, value mask)
{
    struct reg_list dirty = {.regs = ARENA_ARRAY(e->arena, uint32_t, l->n + 1)};
    if (e->mode->has_pending(e)) {
        spill_list(e, l, mask);
        return;
    }
    for (uint32_t k = 0; k < l->n; k++)
        if (!dirty_is_clean(e, l->regs[k]))
            dirty.regs[dirty.n++] = l->regs[k];
    spill_seeds(e, l);
    dirty = live_scalars(e->fn, dirty);
    emit_fill_call(e, &dirty);
}

static value pending_mask(struct emit *e)
{
    return e->mode->has_pending(e) ? emit_mask(e) : NULL;
}

void exit_spill_live(struct emit *e, uint32_t index)
{
    struct reg_list live = live_at(emit_here(e), index);
    spill_list(e, &live, pending_mask(e));
}

void exit_spill_seeds(struct emit *e, uint32_t index)
{
    struct reg_list live = live_at(emit_here(e), index);
    spill_seeds(e, &live);
}

void exit_spill_cold(struct emit *e, uint32_t index)
{
    struct reg_list live = live_at(emit_here(e), index), rest = {.regs = live.regs};
    for (uint32_t k = 0; k < live.n; k++)
        if (!lives_through(e, live.regs[k]))
            rest.regs[rest.n++] = live.regs[k];
    spill_list_cold(e, &rest, pending_mask(e));
}

void exit_spill_set_cold(struct emit *e, const uint64_t *set, value mask)
{
    struct reg_list live = live_of_set(e->fn, set);
    spill_list_cold(e, &live, mask);
}

void exit_spill_through(struct emit *e)
{
    dirty_start_clean(e, e->at);
    exit_spill_set_cold(e, live_through(e->fn, e->at), pending_mask(e));
}

void exit_reload_live(struct emit *e, uint32_t index)
{
    struct reg_list live = live_at(emit_here(e), index);
    for (uint32_t k = 0; k < live.n; k++)
        reg_reload(e, live.regs[k], const_int(e, e->i32, UINT32_MAX));
}
