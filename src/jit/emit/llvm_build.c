/* The builder's helpers: types, constants, basic blocks, fields of records, masks of lanes; see
 * emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

#define BUILD(name, Name, parameters, ...)                                                                             \
    value build_##name parameters                                                                                      \
    {                                                                                                                  \
        return LLVMBuild##Name(e->m->b, __VA_ARGS__);                                                                  \
    }
#define BINARY(name, Name)     BUILD(name, Name, (struct emit * e, value x, value y), x, y, "")
#define COMPARISON(name, Name) BUILD(name, ICmp, (struct emit * e, value x, value y), LLVMInt##Name, x, y, "")
#define CAST(name, Name)       BUILD(name, Name, (struct emit * e, value v, LLVMTypeRef to), v, to, "")
BINARY(add, Add)
BINARY(sub, Sub)
BINARY(mul, Mul)
BINARY(udiv, UDiv)
BINARY(urem, URem)
BINARY(and, And)
BINARY(or, Or)
BINARY(xor, Xor)
BINARY(shl, Shl)
BINARY(lshr, LShr)
COMPARISON(eq, EQ)
COMPARISON(ne, NE)
COMPARISON(ult, ULT)
COMPARISON(ule, ULE)
COMPARISON(ugt, UGT)
COMPARISON(uge, UGE)
COMPARISON(sgt, SGT)
COMPARISON(sge, SGE)
CAST(zext, ZExt)
CAST(sext, SExt)
CAST(trunc, Trunc)
CAST(bit_cast, BitCast)
CAST(int_to_ptr, IntToPtr)
BUILD(int_cast, IntCast2, (struct emit * e, value v, LLVMTypeRef to, bool is_signed), v, to, is_signed, "")
BUILD(not, Not, (struct emit * e, value v), v, "")
BUILD(select, Select, (struct emit * e, value when, value yes, value no), when, yes, no, "")
BUILD(extract, ExtractElement, (struct emit * e, value v, value index), v, index, "")
BUILD(insert, InsertElement, (struct emit * e, value v, value element, value index), v, element, index, "")
BUILD(extract_value, ExtractValue, (struct emit * e, value v, unsigned index), v, index, "")
BUILD(gep, InBoundsGEP2, (struct emit * e, LLVMTypeRef type, value base, value index), type, base, &index, 1, "")
BUILD(load, Load2, (struct emit * e, LLVMTypeRef type, value at), type, at, "")
BUILD(store, Store, (struct emit * e, value v, value at), v, at)
BUILD(phi, Phi, (struct emit * e, LLVMTypeRef type), type, "")
BUILD(br, Br, (struct emit * e, LLVMBasicBlockRef to), to)
BUILD(cond_br, CondBr, (struct emit * e, value when, LLVMBasicBlockRef yes, LLVMBasicBlockRef no), when, yes, no)
BUILD(ret, Ret, (struct emit * e, value v), v)

value build_load_aligned(struct emit *e, LLVMTypeRef type, value at, unsigned align)
{
    value v = build_load(e, type, at);
    LLVMSetAlignment(v, align);
    return v;
}

value build_store_aligned(struct emit *e, value v, value at, unsigned align)
{
    value store = build_store(e, v, at);
    LLVMSetAlignment(store, align);
    return store;
}

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

value const_int(LLVMTypeRef type, uint64_t v)
{
    return LLVMConstInt(type, v, false);
}

value const_i1(struct emit *e, bool v)
{
    return const_int(e->m->i1, v);
}

value const_i32(struct emit *e, uint64_t v)
{
    return const_int(e->m->i32, v);
}

value const_i64(struct emit *e, uint64_t v)
{
    return const_int(e->m->i64, v);
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
    static const int first[WARP_LANES];
    LLVMTypeRef type = vector_of(LLVMTypeOf(scalar), WARP_LANES);
    return emit_shuffle(e, build_insert(e, LLVMGetPoison(type), scalar, const_i32(e, 0)), NULL, first, WARP_LANES);
}

value emit_intrinsic_of(struct emit *e, const char *name, LLVMTypeRef *types, unsigned n_types, value *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    value fn = LLVMGetIntrinsicDeclaration(e->m->module, id, types, n_types);
    return LLVMBuildCall2(e->m->b, LLVMIntrinsicGetType(e->m->context, id, types, n_types), fn, args, n, "");
}

value emit_intrinsic(struct emit *e, const char *name, value x, value y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    return emit_intrinsic_of(e, name, &type, 1, (value[]){x, y}, y ? 2 : 1);
}

static bool is_vector(value v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}

value emit_masked_load(struct emit *e, LLVMTypeRef type, value at, unsigned align, value lanes)
{
    LLVMTypeRef types[2] = {type, LLVMTypeOf(at)};
    value args[4] = {at, const_i32(e, align), lanes, LLVMConstNull(type)};
    return emit_intrinsic_of(e, is_vector(at) ? "llvm.masked.gather" : "llvm.masked.load", types, 2, args, 4);
}

void emit_masked_store(struct emit *e, value v, value at, unsigned align, value lanes)
{
    LLVMTypeRef types[2] = {LLVMTypeOf(v), LLVMTypeOf(at)};
    value args[4] = {v, at, const_i32(e, align), lanes};
    emit_intrinsic_of(e, is_vector(at) ? "llvm.masked.scatter" : "llvm.masked.store", types, 2, args, 4);
}

value emit_first_lane(struct emit *e, value mask)
{
    return emit_intrinsic(e, "llvm.cttz", mask, const_i1(e, true));
}

value emit_other_lanes(struct emit *e, value mask)
{
    return build_and(e, mask, build_sub(e, mask, const_i32(e, 1)));
}

void emit_mark_invariant(struct emit *e, value load)
{
    unsigned kind = LLVMGetMDKindIDInContext(e->m->context, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, NULL, 0)));
}

value emit_load_field(struct emit *e, LLVMTypeRef type, value base, uint64_t offset)
{
    return build_load(e, type, emit_pointer_at(e, base, offset));
}

value emit_mask_to_lanes(struct emit *e, value mask)
{
    return build_bit_cast(e, mask, vector_of(e->m->i1, WARP_LANES));
}

value emit_lanes_to_mask(struct emit *e, value lanes)
{
    return build_bit_cast(e, lanes, e->m->i32);
}

value emit_all_run(struct emit *e, value mask)
{
    return build_eq(e, mask, const_i32(e, UINT32_MAX));
}

value emit_blend(struct emit *e, unsigned width, value mask, value yes, value no)
{
    if (width == 1) {
        value kept = build_and(e, no, build_not(e, mask));
        return build_or(e, kept, build_and(e, yes, mask));
    }
    return build_select(e, emit_mask_to_lanes(e, mask), yes, no);
}

value emit_lane_bit(struct emit *e)
{
    return build_shl(e, const_i32(e, 1), build_trunc(e, e->lanes.lane, e->m->i32));
}

value emit_pointer_at(struct emit *e, value pointer, uint64_t offset)
{
    return build_gep(e, e->m->i8, pointer, const_i64(e, offset));
}

value emit_shuffle(struct emit *e, value x, value y, const int *index, unsigned n)
{
    value of[n];
    for (unsigned k = 0; k < n; k++)
        of[k] = index[k] < 0 ? LLVMGetPoison(e->m->i32) : const_i32(e, (unsigned)index[k]);
    y = y ? y : LLVMGetPoison(LLVMTypeOf(x));
    return LLVMBuildShuffleVector(e->m->b, x, y, LLVMConstVector(of, n), "");
}

value emit_alloca(struct emit *e, LLVMTypeRef type)
{
    LLVMBasicBlockRef now = LLVMGetInsertBlock(e->m->b);
    if (now != e->f->entry)
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

void emit_case(struct emit *e, value choose, uint32_t number, const char *name)
{
    LLVMBasicBlockRef block = emit_new_block(e, name);
    LLVMAddCase(choose, const_i32(e, number), block);
    emit_at_end(e, block);
}

void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    value branch = build_cond_br(e, condition, yes, no);
    LLVMMetadataRef node[3] = {LLVMMDStringInContext2(e->m->context, "branch_weights", 14),
                               LLVMValueAsMetadata(const_i32(e, 2000)), LLVMValueAsMetadata(const_i32(e, 1))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->m->context, "prof", 4),
                    LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, node, 3)));
}

void emit_require(struct emit *e, value condition, LLVMBasicBlockRef other)
{
    LLVMBasicBlockRef on = emit_new_block(e, "");
    emit_likely(e, condition, on, other);
    emit_at_end(e, on);
}

/* Code continues where the condition is `wanted`. Returns the block for the other case. */
static LLVMBasicBlockRef go_on_where(struct emit *e, value condition, bool wanted)
{
    LLVMBasicBlockRef here = emit_new_block(e, ""), other = emit_new_block(e, "");
    build_cond_br(e, condition, wanted ? here : other, wanted ? other : here);
    emit_at_end(e, here);
    return other;
}

