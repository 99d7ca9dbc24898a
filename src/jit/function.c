/* One function: its blocks, the lanes that run and wait, and how it is left; see emit.h. */
#include "jit/emit.h"

#include <stddef.h>
#include <string.h>

/* ---- blocks and branches ---- */

LLVMBasicBlockRef emit_new_block(struct emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->fn, name);
}

void emit_at_end(struct emit *e, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(e->b, block);
}

void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    value branch = LLVMBuildCondBr(e->b, condition, yes, no);
    LLVMMetadataRef node[3] = {LLVMMDStringInContext2(e->context, "branch_weights", 14),
                               LLVMValueAsMetadata(const_int(e, e->i32, 2000)),
                               LLVMValueAsMetadata(const_int(e, e->i32, 1))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "prof", 4),
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, node, 3)));
}

static value load_i32(struct emit *e, value from)
{
    return LLVMBuildLoad2(e->b, e->i32, from, "");
}

value is_zero(struct emit *e, value v)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

value field_pointer(struct emit *e, value base, uint64_t offset)
{
    value at = const_int(e, e->i64, offset);
    return LLVMBuildInBoundsGEP2(e->b, e->i8, base, &at, 1, "");
}

void store_field(struct emit *e, value v, value base, uint64_t offset)
{
    LLVMBuildStore(e->b, v, field_pointer(e, base, offset));
}

value emit_op_pointer(struct emit *e, const struct op *o)
{
    return field_pointer(e, e->ops, (uint64_t)(o - e->code->ops) * sizeof *o);
}

/* ---- lanes ---- */

bool emit_is_full(const struct emit *e)
{
    return e->gang ? !e->within : ir_is_full(e->shapes, e->at);
}

value emit_mask(struct emit *e)
{
    if (emit_is_full(e))
        return const_int(e, e->i32, UINT32_MAX);
    return e->within ? e->within : e->mask ? load_i32(e, e->mask) : lane_bit(e);
}

value emit_guarded_mask(struct emit *e, const struct ir_insn *i)
{
    value mask = emit_mask(e);
    if (!i->guard)
        return mask;
    value g = read_lanes(e, i->guard, 0);
    return LLVMBuildAnd(e->b, mask, i->guard_negated ? LLVMBuildNot(e->b, g, "") : g, "");
}

/* ---- leaving ---- */

void spill_set(struct emit *e, const uint64_t *set, value mask)
{
    for (uint32_t n = 0; n < e->shapes->live.n; n++)
        if (ir_in_set(set, n))
            spill(e, e->shapes->live.regs[n], mask);
}

static void spill_varying(struct emit *e, const uint64_t *set, value mask)
{
    for (uint32_t n = 0; n < e->shapes->live.n; n++)
        if (ir_in_set(set, n) && e->shapes->regs[e->shapes->live.regs[n]] == SHAPE_VARYING)
            spill(e, e->shapes->live.regs[n], mask);
}

const uint64_t *live_in(const struct emit *e, uint32_t block)
{
    return e->shapes->live.in + (size_t)block * e->shapes->live.words;
}

