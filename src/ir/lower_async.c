/* Asynchronous copies and their completion by groups and mbarriers (PTX ISA 9.7.9.25, 9.7.13.15);
 * see builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"
#include "isa/opcodes.h"

/* ---- mbarrier (9.7.13.15) ---- */

/* Its object is accessed by one strong operation, but for init and inval, which are writes like
 * others; what else arrivals and tests order is said by imm. */
void lower_mbarrier(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    enum mbarrier_mode mode = (enum mbarrier_mode)ir_mode_of(IR_MBARRIER, inst);
    bool weak = mode == MBARRIER_INIT || mode == MBARRIER_INVAL;
    bool tests = mbarrier_tests(mode);
    bool transacts = mode == MBARRIER_EXPECT_TX || mode == MBARRIER_COMPLETE_TX;
    unsigned at = weak || transacts ? 0 : 1;
    enum isa_mod scope = isa_pick(b->module->isa, inst, SLOT_SCOPE);
    struct ir_access *a = ir_new_access(b, lower_space(b, inst), 8, 1);
    a->mem.order = weak ? ORDER_WEAK : ORDER_RELAXED;
    a->mem.scope = (uint8_t)(weak ? MOD_none : scope ? scope : MOD_cta);
    ir_ref base = lower_place(b, &in->operands[at], a), operand = REF_NONE;
    if (in->n_operands > at + 1)
        operand = ir_source(b, &in->operands[at + 1], isa_operand_type(inst, &inst->operand[at + 1]));
    struct ir_dest d = {0};
    if (at && in->operands[0].kind != OPND_SINK)
        d = ir_destination(b, &in->operands[0], tests ? TYPE_pred : TYPE_b64);
    struct ir_insn *i = ir_emit_access(b, IR_MBARRIER, base, a);
    i->mode = (uint8_t)mode;
    i->b = operand;
    i->d = d.ref;
    i->imm = weak                                      ? ORDER_WEAK
             : isa_has(inst, MOD_relaxed) || transacts ? ORDER_RELAXED
             : tests                                   ? ORDER_ACQUIRE
                                                       : ORDER_RELEASE;
    ir_finish(b, d);
}

/* ---- asynchronous copies (9.7.9.25), st.async, red.async ---- */

/* The address that a memory operand is, as a value of 64 bits. */
static ir_ref lower_address_value(struct builder *b, const struct ptx_operand *m, enum ptx_space space)
{
    struct ir_access a = {.mem.space = space};
    ir_ref base = lower_place(b, m, &a);
    ir_ref at = base ? ir_resize(b, base, 64, false) : a.disp_const;
    if (!at)
        return ir_const_of(b, 64, (uint64_t)a.disp);
    return a.disp ? ir_lanes(b, LANE_add_b64, at, ir_const_of(b, 64, (uint64_t)a.disp), REF_NONE) : at;
}

/* What is reduced, where the instruction reduces. */
static void lower_reduction(struct ir_access *a, const struct isa_inst *inst)
{
    a->mem.type = (uint8_t)inst->type[0];
    a->mem.atom = (uint8_t)lower_atom_op(inst);
}

/* `guard`: in place of the instruction's own, where it is not REF_NONE. */
static void emit_copy(struct builder *b, enum ir_kind kind, ir_ref base, struct ir_access *a, ir_ref guard)
{
    struct ir_insn *i = ir_emit_access(b, kind, base, a);
    i->mode = ASYNC_COPY;
    if (guard) {
        i->guard = guard;
        i->guard_negated = false;
    }
}

/* The load of a copy whose source is read as a whole: see ir_is_copy(). Its elements are those of
 * the store. */
