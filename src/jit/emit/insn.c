/* Emits one instruction, of whatever kind; see emit.h. */
#include "jit/emit/emit.h"

bool emit_insn(struct emit *e, const struct ir_insn *i)
{
    switch (i->kind) {
    case IR_LANES: emit_lanes(e, i); return true;
    case IR_LD: emit_load(e, i); return true;
    case IR_ST: emit_store(e, i); return true;
    case IR_FRAME: {
        value at = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, e->of.frame, e->i64, ""), const_int(e, e->i64, i->imm), "");
        reg_write_scalar(e, i->d, LLVMBuildIntCast2(e->b, at, type_of_width(e, fn_ref_width(e->fn, i->d)), false, ""));
        return true;
    }
    case IR_FENCE: emit_fence(e, i); return true;
    case IR_ACTIVEMASK:
        if (!i->guard && fn_ref_width(e->fn, i->d) == 32) {
            reg_write_scalar(e, i->d, emit_mask(e));
            return true;
        }
        emit_by_engine(e, i);
        return true;
    case IR_ATOM: emit_atom(e, i); return true;
    case IR_ASYNC:
    case IR_GROUP:
    case IR_NOW:
    case IR_ALLOCA:
    case IR_STACKSAVE:
    case IR_STACKRESTORE: emit_by_engine(e, i); return true;
    case IR_BRA: branch_emit(e, i); return false;
    case IR_SHFL:
    case IR_VOTE:
    case IR_MATCH:
    case IR_REDUX:
    case IR_ELECT:
    case IR_WARPSYNC:
    case IR_MATRIX:
        if (emit_collective(e, i))
            emit_go_to(e, fn_next(e->fn, e->at), emit_mask(e));
        else
            emit_exit(e, e->index);
        return false;
    default: emit_exit(e, e->index); return false;
    }
}

void emit_begin_block(struct emit *e)
{
    dirty_start_clean(e, e->at);
    e->check_groups = e->fn->check_groups + block_at(e->fn, e->at)->first;
    e->exit_through = NULL;
}