void add_to_counter(struct emit *e, value counter, uint64_t offset)
{
    value at = field_pointer(e, e->worker, offset), old = LLVMBuildLoad2(e->b, e->i64, at, "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, old, LLVMBuildLoad2(e->b, e->i64, counter, ""), ""), at);
}

static void leave(struct emit *e, enum leave how, uint32_t block, value mask, LLVMBasicBlockRef by)
{
    LLVMBuildStore(e->b, const_int(e, e->i32, how), e->how);
    LLVMBuildStore(e->b, const_int(e, e->i32, block), e->left_at);
    LLVMBuildStore(e->b, mask, e->mask);
    LLVMBuildBr(e->b, by);
}

/* The lanes that wait, of all blocks or of those that need a register. */
static value waiting_lanes(struct emit *e, uint32_t number, bool all)
{
    value waiting = const_int(e, e->i32, 0);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        if (e->pending[b] && (all || ir_in_set(live_in(e, b), number)))
            waiting = LLVMBuildOr(e->b, waiting, load_i32(e, e->pending[b]), "");
    return waiting;
}

/* Registers that are the same number in all lanes, or follow from it: once for all blocks where lanes may wait. Only in lanes
 * that need one: in others its row may be another register's. */
static void spill_for_waiting(struct emit *e)
{
    const struct ir_live *live = &e->shapes->live;
    value waiting = waiting_lanes(e, 0, true);
    if (LLVMIsConstant(waiting))
        return;
    LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, "");
    LLVMBuildCondBr(e->b, is_zero(e, waiting), none, some);
    emit_at_end(e, some);
    start_dirty(e);
    for (uint32_t n = 0; n < live->n; n++) {
        value lanes = e->shapes->regs[live->regs[n]] != SHAPE_VARYING ? waiting_lanes(e, n, false) : NULL;
        if (lanes && !LLVMIsConstant(lanes))
            spill(e, live->regs[n], opaque_mask(e, lanes));
    }
    LLVMBuildBr(e->b, none);
    emit_at_end(e, none);
}

/* What all ways out share: the lanes that wait in other blocks go to their records. */
static void emit_leave(struct emit *e)
{
    emit_at_end(e, e->leave);
    spill_for_waiting(e);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        if (!e->pending[b])
            continue;
        LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, "");
        value lanes = load_i32(e, e->pending[b]);
        LLVMBuildCondBr(e->b, is_zero(e, lanes), none, some);
        emit_at_end(e, some);
        start_clean(e, b);
        spill_varying(e, live_in(e, b), lanes);
        value args[3] = {e->a, const_int(e, e->i32, b), lanes};
        value park = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, park), "");
        LLVMBuildCall2(e->b, e->park_type, park, args, 3, "");
        LLVMBuildBr(e->b, none);
        emit_at_end(e, none);
    }
    add_to_counter(e, e->instructions, offsetof(struct worker, warp_instructions));
    add_to_counter(e, e->lane_instructions, offsetof(struct worker, lane_instructions));
    if (e->loops)
        store_field(e, load_i32(e, e->budget), e->w, offsetof(struct warp, budget));
    if (e->spins) {
        store_field(e, load_i32(e, e->spun), e->w, offsetof(struct warp, spun));
        store_field(e, load_i32(e, e->ahead), e->w, offsetof(struct warp, ahead));
    }
    /* in one store, as the interpreter reads them in one load: a load behind two stores would wait for both */
    _Static_assert(offsetof(struct warp, mask) == offsetof(struct warp, at_block) + 4, "two halves of a word");
    value high = LLVMBuildZExt(e->b, load_i32(e, e->mask), e->i64, "");
    high = LLVMBuildShl(e->b, high, const_int(e, e->i64, 32), "");
    value both = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, load_i32(e, e->left_at), e->i64, ""), high, "");
    store_field(e, both, e->w, offsetof(struct warp, at_block));
    store_field(e, e->w, e->block_ptr, offsetof(struct block, stopped));
    LLVMBuildRet(e->b, load_i32(e, e->how));
}

/* Leaves to the interpreter, which goes on at instruction `index` of the present block; in lockstep to the next warp, where
 * that instruction is one at which warps meet. */
void emit_leave_at(struct emit *e, uint32_t index)
{
    if (e->gang) {
        gang_leave_at(e, index);
        return;
    }
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[e->at]];
    const struct ir_insn *i = &e->ir->insns.at[block->first + index];
    const struct op *o = &e->code->ops[e->code->blocks[e->at].first + index];
    uint32_t met = meets(e, i, o);
    bool sparely = index + 1 == block->n && spare_block(e, e->at) != NO_BLOCK;
    bool rarely = index < end_of_block(e, e->at);
    if (sparely)
        spill_out_sparely(e);
    else if (rarely)
        spill_needs_but_kept(e, index);
    else
        spill_needs(e, index);
    if (met)
        emit_meeting(e, o, met);
    if (rarely && !e->spill_kept)
        e->spill_kept = emit_new_block(e, "");
    store_field(e, emit_op_pointer(e, o), e->w, offsetof(struct warp, op));
    leave(e, sparely ? LEAVE_SPARE : LEAVE_AT, e->at, emit_mask(e), rarely ? e->spill_kept : e->leave);
}