static void lower_fetch(struct builder *b, struct ir_access *a, ir_ref guard)
{
    unsigned bytes = a->mem.bytes;
    struct ir_access *from = ARENA_NEW(b->arena, struct ir_access);
    a->mem.bytes = bytes > 8 ? 8 : (uint8_t)bytes;
    a->mem.n = (uint8_t)(bytes / a->mem.bytes);
    *from = (struct ir_access){.mem = a->mem};
    from->mem.space = SPACE_GLOBAL;
    ir_ref base = lower_place(b, &b->insn->operands[1], from);
    for (unsigned k = 0; k < a->mem.n; k++)
        a->regs[k] = from->regs[k] = ir_temp(b, 8u * a->mem.bytes);
    emit_copy(b, IR_LD, base, from, guard);
}

/* Lanes whose source is read as a whole copy as if there were no size, the others (zero-fill) by
 * the engine. */
static void lower_sized_copy(struct builder *b, struct ir_access *a, ir_ref base, const struct ptx_operand *size)
{
    struct ir_access *whole = ARENA_NEW(b->arena, struct ir_access);
    ir_ref all, rest;
    *whole = *a;
    if (size->kind == OPND_REG && size->reg->type == TYPE_pred) {
        a->operands[ASYNC_IGNORE] = rest = ir_predicate(b, size);
    } else {
        a->operands[ASYNC_SIZE] = ir_source(b, size, TYPE_u32);
        rest = ir_lanes(b, LANE_cmp_u32_ne, a->operands[ASYNC_SIZE], ir_const_of(b, 32, a->mem.bytes), REF_NONE);
    }
    all = ir_lanes(b, LANE_not_pred, rest, REF_NONE, REF_NONE);
    if (b->guard) {
        ir_ref guard = b->guard;
        if (b->insn->guard_negated)
            guard = ir_lanes(b, LANE_not_pred, guard, REF_NONE, REF_NONE);
        rest = ir_lanes(b, LANE_and_pred, rest, guard, REF_NONE);
        all = ir_lanes(b, LANE_and_pred, all, guard, REF_NONE);
    }
    lower_fetch(b, whole, all);
    emit_copy(b, IR_ST, base, whole, all);
    emit_copy(b, IR_ASYNC, base, a, rest);
}

/* cp.async: a source, and how much of it is read: a size, or nothing where a predicate holds. */
static void lower_copy(struct builder *b, struct ir_access *a, ir_ref base)
{
    const struct ptx_insn *in = b->insn;
    a->mem.bytes = (uint8_t)in->operands[2].bits;
    a->operands[ASYNC_SOURCE] = lower_address_value(b, &in->operands[1], SPACE_GLOBAL);
    const struct ptx_operand *o = in->n_operands > 3 ? &in->operands[3] : NULL;
    bool has_policy = isa_has(in->inst, MOD_L2_cache_hint), is_size = o && (in->n_operands > 4 || !has_policy);
    if (is_size && o->kind != OPND_INT) {
        lower_sized_copy(b, a, base, o);
        return;
    }
    bool is_whole = !is_size || o->bits == a->mem.bytes; /* as compilers write it */
    if (is_whole)
        lower_fetch(b, a, REF_NONE);
    else
        a->operands[ASYNC_SIZE] = ir_source(b, o, TYPE_u32);
    emit_copy(b, is_whole ? IR_ST : IR_ASYNC, base, a, REF_NONE);
}

static void lower_bulk(struct builder *b, struct ir_access *a, enum async_mode mode)
{
    const struct ptx_insn *in = b->insn;
    a->mem.bytes = 16;
    if (isa_has(in->inst, MOD_reduce))
        lower_reduction(a, in->inst);
    a->operands[ASYNC_SOURCE] =
        lower_address_value(b, &in->operands[1], mode == ASYNC_BULK_FROM_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED);
    a->operands[ASYNC_SIZE] = ir_source(b, &in->operands[2], TYPE_u32);
    if (mode != ASYNC_BULK_TO_GLOBAL)
        a->operands[ASYNC_MBARRIER] = lower_address_value(b, &in->operands[3], SPACE_SHARED);
    if (isa_has(in->inst, MOD_multicast))
        a->operands[ASYNC_MASK] = ir_source(b, &in->operands[4], TYPE_u16);
}

