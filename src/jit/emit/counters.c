/* Counters of executed instructions; see emit.h. */
#include "jit/emit/emit.h"

void emit_add_to_counter(struct emit *e, value counter, uint64_t offset)
{
    value at = emit_field_pointer(e, e->f->of.worker, offset), old = LLVMBuildLoad2(e->m->b, e->m->i64, at, "");
    LLVMBuildStore(e->m->b, LLVMBuildAdd(e->m->b, old, LLVMBuildLoad2(e->m->b, e->m->i64, counter, ""), ""), at);
}

void emit_count(struct emit *e, unsigned warps)
{
    uint64_t n = layout_operations(block_at(e->fn, e->here->block)) * (uint64_t)warps;
    value old = LLVMBuildLoad2(e->m->b, e->m->i64, e->f->count.instructions, "");
    LLVMBuildStore(e->m->b, LLVMBuildAdd(e->m->b, old, const_int(e, e->m->i64, n), ""), e->f->count.instructions);
    if (!e->f->count.lane_instructions) /* of one lane: as many */
        return;
    value mask = emit_mask(e), lanes = const_int(e, e->m->i64, WARP_LANES);
    if (!e->here->is_full)
        lanes = LLVMBuildZExt(e->m->b, emit_intrinsic(e, "llvm.ctpop", &e->m->i32, 1, &mask, 1), e->m->i64, "");
    old = LLVMBuildLoad2(e->m->b, e->m->i64, e->f->count.lane_instructions, "");
    lanes = LLVMBuildMul(e->m->b, lanes, const_int(e, e->m->i64, n), "");
    LLVMBuildStore(e->m->b, LLVMBuildAdd(e->m->b, old, lanes, ""), e->f->count.lane_instructions);
}
