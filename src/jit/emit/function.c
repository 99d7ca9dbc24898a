/* The order in which the parts and blocks of a function are emitted; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

/* ---- instructions ---- */

/* Begins the terminator of a block where a gang may have dissolved: its warps continue there. */
static void begin_end(struct emit *e)
{
    if (!e->f->end[e->here->block] || e->unchecked.block || e->together ||
        e->here->index != fn_block_end(e->fn, e->here->block))
        return;
    emit_go_on(e, e->f->end[e->here->block]);
}

/* Emits the current block from instruction `first` on. */
static void emit_insns(struct emit *e, struct cursor *here, uint32_t first)
{
    for (here->index = first; here->index < block_at(e->fn, here->block)->n; here->index++) {
        begin_end(e);
        if (!emit_insn(e, fn_insn_at(*here, here->index)))
            return;
    }
    begin_end(e);
    emit_go_to(e, fn_next(e->fn, e->here->block), emit_mask(e));
}

/* Emits the second version of a loop, which begins at `start`; *noted is `start` during that. */
static void emit_version(struct emit *e, struct cursor *here, LLVMBasicBlockRef start, LLVMBasicBlockRef *noted)
{
    emit_at_end(e, start);
    dirty_start_clean(e, e->here->block);
    emit_count(e, 1);
    *noted = start;
    emit_insns(e, here, 0);
    *noted = NULL;
}

/* A loop whose accesses are tested before it: its unchecked version if `holds`, else one iteration
 * by the engine. */
static void emit_versions(struct emit *e, struct cursor *here, const struct ir_block *block, value holds)
{
    LLVMBasicBlockRef unchecked = emit_new_block(e, "unchecked"), other = emit_new_block(e, "by_engine");
    loop_choose(e, holds, unchecked, other);
    emit_at_end(e, other);
    emit_count(e, 1);
    loop_iteration_by_engine(e, block);
    emit_insns(e, here, block->n - 1);
    emit_version(e, here, unchecked, &e->unchecked.block);
}

/* A lane-serial loop, with the vector version for failed tests. */
static void emit_lane_serial_or_vector(struct emit *e, struct cursor *here, const struct ir_block *block)
{
    LLVMBasicBlockRef together = emit_new_block(e, "together");
    emit_lane_serial(e, block, together);
    emit_insns(e, here, block->n - 1);
    emit_version(e, here, together, &e->together);
}

static void emit_block(struct emit *e, struct cursor *here, uint32_t order)
{
    const struct ir_block *block = block_at(e->fn, order);
    emit_begin_block(e, here, order);
    emit_at_end(e, e->block[order]);
    if (e->f->pending[order]) { /* lanes that are pending here join */
        build_store(e, build_or(e, emit_load_i32(e, e->f->mask), emit_load_i32(e, e->f->pending[order])), e->f->mask);
        build_store(e, const_i32(e, 0), e->f->pending[order]);
    }
    if (block->serial_to) {
        emit_serial_call(e);
        return;
    }
    value holds = NULL;
    if (e->fn->shapes->lane_serial[order]) {
        emit_lane_serial_or_vector(e, here, block);
    } else if ((holds = loop_test(e, block))) {
        emit_versions(e, here, block, holds);
    } else {
        emit_count(e, 1);
        emit_insns(e, here, 0);
    }
    exit_emit_through(e);
}

/* ---- the function ---- */

static void make_pending(struct emit *e, value *pending)
{
    const struct ir_shapes *s = e->fn->shapes;
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        bool waits = false;
        for (uint32_t other = 0; other < b && !waits; other++)
            waits = ir_in_set(s->pending + (size_t)other * s->block_words, b);
        pending[b] = waits ? emit_keep(e, const_i32(e, 0)) : NULL;
    }
}

/* Does the warp have lanes in other activations? A spinning loop yields to them sooner. */
static value find_divided(struct emit *e)
{
    value newest = emit_load_field(e, e->m->ptr, e->warp.w, abi.warp_acts);
    value next = emit_load_field(e, e->m->ptr, e->warp.a, abi.activation_next);
    value other = build_or(e, build_ne(e, newest, e->warp.a), build_ne(e, next, LLVMConstNull(e->m->ptr)));
    return build_zext(e, other, e->m->i32);
}

