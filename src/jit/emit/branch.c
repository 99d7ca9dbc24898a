/* Branches: divergence, pending lanes, reconvergence, budgets of loops; see emit.h. */
#include "exec/spin_cost.h"
#include "jit/emit/emit.h"

static void loop_go_back(struct emit *e)
{
    value left = build_load(e, e->m->i64, e->unchecked.left);
    build_store(e, build_sub(e, left, const_i64(e, 1)), e->unchecked.left);
    build_cond_br(e, emit_is_zero(e, left), e->block[e->here->block], e->unchecked.block);
}

/* The operations of exec/spin_cost.h. */
#define LLVM_CONST(n)           const_i32(e, n)
#define LLVM_NOT(x)             build_not(e, x)
#define LLVM_AND(x, y)          build_and(e, x, y)
#define LLVM_OR(x, y)           build_or(e, x, y)
#define LLVM_IS_ZERO(x)         emit_is_zero(e, x)
#define LLVM_DIFFER(x, y)       build_ne(e, x, y)
#define LLVM_SELECT(when, x, y) build_select(e, when, x, y)

/* The cost of a branch back to a spinning loop; see back_edge_cost(). */
static value spin_cost(struct emit *e, uint32_t target, value mask)
{
    value others = emit_load_i32(e, e->f->count.divided), spun = emit_load_i32(e, e->f->count.spun);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (e->f->pending[b] && b != target)
            others = build_or(e, others, emit_load_i32(e, e->f->pending[b]));
    value some_left = SPIN_SOME_LEFT(LLVM, mask, spun);
    value ahead = build_or(e, emit_load_i32(e, e->f->count.ahead), build_zext(e, some_left, e->m->i32));
    build_store(e, mask, e->f->count.spun);
    build_store(e, ahead, e->f->count.ahead);
    value alone = emit_load_field(e, e->m->i32, e->warp.w, abi.warp_spin_cost);
    return SPIN_BACK_COST(LLVM, some_left, ahead, others, alone);
}

/* A backward branch spends from the budget; if that is used up, the warp yields. */
static void spend(struct emit *e, uint32_t target, value mask)
{
    value cost = block_at(e->fn, target)->spins ? spin_cost(e, target, mask) : const_i32(e, BACK_EDGE_COST);
    value left = build_sub(e, emit_load_i32(e, e->f->count.budget), cost);
    build_store(e, left, e->f->count.budget);
    LLVMBasicBlockRef some = emit_rarely(e, build_sge(e, left, const_i32(e, 0)));
    exit_emit(e, &(struct side_exit){.live = live_state_of_set(e, live_in(e->fn, target), SPILL_COLD, mask),
                                     .reason = LEAVE_YIELD,
                                     .block = target,
                                     .op = NO_OP,
                                     .lanes = mask,
                                     .by = e->f->leave});
    emit_at_end(e, some);
}

static void park(struct emit *e, uint32_t block, value lanes)
{
    build_store(e, build_or(e, emit_load_i32(e, e->f->pending[block]), lanes), e->f->pending[block]);
}

void emit_go_to(struct emit *e, uint32_t target, value mask)
{
    if (target == NO_BLOCK) { /* behind the last block: unreachable */
        LLVMBuildUnreachable(e->m->b);
        return;
    }
    if (target <= e->here->block) {
        spend(e, target, mask);
    } else if (block_at(e->fn, target)->spins) { /* quantum_come() */
        build_store(e, mask, e->f->count.spun);
        build_store(e, const_i32(e, 0), e->f->count.ahead);
    }
    const uint64_t *pending = e->fn->shapes->pending + (size_t)e->here->block * e->fn->shapes->block_words;
    const struct ir_block *from = block_at(e->fn, e->here->block);
    for (uint32_t b = from->serial_to ? from->serial_to : e->here->block + 1; b < target;
         b++) { /* no lane is pending in a serial part */
        if (!ir_in_set(pending, b))
            continue;
        LLVMBasicBlockRef on = emit_unless(e, emit_is_zero(e, emit_load_i32(e, e->f->pending[b])));
        park(e, target, mask);
        build_store(e, const_i32(e, 0), e->f->mask);
        build_br(e, e->block[b]);
        emit_at_end(e, on);
    }
    build_store(e, mask, e->f->mask);
    if (target == e->here->block && e->unchecked.block)
        loop_go_back(e);
    else if (target == e->here->block && e->together)
        build_br(e, e->together);
    else
        build_br(e, e->block[target]);
}

/* A divergent branch: the lanes that go to the later block are pending there. */
static void go_both(struct emit *e, uint32_t target, value taken, uint32_t next, value rest)
{
    uint32_t first = target < next ? target : next, second = target < next ? next : target;
    park(e, second, target < next ? rest : taken);
    emit_go_to(e, first, target < next ? taken : rest);
}

LLVMBasicBlockRef emit_if_guard(struct emit *e, const struct ir_insn *i)
{
    value holds = reg_read_scalar(e, i->guard);
    LLVMBasicBlockRef yes = emit_new_block(e, ""), no = emit_new_block(e, "");
    build_cond_br(e, holds, i->guard_negated ? no : yes, i->guard_negated ? yes : no);
    emit_at_end(e, yes);
    return no;
}

static void emit_uniform_branch(struct emit *e, const struct ir_insn *i, uint32_t target, uint32_t next)
{
    value mask = emit_mask(e);
    LLVMBasicBlockRef no = emit_if_guard(e, i);
    emit_go_to(e, target, mask);
    emit_at_end(e, no);
    emit_go_to(e, next, mask);
}

void branch_emit(struct emit *e, const struct ir_insn *i)
{
    uint32_t target = fn_target(e->fn, e->here->block), next = fn_next(e->fn, e->here->block);
    value mask = emit_mask(e);
    if (!i->guard || target == next) {
        emit_go_to(e, target, mask);
        return;
    }
    if (fn_ref_shape(e->fn, i->guard) != SHAPE_DIVERGENT) {
        emit_uniform_branch(e, i, target, next);
        return;
    }
    LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, ""), all = emit_new_block(e, ""),
                      parted = emit_new_block(e, "");
    bool backwards = target <= e->here->block;
    value agree = emit_agreement(e, i, backwards);
    if (agree) {
        LLVMBasicBlockRef ask = emit_new_block(e, "");
        emit_likely(e, agree, backwards ? all : none, ask);
        emit_at_end(e, ask);
    }
    value taken = emit_guarded_mask(e, i);
    build_cond_br(e, emit_is_zero(e, taken), none, some);
    emit_at_end(e, none);
    emit_go_to(e, next, mask);
    emit_at_end(e, some);
    value rest = build_xor(e, mask, taken);
    build_cond_br(e, emit_is_zero(e, rest), all, parted);
    emit_at_end(e, all);
    emit_go_to(e, target, mask);
    emit_at_end(e, parted);
    go_both(e, target, taken, next, rest);
}
