/* Loads with one base and a 32-bit index in each lane (base_index.c). One comparison of 32-bit
 * lanes tests them, and the gather uses the indices directly, half as wide as addresses; see
 * load_store.h.
 */
#include "jit/emit/load_store.h"

/* `place` is inside, so no subtraction wraps. An index up to the largest, times the scale in units,
 * is below 2^31, so the gather may treat it as signed. Compared as unsigned, a negative index is
 * larger than any other. */
value transfer_index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places)
{
    value rest = build_sub(e, build_sub(e, places, place), const_i64(e, 1));
    rest = build_udiv(e, rest, const_i64(e, x->scale / a->all));
    rest = emit_intrinsic(e, "llvm.umin", rest, const_i64(e, INT32_MAX / (x->scale / x->unit)));
    return build_trunc(e, rest, e->m->i32);
}

/* Gathers; lanes that do not run use index 0. */
static void gather_by_index(struct emit *e, const struct transfer *t, const struct index *x, value base, value lanes)
{
    value v[8], from = build_int_to_ptr(e, base, e->m->ptr), none = LLVMConstNull(LLVMTypeOf(lanes));
    scratch_set(e, ROW_ADDRESS, build_select(e, emit_mask_to_lanes(e, t->mask), lanes, none));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        value at = build_zext(e, scratch_address(e, e->m->i32, l), e->m->i64);
        scalarised_load_lane(e, t, l, LLVMBuildGEP2(e->m->b, type_of_width(e, 8 * x->unit), from, &at, 1, ""), v);
    }
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_lanes(e, t, k, v[k]);
}

static void gather(struct emit *e, const struct transfer *t, const struct index *x, value base, value lanes)
{
    LLVMTypeRef type = vector_of(type_of_width(e, 8 * t->a->bytes), WARP_LANES);
    if (x->unit < x->scale)
        lanes = build_mul(e, lanes, emit_splat(e, const_i32(e, x->scale / x->unit)));
    if (e->fn->target->waits_in_gathers && !fn_has_many_accesses(e->fn)) {
        gather_by_index(e, t, x, base, lanes);
        return;
    }
    for (unsigned k = 0; k < t->a->n; k++) {
        value from = build_int_to_ptr(e, build_add(e, base, const_i64(e, k * t->a->bytes)), e->m->ptr);
        value pointers = LLVMBuildGEP2(e->m->b, type_of_width(e, 8 * x->unit), from, &lanes, 1, "");
        value v = emit_masked_load(e, type, pointers, t->a->bytes, emit_mask_to_lanes(e, t->mask));
        element_put_lanes(e, t, k, v);
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
    value base = build_add(e, reg_read_scalar(e, x.base), access_displacement(e, t->a, e->m->i64));
    value place, places, lanes = reg_read_lanes(e, x.lanes);
    emit_likely(e, access_test_place(e, t, base, &place, &places), inside, slow);
    emit_at_end(e, inside);
    value most = emit_splat(e, transfer_index_largest(e, t->a, &x, place, places));
    value outside = build_and(e, emit_lanes_to_mask(e, build_ugt(e, lanes, most)), t->mask);
    emit_likely(e, emit_is_zero(e, outside), fast, slow);
    emit_at_end(e, fast);
    gather(e, t, &x, base, lanes);
    access_end(e, t, slow, done);
    return true;
}