static void emit_spill_kept(struct emit *e)
{
    if (!e->spill_kept)
        return;
    emit_at_end(e, e->spill_kept);
    spill_kept(e);
    LLVMBuildBr(e->b, e->leave);
}

void emit_call_op(struct emit *e, const struct op *o, value mask)
{
    value args[4] = {e->w, e->a, emit_op_pointer(e, o), mask};
    value call = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, op), "");
    value ok = LLVMBuildCall2(e->b, e->op_type, call, args, 4, "");
    LLVMBasicBlockRef next = emit_new_block(e, "");
    emit_likely(e, ok, next, e->fault);
    emit_at_end(e, next);
}

/* ---- going on ---- */

/* What a branch back to a spinning loop costs: as turn_back_cost() has it. */
static value spin_cost(struct emit *e, uint32_t target, value mask)
{
    value others = load_i32(e, e->divided), before = load_i32(e, e->spun);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        if (e->pending[b] && b != target)
            others = LLVMBuildOr(e->b, others, load_i32(e, e->pending[b]), "");
    value joined = LLVMBuildAnd(e->b, mask, LLVMBuildNot(e->b, before, ""), "");
    value some_left = LLVMBuildAnd(e->b, is_zero(e, joined), LLVMBuildICmp(e->b, LLVMIntNE, mask, before, ""), "");
    value ahead = LLVMBuildOr(e->b, load_i32(e, e->ahead), LLVMBuildZExt(e->b, some_left, e->i32, ""), "");
    LLVMBuildStore(e->b, mask, e->spun);
    LLVMBuildStore(e->b, ahead, e->ahead);
    value few = LLVMBuildOr(e->b, is_zero(e, others), is_zero(e, ahead), "");
    value alone = load_field(e, e->i32, e->w, offsetof(struct warp, spin_cost), "");
    value cost = LLVMBuildSelect(e->b, few, alone, const_int(e, e->i32, SPIN_COST_DIVIDED), "");
    return LLVMBuildSelect(e->b, some_left, const_int(e, e->i32, 1), cost, "");
}

/* A branch backwards spends from the budget; where it is spent the warp gives way. */
static void spend(struct emit *e, uint32_t target, value mask)
{
    value cost = e->code->blocks[target].spins ? spin_cost(e, target, mask) : const_int(e, e->i32, 1);
    value left = LLVMBuildSub(e->b, load_i32(e, e->budget), cost, "");
    LLVMBuildStore(e->b, left, e->budget);
    LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, "yield");
    emit_likely(e, LLVMBuildICmp(e->b, LLVMIntSGE, left, const_int(e, e->i32, 0), ""), some, none);
    emit_at_end(e, none);
    spill_set_rarely(e, live_in(e, target), mask);
    leave(e, LEAVE_YIELD, target, mask, e->leave);
    emit_at_end(e, some);
}

static void park(struct emit *e, uint32_t block, value lanes)
{
    LLVMBuildStore(e->b, LLVMBuildOr(e->b, load_i32(e, e->pending[block]), lanes, ""), e->pending[block]);
}

