/* Where a function is entered, and how lockstep goes from one warp to the next; see emit.h and exec/lockstep.c. */
#include "jit/emit.h"

#include <stddef.h>
#include <string.h>

/* ---- lockstep (exec/lockstep.c) ---- */

uint32_t meets(const struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (i->guard)
        return 0;
    if (i->kind == IR_EXIT)
        return MET_END;
    if (i->kind != IR_BAR || o->mode != BAR_SYNC || ir_ref_kind(i->a) != REF_CONST || i->b)
        return 0;
    uint64_t id = e->ir->consts.at[ir_ref_index(i->a)].lo;
    return id < BARRIERS ? 1u << id : 0;
}

uint32_t spare_block(const struct emit *e, uint32_t at)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[at]];
    const struct op *last = &e->code->ops[e->code->blocks[at].first + (block->n ? block->n - 1 : 0)];
    uint32_t met = block->n ? meets(e, &e->ir->insns.at[block->first + block->n - 1], last) : 0;
    if (!met || met == MET_END || !last->next || last->next == NO_BLOCK)
        return NO_BLOCK;
    return ir_is_full(e->shapes, at) && e->shapes->whole[last->next] ? last->next : NO_BLOCK;
}

bool is_spare(const struct emit *e, uint32_t block)
{
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        if (spare_block(e, b) == block)
            return true;
    return false;
}

void spill_out_sparely(struct emit *e)
{
    const struct ir_live *live = &e->shapes->live;
    const uint64_t *out = live->out + (size_t)e->at * live->words;
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(out, n))
            spill_sparely(e, live->regs[n]);
}

static bool has_barriers(const struct emit *e)
{
    for (uint32_t k = 0; k < e->ir->insns.n; k++)
        if (e->ir->insns.at[k].kind == IR_BAR)
            return true;
    return false;
}

/* Is there one round only, in which each warp begins at the first block and comes to the end? Then that is recorded nowhere
 * (block->met stays 0), and the warps of the next block find their records as they are to begin with. */
static bool has_one_round(const struct emit *e)
{
    return !e->plan.n && !has_barriers(e);
}

void record_meeting(struct emit *e, const struct op *o, uint32_t met)
{
    if (has_one_round(e))
        return;
    if (met == MET_END) {
        value exists = load_field(e, e->i32, e->w, offsetof(struct warp, exists), "");
        store_field(e, exists, e->w, offsetof(struct warp, exited));
        store_field(e, const_int(e, e->i32, 0), e->a, offsetof(struct activation, lanes));
    } else {
        store_field(e, emit_op_pointer(e, o), e->w, offsetof(struct warp, op));
        store_field(e, const_int(e, e->i32, o->next), e->w, offsetof(struct warp, at_block));
        if (!emit_is_full(e))
            store_field(e, emit_mask(e), e->w, offsetof(struct warp, mask));
    }
    value so_far = load_field(e, e->i32, e->block_ptr, offsetof(struct block, met), "");
    value all = LLVMBuildOr(e->b, so_far, const_int(e, e->i32, met), "");
    value at = field_pointer(e, e->block_ptr, offsetof(struct block, met));
    /* whole: LLVM would write the one byte that changes, and the next load of the word wait for that to be in the cache, behind
     * all stores before it, to memory that is far away, too (Intel's optimization manual, 3.6.4 Store Forwarding) */
    LLVMSetVolatile(LLVMBuildStore(e->b, all, at), true);
}

void emit_meeting(struct emit *e, const struct op *o, uint32_t met)
{
    LLVMBasicBlockRef in_step = emit_new_block(e, ""), all = emit_new_block(e, "met"), other = emit_new_block(e, "");
    LLVMBuildCondBr(e->b, e->lockstep, in_step, other);
    emit_at_end(e, in_step);
    value lanes = emit_mask(e);
    if (emit_is_full(e)) { /* as they were when the warp was entered */
        LLVMBuildBr(e->b, all);
    } else {
        value whole = load_field(e, e->i32, e->a, offsetof(struct activation, lanes), "");
        emit_likely(e, LLVMBuildICmp(e->b, LLVMIntEQ, whole, lanes, ""), all, other);
    }
    emit_at_end(e, all);
    record_meeting(e, o, met);
    go_to_next_warp(e);
    emit_at_end(e, other);
}

/* The warp goes on where it stands. */
static void go_to_warp(struct emit *e, value w)
{
    value start[4] = {w, load_field(e, e->ptr, w, offsetof(struct warp, act), ""),
                      has_one_round(e) ? const_int(e, e->i32, 0)
                                       : load_field(e, e->i32, w, offsetof(struct warp, at_block), ""),
                      load_field(e, e->i32, w, offsetof(struct warp, mask), "")};
    if (e->plan.n) { /* one of a gang that has dissolved */
        _Static_assert(LEAVE_AT << COMPILED_END_SHIFT == COMPILED_END, "what is left says where to enter");
        value left = load_field(e, e->i32, w, offsetof(struct warp, left), "");
        left = LLVMBuildShl(e->b, left, const_int(e, e->i32, COMPILED_END_SHIFT), "");
        start[2] = LLVMBuildOr(e->b, start[2], left, "");
    }
    go_to_warp_start(e, start);
}

