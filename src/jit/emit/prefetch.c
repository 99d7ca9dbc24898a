/* Prefetching; see load_store.h. */
#include "ir/affine.h"
#include "jit/emit/gang.h"
#include "jit/emit/load_store.h"

/* A block with few loads mostly streams through memory; one with many mostly has its data in
 * caches, and prefetches cost it time. */
static bool loads_little(const struct emit *e)
{
    const struct ir_block *block = block_at(e->fn, e->here->block);
    unsigned n = 0;
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = fn_insn_at(*e->here, k);
        n += i->kind == IR_LD && mem_access_may_be_global(&i->access->mem);
    }
    return n <= e->fn->target->costs->prefetched_loads;
}

void emit_prefetch_line(struct emit *e, value address, bool writes, unsigned cache)
{
    value args[4] = {build_int_to_ptr(e, address, e->m->ptr), const_i32(e, writes), const_i32(e, cache),
                     const_i32(e, 1)};
    emit_intrinsic_of(e, "llvm.prefetch", (LLVMTypeRef[]){e->m->ptr}, 1, args, 4);
}

static unsigned cache_of(const struct emit *e)
{
    return e->fn->target->prefetches_near ? FIRST_CACHE : SECOND_CACHE;
}

/* The prefetch distance: as many warps ahead as run during a memory access. If the distance to the
 * accesses of the grid's next block is known, a whole number of blocks, at least one; else assumes
 * that warps access consecutive memory. */
static uint64_t bytes_ahead(const struct emit *e, const struct access *a)
{
    const struct jit_costs *costs = e->fn->target->costs;
    const uint32_t *block = e->fn->shapes->block;
    uint32_t warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
    int64_t step = ir_ref_kind(a->i->a) == REF_REG ? e->fn->shapes->steps[ir_ref_index(a->i->a)] : UNKNOWN_STEP;
    if (step == UNKNOWN_STEP || step == 0)
        return (uint64_t)costs->prefetch_warps * costs->prefetch_warp;
    return (uint64_t)step * (warps < costs->prefetch_warps ? costs->prefetch_warps / warps : 1);
}

static value is_first_warp(struct emit *e)
{
    if (mode_is_block(e))
        return LLVMConstInt(e->m->i1, mode_is_first(e), false);
    return emit_is_zero(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_index));
}

/* The prefetch distance if blocks claim their work: this block's first warp accesses memory so
 * far behind the first warp of the worker's previous block. Workers take turns, so the next
 * block will mostly be as far ahead. Where blocks are farther apart than LIMIT, what they claim
 * are no neighbours: 0, which prefetches what is loaded anyway. */
static value bytes_to_next_claim(struct emit *e, const struct transfer *t)
{
    enum { LIMIT = 1 << 18 };
    value cache = inline_cache_for_claims(e, t->a->i), is_first = is_first_warp(e);
    value before = emit_load_field(e, e->m->i64, cache, abi.inline_cache_lo);
    value known = emit_load_field(e, e->m->i64, cache, abi.inline_cache_n);
    value step = build_sub(e, t->first[0], before);
    value is_near = build_ult(e, build_add(e, step, const_i64(e, LIMIT)), const_i64(e, 2 * LIMIT));
    step = build_select(e, is_first, build_select(e, is_near, step, const_i64(e, 0)), known);
    emit_store_field(e, build_select(e, is_first, t->first[0], before), cache, abi.inline_cache_lo);
    emit_store_field(e, step, cache, abi.inline_cache_n);
    return step;
}

/* The next warps, of this block and the next, mostly access what follows. */
static void prefetch_for_next_warps(struct emit *e, const struct transfer *t)
{
    bool is_claimed = ir_ref_kind(t->a->i->a) == REF_REG && e->fn->shapes->claimed[ir_ref_index(t->a->i->a)];
    value ahead = is_claimed ? bytes_to_next_claim(e, t) : const_i64(e, bytes_ahead(e, t->a));
    value there = build_add(e, t->first[0], ahead);
    for (unsigned at = 0; at < access_bytes_without_gap(*e->here, t->a); at += LINE_BYTES)
        emit_prefetch_line(e, build_add(e, there, const_i64(e, at)), t->a->i->kind == IR_ST, cache_of(e));
}

/* The CPU's own prefetcher follows loops whose next iteration is near. Where that is so far away is
 * known, if the address goes on by a number that is known. */
static bool goes_on_nearby(const struct emit *e, const struct access *a)
{
    struct cursor here = *e->here;
    const struct function *fn = here.fn;
    uint32_t to = here.block;
    while (to < fn->ir->n_ordered && fn_target(fn, to) > here.block && fn_next(fn, to) > here.block)
        to++;
    uint32_t from = fn_target(fn, to) <= here.block ? fn_target(fn, to) : fn_next(fn, to);
    struct ir_loop loop = ir_loop_of(fn->ir, fn->shapes, fn->shapes->defs, from, to + 1, e->arena);
    const struct ir_affine *x = ir_affine_of(&loop, a->i->a, block_at(fn, here.block)->first + here.index);
    int64_t most = fn->target->costs->near_iteration;
    return x->over == EVOLVES_BY_STEP && x->step <= most && x->step >= -most;
}

/* A variable that is 0 where the function begins. */
static value variable(struct emit *e)
{
    value v = emit_alloca(e, e->m->i64);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->b);
    LLVMPositionBuilderBefore(e->m->b, LLVMGetNextInstruction(v));
    build_store(e, const_i64(e, 0), v);
    LLVMPositionBuilderAtEnd(e->m->b, here);
    return v;
}

/* As many iterations ahead as run while memory brings something, if addresses go on as from the
 * previous iteration to this one. */
static value find_ahead(struct emit *e, value now)
{
    value before = variable(e), step = build_sub(e, now, build_load(e, e->m->i64, before));
    build_store(e, now, before);
    return build_mul(e, step, const_i64(e, e->fn->target->costs->prefetch_iterations));
}

/* Each warp of a gang goes on by as much as its first one: where one does not, its prefetches are
 * in vain. */
static void prefetch_for_next_iterations(struct emit *e, const struct transfer *t)
{
    struct gang *g = e->lanes.gang;
    uint32_t index = block_at(e->fn, e->here->block)->first + e->here->index;
    bool found = g && e->lanes.place && g->ahead[index];
    value ahead = found ? build_load(e, e->m->i64, g->ahead[index]) : find_ahead(e, t->first[0]);
    if (g && !found) {
        g->ahead[index] = variable(e);
        build_store(e, ahead, g->ahead[index]);
    }
    for (unsigned p = 0; p < t->a->pieces; p++)
        emit_prefetch_line(e, build_add(e, t->first[p], ahead), false, cache_of(e));
}

void emit_prefetch(struct emit *e, const struct transfer *t)
{
    if (t->a->shape == SHAPE_UNIFORM)
        return;
    if (!cursor_is_in_loop(*e->here) && t->a->pieces == 1)
        prefetch_for_next_warps(e, t);
    else if (t->a->i->kind == IR_LD && cursor_is_in_loop(*e->here) && loads_little(e) && !goes_on_nearby(e, t->a))
        prefetch_for_next_iterations(e, t);
}