void emit_go_to(struct emit *e, uint32_t target, value mask)
{
    if (target == NO_BLOCK) { /* behind the last block: cannot be reached */
        LLVMBuildUnreachable(e->b);
        return;
    }
    if (target <= e->at) {
        spend(e, target, mask);
    } else if (e->code->blocks[target].spins) { /* turn_come() */
        LLVMBuildStore(e->b, mask, e->spun);
        LLVMBuildStore(e->b, const_int(e, e->i32, 0), e->ahead);
    }
    const uint64_t *waiting = e->shapes->waiting + (size_t)e->at * e->shapes->block_words;
    const struct ir_block *from = &e->ir->blocks.at[e->ir->order[e->at]];
    for (uint32_t b = from->serial_to ? from->serial_to : e->at + 1; b < target;
         b++) { /* in a serial part none waits */
        if (!ir_in_set(waiting, b))
            continue;
        LLVMBasicBlockRef earlier = emit_new_block(e, ""), on = emit_new_block(e, "");
        LLVMBuildCondBr(e->b, is_zero(e, load_i32(e, e->pending[b])), on, earlier);
        emit_at_end(e, earlier);
        park(e, target, mask);
        LLVMBuildStore(e->b, const_int(e, e->i32, 0), e->mask);
        LLVMBuildBr(e->b, e->block[b]);
        emit_at_end(e, on);
    }
    LLVMBuildStore(e->b, mask, e->mask);
    if (target == e->at && e->untested.block)
        loop_go_back(e);
    else if (target == e->at && e->together)
        LLVMBuildBr(e->b, e->together);
    else
        LLVMBuildBr(e->b, e->block[target]);
}

void emit_leave_yielding(struct emit *e, uint32_t block, value mask)
{
    leave(e, LEAVE_YIELD, block, mask, e->leave);
}

/* Lanes part: those behind wait. */
static void go_both(struct emit *e, uint32_t target, value taken, uint32_t next, value rest)
{
    uint32_t first = target < next ? target : next, second = target < next ? next : target;
    park(e, second, target < next ? rest : taken);
    emit_go_to(e, first, target < next ? taken : rest);
}

static void emit_uniform_branch(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    LLVMBasicBlockRef yes = emit_new_block(e, ""), no = emit_new_block(e, "");
    value g = read_scalar(e, i->guard, o->guard), mask = emit_mask(e);
    LLVMBuildCondBr(e->b, g, i->guard_negated ? no : yes, i->guard_negated ? yes : no);
    emit_at_end(e, yes);
    emit_go_to(e, o->target, mask);
    emit_at_end(e, no);
    emit_go_to(e, o->next, mask);
}

static void emit_branch(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    value mask = emit_mask(e);
    if (!i->guard || o->target == o->next) {
        emit_go_to(e, o->target, mask);
        return;
    }
    if (ref_shape(e, i->guard) != SHAPE_VARYING) {
        emit_uniform_branch(e, i, o);
        return;
    }
    LLVMBasicBlockRef some = emit_new_block(e, ""), none = emit_new_block(e, ""), all = emit_new_block(e, ""),
                      parted = emit_new_block(e, "");
    value taken = emit_guarded_mask(e, i);
    LLVMBuildCondBr(e->b, is_zero(e, taken), none, some);
    emit_at_end(e, none);
    emit_go_to(e, o->next, mask);
    emit_at_end(e, some);
    value rest = LLVMBuildXor(e->b, mask, taken, "");
    LLVMBuildCondBr(e->b, is_zero(e, rest), all, parted);
    emit_at_end(e, all);
    emit_go_to(e, o->target, mask);
    emit_at_end(e, parted);
    go_both(e, o->target, taken, o->next, rest);
}

/* ---- instructions ---- */

bool emit_insn(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    switch (i->kind) {
    case IR_LANES: emit_lanes(e, i, o); return true;
    case IR_LD: emit_load(e, i, o); return true;
    case IR_ST: emit_store(e, i, o); return true;
    case IR_FRAME: {
        value at = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, e->frame, e->i64, ""), const_int(e, e->i64, i->imm), "");
        write_scalar(e, i->d, LLVMBuildIntCast2(e->b, at, type_of_width(e, ref_width(e, i->d)), false, ""));
        return true;
    }
    case IR_FENCE: emit_fence(e, o); return true;
    case IR_ACTIVEMASK:
        if (!i->guard && ref_width(e, i->d) == 32) {
            write_scalar(e, i->d, emit_mask(e));
            return true;
        }
        emit_by_engine(e, i, o);
        return true;
    case IR_ATOM: emit_atom(e, i, o); return true;
    case IR_NOW:
    case IR_ALLOCA:
    case IR_STACKSAVE:
    case IR_STACKRESTORE: emit_by_engine(e, i, o); return true;
    case IR_BRA: emit_branch(e, i, o); return false;
    case IR_SHFL:
    case IR_VOTE:
    case IR_MATCH:
    case IR_REDUX:
    case IR_ELECT:
    case IR_WARPSYNC:
        if (emit_collective(e, i, o))
            emit_go_to(e, o->next, emit_mask(e));
        else
            emit_leave_at(e, e->index);
        return false;
    default: emit_leave_at(e, e->index); return false;
    }
}

