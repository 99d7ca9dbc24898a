/* Memory instructions, addresses and calls; see builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"
#include "isa/opcodes.h"

/* ---- ld, st, atom, red ---- */

static bool is_kernel_param(const struct builder *b, const struct ptx_symbol *s)
{
    return b->func->entry && s->kind == SYMBOL_VAR && ((const struct ptx_var *)s)->is_param;
}

enum ptx_space lower_space(const struct builder *b, const struct isa_inst *inst)
{
    const struct isa *isa = b->module->isa;
    if (inst->op == OP_ldu)
        return isa_has(inst, MOD_global) ? SPACE_GLOBAL : SPACE_GENERIC;
    switch (isa_pick(isa, inst, SLOT_LDSPACE)) {
    case MOD_global: return SPACE_GLOBAL;
    case MOD_const: return SPACE_CONST;
    case MOD_local: return SPACE_LOCAL;
    case MOD_shared:
    case MOD_shared_cta:
    case MOD_shared_cluster: return SPACE_SHARED;
    case MOD_param:
    case MOD_param_entry:
    case MOD_param_func: return SPACE_PARAM;
    default: return SPACE_GENERIC;
    }
}

void lower_displace(struct ir_access *a, uint64_t by)
{
    a->disp = (int64_t)((uint64_t)a->disp + by);
}

ir_ref lower_place(struct builder *b, const struct ptx_operand *m, struct ir_access *a)
{
    const struct ptx_operand *base = m->elems;
    a->disp = m->disp;
    if (base->kind == OPND_INT) {
        lower_displace(a, base->bits);
        return REF_NONE;
    }
    if (base->kind != OPND_SYMBOL) {
        /* Kernel parameters have generic addresses, those of functions local ones. */
        if (a->mem.space == SPACE_PARAM)
            a->mem.space = b->func->entry ? SPACE_GENERIC : SPACE_LOCAL;
        enum isa_type type = base->kind == OPND_REG && isa_type_bits(base->reg->type) == 32 ? TYPE_u32 : TYPE_u64;
        ir_ref at = ir_source(b, base, type);
        if (a->mem.space != SPACE_SHARED || !b->f->clustered)
            return at;
        unsigned width = isa_type_bits(type);
        return ir_lanes(b, LANE_AS_WIDE(sub, width), at, ir_shared_start(b, width), REF_NONE);
    }
    lower_displace(a, (uint64_t)base->disp);
    if (is_kernel_param(b, base->symbol)) {
        lower_displace(a, ((const struct ptx_var *)base->symbol)->param_at);
        return REF_NONE;
    }
    struct ptx_var *v = base->symbol->kind == SYMBOL_VAR ? (struct ptx_var *)base->symbol : NULL;
    if (v && v->func && (v->space == SPACE_LOCAL || v->space == SPACE_PARAM)) {
        a->mem.space = SPACE_LOCAL;
        a->mem.frame = true;
        lower_displace(a, ir_add_frame_var(b, v));
        return REF_NONE;
    }
    a->disp_const = ir_symbol_place(b, base->symbol, 0, 64);
    if (v && a->mem.space == SPACE_GENERIC) /* a name without a state space says it itself */
        a->mem.space = v->space;
    return REF_NONE;
}

static void lower_order(struct builder *b, struct ir_access *a)
{
    const struct isa_inst *inst = b->insn->inst;
    bool atomic = inst->kind == KIND_ATOM || inst->kind == KIND_RED;
    a->mem.is_volatile = isa_has(inst, MOD_volatile);
    a->mem.is_const = isa_has(inst, MOD_nc) || inst->op == OP_ldu || a->mem.space == SPACE_CONST;
    a->mem.order = isa_has(inst, MOD_acq_rel)                                   ? ORDER_ACQ_REL
                   : isa_has(inst, MOD_acquire)                                 ? ORDER_ACQUIRE
                   : isa_has(inst, MOD_release)                                 ? ORDER_RELEASE
                   : isa_has(inst, MOD_relaxed) || a->mem.is_volatile || atomic ? ORDER_RELAXED
                                                                                : ORDER_WEAK;
    enum isa_mod scope = isa_pick(b->module->isa, inst, SLOT_SCOPE);
    a->mem.scope = (uint8_t)(scope ? scope : a->mem.is_volatile ? MOD_sys : atomic ? MOD_gpu : MOD_none);
}

unsigned lower_vector(const struct isa_inst *inst)
{
    return isa_has(inst, MOD_v8) ? 8 : isa_has(inst, MOD_v4) ? 4 : isa_has(inst, MOD_v2) ? 2 : 1;
}

static void lower_load(struct builder *b, struct ir_access *a, ir_ref base, enum isa_type type)
{
    const struct ptx_operand *to = &b->insn->operands[0];
    for (unsigned k = 0; k < a->mem.n; k++) {
        struct ptx_operand e = ptx_element(to, k);
        a->regs[k] = e.kind == OPND_REG ? ir_named_reg(b, &e) : ir_temp(b, ir_width(type));
    }
    a->mem.sign = isa_type_class(type) == CLASS_S;
    ir_emit_access(b, IR_LD, base, a);
}

