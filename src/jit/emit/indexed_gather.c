/* Loads from one base and an index of 32 bits in each lane (base_index.c). One comparison of 32-bit lanes tests them, and the gather
 * takes the indices as they are, half as wide as addresses; see load_store.h.
 */
#include "jit/emit/load_store.h"

/* `place` is inside, so no subtraction wraps. An index up to the largest, times the scale in units, stays below 2^31, so the gather
 * may take it as a signed number. A negative index is larger than any other when compared as an unsigned number. */
value transfer_index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places)
{
    value rest = LLVMBuildSub(e->m->b, LLVMBuildSub(e->m->b, places, place, ""), const_int(e, e->m->i64, 1), "");
    rest = LLVMBuildUDiv(e->m->b, rest, const_int(e, e->m->i64, x->scale / a->all), "");
    value args[2] = {rest, const_int(e, e->m->i64, INT32_MAX / (x->scale / x->unit))};
    return LLVMBuildTrunc(e->m->b, emit_intrinsic(e, "llvm.umin", &e->m->i64, 1, args, 2), e->m->i32, "");
}

/* Gathers; lanes that do not run have index 0. */
static void gather_by_index(struct emit *e, const struct transfer *t, const struct index *x, value base, value lanes)
{
    value v[8], from = LLVMBuildIntToPtr(e->m->b, base, e->m->ptr, ""), none = LLVMConstNull(LLVMTypeOf(lanes));
    scratch_set(e, ROW_ADDRESS, LLVMBuildSelect(e->m->b, emit_mask_to_lanes(e, t->mask), lanes, none, ""));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        value at = LLVMBuildZExt(e->m->b, scratch_address(e, e->m->i32, l), e->m->i64, "");
        scalarised_load_lane(e, t, l, LLVMBuildGEP2(e->m->b, type_of_width(e, 8 * x->unit), from, &at, 1, ""), v);
    }
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_lanes(e, t, k, v[k]);
}

static void gather(struct emit *e, const struct transfer *t, const struct index *x, value base, value lanes)
{
    LLVMTypeRef type = vector_of(type_of_width(e, 8 * t->a->bytes), WARP_LANES);
    if (x->unit < x->scale)
        lanes = LLVMBuildMul(e->m->b, lanes, emit_splat(e, const_int(e, e->m->i32, x->scale / x->unit)), "");
    if (e->fn->target->waits_in_gathers && !fn_has_many_accesses(e->fn)) {
        gather_by_index(e, t, x, base, lanes);
        return;
    }
    for (unsigned k = 0; k < t->a->n; k++) {
        value from = LLVMBuildIntToPtr(
            e->m->b, LLVMBuildAdd(e->m->b, base, const_int(e, e->m->i64, k * t->a->bytes), ""), e->m->ptr, "");
        value pointers = LLVMBuildGEP2(e->m->b, type_of_width(e, 8 * x->unit), from, &lanes, 1, "");
        value args[4] = {pointers, const_int(e, e->m->i32, t->a->bytes), emit_mask_to_lanes(e, t->mask),
                         LLVMConstNull(type)};
        LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
        element_put_lanes(e, t, k, emit_intrinsic(e, "llvm.masked.gather", types, 2, args, 4));
    }
}

bool transfer_load_indexed(struct emit *e, struct transfer *t)
{
    struct index x;
    if (!e->fn->target->has_gather || t->a->bytes < 4 || access_is_whole(t->a->mem) ||
        !base_index_find(*e->here, t->a, &x) || x.scale % t->a->all)
        return false;
    LLVMBasicBlockRef inside = emit_new_block(e, ""), fast = emit_new_block(e, ""), slow = emit_new_block(e, ""),
                      done = emit_new_block(e, "");
    value base = LLVMBuildAdd(e->m->b, reg_read_scalar(e, x.base), access_displacement(e, t->a, e->m->i64), "");
    value place, places, lanes = reg_read_lanes(e, x.lanes);
    emit_likely(e, access_test_place(e, t, base, &place, &places), inside, slow);
    emit_at_end(e, inside);
    value most = emit_splat(e, transfer_index_largest(e, t->a, &x, place, places));
    value outside =
        LLVMBuildAnd(e->m->b, emit_lanes_to_mask(e, LLVMBuildICmp(e->m->b, LLVMIntUGT, lanes, most, "")), t->mask, "");
    emit_likely(e, LLVMBuildICmp(e->m->b, LLVMIntEQ, outside, const_int(e, e->m->i32, 0), ""), fast, slow);
    emit_at_end(e, fast);
    gather(e, t, &x, base, lanes);
    LLVMBuildBr(e->m->b, done);
    emit_at_end(e, slow);
    access_by_engine(e, t);
    LLVMBuildBr(e->m->b, done);
    emit_at_end(e, done);
    return true;
}
