/* Counters of executed instructions; see emit.h. */
#include "jit/emit/emit.h"

void emit_add_to(struct emit *e, value counter, value n)
{
    build_store(e, build_add(e, build_load(e, e->m->i64, counter), n), counter);
}

void emit_add_counts(struct emit *e)
{
    /* Of one lane. */
    value warps = build_load(e, e->m->i64, e->f->count.instructions), lanes = warps;
    if (e->f->count.absent)
        lanes =
            build_sub(e, build_mul(e, warps, const_i64(e, WARP_LANES)), build_load(e, e->m->i64, e->f->count.absent));
    emit_add_to(e, emit_pointer_at(e, e->f->of.worker, abi.worker_warp_instructions), warps);
    emit_add_to(e, emit_pointer_at(e, e->f->of.worker, abi.worker_lane_instructions), lanes);
}

void emit_count(struct emit *e, unsigned warps)
{
    value n = const_i64(e, layout_operations(block_at(e->fn, e->here->block)) * (uint64_t)warps);
    emit_add_to(e, e->f->count.instructions, n);
    if (!e->f->count.absent || e->here->is_full)
        return;
    value absent = emit_intrinsic(e, "llvm.ctpop", build_not(e, emit_mask(e)), NULL);
    emit_add_to(e, e->f->count.absent, build_mul(e, build_zext(e, absent, e->m->i64), n));
}