/* The start of the work-group loop: the first warp is the one that the function is called for; in
 * lockstep others follow. */
static void start_warp(struct emit *e, struct warp_loop *warps)
{
    LLVMTypeRef types[4] = {e->m->ptr, e->m->ptr, e->m->i32, e->m->i32};
    static const char *const names[4] = {"warp", "activation", "block", "mask"};
    value params[4];
    warps->begin = emit_new_block(e, "warp_start");
    emit_at_end(e, warps->begin);
    for (unsigned k = 0; k < 4; k++) {
        params[k] = LLVMGetParam(e->f->llvm_fn, k);
        warps->start[k] = LLVMBuildPhi(e->m->b, types[k], names[k]);
    }
    emit_at_end(e, e->f->entry);
    warp_loop_go_to_start(e, params);
    emit_at_end(e, warps->begin);
    e->warp.w = warps->start[0];
    e->warp.a = warps->start[1];
    e->enter_at = warps->start[2];
    e->enter_with = warps->start[3];
    emit_warp(e);
    build_store(e, e->enter_with, e->f->mask);
    if (e->fn->loops)
        build_store(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_budget), e->f->count.budget);
    if (e->fn->spins) {
        build_store(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_spun), e->f->count.spun);
        build_store(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_ahead), e->f->count.ahead);
        build_store(e, find_divided(e), e->f->count.divided);
    }
}

void emit_function(struct emit *e, const struct function *fn, const char *name)
{
    uint32_t blocks = fn->ir->n_ordered;
    struct code_function f = {.end = ARENA_ARRAY(e->arena, LLVMBasicBlockRef, blocks),
                              .pending = ARENA_ARRAY(e->arena, value, blocks),
                              .interleaved =
                                  ARENA_ARRAY(e->arena, struct interleaved_values, fn->n_interleave_groups + 1)};
    e->unchecked = (struct unchecked){.covered = ARENA_ARRAY(e->arena, bool, fn->ir->insns.n)};
    memset(e->copied, 0, sizeof e->copied);
    emit_declare(e, fn, &warp_mode, &f, name);
    for (uint32_t b = 0; b < blocks; b++) {
        e->block[b] = emit_new_block(e, "code");
        f.end[b] = gang_may_dissolve(e->fn, b) ? emit_new_block(e, "end") : NULL;
    }
    f.leave = emit_new_block(e, "leave");
    f.warps.next = emit_new_block(e, "next_warp");
    emit_at_end(e, f.warps.next);
    f.warps.done = LLVMBuildPhi(e->m->b, e->m->ptr, "done");
    emit_at_end(e, e->f->entry);
    make_pending(e, f.pending);
    emit_context(e, &f);
    f.mask = emit_alloca(e, e->m->i32);
    f.count.budget = emit_alloca(e, e->m->i32);
    f.count.spun = emit_alloca(e, e->m->i32);
    f.count.ahead = emit_alloca(e, e->m->i32);
    f.count.instructions = emit_keep(e, const_i64(e, 0));
    f.count.absent = emit_keep(e, const_i64(e, 0));
    f.count.phases = emit_keep(e, emit_load_field(e, e->m->i32, e->f->of.block, abi.block_phases));
    f.how = emit_alloca(e, e->m->i32);
    f.left_at = emit_alloca(e, e->m->i32);
    f.count.divided = emit_alloca(e, e->m->i32);
    start_warp(e, &f.warps);
    struct cursor here = {.fn = fn};
    emit_entries(e, &here, &f.warps);
    for (uint32_t b = 0; b < blocks; b++)
        emit_block(e, &here, b);
    exit_emit_common(e);
    if (e->fn->plan.n)
        emit_gang(e, &here);
    emit_next_warp(e);
    emit_at_end(e, e->f->fault);
    build_ret(e, const_i32(e, LEAVE_FAULT));
    inline_caches_end(e);
}