void emit_count(struct emit *e, unsigned warps)
{
    uint64_t n = e->code->blocks[e->at].n * (uint64_t)warps;
    value old = LLVMBuildLoad2(e->b, e->i64, e->instructions, "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, old, const_int(e, e->i64, n), ""), e->instructions);
    if (e->lane) /* as many */
        return;
    value mask = emit_mask(e), lanes = const_int(e, e->i64, WARP_LANES);
    if (!emit_is_full(e))
        lanes = LLVMBuildZExt(e->b, intrinsic(e, "llvm.ctpop", &e->i32, 1, &mask, 1), e->i64, "");
    old = LLVMBuildLoad2(e->b, e->i64, e->lane_instructions, "");
    lanes = LLVMBuildMul(e->b, lanes, const_int(e, e->i64, n), "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, old, lanes, ""), e->lane_instructions);
}

void begin_block(struct emit *e)
{
    start_clean(e, e->at);
    find_kept(e);
    find_groups(e, &e->ir->blocks.at[e->ir->order[e->at]]);
    e->spill_kept = NULL;
}

uint32_t end_of_block(const struct emit *e, uint32_t order)
{
    const struct op *ops = &e->code->ops[e->code->blocks[order].first];
    uint32_t n = e->ir->blocks.at[e->ir->order[order]].n;
    return n && ops[n - 1].kind >= OP_FALL ? n - 1 : n;
}

/* Where a gang has dissolved, its warps go on with what ends the block: gang.c. */
static void begin_end(struct emit *e)
{
    if (!e->end[e->at] || e->untested.block || e->together || e->index != end_of_block(e, e->at))
        return;
    LLVMBuildBr(e->b, e->end[e->at]);
    emit_at_end(e, e->end[e->at]);
}

/* From instruction `first` of the present block on. */
static void emit_insns(struct emit *e, uint32_t first)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[e->at]];
    const struct op *o = &e->code->ops[e->code->blocks[e->at].first + first];
    for (e->index = first; e->index < block->n; e->index++, o++) {
        begin_end(e);
        if (!emit_insn(e, &e->ir->insns.at[block->first + e->index], o))
            return;
    }
    begin_end(e);
    emit_go_to(e, o->next, emit_mask(e)); /* OP_FALL */
}

/* A loop: without the tests that `holds` says to hold, or a round by the engine. */
static void emit_versions(struct emit *e, const struct ir_block *block, value holds)
{
    LLVMBasicBlockRef untested = emit_new_block(e, "untested"), other = emit_new_block(e, "by_engine");
    loop_choose(e, holds, untested, other);
    emit_at_end(e, other);
    emit_count(e, 1);
    loop_round_by_engine(e, block);
    emit_insns(e, block->n - 1);
    emit_at_end(e, untested);
    start_clean(e, e->at);
    emit_count(e, 1);
    e->untested.block = untested;
    emit_insns(e, 0);
    e->untested.block = NULL;
}

/* A loop: lane after lane, or where that has come to nothing all of them together to its end. */
static void emit_alone_or_together(struct emit *e, const struct ir_block *block)
{
    LLVMBasicBlockRef together = emit_new_block(e, "together");
    emit_alone(e, block, together);
    emit_insns(e, block->n - 1);
    emit_at_end(e, together);
    start_clean(e, e->at);
    emit_count(e, 1);
    e->together = together;
    emit_insns(e, 0);
    e->together = NULL;
}

