/* An atomic operation on one cell: what it is, and the exchange that everything can be made of; see atom.h. */
#include "jit/emit/atom.h"

/* By operation on integers: the lane function, by bits and sign, and the host's instruction. */
static const struct entry {
    bool done, by_host;
    uint16_t lane[2][2];
    LLVMAtomicRMWBinOp host[2];
} table[ATOM_COUNT] = {
#define ROW(op, u32, s32, u64, s64, unsigned_op, signed_op)                                                            \
    [ATOM_##op] = {true,                                                                                               \
                   true,                                                                                               \
                   {{LANE_##u32, LANE_##s32}, {LANE_##u64, LANE_##s64}},                                               \
                   {LLVMAtomicRMWBinOp##unsigned_op, LLVMAtomicRMWBinOp##signed_op}},
    ROW(and, and_b32, and_b32, and_b64, and_b64, And, And)    /* */
    ROW(or, or_b32, or_b32, or_b64, or_b64, Or, Or)           /* */
    ROW(xor, xor_b32, xor_b32, xor_b64, xor_b64, Xor, Xor)    /* */
    ROW(exch, mov_b32, mov_b32, mov_b64, mov_b64, Xchg, Xchg) /* */
    ROW(add, add_b32, add_b32, add_b64, add_b64, Add, Add)    /* */
    ROW(min, min_u32, min_s32, min_u64, min_s64, UMin, Min)   /* */
    ROW(max, max_u32, max_s32, max_u64, max_s64, UMax, Max)   /* */
#undef ROW
        [ATOM_inc] = {true, .lane = {{LANE_atom_inc_u32}}}, /* .u32 alone */
    [ATOM_dec] = {true, .lane = {{LANE_atom_dec_u32}}},
};

/* Additions of floats, by bits: in global and in shared memory; see exec/atom.c. */
static const uint16_t float_lane[2][2] = {{LANE_add_f32_rn_ftz, LANE_add_f32_rn}, {LANE_atom_add_f64, LANE_add_f64_rn}};

static LLVMAtomicOrdering order_of(const struct op_access *x)
{
    switch (x->order) {
    case ORDER_ACQUIRE: return LLVMAtomicOrderingAcquire;
    case ORDER_RELEASE: return LLVMAtomicOrderingRelease;
    case ORDER_ACQ_REL: return LLVMAtomicOrderingAcquireRelease;
    default: return LLVMAtomicOrderingMonotonic;
    }
}

bool atom_acquires(const struct atom *t)
{
    return t->order == LLVMAtomicOrderingAcquire || t->order == LLVMAtomicOrderingAcquireRelease;
}

value atom_read(struct emit *e, const struct atom *t, value at)
{
    value v = LLVMBuildLoad2(e->b, t->type, at, "");
    LLVMSetAlignment(v, t->a.bytes);
    if (!t->shared)
        LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

value atom_swap(struct emit *e, const struct atom *t, value at, value old, value now)
{
    LLVMAtomicOrdering fails = atom_acquires(t) ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingMonotonic;
    return LLVMBuildAtomicCmpXchg(e->b, at, old, now, fence_with(e, t->order), fence_with(e, fails), false);
}

void atom_fence_of_read(struct emit *e, const struct atom *t)
{
    if (!t->shared && atom_acquires(t))
        LLVMBuildFence(e->b, LLVMAtomicOrderingAcquire, false, "");
}

bool atom_begin(struct emit *e, const struct ir_insn *i, const struct op *o, struct atom *t)
{
    const struct op_access *x = o->access;
    enum isa_type type = (enum isa_type)x->type;
    bool sign = type == TYPE_s32 || type == TYPE_s64, is_cas = x->atom == ATOM_cas;
    bool integer = sign || type == TYPE_u32 || type == TYPE_u64 || type == TYPE_b32 || type == TYPE_b64;
    bool is_float = (type == TYPE_f32 || type == TYPE_f64) && x->atom == ATOM_add;
    if ((!integer && !is_float) || x->n != 1 || (!is_cas && !table[x->atom].done) ||
        (x->space != SPACE_SHARED && x->space != SPACE_GLOBAL && x->space != SPACE_GENERIC))
        return false;
    for (unsigned k = 0; k < 1u + is_cas; k++)
        if (fn_ref_width(e->fn, i->access->operands[k]) != 8u * x->bytes)
            return false;
    *t = (struct atom){.a = access_begin(e->fn, i, o),
                       .shared = x->space == SPACE_SHARED,
                       .is_cas = is_cas,
                       .is_float = is_float,
                       .sign = sign,
                       .op = (enum atom_op)x->atom,
                       .type = type_of_width(e, 8u * x->bytes),
                       .result = i->access->regs[0],
                       .order = order_of(x)};
    return !t->result || (fn_ref_width(e->fn, t->result) == 8u * x->bytes &&
                          (fn_ref_shape(e->fn, t->result) == SHAPE_DIVERGENT || e->fn->one_lane));
}

bool atom_is_by_host(const struct atom *t)
{
    return !t->is_float && table[t->op].by_host;
}

value atom_new_value(struct emit *e, const struct atom *t, value old, value s)
{
    unsigned wide = t->a.bytes == 8;
    uint16_t lane = t->is_float ? float_lane[wide][t->shared] : table[t->op].lane[wide][t->sign];
    return emit_lane_function(e, lane, 8 * t->a.bytes, t->op == ATOM_exch ? s : old, s);
}

value atom_by_host(struct emit *e, const struct atom *t, value at, value s)
{
    return LLVMBuildAtomicRMW(e->b, table[t->op].host[t->sign], at, s, fence_with(e, t->order), false);
}