/* All warps have come somewhere. To one barrier: that is open, and the first goes on. */
static void emit_next_round(struct emit *e)
{
    LLVMBasicBlockRef again = emit_new_block(e, "next_round"), over = emit_new_block(e, "round");
    value met = load_field(e, e->i32, e->block_ptr, offsetof(struct block, met), "");
    value others = LLVMBuildAnd(e->b, met, LLVMBuildSub(e->b, met, const_int(e, e->i32, 1), ""), "");
    value barrier = LLVMBuildICmp(e->b, LLVMIntULT, met, const_int(e, e->i32, MET_END), "");
    value left = LLVMBuildSub(e->b, LLVMBuildLoad2(e->b, e->i32, e->rounds, ""), const_int(e, e->i32, 1), "");
    LLVMBuildStore(e->b, left, e->rounds);
    value goes_on = LLVMBuildAnd(e->b, LLVMBuildAnd(e->b, is_zero(e, others), barrier, ""),
                                 LLVMBuildNot(e->b, is_zero(e, left), ""), "");
    LLVMBuildCondBr(e->b, goes_on, again, over);
    emit_at_end(e, again);
    store_field(e, const_int(e, e->i32, 0), e->block_ptr, offsetof(struct block, met));
    store_field(e, const_int(e, e->i8, 0), e->block_ptr, offsetof(struct block, resumed));
    go_to_warp(e, field_pointer(e, e->block_ptr, offsetof(struct block, warps)));
    emit_at_end(e, over);
}

void emit_next_warp(struct emit *e)
{
    LLVMBasicBlockRef more = emit_new_block(e, ""), last = emit_new_block(e, "");
    emit_at_end(e, e->next_warp);
    value index = load_field(e, e->i32, e->done_warp, offsetof(struct warp, index), "");
    value n = load_field(e, e->i32, e->block_ptr, offsetof(struct block, n_warps), "");
    index = LLVMBuildAdd(e->b, index, const_int(e, e->i32, 1), "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, index, n, ""), last, more);
    emit_at_end(e, more);
    go_to_warp(e, field_pointer(e, e->done_warp, sizeof(struct warp)));
    emit_at_end(e, last);
    if (has_barriers(e))
        emit_next_round(e);
    add_to_counter(e, e->instructions, offsetof(struct worker, warp_instructions));
    add_to_counter(e, e->lane_instructions, offsetof(struct worker, lane_instructions));
    LLVMBuildRet(e->b, const_int(e, e->i32, LEAVE_ROUND));
}

/* ---- entries ---- */

/* The blocks where compiled code can be entered: those that lanes come to from the interpreter. */
static void find_entries(struct emit *e, uint8_t *entries)
{
    find_serial_exits(e, entries);
    entries[0] = 1;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        const struct ir_block *block = &e->ir->blocks.at[e->ir->order[b]];
        const struct op *last = &e->code->ops[e->code->blocks[b].first + (block->n ? block->n - 1 : 0)];
        const struct ir_insn *i = block->n ? &e->ir->insns.at[block->first + block->n - 1] : NULL;
        bool suspends = i && i->kind >= IR_SHFL && i->kind != IR_BRA && i->kind != IR_TRAP && i->kind != IR_FENCE &&
                        i->kind != IR_ACTIVEMASK;
        if (suspends && last->next != NO_BLOCK)
            entries[last->next] = 1;
        if (i && i->kind == IR_BRA && last->target <= b)
            entries[last->target] = 1;
        if (last->next != NO_BLOCK && last->next <= b)
            entries[last->next] = 1;
        entries[b] |= gang_may_restart(e, b);
        if (i && i->kind == IR_BRX)
            for (uint32_t k = 0; k < last->n_targets; k++)
                entries[last->targets[k]] = 1;
    }
}

static void refuse_unless(struct emit *e, value condition, LLVMBasicBlockRef refused)
{
    LLVMBasicBlockRef on = emit_new_block(e, "");
    emit_likely(e, condition, on, refused);
    emit_at_end(e, on);
}

/* Registers that do not vary must not do so here either, where lanes did not come in order. */
static void check_shapes(struct emit *e, const uint64_t *set, value lanes, LLVMBasicBlockRef refused)
{
    struct reg_list l = scalars_of(e, set);
    if (!l.n)
        return;
    value args[4] = {e->a, lanes, shapes_table(e, &l), const_int(e, e->i32, l.n)};
    value holds = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, holds), "");
    refuse_unless(e, LLVMBuildCall2(e->b, e->holds_type, holds, args, 4, ""), refused);
}

/* So must those whose shape is a guess, wherever the interpreter may have written them: not in lockstep, but for its
 * first round behind turns. */