static void emit_block(struct emit *e, uint32_t order)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[order]];
    e->at = order;
    begin_block(e);
    emit_at_end(e, e->block[order]);
    if (e->pending[order]) { /* those that wait here come along */
        LLVMBuildStore(e->b, LLVMBuildOr(e->b, load_i32(e, e->mask), load_i32(e, e->pending[order]), ""), e->mask);
        LLVMBuildStore(e->b, const_int(e, e->i32, 0), e->pending[order]);
    }
    if (block->serial_to) {
        emit_serial_call(e);
        return;
    }
    value holds = e->shapes->alone[order] ? NULL : loop_test(e, block);
    if (e->shapes->alone[order]) {
        emit_alone_or_together(e, block);
    } else if (holds) {
        emit_versions(e, block, holds);
    } else {
        emit_count(e, 1);
        emit_insns(e, 0);
    }
    emit_spill_kept(e);
}

/* ---- the function ---- */

value emit_alloca_of(struct emit *e, LLVMTypeRef type, value initial)
{
    value v = LLVMBuildAlloca(e->b, type, "");
    if (initial)
        LLVMBuildStore(e->b, initial, v);
    return v;
}

static void make_registers(struct emit *e)
{
    const struct ir_shapes *s = e->shapes;
    for (uint32_t r = 1; r < e->ir->regs.n; r++) {
        unsigned width = e->ir->regs.at[r].width;
        LLVMTypeRef type = s->regs[r] == SHAPE_VARYING ? vector_of_width(e, width) : type_of_width(e, width);
        for (unsigned p = 0; p < parts_of(e, s->regs[r]); p++)
            e->regs[(size_t)r * MAX_PARTS + p] = emit_alloca_of(e, type, NULL);
    }
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        bool waits = false;
        for (uint32_t other = 0; other < b && !waits; other++)
            waits = ir_in_set(s->waiting + (size_t)other * s->block_words, b);
        e->pending[b] = waits ? emit_alloca_of(e, e->i32, const_int(e, e->i32, 0)) : NULL;
    }
}

void emit_scratch(struct emit *e)
{
    for (unsigned k = 0; k < 5; k++) {
        e->scratch[k] = emit_alloca_of(e, LLVMArrayType2(e->i8, 512), NULL);
        LLVMSetAlignment(e->scratch[k], 64);
    }
}

static value load_constant(struct emit *e, LLVMTypeRef type, value base, uint64_t offset, const char *name)
{
    value v = load_field(e, type, base, offset, name);
    mark_invariant(e, v);
    return v;
}

/* What is the same for all warps of the block. */
void emit_context(struct emit *e)
{
    value code = load_constant(e, e->ptr, e->a, offsetof(struct activation, code), "code");
    e->base[ROW_CONST] = load_constant(e, e->ptr, code, offsetof(struct code, consts), "consts");
    e->block_ptr = load_constant(e, e->ptr, e->w, offsetof(struct warp, block), "block");
    e->base[ROW_BLOCK] = load_constant(e, e->ptr, e->block_ptr, offsetof(struct block, sregs), "block_rows");
    e->ops = load_constant(e, e->ptr, code, offsetof(struct code, ops), "ops");
    e->launch = load_constant(e, e->ptr, e->block_ptr, offsetof(struct block, launch), "launch");
    e->worker = load_constant(e, e->ptr, e->block_ptr, offsetof(struct block, worker), "worker");
    e->shared = load_constant(e, e->ptr, e->block_ptr, offsetof(struct block, shared), "shared");
    e->shared_bytes = load_constant(e, e->i32, e->launch, offsetof(struct launch, shared_bytes), "shared_bytes");
    e->params = load_constant(e, e->ptr, e->launch, offsetof(struct launch, params), "params");
    value kernel = load_constant(e, e->ptr, e->launch, offsetof(struct launch, kernel), "kernel");
    e->local_bytes = load_constant(e, e->i32, kernel, offsetof(struct kernel, local_ready_bytes), "local_bytes");
    e->sites = load_constant(e, e->ptr, e->worker, offsetof(struct worker, compiled_sites), "sites");
    value lockstep = load_field(e, e->i8, e->block_ptr, offsetof(struct block, lockstep), "");
    e->lockstep = LLVMBuildICmp(e->b, LLVMIntNE, lockstep, LLVMConstNull(e->i8), "lockstep");
}