static ir_ref element_value(struct builder *b, const struct ptx_operand *o, unsigned k, enum isa_type type)
{
    struct ptx_operand e = ptx_element(o, k);
    return ir_source(b, &e, type);
}

/* Load: [shared], [map, {..}], [mbarrier]{, {offsets}}{, mask}; store and reduction: [map, {..}],
 * [shared]. */
static void lower_tensor(struct builder *b, struct ir_access *a, enum async_mode mode)
{
    const struct ptx_insn *in = b->insn;
    const struct ptx_operand *map = &in->operands[mode == ASYNC_TENSOR_LOAD ? 1 : 0], *coords = &map->elems[1];
    unsigned n = coords->kind == OPND_VECTOR ? coords->n : 1, next = 3;
    a->mem.bytes = 16;
    if (mode == ASYNC_TENSOR_REDUCE) {
        a->mem.atom = (uint8_t)lower_atom_op(in->inst);
        a->mem.type = TYPE_b32;
    }
    a->operands[ASYNC_SOURCE] = lower_address_value(b, map, SPACE_GENERIC);
    for (unsigned k = 0; k < n && k < ASYNC_OFFSETS; k++)
        a->regs[k] = element_value(b, coords, k, TYPE_s32);
    if (mode != ASYNC_TENSOR_LOAD)
        return;
    a->operands[ASYNC_MBARRIER] = lower_address_value(b, &in->operands[2], SPACE_SHARED);
    if (isa_has(in->inst, MOD_im2col)) {
        const struct ptx_operand *offsets = &in->operands[next++];
        for (unsigned k = 0; k + 2 < n; k++)
            a->regs[ASYNC_OFFSETS + k] = element_value(b, offsets, k, TYPE_u16);
    }
    if (isa_has(in->inst, MOD_multicast))
        a->operands[ASYNC_MASK] = ir_source(b, &in->operands[next], TYPE_u16);
}

static void lower_async_store(struct builder *b, struct ir_access *a)
{
    const struct ptx_insn *in = b->insn;
    enum isa_type type = (enum isa_type)in->inst->type[0];
    if (in->inst->op == OP_red)
        lower_reduction(a, in->inst);
    a->mem.n = (uint8_t)lower_vector(in->inst);
    a->mem.bytes = (uint8_t)(isa_type_bits(type) / 8);
    a->operands[ASYNC_MBARRIER] = lower_address_value(b, &in->operands[2], a->mem.space);
    for (unsigned k = 0; k < a->mem.n; k++)
        a->operands[ASYNC_VALUE + k] = element_value(b, &in->operands[1], k, type);
}

void lower_async(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    enum async_mode mode = (enum async_mode)ir_mode_of(IR_ASYNC, inst);
    bool generic = mode == ASYNC_STORE || mode == ASYNC_ARRIVE || mode == ASYNC_ARRIVE_NOINC;
    enum ptx_space space = mode == ASYNC_BULK_TO_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED;
    struct ir_access *a = ir_new_access(b, generic ? lower_space(b, inst) : space, 8, 1);
    bool stores_tensor = mode == ASYNC_TENSOR_STORE || mode == ASYNC_TENSOR_REDUCE;
    ir_ref base = lower_place(b, &in->operands[stores_tensor ? 1 : 0], a);
    if (mode == ASYNC_COPY) {
        lower_copy(b, a, base);
        return;
    }
    if (mode >= ASYNC_TENSOR_LOAD)
        lower_tensor(b, a, mode);
    else if (mode == ASYNC_STORE)
        lower_async_store(b, a);
    else if (mode >= ASYNC_BULK_FROM_GLOBAL)
        lower_bulk(b, a, mode);
    ir_emit_access(b, IR_ASYNC, base, a)->mode = (uint8_t)mode;
}

void lower_group(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    struct ir_insn *i = ir_emit_guarded(b, IR_GROUP);
    i->imm = in->n_operands ? (uint32_t)in->operands[0].bits : 0;
    i->mode = ir_mode_of(IR_GROUP, in->inst);
}
