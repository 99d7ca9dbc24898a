/* Loads from one base and an index of 32 bits in each lane, `table[index]`: found in the instructions before the load, as
 * additions of what a widening multiplication gives to what is uniform. One comparison of 32-bit lanes tests them, and the
 * gather takes the indices as they are, half as wide as addresses; see access.h.
 */
#include "jit/access.h"

#include <stddef.h>

/* The last instruction of the block before another that writes a register: one without a guard, of lanes. */
static uint32_t find_definition(const struct emit *e, ir_ref r, uint32_t before)
{
    uint32_t k = find_writer(e, r, before);
    return k != NO_WRITER && is_plain_writer(e, k, r) ? k : NO_WRITER;
}

/* Has a register at the load the value that it had at instruction k? */
static bool is_kept(const struct emit *e, ir_ref r, uint32_t k)
{
    uint32_t last = find_writer(e, r, e->index);
    return last == NO_WRITER || last < k;
}

static bool take_lanes(struct emit *e, ir_ref r, row_ref row, uint32_t k, uint64_t scale, struct index *x)
{
    x->lanes = r;
    x->lanes_row = row;
    x->scale = (unsigned)scale;
    x->unit = scale % 8 == 0 ? 8 : scale % 4 == 0 ? 4 : 1;
    return ir_ref_kind(r) == REF_REG && ref_shape(e, r) == SHAPE_VARYING && is_kept(e, r, k) && scale > 0 &&
           scale <= 1024;
}

static bool take_base(struct emit *e, ir_ref r, row_ref row, uint32_t k, struct index *x)
{
    x->base = r;
    x->base_row = row;
    return r && ref_shape(e, r) == SHAPE_UNIFORM && (ir_ref_kind(r) != REF_REG || is_kept(e, r, k));
}

/* What is added to the base: a widened index. */
static bool find_lanes(struct emit *e, ir_ref r, uint32_t before, struct index *x)
{
    uint32_t k = ir_ref_kind(r) == REF_REG ? find_definition(e, r, before) : NO_WRITER, factor, shift = 0;
    if (k != NO_WRITER && insn_at(e, k)->lane == LANE_shl_b64 && access_constant(e, insn_at(e, k)->b, &shift)) {
        r = insn_at(e, k)->a;
        k = shift < 10 && ir_ref_kind(r) == REF_REG ? find_definition(e, r, k) : NO_WRITER;
    }
    if (k == NO_WRITER)
        return false;
    const struct ir_insn *i = insn_at(e, k);
    switch (i->lane) {
    case LANE_mulwide_u32:
    case LANE_mulwide_s32:
        return access_constant(e, i->b, &factor) &&
               take_lanes(e, i->a, op_at(e, k)->a, k, (uint64_t)factor << shift, x);
    case LANE_resize_b64_u32:
    case LANE_resize_b64_s32:
    case LANE_cvt_u64_u32:
    case LANE_cvt_s64_s32: return take_lanes(e, i->a, op_at(e, k)->a, k, 1ull << shift, x);
    default: return false;
    }
}

bool find_index(struct emit *e, const struct access *a, struct index *x)
{
    uint32_t k = find_definition(e, a->i->a, e->index), factor;
    if (k == NO_WRITER)
        return false;
    const struct ir_insn *i = insn_at(e, k);
    const struct op *o = op_at(e, k);
    switch (i->lane) {
    case LANE_add_b64:
        return (take_base(e, i->a, o->a, k, x) && find_lanes(e, i->b, k, x)) ||
               (take_base(e, i->b, o->b, k, x) && find_lanes(e, i->a, k, x));
    case LANE_madwide_u32:
    case LANE_madwide_s32:
        return take_base(e, i->c, o->c, k, x) && access_constant(e, i->b, &factor) &&
               take_lanes(e, i->a, o->a, k, factor, x);
    default: return false;
    }
}

/* `place` is inside, so nothing is subtracted from less; an index up to the largest, times the scale in units, stays below 2^31: the
 * gather may take it with a sign. An index that was widened as negative is larger than any, without a sign. */