void emit_warp(struct emit *e)
{
    e->base[ROW_FRAME] = load_constant(e, e->ptr, e->a, offsetof(struct activation, rows), "rows");
    e->base[ROW_WARP] = load_constant(e, e->ptr, e->w, offsetof(struct warp, sregs), "warp_rows");
    e->local = load_constant(e, e->ptr, e->w, offsetof(struct warp, local), "local");
    e->frame = load_constant(e, e->i32, e->a, offsetof(struct activation, frame), "frame");
}

/* Lanes of the warp in other activations: a spinning loop makes way for them sooner. */
static value find_divided(struct emit *e)
{
    value newest = load_field(e, e->ptr, e->w, offsetof(struct warp, acts), "");
    value next = load_field(e, e->ptr, e->a, offsetof(struct activation, next), "");
    value other = LLVMBuildOr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, newest, e->a, ""),
                              LLVMBuildICmp(e->b, LLVMIntNE, next, LLVMConstNull(e->ptr), ""), "");
    return LLVMBuildZExt(e->b, other, e->i32, "");
}

static void find_loops(struct emit *e)
{
    e->loops = e->spins = false;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        const struct code_block *block = &e->code->blocks[b];
        const struct op *last = &e->code->ops[block->first + block->n - 1];
        e->loops |= last->next <= b || ((last->kind == OP_BRA) && last->target <= b);
        e->spins |= block->spins;
    }
}

static void set_attributes(struct emit *e)
{
    static const char *const by_name[][2] = {
        {"prefer-vector-width", "512"}, {"min-legal-vector-width", "512"}, {"no-trapping-math", "true"}};
    for (size_t k = 0; k < sizeof by_name / sizeof by_name[0]; k++) {
        LLVMAttributeRef a = LLVMCreateStringAttribute(e->context, by_name[k][0], (unsigned)strlen(by_name[k][0]),
                                                       by_name[k][1], (unsigned)strlen(by_name[k][1]));
        LLVMAddAttributeAtIndex(e->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
    }
    static const struct {
        const char *name;
        uint64_t value;
    } by_kind[] = {{"nounwind", 0}, {"uwtable", 1}}; /* tables for debuggers: jit/host/gdb.c */
    for (size_t k = 0; k < sizeof by_kind / sizeof by_kind[0]; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(by_kind[k].name, strlen(by_kind[k].name));
        LLVMAddAttributeAtIndex(e->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(e->context, kind, by_kind[k].value));
    }
}

void emit_declare(struct emit *e, const char *name)
{
    LLVMTypeRef params[5] = {e->ptr, e->ptr, e->i32, e->i32, e->ptr};
    LLVMTypeRef type = LLVMFunctionType(e->i32, params, 5, false);
    e->fn = LLVMAddFunction(e->module, name, type);
    e->w = LLVMGetParam(e->fn, 0);
    e->a = LLVMGetParam(e->fn, 1);
    e->calls = LLVMGetParam(e->fn, 4);
    e->gang = NULL;
    e->within = NULL;
    e->nontemporal = NULL;
    begin_sites(e);
    set_attributes(e);
    e->entry = emit_new_block(e, "start");
    e->fault = emit_new_block(e, "fault");
}

void go_to_warp_start(struct emit *e, value start[4])
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    for (unsigned k = 0; k < 4; k++)
        LLVMAddIncoming(e->start[k], &start[k], &from, 1);
    LLVMBuildBr(e->b, e->warp_start);
}

void go_to_next_warp(struct emit *e)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(e->done_warp, &e->w, &from, 1);
    LLVMBuildBr(e->b, e->next_warp);
}

