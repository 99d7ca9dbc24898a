/* Prefetching; see load_store.h. */
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

static uint32_t last_warp(const struct emit *e)
{
    const uint32_t *block = e->fn->shapes->block;
    return (block[0] * block[1] * block[2] - 1) / WARP_LANES;
}

/* The prefetch distance if blocks claim their work: memory behind the block belongs to another
 * worker, from which a prefetch would take the lines. So the last warp prefetches its own data. */
static value bytes_within_block(struct emit *e, const struct access *a)
{
    value index = emit_load_field(e, e->m->i32, e->warp.w, abi.warp_index);
    value is_last = build_eq(e, index, const_i32(e, last_warp(e)));
    return build_select(e, is_last, const_i64(e, 0), const_i64(e, access_bytes_without_gap(*e->here, a)));
}

/* The next warps, of this block and the next, mostly access what follows. If blocks claim their
 * work, only those of this block do; in a gang of the whole block they are there already. */
static void prefetch_for_next_warps(struct emit *e, const struct transfer *t)
{
    bool is_claimed = ir_ref_kind(t->a->i->a) == REF_REG && e->fn->shapes->claimed[ir_ref_index(t->a->i->a)];
    if (is_claimed && (last_warp(e) == 0 || mode_is_block(e)))
        return;
    value ahead = is_claimed ? bytes_within_block(e, t->a) : const_i64(e, bytes_ahead(e, t->a));
    value there = build_add(e, t->first[0], ahead);
    for (unsigned at = 0; at < access_bytes_without_gap(*e->here, t->a); at += LINE_BYTES)
        emit_prefetch_line(e, build_add(e, there, const_i64(e, at)), t->a->i->kind == IR_ST, SECOND_CACHE);
}

/* The CPU's prefetcher serves loops whose next iteration is near, but not those whose next
 * iteration is on another page, such as grid-stride loops. */
static void prefetch_for_next_iterations(struct emit *e, const struct transfer *t)
{
    unsigned iterations = e->fn->target->costs->prefetch_iterations;
    for (unsigned p = 0; p < t->a->pieces; p++) {
        value before = emit_alloca(e, e->m->i64), now = t->first[p];
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->b);
        LLVMPositionBuilderBefore(e->m->b, LLVMGetNextInstruction(before));
        build_store(e, const_i64(e, 0), before);
        LLVMPositionBuilderAtEnd(e->m->b, here);
        value step = build_sub(e, now, build_load(e, e->m->i64, before));
        build_store(e, now, before);
        value ahead = build_mul(e, step, const_i64(e, iterations));
        emit_prefetch_line(e, build_add(e, now, ahead), false, SECOND_CACHE);
    }
}

void emit_prefetch(struct emit *e, const struct transfer *t)
{
    if (t->a->shape == SHAPE_UNIFORM)
        return;
    if (!cursor_is_in_loop(*e->here) && t->a->pieces == 1)
        prefetch_for_next_warps(e, t);
    else if (t->a->i->kind == IR_LD && cursor_is_in_loop(*e->here) && loads_little(e))
        prefetch_for_next_iterations(e, t);
}
