/* The work-group loop over the warps of a block in lockstep, from barrier to barrier
 * (exec/lockstep.c); see emit.h. */
#include "jit/emit/emit.h"

static bool has_barriers(const struct emit *e)
{
    for (uint32_t k = 0; k < e->fn->ir->insns.n; k++)
        if (e->fn->ir->insns.at[k].kind == IR_BAR)
            return true;
    return false;
}

/* Is there only one barrier phase, in which each warp begins at the first block and reaches the
 * end? Then nothing is recorded (block->arrived stays 0), and the warps of the next block find
 * their records in the initial state. */
static bool has_one_phase(const struct emit *e)
{
    return !e->fn->plan.n && !has_barriers(e);
}

void warp_loop_record_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived)
{
    if (has_one_phase(e))
        return;
    if (arrived == ARRIVED_END) {
        value exists = emit_load_field(e, e->m->i32, e->warp.w, abi.warp_exists);
        emit_store_field(e, exists, e->warp.w, abi.warp_exited);
        emit_store_field(e, const_i32(e, 0), e->warp.a, abi.activation_lanes);
    } else {
        emit_store_field(e, emit_op_pointer(e, i), e->warp.w, abi.warp_op);
        emit_store_field(e, const_i32(e, fn_next(e->fn, e->here->block)), e->warp.w, abi.warp_at_block);
        if (!e->here->is_full)
            emit_store_field(e, emit_mask(e), e->warp.w, abi.warp_mask);
    }
    value so_far = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_arrived);
    value all = build_or(e, so_far, const_i32(e, arrived));
    value at = emit_pointer_at(e, e->f->of.block, abi.block_arrived);
    /* whole: LLVM would write the one byte that changes, and the next load of the word wait for
     * that to be in the cache, behind all stores before it, to memory that is far away, too
     * (Intel's optimization manual, 3.6.4 Store Forwarding) */
    LLVMSetVolatile(build_store(e, all, at), true);
}

void emit_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived)
{
    LLVMBasicBlockRef in_step = emit_new_block(e, ""), all = emit_new_block(e, "arrived"),
                      other = emit_new_block(e, "");
    build_cond_br(e, e->f->of.lockstep, in_step, other);
    emit_at_end(e, in_step);
    value lanes = emit_mask(e);
    if (e->here->is_full) { /* as at the warp's entry */
        build_br(e, all);
    } else {
        value whole = emit_load_field(e, e->m->i32, e->warp.a, abi.activation_lanes);
        emit_likely(e, build_eq(e, whole, lanes), all, other);
    }
    emit_at_end(e, all);
    warp_loop_record_arrival(e, i, arrived);
    warp_loop_go_to_next(e);
    emit_at_end(e, other);
}

/* The warp continues at its position. */
static void go_to_warp(struct emit *e, value w)
{
    value start[4] = {w, emit_load_field(e, e->m->ptr, w, abi.warp_act),
                      has_one_phase(e) ? const_i32(e, 0) : emit_load_field(e, e->m->i32, w, abi.warp_at_block),
                      emit_load_field(e, e->m->i32, w, abi.warp_mask)};
    if (e->fn->plan.n) { /* a warp of a dissolved gang */
        _Static_assert(LEAVE_AT << COMPILED_END_SHIFT == COMPILED_END, "what is left says where to enter");
        value left = emit_load_field(e, e->m->i32, w, abi.warp_left);
        left = build_shl(e, left, const_i32(e, COMPILED_END_SHIFT));
        start[2] = build_or(e, start[2], left);
    }
    warp_loop_go_to_start(e, start);
}

/* All warps have arrived. If they did at one barrier, it opens, and the first warp continues. */
static void emit_next_phase(struct emit *e)
{
    LLVMBasicBlockRef again = emit_new_block(e, "next_phase"), over = emit_new_block(e, "phase");
    value arrived = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_arrived);
    value others = build_and(e, arrived, build_sub(e, arrived, const_i32(e, 1)));
    value barrier = build_ult(e, arrived, const_i32(e, ARRIVED_END));
    value left = build_sub(e, emit_load_i32(e, e->f->count.phases), const_i32(e, 1));
    build_store(e, left, e->f->count.phases);
    value goes_on = build_and(e, build_and(e, emit_is_zero(e, others), barrier), build_not(e, emit_is_zero(e, left)));
    build_cond_br(e, goes_on, again, over);
    emit_at_end(e, again);
    emit_store_field(e, const_i32(e, 0), e->f->of.block, abi.block_arrived);
    emit_store_field(e, const_i32(e, BLOCK_LOCKSTEP), e->f->of.block, abi.block_phase);
    go_to_warp(e, emit_pointer_at(e, e->f->of.block, abi.block_warps));
    emit_at_end(e, over);
}

void emit_next_warp(struct emit *e)
{
    emit_at_end(e, e->f->warps.next);
    value index = emit_load_field(e, e->m->i32, e->f->warps.done, abi.warp_index);
    value n = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_n_warps);
    index = build_add(e, index, const_i32(e, 1));
    LLVMBasicBlockRef last = emit_unless(e, build_eq(e, index, n));
    go_to_warp(e, emit_pointer_at(e, e->f->warps.done, abi.warp_size));
    emit_at_end(e, last);
    if (has_barriers(e))
        emit_next_phase(e);
    emit_add_counts(e);
    build_ret(e, const_i32(e, LEAVE_PHASE));
}

void warp_loop_go_to_start(struct emit *e, value start[4])
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    for (unsigned k = 0; k < 4; k++)
        LLVMAddIncoming(e->f->warps.start[k], &start[k], &from, 1);
    build_br(e, e->f->warps.begin);
}

void warp_loop_go_to_next(struct emit *e)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(e->f->warps.done, &e->warp.w, &from, 1);
    build_br(e, e->f->warps.next);
}
