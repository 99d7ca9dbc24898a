/* The work-group loop: over the warps of a block in lockstep, from barrier to barrier (exec/lockstep.c); see emit.h. */
#include "jit/emit/emit.h"

static bool has_barriers(const struct emit *e)
{
    for (uint32_t k = 0; k < e->fn->ir->insns.n; k++)
        if (e->fn->ir->insns.at[k].kind == IR_BAR)
            return true;
    return false;
}

/* Is there only one barrier phase, in which each warp begins at the first block and comes to the end? Then nothing is recorded
 * (block->arrived stays 0), and the warps of the next block find their records as they are at the start. */
static bool has_one_phase(const struct emit *e)
{
    return !e->fn->plan.n && !has_barriers(e);
}

void warp_loop_record_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived)
{
    if (has_one_phase(e))
        return;
    if (arrived == ARRIVED_END) {
        value exists = emit_load_field(e, e->m->i32, e->warp.w, abi.warp_exists, "");
        emit_store_field(e, exists, e->warp.w, abi.warp_exited);
        emit_store_field(e, const_int(e, e->m->i32, 0), e->warp.a, abi.activation_lanes);
    } else {
        emit_store_field(e, emit_op_pointer(e, i), e->warp.w, abi.warp_op);
        emit_store_field(e, const_int(e, e->m->i32, fn_next(e->fn, e->here->block)), e->warp.w, abi.warp_at_block);
        if (!e->here->is_full)
            emit_store_field(e, emit_mask(e), e->warp.w, abi.warp_mask);
    }
    value so_far = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_arrived, "");
    value all = LLVMBuildOr(e->m->b, so_far, const_int(e, e->m->i32, arrived), "");
    value at = emit_field_pointer(e, e->f->of.block, abi.block_arrived);
    /* whole: LLVM would write the one byte that changes, and the next load of the word wait for that to be in the cache, behind
     * all stores before it, to memory that is far away, too (Intel's optimization manual, 3.6.4 Store Forwarding) */
    LLVMSetVolatile(LLVMBuildStore(e->m->b, all, at), true);
}

void emit_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived)
{
    LLVMBasicBlockRef in_step = emit_new_block(e, ""), all = emit_new_block(e, "arrived"),
                      other = emit_new_block(e, "");
    LLVMBuildCondBr(e->m->b, e->f->of.lockstep, in_step, other);
    emit_at_end(e, in_step);
    value lanes = emit_mask(e);
    if (e->here->is_full) { /* as they were when the warp was entered */
        LLVMBuildBr(e->m->b, all);
    } else {
        value whole = emit_load_field(e, e->m->i32, e->warp.a, abi.activation_lanes, "");
        emit_likely(e, LLVMBuildICmp(e->m->b, LLVMIntEQ, whole, lanes, ""), all, other);
    }
    emit_at_end(e, all);
    warp_loop_record_arrival(e, i, arrived);
    warp_loop_go_to_next(e);
    emit_at_end(e, other);
}

/* The warp goes on where it stands. */
static void go_to_warp(struct emit *e, value w)
{
    value start[4] = {w, emit_load_field(e, e->m->ptr, w, abi.warp_act, ""),
                      has_one_phase(e) ? const_int(e, e->m->i32, 0)
                                       : emit_load_field(e, e->m->i32, w, abi.warp_at_block, ""),
                      emit_load_field(e, e->m->i32, w, abi.warp_mask, "")};
    if (e->fn->plan.n) { /* one of a gang that has dissolved */
        _Static_assert(LEAVE_AT << COMPILED_END_SHIFT == COMPILED_END, "what is left says where to enter");
        value left = emit_load_field(e, e->m->i32, w, abi.warp_left, "");
        left = LLVMBuildShl(e->m->b, left, const_int(e, e->m->i32, COMPILED_END_SHIFT), "");
        start[2] = LLVMBuildOr(e->m->b, start[2], left, "");
    }
    warp_loop_go_to_start(e, start);
}

/* All warps have arrived. If they did at one barrier, it is open, and the first warp goes on. */
static void emit_next_phase(struct emit *e)
{
    LLVMBasicBlockRef again = emit_new_block(e, "next_phase"), over = emit_new_block(e, "phase");
    value arrived = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_arrived, "");
    value others = LLVMBuildAnd(e->m->b, arrived, LLVMBuildSub(e->m->b, arrived, const_int(e, e->m->i32, 1), ""), "");
    value barrier = LLVMBuildICmp(e->m->b, LLVMIntULT, arrived, const_int(e, e->m->i32, ARRIVED_END), "");
    value left = LLVMBuildSub(e->m->b, LLVMBuildLoad2(e->m->b, e->m->i32, e->f->count.phases, ""),
                              const_int(e, e->m->i32, 1), "");
    LLVMBuildStore(e->m->b, left, e->f->count.phases);
    value goes_on = LLVMBuildAnd(e->m->b, LLVMBuildAnd(e->m->b, emit_is_zero(e, others), barrier, ""),
                                 LLVMBuildNot(e->m->b, emit_is_zero(e, left), ""), "");
    LLVMBuildCondBr(e->m->b, goes_on, again, over);
    emit_at_end(e, again);
    emit_store_field(e, const_int(e, e->m->i32, 0), e->f->of.block, abi.block_arrived);
    emit_store_field(e, const_int(e, e->m->i8, 0), e->f->of.block, abi.block_resumed);
    go_to_warp(e, emit_field_pointer(e, e->f->of.block, abi.block_warps));
    emit_at_end(e, over);
}

void emit_next_warp(struct emit *e)
{
    LLVMBasicBlockRef more = emit_new_block(e, ""), last = emit_new_block(e, "");
    emit_at_end(e, e->f->warps.next);
    value index = emit_load_field(e, e->m->i32, e->f->warps.done, abi.warp_index, "");
    value n = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_n_warps, "");
    index = LLVMBuildAdd(e->m->b, index, const_int(e, e->m->i32, 1), "");
    LLVMBuildCondBr(e->m->b, LLVMBuildICmp(e->m->b, LLVMIntEQ, index, n, ""), last, more);
    emit_at_end(e, more);
    go_to_warp(e, emit_field_pointer(e, e->f->warps.done, abi.warp_size));
    emit_at_end(e, last);
    if (has_barriers(e))
        emit_next_phase(e);
    emit_add_to_counter(e, e->f->count.instructions, abi.worker_warp_instructions);
    emit_add_to_counter(e, e->f->count.lane_instructions, abi.worker_lane_instructions);
    LLVMBuildRet(e->m->b, const_int(e, e->m->i32, LEAVE_PHASE));
}

void warp_loop_go_to_start(struct emit *e, value start[4])
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    for (unsigned k = 0; k < 4; k++)
        LLVMAddIncoming(e->f->warps.start[k], &start[k], &from, 1);
    LLVMBuildBr(e->m->b, e->f->warps.begin);
}

void warp_loop_go_to_next(struct emit *e)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(e->f->warps.done, &e->warp.w, &from, 1);
    LLVMBuildBr(e->m->b, e->f->warps.next);
}
