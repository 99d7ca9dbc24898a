/* The entries of a function, and the tests there; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

/* Have the rows of a list the shapes of their registers? Else the warp is refused. */
static void require_shapes(struct emit *e, const struct reg_list *l, value lanes, LLVMBasicBlockRef refused)
{
    value args[4] = {e->warp.a, lanes, exit_shapes_table(e, l), const_i32(e, l->n)};
    emit_require(e, engine_call(e, abi.compiled_calls_holds, e->m->i1, args, 4), refused);
}

/* Lanes that did not run in order may have registers of other shapes: tests the shapes of those
 * that are not divergent. */
static void check_shapes(struct emit *e, const uint64_t *set, value lanes, LLVMBasicBlockRef refused)
{
    struct reg_list l = live_among(e->fn, live_of_set(e->fn, set), false);
    if (l.n)
        require_shapes(e, &l, lanes, refused);
}

/* Tests assumed shapes wherever the interpreter may have written the registers: not in lockstep,
 * except in the first barrier phase after warps ran in turns. */
static void check_assumed(struct emit *e, const uint64_t *set, value lanes, LLVMBasicBlockRef refused)
{
    struct reg_list l = live_among(e->fn, live_of_set(e->fn, set), false), assumed = {.regs = l.regs};
    for (uint32_t k = 0; k < l.n; k++)
        if (e->fn->shapes->assumed[l.regs[k]])
            assumed.regs[assumed.n++] = l.regs[k];
    if (!assumed.n)
        return;
    value phase = emit_load_field(e, e->m->i32, e->f->of.block, abi.block_phase);
    LLVMBasicBlockRef checked = emit_unless(e, build_eq(e, phase, const_i32(e, BLOCK_LOCKSTEP)));
    require_shapes(e, &assumed, lanes, refused);
    emit_go_on(e, checked);
}

static void emit_entry(struct emit *e, uint32_t order, value lanes, value in_order, LLVMBasicBlockRef refused)
{
    const struct ir_live *live = &e->fn->shapes->live;
    const uint64_t *set = live_in(e->fn, order);
    LLVMBasicBlockRef load = emit_rarely(e, in_order);
    check_shapes(e, set, lanes, refused);
    emit_go_on(e, load);
    if (e->fn->shapes->whole[order]) {
        emit_require(e, emit_all_run(e, lanes), refused);
        lanes = const_i32(e, UINT32_MAX);
    }
    check_assumed(e, set, lanes, refused);
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(set, n))
            reg_reload(e, live->regs[n], lanes);
    build_br(e, e->block[order]);
}

/* The entry with COMPILED_FILL: expands seeds to rows. */
static void emit_fill(struct emit *e, uint32_t block, const struct reg_list *l, value choose)
{
    emit_case(e, choose, block | COMPILED_FILL, "fill");
    exit_fill_rows(e, l);
    build_ret(e, const_i32(e, LEAVE_PHASE));
}

/* The entries at blocks' terminators, where gangs have dissolved. */
static void emit_entries_at_ends(struct emit *e, struct cursor *here, value choose)
{
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!e->f->end[b])
            continue;
        emit_case(e, choose, b | COMPILED_END, "entry");
        emit_stand_at(e, here, b);
        emit_store_field(e, const_i32(e, LEAVE_REFUSED), e->warp.w, abi.warp_left);
        exit_reload_live(e, fn_block_end(e->fn, b));
        build_br(e, e->f->end[b]);
        struct reg_list l = live_among(e->fn, live_at(*here, fn_block_end(e->fn, b)), false);
        emit_fill(e, b | COMPILED_END, &l, choose);
    }
}

void emit_entries(struct emit *e, struct cursor *here, struct warp_loop *warps)
{
    uint8_t entries[e->fn->ir->n_ordered];
    memset(entries, 0, sizeof entries);
    fn_find_entries(e->fn, entries);
    dirty_begin(e, dirty_find_clean(e->fn, entries, false));
    LLVMBasicBlockRef refused = emit_new_block(e, "refused");
    value block = e->enter_at, lanes = e->enter_with;
    value in_order = emit_is_zero(e, emit_load_field(e, e->m->i8, e->warp.a, abi.activation_parted));
    if (e->fn->plan.n)
        emit_gang_start(e, warps);
    block = e->fn->plan.n ? e->f->warps.enter_alone : block;
    value choose = LLVMBuildSwitch(e->m->b, block, refused, 8);
    emit_entries_at_ends(e, here, choose);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!entries[b])
            continue;
        emit_case(e, choose, b, "entry");
        emit_stand_at(e, here, b);
        emit_entry(e, b, lanes, in_order, refused);
        struct reg_list l = live_among(e->fn, live_of_set(e->fn, live_in(e->fn, b)), false);
        if (fn_is_seed_block(e->fn, b) || gang_may_restart(e->fn, b))
            emit_fill(e, b, &l, choose);
    }
    emit_at_end(e, refused); /* in lockstep other warps may have run before */
    emit_add_counts(e);
    emit_store_field(e, e->warp.w, e->f->of.block, abi.block_stopped);
    build_ret(e, const_i32(e, LEAVE_REFUSED));
}