static void check_guesses(struct emit *e, const uint64_t *set, value lanes, LLVMBasicBlockRef refused)
{
    const struct ir_live *live = &e->shapes->live;
    LLVMBasicBlockRef checked = NULL;
    for (uint32_t n = 0; n < live->n; n++) {
        uint32_t reg = live->regs[n];
        if (!ir_in_set(set, n) || !e->shapes->guessed[reg] || e->shapes->regs[reg] == SHAPE_VARYING)
            continue;
        if (!checked) {
            LLVMBasicBlockRef check = emit_new_block(e, "");
            checked = emit_new_block(e, "");
            value resumed = load_field(e, e->i8, e->block_ptr, offsetof(struct block, resumed), "");
            value own = LLVMBuildAnd(e->b, e->lockstep, is_zero(e, resumed), "");
            LLVMBuildCondBr(e->b, own, checked, check);
            emit_at_end(e, check);
        }
        refuse_unless(e, has_shape(e, reg, lanes), refused);
    }
    if (checked) {
        LLVMBuildBr(e->b, checked);
        emit_at_end(e, checked);
    }
}

static void emit_entry(struct emit *e, uint32_t order, value lanes, value in_order, LLVMBasicBlockRef refused)
{
    const struct ir_live *live = &e->shapes->live;
    const uint64_t *set = live_in(e, order);
    LLVMBasicBlockRef load = emit_new_block(e, ""), check = emit_new_block(e, "");
    emit_likely(e, in_order, load, check);
    emit_at_end(e, check);
    check_shapes(e, set, lanes, refused);
    LLVMBuildBr(e->b, load);
    emit_at_end(e, load);
    if (e->shapes->whole[order]) {
        refuse_unless(e, LLVMBuildICmp(e->b, LLVMIntEQ, lanes, const_int(e, e->i32, UINT32_MAX), ""), refused);
        lanes = const_int(e, e->i32, UINT32_MAX);
    }
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(set, n))
            reload(e, live->regs[n], lanes);
    check_guesses(e, set, lanes, refused);
    LLVMBuildBr(e->b, e->block[order]);
}

/* Entered with COMPILED_FILL: rows are made of what has been spilled sparely. */
static void emit_fill(struct emit *e, uint32_t block, const struct reg_list *l, value choose)
{
    LLVMBasicBlockRef fill = emit_new_block(e, "fill");
    LLVMAddCase(choose, const_int(e, e->i32, block | COMPILED_FILL), fill);
    emit_at_end(e, fill);
    emit_fill_call(e, l);
    LLVMBuildRet(e->b, const_int(e, e->i32, LEAVE_ROUND));
}

/* Where gangs have dissolved. */
static void emit_entries_at_ends(struct emit *e, value choose)
{
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        if (!e->end[b])
            continue;
        LLVMBasicBlockRef load = emit_new_block(e, "entry");
        LLVMAddCase(choose, const_int(e, e->i32, b | COMPILED_END), load);
        emit_at_end(e, load);
        e->at = b;
        store_field(e, const_int(e, e->i32, LEAVE_REFUSED), e->w, offsetof(struct warp, left));
        reload_needs(e, end_of_block(e, b));
        LLVMBuildBr(e->b, e->end[b]);
        struct reg_list l = scalars_needed(e, end_of_block(e, b));
        emit_fill(e, b | COMPILED_END, &l, choose);
    }
}

void emit_entries(struct emit *e)
{
    uint8_t entries[e->ir->n_ordered];
    memset(entries, 0, sizeof entries);
    find_entries(e, entries);
    find_clean(e, entries, false);
    LLVMBasicBlockRef refused = emit_new_block(e, "refused");
    value block = e->enter_at, lanes = e->enter_with;
    value in_order = is_zero(e, load_field(e, e->i8, e->a, offsetof(struct activation, parted), ""));
    if (e->plan.n)
        emit_gang_start(e);
    block = e->plan.n ? e->enter_alone : block;
    value choose = LLVMBuildSwitch(e->b, block, refused, 8);
    emit_entries_at_ends(e, choose);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        if (!entries[b])
            continue;
        LLVMBasicBlockRef load = emit_new_block(e, "entry");
        LLVMAddCase(choose, const_int(e, e->i32, b), load);
        emit_at_end(e, load);
        e->at = b;
        emit_entry(e, b, lanes, in_order, refused);
        struct reg_list l = scalars_of(e, live_in(e, b));
        if (is_spare(e, b) || gang_may_restart(e, b))
            emit_fill(e, b, &l, choose);
    }
    emit_at_end(e, refused); /* in lockstep others may have run before */
    add_to_counter(e, e->instructions, offsetof(struct worker, warp_instructions));
    add_to_counter(e, e->lane_instructions, offsetof(struct worker, lane_instructions));
    store_field(e, e->w, e->block_ptr, offsetof(struct block, stopped));
    LLVMBuildRet(e->b, const_int(e, e->i32, LEAVE_REFUSED));
}
