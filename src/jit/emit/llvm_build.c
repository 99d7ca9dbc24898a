/* What all emission builds with: types, constants, basic blocks, fields of records, masks of lanes; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

LLVMTypeRef type_of_width(struct emit *e, unsigned width)
{
    return LLVMIntTypeInContext(e->m->context, width);
}

LLVMTypeRef vector_of(LLVMTypeRef element, unsigned n)
{
    return LLVMVectorType(element, n);
}

LLVMTypeRef vector_of_width(struct emit *e, unsigned width)
{
    return width == 1 ? e->m->i32 : LLVMVectorType(type_of_width(e, width), WARP_LANES);
}

value const_int(struct emit *e, LLVMTypeRef type, uint64_t v)
{
    (void)e;
    return LLVMConstInt(type, v, false);
}

value const_lanes(struct emit *e, unsigned width, const int64_t v[WARP_LANES])
{
    value lanes[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        lanes[l] = LLVMConstInt(type_of_width(e, width), (uint64_t)v[l], true);
    return LLVMConstVector(lanes, WARP_LANES);
}

value emit_splat(struct emit *e, value scalar)
{
    LLVMTypeRef type = vector_of(LLVMTypeOf(scalar), WARP_LANES);
    if (LLVMIsConstant(scalar)) {
        value lanes[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            lanes[l] = scalar;
        return LLVMConstVector(lanes, WARP_LANES);
    }
    value one = LLVMBuildInsertElement(e->m->b, LLVMGetPoison(type), scalar, const_int(e, e->m->i32, 0), "");
    return LLVMBuildShuffleVector(e->m->b, one, LLVMGetPoison(type), LLVMConstNull(vector_of(e->m->i32, WARP_LANES)),
                                  "");
}

value emit_intrinsic(struct emit *e, const char *name, const LLVMTypeRef *types, unsigned n_types, value *args,
                     unsigned n)
{
    LLVMTypeRef *of = (LLVMTypeRef *)types; /* LLVM reads them */
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    value fn = LLVMGetIntrinsicDeclaration(e->m->module, id, of, n_types);
    return LLVMBuildCall2(e->m->b, LLVMIntrinsicGetType(e->m->context, id, of, n_types), fn, args, n, "");
}

void emit_mark_invariant(struct emit *e, value load)
{
    unsigned kind = LLVMGetMDKindIDInContext(e->m->context, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, NULL, 0)));
}

value emit_load_field(struct emit *e, LLVMTypeRef type, value base, uint64_t offset, const char *name)
{
    return LLVMBuildLoad2(e->m->b, type, emit_field_pointer(e, base, offset), name);
}

value emit_mask_to_lanes(struct emit *e, value mask)
{
    return LLVMBuildBitCast(e->m->b, mask, vector_of(e->m->i1, WARP_LANES), "");
}

value emit_lanes_to_mask(struct emit *e, value lanes)
{
    return LLVMBuildBitCast(e->m->b, lanes, e->m->i32, "");
}

value emit_blend(struct emit *e, unsigned width, value mask, value yes, value no)
{
    if (width == 1) {
        value kept = LLVMBuildAnd(e->m->b, no, LLVMBuildNot(e->m->b, mask, ""), "");
        return LLVMBuildOr(e->m->b, kept, LLVMBuildAnd(e->m->b, yes, mask, ""), "");
    }
    return LLVMBuildSelect(e->m->b, emit_mask_to_lanes(e, mask), yes, no, "");
}

value emit_lane_bit(struct emit *e)
{
    return LLVMBuildShl(e->m->b, const_int(e, e->m->i32, 1), LLVMBuildTrunc(e->m->b, e->lanes.lane, e->m->i32, ""), "");
}

value emit_pointer_at(struct emit *e, value pointer, int64_t offset)
{
    return emit_field_pointer(e, pointer, (uint64_t)offset);
}

value emit_shuffle_lanes(struct emit *e, value x, value y, const int *index)
{
    value lanes[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        lanes[l] = index[l] < 0 ? LLVMGetPoison(e->m->i32) : const_int(e, e->m->i32, (unsigned)index[l]);
    return LLVMBuildShuffleVector(e->m->b, x, y, LLVMConstVector(lanes, WARP_LANES), "");
}

value emit_alloca(struct emit *e, LLVMTypeRef type)
{
    LLVMBasicBlockRef now = LLVMGetInsertBlock(e->m->b);
    LLVMPositionBuilderBefore(e->m->b, LLVMGetFirstInstruction(e->f->entry));
    value v = LLVMBuildAlloca(e->m->b, type, "");
    LLVMPositionBuilderAtEnd(e->m->b, now);
    return v;
}

LLVMBasicBlockRef emit_new_block(struct emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->m->context, e->f->llvm_fn, name);
}

void emit_at_end(struct emit *e, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(e->m->b, block);
}

void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    value branch = LLVMBuildCondBr(e->m->b, condition, yes, no);
    LLVMMetadataRef node[3] = {LLVMMDStringInContext2(e->m->context, "branch_weights", 14),
                               LLVMValueAsMetadata(const_int(e, e->m->i32, 2000)),
                               LLVMValueAsMetadata(const_int(e, e->m->i32, 1))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->m->context, "prof", 4),
                    LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, node, 3)));
}

value emit_load_i32(struct emit *e, value from)
{
    return LLVMBuildLoad2(e->m->b, e->m->i32, from, "");
}

value emit_is_zero(struct emit *e, value v)
{
    return LLVMBuildICmp(e->m->b, LLVMIntEQ, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

value emit_field_pointer(struct emit *e, value base, uint64_t offset)
{
    value at = const_int(e, e->m->i64, offset);
    return LLVMBuildInBoundsGEP2(e->m->b, e->m->i8, base, &at, 1, "");
}

void emit_store_field(struct emit *e, value v, value base, uint64_t offset)
{
    LLVMBuildStore(e->m->b, v, emit_field_pointer(e, base, offset));
}

value emit_op_pointer(struct emit *e, const struct ir_insn *i)
{
    return emit_field_pointer(e, e->f->of.ops, (uint64_t)fn_op(e->fn, i) * abi.op_size);
}

value emit_alloca_of(struct emit *e, LLVMTypeRef type, value initial)
{
    value v = LLVMBuildAlloca(e->m->b, type, "");
    if (initial)
        LLVMBuildStore(e->m->b, initial, v);
    return v;
}

value emit_constant(struct emit *e, value array)
{
    value global = LLVMAddGlobal(e->m->module, LLVMTypeOf(array), "");
    LLVMSetInitializer(global, array);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}