static void lower_store(struct builder *b, struct ir_access *a, ir_ref base, enum isa_type type)
{
    const struct ptx_operand *from = &b->insn->operands[1];
    for (unsigned k = 0; k < a->mem.n; k++) {
        struct ptx_operand e = ptx_element(from, k);
        a->regs[k] = ir_source(b, &e, type);
    }
    ir_emit_access(b, IR_ST, base, a);
}

enum atom_op lower_atom_op(const struct isa_inst *inst)
{
    static const uint8_t mods[ATOM_COUNT] = {
#define ATOM(name, locks) [ATOM_##name] = MOD_##name,
#include "isa/atoms.def"
    };
    unsigned op = 0;
    while (op + 1 < ATOM_COUNT && !isa_has(inst, (enum isa_mod)mods[op]))
        op++;
    return (enum atom_op)op;
}

static void lower_atom(struct builder *b, struct ir_access *a, ir_ref base, enum isa_type type)
{
    const struct ptx_insn *in = b->insn;
    bool red = in->inst->kind == KIND_RED;
    unsigned first = red ? 1 : 2; /* operands: {d,} m, b {, c} */
    struct ir_dest d[8] = {0};
    a->mem.atom = (uint8_t)lower_atom_op(in->inst);
    a->mem.type = (uint8_t)type;
    for (unsigned k = 0; k < a->mem.n; k++) {
        struct ptx_operand e = ptx_element(&in->operands[first], k);
        a->operands[k] = ir_source(b, &e, type);
    }
    if (a->mem.atom == ATOM_cas)
        a->operands[1] = ir_source(b, &in->operands[first + 1], type);
    for (unsigned k = 0; !red && k < a->mem.n; k++) {
        struct ptx_operand e = ptx_element(&in->operands[0], k);
        if (e.kind == OPND_REG)
            d[k] = ir_destination(b, &e, type);
        a->regs[k] = d[k].ref;
    }
    ir_emit_access(b, IR_ATOM, base, a);
    for (unsigned k = 0; k < a->mem.n; k++)
        ir_finish(b, d[k]);
}

void lower_memory(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    enum isa_type type = (enum isa_type)inst->type[0];
    struct ir_access *a = ir_new_access(b, lower_space(b, inst), isa_type_bits(type) / 8, lower_vector(inst));
    lower_order(b, a);
    ir_ref base = lower_place(b, &in->operands[inst->kind == KIND_ST || inst->kind == KIND_RED ? 0 : 1], a);
    if (inst->kind == KIND_LD)
        lower_load(b, a, base, type);
    else if (inst->kind == KIND_ST)
        lower_store(b, a, base, type);
    else
        lower_atom(b, a, base, type);
}

/* ---- addresses ---- */

static ir_ref u64_base(struct builder *b, enum ir_base base)
{
    return ir_const_base(b, 64, base, NULL, 0);
}

static void write_u64(struct builder *b, ir_ref value)
{
    enum isa_type type = isa_operand_type(b->insn->inst, &b->insn->inst->operand[0]);
    ir_write(b, &b->insn->operands[0], type, ir_resize(b, value, ir_width(type), false));
}

static enum ir_base window_of(enum isa_mod space)
{
    switch (space) {
    case MOD_shared:
    case MOD_shared_cta:
    case MOD_shared_cluster: return BASE_SHARED_WINDOW;
    case MOD_local: return BASE_LOCAL_WINDOW;
    default: return BASE_NONE;
    }
}

/* 9.7.9.20: generic addresses of .global, .const and kernel parameters are the addresses
 * themselves; shared and local memory have windows. */
static void lower_cvta(struct builder *b, enum isa_mod space)
{
    ir_ref a = ir_source(b, &b->insn->operands[1], TYPE_u64);
    enum ir_base window = window_of(space);
    if (window) {
        lane_id lane = isa_has(b->insn->inst, MOD_to) ? LANE_sub_b64 : LANE_add_b64;
        a = ir_lanes(b, lane, a, u64_base(b, window), REF_NONE);
    }
    write_u64(b, a);
}

static ir_ref within(struct builder *b, ir_ref a, ir_ref start, enum ir_base size)
{
    ir_ref offset = ir_lanes(b, LANE_sub_b64, a, start, REF_NONE);
    return ir_lanes(b, LANE_cmp_u64_lt, offset, u64_base(b, size), REF_NONE);
}

/* The start of the window in which the block's own shared memory is, as a generic address. */
static ir_ref own_window(struct builder *b)
{
    ir_ref window = u64_base(b, BASE_SHARED_WINDOW);
    if (!b->f->clustered)
        return window;
    ir_ref rank = ir_resize(b, ir_make_ref(REF_SREG, SREG_cluster_ctarank * 4), 64, false);
    rank = ir_lanes(b, LANE_shl_b64, rank, ir_const_of(b, 32, SHARED_WINDOW_LOG2), REF_NONE);
    return ir_lanes(b, LANE_add_b64, window, rank, REF_NONE);
}