value index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places)
{
    value rest = LLVMBuildSub(e->b, LLVMBuildSub(e->b, places, place, ""), const_int(e, e->i64, 1), "");
    rest = LLVMBuildUDiv(e->b, rest, const_int(e, e->i64, x->scale / a->all), "");
    value args[2] = {rest, const_int(e, e->i64, INT32_MAX / (x->scale / x->unit))};
    return LLVMBuildTrunc(e->b, intrinsic(e, "llvm.umin", &e->i64, 1, args, 2), e->i32, "");
}

/* A lane that does not run has index 0. */
static void gather_by_index(struct emit *e, const struct access *a, const struct index *x, value base, value lanes)
{
    value v[8], from = LLVMBuildIntToPtr(e->b, base, e->ptr, ""), none = LLVMConstNull(LLVMTypeOf(lanes));
    row_set(e, ROW_ADDRESS, LLVMBuildSelect(e->b, mask_to_lanes(e, a->mask), lanes, none, ""));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        value at = LLVMBuildZExt(e->b, row_number(e, ROW_ADDRESS, e->i32, l), e->i64, "");
        load_lane(e, a, l, LLVMBuildGEP2(e->b, type_of_width(e, 8 * x->unit), from, &at, 1, ""), v);
    }
    for (unsigned k = 0; k < a->n; k++)
        put_lanes(e, a, k, v[k]);
}

static void gather(struct emit *e, const struct access *a, const struct index *x, value base, value lanes)
{
    LLVMTypeRef type = vector_of(type_of_width(e, 8 * a->bytes), WARP_LANES);
    if (x->unit < x->scale)
        lanes = LLVMBuildMul(e->b, lanes, splat(e, const_int(e, e->i32, x->scale / x->unit), WARP_LANES), "");
    if (e->waits_in_gathers && !has_many_accesses(e)) {
        gather_by_index(e, a, x, base, lanes);
        return;
    }
    for (unsigned k = 0; k < a->n; k++) {
        value from =
            LLVMBuildIntToPtr(e->b, LLVMBuildAdd(e->b, base, const_int(e, e->i64, k * a->bytes), ""), e->ptr, "");
        value pointers = LLVMBuildGEP2(e->b, type_of_width(e, 8 * x->unit), from, &lanes, 1, "");
        value args[4] = {pointers, const_int(e, e->i32, a->bytes), mask_to_lanes(e, a->mask), LLVMConstNull(type)};
        LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
        put_lanes(e, a, k, intrinsic(e, "llvm.masked.gather", types, 2, args, 4));
    }
}

bool load_indexed(struct emit *e, struct access *a)
{
    struct index x;
    if (!e->has_gather || a->bytes < 4 || access_is_whole(a->x) || !find_index(e, a, &x) || x.scale % a->all)
        return false;
    LLVMBasicBlockRef inside = emit_new_block(e, ""), fast = emit_new_block(e, ""), slow = emit_new_block(e, ""),
                      done = emit_new_block(e, "");
    value base = LLVMBuildAdd(e->b, read_scalar(e, x.base, x.base_row), access_displacement(e, a, e->i64), "");
    value place, places, lanes = read_lanes(e, x.lanes, x.lanes_row);
    emit_likely(e, access_test_place(e, a, base, &place, &places), inside, slow);
    emit_at_end(e, inside);
    value most = splat(e, index_largest(e, a, &x, place, places), WARP_LANES);
    value outside = LLVMBuildAnd(e->b, lanes_to_mask(e, LLVMBuildICmp(e->b, LLVMIntUGT, lanes, most, "")), a->mask, "");
    emit_likely(e, LLVMBuildICmp(e->b, LLVMIntEQ, outside, const_int(e, e->i32, 0), ""), fast, slow);
    emit_at_end(e, fast);
    gather(e, a, &x, base, lanes);
    LLVMBuildBr(e->b, done);
    emit_at_end(e, slow);
    access_by_engine(e, a);
    LLVMBuildBr(e->b, done);
    emit_at_end(e, done);
    return true;
}