LLVMBasicBlockRef emit_if(struct emit *e, value condition)
{
    return go_on_where(e, condition, true);
}

LLVMBasicBlockRef emit_unless(struct emit *e, value condition)
{
    return go_on_where(e, condition, false);
}

LLVMBasicBlockRef emit_rarely(struct emit *e, value usual)
{
    LLVMBasicBlockRef other = emit_new_block(e, ""), rare = emit_new_block(e, "");
    emit_likely(e, usual, other, rare);
    emit_at_end(e, rare);
    return other;
}

void emit_go_on(struct emit *e, LLVMBasicBlockRef block)
{
    if (!block)
        return;
    build_br(e, block);
    emit_at_end(e, block);
}

value emit_load_i32(struct emit *e, value from)
{
    return build_load(e, e->m->i32, from);
}

value emit_is_zero(struct emit *e, value v)
{
    return build_eq(e, v, LLVMConstNull(LLVMTypeOf(v)));
}

void emit_store_field(struct emit *e, value v, value base, uint64_t offset)
{
    build_store(e, v, emit_pointer_at(e, base, offset));
}

value emit_op_pointer(struct emit *e, const struct ir_insn *i)
{
    return emit_pointer_at(e, e->f->of.ops, (uint64_t)fn_op(e->fn, i) * abi.op_size);
}

value emit_keep(struct emit *e, value v)
{
    value kept = emit_alloca(e, LLVMTypeOf(v));
    build_store(e, v, kept);
    return kept;
}

value emit_kept(struct emit *e, value kept)
{
    return build_load(e, LLVMGetAllocatedType(kept), kept);
}

value emit_constant(struct emit *e, value array)
{
    enum { NEAR = 16 }; /* code that needs the same is mostly near */
    value global = LLVMGetLastGlobal(e->m->module);
    for (unsigned k = 0; global && k < NEAR; k++, global = LLVMGetPreviousGlobal(global))
        if (LLVMIsGlobalConstant(global) && LLVMGetInitializer(global) == array)
            return global;
    global = LLVMAddGlobal(e->m->module, LLVMTypeOf(array), "");
    LLVMSetInitializer(global, array);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}
