/* Counters of executed instructions; see emit.h. */
#include "jit/emit/emit.h"

void emit_add_to(struct emit *e, value counter, value n)
{
    build_store(e, build_add(e, build_load(e, e->m->i64, counter), n), counter);
}

void emit_add_counts(struct emit *e)
{
    value warps = e->f->count.instructions, lanes = e->f->count.lane_instructions; /* of one lane: as many */
    emit_add_to(e, emit_pointer_at(e, e->f->of.worker, abi.worker_warp_instructions), build_load(e, e->m->i64, warps));
    emit_add_to(e, emit_pointer_at(e, e->f->of.worker, abi.worker_lane_instructions),
                build_load(e, e->m->i64, lanes ? lanes : warps));
}

void emit_count(struct emit *e, unsigned warps)
{
    value n = const_i64(e, layout_operations(block_at(e->fn, e->here->block)) * (uint64_t)warps);
    emit_add_to(e, e->f->count.instructions, n);
    if (!e->f->count.lane_instructions)
        return;
    value mask = emit_mask(e), lanes = const_i64(e, WARP_LANES);
    if (!e->here->is_full)
        lanes = build_zext(e, emit_intrinsic(e, "llvm.ctpop", mask, NULL), e->m->i64);
    emit_add_to(e, e->f->count.lane_instructions, build_mul(e, lanes, n));
}
