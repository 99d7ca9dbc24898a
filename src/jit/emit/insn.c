/* Emits one instruction of any kind; see emit.h. */
#include "jit/emit/load_store.h"

/* cp.async.commit_group, wait_group and similar instructions have work only if the block has
 * pending copies (exec/async.h): what compiled code copies is complete. The first of several warps
 * checks for all. */
static void emit_group(struct emit *e, const struct ir_insn *i)
{
    if (i->mode >= GROUP_WGMMA_FENCE || !mode_is_first(e))
        return;
    value n = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_n_async);
    LLVMBasicBlockRef done = emit_rarely(e, emit_is_zero(e, n));
    e->mode->group_by_engine(e, i, done);
    emit_at_end(e, done);
}

bool emit_insn(struct emit *e, const struct ir_insn *i)
{
    switch (i->kind) {
    case IR_LANES: emit_lanes(e, i); return true;
    case IR_LD:
    case IR_ST: emit_access(e, i); return true;
    case IR_FRAME: {
        value at = build_add(e, build_zext(e, e->warp.frame, e->m->i64), const_i64(e, i->imm));
        reg_write_scalar(e, i->d, build_int_cast(e, at, type_of_width(e, fn_ref_width(e->fn, i->d)), false));
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
    case IR_GROUP: emit_group(e, i); return true;
    case IR_ASYNC: e->mode->async_by_engine(e, i); return true;
    case IR_TEXTURE:
    case IR_NOW:
    case IR_ALLOCA:
    case IR_STACKSAVE:
    case IR_STACKRESTORE: emit_by_engine(e, i); return true;
    case IR_BRA: branch_emit(e, i); return false;
    default:
        if (emit_collective(e, i))
            emit_go_to(e, fn_next(e->fn, e->here->block), emit_mask(e));
        else
            exit_emit_at(e, e->here->index);
        return false;
    }
}

void emit_stand_at(struct emit *e, struct cursor *here, uint32_t block)
{
    here->block = block;
    here->index = 0;
    here->is_full = e->mode->is_full(e->fn, block);
    e->here = here;
}

void emit_begin_block(struct emit *e, struct cursor *here, uint32_t block)
{
    emit_stand_at(e, here, block);
    here->check_groups = e->fn->check_groups + block_at(e->fn, block)->first;
    dirty_start_clean(e, block);
    e->exit_through = NULL;
}