/* 9.7.9.19. */
static ir_ref is_in_space(struct builder *b, ir_ref a, enum isa_mod space)
{
    switch (space) {
    case MOD_shared_cluster: return within(b, a, u64_base(b, BASE_SHARED_WINDOW), BASE_CLUSTER_WINDOW_SIZE);
    case MOD_shared:
    case MOD_shared_cta: return within(b, a, own_window(b), BASE_SHARED_WINDOW_SIZE);
    case MOD_local: return within(b, a, u64_base(b, BASE_LOCAL_WINDOW), BASE_LOCAL_WINDOW_SIZE);
    case MOD_const: return within(b, a, u64_base(b, BASE_CONST_START), BASE_CONST_SIZE);
    case MOD_param:
    case MOD_param_entry:
        a = ir_lanes(b, LANE_sub_b64, a, ir_make_ref(REF_SREG, IR_PARAM_BASE), REF_NONE);
        return ir_lanes(b, LANE_cmp_u64_lt, a, ir_const_of(b, 64, b->func->signature.param_bytes), REF_NONE);
    default: { /* what is in no window is global: there, every host address is */
        ir_ref shared = is_in_space(b, a, MOD_shared_cluster), local = is_in_space(b, a, MOD_local);
        ir_ref window = ir_lanes(b, LANE_or_pred, shared, local, REF_NONE);
        window = ir_lanes(b, LANE_or_pred, window, is_in_space(b, a, MOD_const), REF_NONE);
        return ir_lanes(b, LANE_not_pred, window, REF_NONE, REF_NONE);
    }
    }
}

/* Where the windows of a cluster begin, in addresses of mapa's and getctarank's kind: generic ones,
 * or of .shared::cluster. */
static ir_ref cluster_window(struct builder *b, unsigned width)
{
    if (isa_has(b->insn->inst, MOD_shared_cluster))
        return ir_const_of(b, width, 0);
    return ir_resize(b, u64_base(b, BASE_SHARED_WINDOW), width, false);
}

/* mapa (9.7.9.23): the address in the window of another rank. */
static ir_ref mapped(struct builder *b, ir_ref a, unsigned width)
{
    ir_ref rank = ir_resize(b, ir_source(b, &b->insn->operands[2], TYPE_u32), width, false);
    ir_ref shift = ir_const_of(b, 32, SHARED_WINDOW_LOG2);
    ir_ref mask = ir_const_of(b, width, (1u << SHARED_WINDOW_LOG2) - 1);
    ir_ref window = cluster_window(b, width);
    ir_ref offset = ir_lanes(b, LANE_AS_WIDE(sub, width), a, window, REF_NONE);
    offset = ir_lanes(b, LANE_AS_WIDE(and, width), offset, mask, REF_NONE);
    rank = ir_lanes(b, LANE_AS_WIDE(shl, width), rank, shift, REF_NONE);
    ir_ref at = ir_lanes(b, LANE_AS_WIDE(add, width), offset, rank, REF_NONE);
    return ir_lanes(b, LANE_AS_WIDE(add, width), at, window, REF_NONE);
}

/* getctarank (9.7.9.24): the rank whose window an address is in. */
static ir_ref rank_of(struct builder *b, ir_ref a, unsigned width)
{
    ir_ref offset = ir_lanes(b, LANE_AS_WIDE(sub, width), a, cluster_window(b, width), REF_NONE);
    return ir_lanes(b, LANE_AS_WIDE(shr, width), offset, ir_const_of(b, 32, SHARED_WINDOW_LOG2), REF_NONE);
}

void lower_address(struct builder *b)
{
    const struct isa_inst *inst = b->insn->inst;
    enum isa_mod space = isa_pick(b->module->isa, inst, SLOT_ANYSPACE);
    enum isa_type type = (enum isa_type)inst->type[0];
    bool of_cluster = inst->kind == KIND_MAPA || inst->kind == KIND_GETCTARANK;
    b->f->needs_clustered |= of_cluster || (inst->kind == KIND_ISSPACEP && space == MOD_shared_cluster);
    ir_ref a = of_cluster ? ir_source(b, &b->insn->operands[1], type) : REF_NONE;
    switch (inst->kind) {
    case KIND_CVTA: lower_cvta(b, space); break;
    case KIND_ISSPACEP:
        a = ir_source(b, &b->insn->operands[1], TYPE_u64);
        ir_write(b, &b->insn->operands[0], TYPE_pred, is_in_space(b, a, space));
        break;
    case KIND_MAPA: write_u64(b, mapped(b, a, isa_type_bits(type))); break;
    case KIND_GETCTARANK: write_u64(b, rank_of(b, a, isa_type_bits(type))); break;
    /* createpolicy: policies are only carried. */
    default: write_u64(b, ir_const_of(b, 64, 0)); break;
    }
}
