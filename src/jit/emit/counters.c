/* Counters of executed instructions; see emit.h. */
#include "jit/emit/emit.h"

void emit_add_to_counter(struct emit *e, value counter, uint64_t offset)
{
    value at = emit_field_pointer(e, e->f->of.worker, offset), old = build_load(e, e->m->i64, at);
    build_store(e, build_add(e, old, build_load(e, e->m->i64, counter)), at);
}

void emit_count(struct emit *e, unsigned warps)
{
    uint64_t n = layout_operations(block_at(e->fn, e->here->block)) * (uint64_t)warps;
    value old = build_load(e, e->m->i64, e->f->count.instructions);
    build_store(e, build_add(e, old, const_i64(e, n)), e->f->count.instructions);
    if (!e->f->count.lane_instructions) /* of one lane: as many */
        return;
    value mask = emit_mask(e), lanes = const_i64(e, WARP_LANES);
    if (!e->here->is_full)
        lanes = build_zext(e, emit_intrinsic(e, "llvm.ctpop", &e->m->i32, 1, &mask, 1), e->m->i64);
    old = build_load(e, e->m->i64, e->f->count.lane_instructions);
    lanes = build_mul(e, lanes, const_i64(e, n));
    build_store(e, build_add(e, old, lanes), e->f->count.lane_instructions);
}