/* Where a warp begins: the one that the function is called for; in lockstep others follow. */
static void start_warp(struct emit *e)
{
    LLVMTypeRef types[4] = {e->ptr, e->ptr, e->i32, e->i32};
    static const char *const names[4] = {"warp", "activation", "block", "mask"};
    value params[4];
    e->warp_start = emit_new_block(e, "warp_start");
    emit_at_end(e, e->warp_start);
    for (unsigned k = 0; k < 4; k++) {
        params[k] = LLVMGetParam(e->fn, k);
        e->start[k] = LLVMBuildPhi(e->b, types[k], names[k]);
    }
    emit_at_end(e, e->entry);
    go_to_warp_start(e, params);
    emit_at_end(e, e->warp_start);
    e->w = e->start[0];
    e->a = e->start[1];
    e->enter_at = e->start[2];
    e->enter_with = e->start[3];
    emit_warp(e);
    LLVMBuildStore(e->b, e->enter_with, e->mask);
    if (e->loops)
        LLVMBuildStore(e->b, load_field(e, e->i32, e->w, offsetof(struct warp, budget), ""), e->budget);
    if (e->spins) {
        LLVMBuildStore(e->b, load_field(e, e->i32, e->w, offsetof(struct warp, spun), ""), e->spun);
        LLVMBuildStore(e->b, load_field(e, e->i32, e->w, offsetof(struct warp, ahead), ""), e->ahead);
        LLVMBuildStore(e->b, find_divided(e), e->divided);
    }
}

void emit_function(struct emit *e, uint32_t index, const char *name)
{
    e->code = e->request->functions[index];
    e->ir = e->code->ir;
    e->shapes = &e->request->shapes[index];
    value regs[(size_t)e->ir->regs.n * MAX_PARTS], pending[e->ir->n_ordered], patterns[e->shapes->patterns.n];
    LLVMBasicBlockRef blocks[e->ir->n_ordered], ends[e->ir->n_ordered];
    uint32_t longest = 0;
    for (uint32_t b = 0; b < e->ir->blocks.n; b++)
        longest = e->ir->blocks.at[b].n > longest ? e->ir->blocks.at[b].n : longest;
    struct group groups[longest + 1];
    bool covered[longest + 1];
    e->untested = (struct untested){.covered = covered};
    memset(regs, 0, sizeof regs);
    memset(patterns, 0, sizeof patterns);
    e->patterns = patterns;
    e->regs = regs;
    e->pending = pending;
    e->block = blocks;
    e->end = ends;
    e->kept = ARENA_ARRAY(e->arena, uint64_t, e->shapes->live.words + 1);
    e->groups = groups;
    find_alone(e);
    find_gang(e, index);
    emit_declare(e, name);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        e->block[b] = emit_new_block(e, "code");
        e->end[b] = gang_may_dissolve(e, b) ? emit_new_block(e, "end") : NULL;
    }
    e->leave = emit_new_block(e, "leave");
    e->next_warp = emit_new_block(e, "next_warp");
    emit_at_end(e, e->next_warp);
    e->done_warp = LLVMBuildPhi(e->b, e->ptr, "done");
    emit_at_end(e, e->entry);
    find_loops(e);
    find_nontemporal(e);
    make_registers(e);
    emit_scratch(e);
    emit_context(e);
    e->mask = emit_alloca_of(e, e->i32, NULL);
    e->budget = emit_alloca_of(e, e->i32, NULL);
    e->spun = emit_alloca_of(e, e->i32, NULL);
    e->ahead = emit_alloca_of(e, e->i32, NULL);
    e->instructions = emit_alloca_of(e, e->i64, const_int(e, e->i64, 0));
    e->lane_instructions = emit_alloca_of(e, e->i64, const_int(e, e->i64, 0));
    e->rounds =
        emit_alloca_of(e, e->i32, load_field(e, e->i32, e->block_ptr, offsetof(struct block, rounds), "rounds"));
    e->how = emit_alloca_of(e, e->i32, NULL);
    e->left_at = emit_alloca_of(e, e->i32, NULL);
    e->divided = emit_alloca_of(e, e->i32, NULL);
    start_warp(e);
    emit_entries(e);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        emit_block(e, b);
    emit_leave(e);
    if (e->plan.n)
        emit_gang(e);
    emit_next_warp(e);
    emit_at_end(e, e->fault);
    LLVMBuildRet(e->b, const_int(e, e->i32, LEAVE_FAULT));
    end_sites(e);
}
