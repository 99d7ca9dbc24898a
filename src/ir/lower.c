/* Operands, registers, constants, and the pure instructions; see builder.h. */
#include "ir/builder.h"

/* ---- registers, constants, instructions ---- */

unsigned ir_width(enum isa_type type)
{
    unsigned bits = isa_type_bits(type);
    return bits == 1 ? 1 : bits <= 16 ? 16 : bits;
}

ir_ref ir_temp(struct builder *b, unsigned width)
{
    *VEC_PUSH(b->arena, &b->f->regs) = (struct ir_reg){.width = (uint8_t)width};
    return ir_make_ref(REF_REG, b->f->regs.n - 1);
}

static ir_ref add_const(struct builder *b, struct ir_const c)
{
    uint32_t first = b->f->consts.n > 64 ? b->f->consts.n - 64 : 1; /* the recent ones repeat */
    for (uint32_t i = first; i < b->f->consts.n; i++) {
        struct ir_const *k = &b->f->consts.at[i];
        if (k->width == c.width && k->base == c.base && k->lo == c.lo && k->hi == c.hi && k->symbol == c.symbol)
            return ir_make_ref(REF_CONST, i);
    }
    *VEC_PUSH(b->arena, &b->f->consts) = c;
    return ir_make_ref(REF_CONST, b->f->consts.n - 1);
}

static uint64_t low_bits(unsigned width, uint64_t bits)
{
    return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

ir_ref ir_const_of(struct builder *b, unsigned width, uint64_t bits)
{
    return add_const(b, (struct ir_const){.width = (uint8_t)width, .lo = low_bits(width, bits)});
}

ir_ref ir_const_base(struct builder *b, unsigned width, enum ir_base base, struct ptx_symbol *symbol, int64_t addend)
{
    return add_const(
        b, (struct ir_const){.width = (uint8_t)width, .base = (uint8_t)base, .lo = (uint64_t)addend, .symbol = symbol});
}

ir_ref ir_reg_of(struct builder *b, const struct ptx_reg *reg, uint32_t number)
{
    if (!b->reg_of[number]) {
        ir_temp(b, ir_width(reg->type));
        b->reg_of[number] = b->f->regs.n - 1;
        b->f->regs.at[b->f->regs.n - 1].origin = reg;
    }
    return ir_make_ref(REF_REG, b->reg_of[number]);
}

unsigned ir_ref_width(const struct builder *b, ir_ref r)
{
    uint32_t index = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: return b->f->regs.at[index].width;
    case REF_CONST: return b->f->consts.at[index].width;
    case REF_SREG:
        return index == IR_PARAM_BASE ? 64
               : index >= IR_ENVREG   ? 32
                                      : ir_width(isa_sreg_info((enum isa_sreg)(index / 4))->type);
    default: return 0;
    }
}

struct ir_insn *ir_emit(struct builder *b, enum ir_kind kind)
{
    struct ir_insn *i = VEC_PUSH(b->arena, &b->f->insns);
    ir_spend(b->f, INSN_WORK); /* a few words may stand for many instructions */
    i->kind = (uint8_t)kind;
    i->origin = b->insn;
    i->module = b->module;
    i->loc = b->loc;
    return i;
}

struct ir_insn *ir_emit_guarded(struct builder *b, enum ir_kind kind)
{
    struct ir_insn *i = ir_emit(b, kind);
    i->guard = b->guard;
    i->guard_negated = b->insn->guard_negated;
    return i;
}

ir_ref ir_lanes(struct builder *b, enum lane_id lane, ir_ref a, ir_ref b_, ir_ref c)
{
    ir_ref d = ir_temp(b, lane_info(lane)->d);
    struct ir_insn *i = ir_emit(b, IR_LANES);
    i->lane = (uint16_t)lane;
    i->d = d;
    i->a = a;
    i->b = b_;
    i->c = c;
    return d;
}

static enum lane_id resize_lane(unsigned from, unsigned to, bool sign)
{
    static const struct {
        uint8_t from, to;
        enum lane_id zero, sign;
    } table[] = {
        {32, 16, LANE_resize_b16_b32, LANE_resize_b16_b32},    {64, 16, LANE_resize_b16_b64, LANE_resize_b16_b64},
        {64, 32, LANE_resize_b32_b64, LANE_resize_b32_b64},    {16, 32, LANE_resize_b32_u16, LANE_resize_b32_s16},
        {16, 64, LANE_resize_b64_u16, LANE_resize_b64_s16},    {32, 64, LANE_resize_b64_u32, LANE_resize_b64_s32},
        {128, 64, LANE_resize_b64_b128, LANE_resize_b64_b128}, {64, 128, LANE_resize_b128_u64, LANE_resize_b128_u64},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].from == from && table[i].to == to)
            return sign ? table[i].sign : table[i].zero;
    return LANE_none;
}

ir_ref ir_resize(struct builder *b, ir_ref a, unsigned width, bool sign)
{
    unsigned from = ir_ref_width(b, a);
    if (from == width)
        return a;
    enum lane_id lane = resize_lane(from, width, sign);
    if (!lane) {
        build_error(b, "ptx-type", NULL, "a register of %u bits cannot stand where %u bits are needed", from, width);
        return a;
    }
    return ir_lanes(b, lane, a, REF_NONE, REF_NONE);
}

/* ---- operands ---- */

static uint64_t float_bits(const struct ptx_operand *o, enum isa_type type)
{
    if (o->float_type == TYPE_f64 && (type == TYPE_f32 || isa_type_bits(type) == 32)) {
        double d;
        float f;
        uint32_t u;
        memcpy(&d, &o->bits, 8);
        f = (float)d;
        memcpy(&u, &f, 4);
        return u;
    }
    return o->bits;
}

static void note_symbol(struct builder *b, struct ptx_symbol *s)
{
    if (s->kind == SYMBOL_FUNC)
        *VEC_PUSH(b->arena, &b->f->callees) = (struct ptx_func *)s;
    else if (s->kind == SYMBOL_VAR)
        *VEC_PUSH(b->arena, &b->f->vars) = (struct ptx_var *)s;
}

/* The address of a variable or function, in its own state space. */
static ir_ref symbol_address(struct builder *b, struct ptx_symbol *s, int64_t disp, unsigned width)
{
    struct ptx_var *v = s->kind == SYMBOL_VAR ? (struct ptx_var *)s : NULL;
    if (v && v->func && v->space != SPACE_SHARED && v->space != SPACE_GLOBAL && v->space != SPACE_CONST) {
        if (b->func->entry && v->is_param) { /* their state space and generic addresses are one */
            ir_ref offset = ir_const_of(b, 64, v->param_at + (uint64_t)disp);
            ir_ref at = ir_lanes(b, LANE_add_b64, ir_make_ref(REF_SREG, IR_PARAM_BASE), offset, REF_NONE);
            return ir_resize(b, at, width, false);
        }
        ir_ref d = ir_temp(b, width);
        uint32_t at = ir_add_frame_var(b, v);
        struct ir_insn *i = ir_emit(b, IR_FRAME);
        i->d = d;
        i->imm = at + (uint64_t)disp;
        return d;
    }
    if (v)
        s = &v->definition->symbol;
    note_symbol(b, s);
    return ir_const_base(b, width, BASE_SYMBOL, s, disp);
}

static ir_ref sreg_value(struct builder *b, const struct ptx_operand *o)
{
    enum isa_sreg s = (enum isa_sreg)o->sreg;
    const struct isa_sreg_info *info = isa_sreg_info(s);
    if (info->when == WHEN_NOW) {
        ir_ref d = ir_temp(b, ir_width(info->type));
        struct ir_insn *i = ir_emit(b, IR_NOW);
        i->d = d;
        i->imm = s;
        return d;
    }
    if (s == SREG_envreg)
        return ir_make_ref(REF_SREG, IR_ENVREG + (uint32_t)o->disp);
    return ir_make_ref(REF_SREG, s * 4 + (o->component == COMPONENT_NONE ? 0 : o->component));
}

ir_ref ir_source(struct builder *b, const struct ptx_operand *o, enum isa_type type)
{
    unsigned width = ir_width(type);
    bool sign = isa_type_class(type) == CLASS_S;
    switch (o->kind) {
    case OPND_REG:
        return ir_resize(b, ir_reg_of(b, o->reg, o->number + (o->component == COMPONENT_NONE ? 0 : o->component)),
                         width, sign);
    case OPND_INT: return ir_const_of(b, width, o->bits);
    case OPND_FLOAT: return ir_const_of(b, width, float_bits(o, type));
    case OPND_SREG: return ir_resize(b, sreg_value(b, o), width, false);
    case OPND_SYMBOL: return symbol_address(b, o->symbol, o->disp, width);
    default: build_error(b, "ptx-operand", NULL, "this operand cannot be read"); return ir_const_of(b, width, 0);
    }
}

ir_ref ir_predicate(struct builder *b, const struct ptx_operand *o)
{
    if (o->kind == OPND_INT)
        return ir_const_of(b, 1, o->negated ? !o->bits : o->bits != 0);
    ir_ref p = ir_source(b, o, TYPE_pred);
    return o->negated ? ir_lanes(b, LANE_not_pred, p, REF_NONE, REF_NONE) : p;
}

struct ir_dest ir_destination(struct builder *b, const struct ptx_operand *o, enum isa_type type)
{
    unsigned width = ir_width(type);
    struct ir_dest d = {0};
    if (o->kind != OPND_REG)
        return d.ref = ir_temp(b, width), d; /* the sink */
    ir_ref reg = ir_reg_of(b, o->reg, o->number + (o->component == COMPONENT_NONE ? 0 : o->component));
    if (ir_ref_width(b, reg) == width)
        return d.ref = reg, d;
    d.ref = ir_temp(b, width);
    d.reg = reg;
    d.sign = isa_type_class(type) == CLASS_S;
    return d;
}

static enum lane_id move_lane(unsigned width)
{
    switch (width) {
    case 1: return LANE_mov_pred;
    case 16: return LANE_mov_b16;
    case 32: return LANE_mov_b32;
    case 64: return LANE_mov_b64;
    default: return LANE_mov_b128;
    }
}

void ir_copy_guarded(struct builder *b, ir_ref reg, ir_ref value)
{
    struct ir_insn *last = &b->f->insns.at[b->f->insns.n - 1];
    bool fresh = b->f->insns.n && last->kind == IR_LANES && last->d == value && !last->guard &&
                 ir_ref_kind(value) == REF_REG && !b->f->regs.at[ir_ref_index(value)].origin;
    if (fresh) { /* a temporary of the instruction before, and of nothing else: written in place */
        last->d = reg;
        last->guard = b->guard;
        last->guard_negated = b->insn->guard_negated;
        return;
    }
    struct ir_insn *i = ir_emit_guarded(b, IR_LANES);
    i->lane = (uint16_t)move_lane(ir_ref_width(b, reg));
    i->d = reg;
    i->a = value;
}

void ir_finish(struct builder *b, struct ir_dest d)
{
    if (!d.reg)
        return;
    enum lane_id lane = resize_lane(ir_ref_width(b, d.ref), ir_ref_width(b, d.reg), d.sign);
    if (!lane) {
        build_error(b, "ptx-type", NULL, "the destination register is too narrow");
        return;
    }
    struct ir_insn *i = ir_emit_guarded(b, IR_LANES);
    i->lane = (uint16_t)lane;
    i->d = d.reg;
    i->a = d.ref;
}

/* ---- pure instructions ---- */

static ir_ref carry_of(struct builder *b)
{
    if (!b->carry)
        b->carry = ir_temp(b, 32);
    return b->carry;
}

/* The immediate operand of lop3 and the like. */
static uint64_t immediate_of(const struct ptx_insn *in)
{
    for (unsigned k = 0; k < in->inst->n_operands && k < in->n_operands; k++)
        if (in->inst->operand[k].kind == OPERAND_IMM)
            return in->operands[k].bits;
    return 0;
}

void lower_pure(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    const struct lane_info *lane = lane_info((enum lane_id)inst->lane);
    if (!inst->lane) {
        build_error(b, "not-supported", NULL, "`%.*s` is not supported yet", STR_ARG(inst->text));
        return;
    }
    struct ir_dest d = {0};
    ir_ref src[4] = {0};
    unsigned n = 0;
    for (unsigned k = 0; k < inst->n_operands && k < in->n_operands; k++) {
        const struct isa_operand *spec = &inst->operand[k];
        enum isa_type type = isa_operand_type(inst, spec);
        if (spec->kind == OPERAND_DST || spec->kind == OPERAND_DPRED)
            d = ir_destination(b, &in->operands[k], type);
        else if (spec->kind == OPERAND_SPRED)
            src[n++] = ir_predicate(b, &in->operands[k]);
        else if (spec->kind != OPERAND_IMM)
            src[n++] = ir_source(b, &in->operands[k], type);
    }
    if (src[2] && !lane->c) { /* min and max of three (9.7.3.11, 9.7.3.12) */
        src[0] = ir_lanes(b, (enum lane_id)inst->lane, src[0], src[1], REF_NONE);
        src[1] = src[2];
        src[2] = REF_NONE;
    }
    struct ir_insn *i = ir_emit_guarded(b, IR_LANES);
    i->lane = inst->lane;
    i->d = d.ref;
    i->a = src[0];
    i->b = src[1];
    i->c = src[2];
    i->e = lane->e == CARRY_FOURTH ? src[3] : lane->e ? carry_of(b) : REF_NONE;
    i->imm = immediate_of(in);
    ir_fold_immediates(b, i);
    ir_finish(b, d);
}

/* mask = mask op c for set and setp with a second operation. */
static ir_ref combine(struct builder *b, ir_ref mask, ir_ref c)
{
    if (!c)
        return mask;
    const struct isa_inst *inst = b->insn->inst;
    enum lane_id lane = isa_has(inst, MOD_and) ? LANE_and_pred : isa_has(inst, MOD_or) ? LANE_or_pred : LANE_xor_pred;
    return ir_lanes(b, lane, mask, c, REF_NONE);
}

static ir_ref half_of(struct builder *b, ir_ref x, unsigned half)
{
    ir_ref d = ir_lanes(b, LANE_unpack_b16_b32, x, REF_NONE, REF_NONE);
    b->f->insns.at[b->f->insns.n - 1].imm = half;
    return d;
}

/* The value that set gives where the comparison holds, of the destination type. */
static uint64_t true_value(enum isa_type type)
{
    switch (type) {
    case TYPE_f32: return 0x3f800000;
    case TYPE_f16:
    case TYPE_f16x2: return 0x3c00;
    case TYPE_bf16:
    case TYPE_bf16x2: return 0x3f80;
    default: return ~0ull;
    }
}

static void finish_set(struct builder *b, ir_ref mask, ir_ref high, enum isa_type type)
{
    unsigned width = high ? 16 : ir_width(type);
    enum lane_id lane = width == 16 ? LANE_selp_b16 : LANE_selp_b32;
    ir_ref one = ir_const_of(b, width, true_value(type)), zero = ir_const_of(b, width, 0);
    ir_ref value = ir_lanes(b, lane, one, zero, mask);
    if (high)
        value = ir_lanes(b, LANE_pack_b32_b16, value, ir_lanes(b, lane, one, zero, high), REF_NONE);
    struct ir_dest d = ir_destination(b, &b->insn->operands[0], type);
    ir_copy_guarded(b, d.ref, value);
    ir_finish(b, d);
}

static void finish_setp(struct builder *b, ir_ref mask, ir_ref other)
{
    const struct ptx_operand *o = &b->insn->operands[0];
    bool pair = o->kind == OPND_PAIR;
    const struct ptx_operand *p = pair ? &o->elems[0] : o, *q = pair ? &o->elems[1] : NULL;
    if (p->kind == OPND_REG)
        ir_copy_guarded(b, ir_destination(b, p, TYPE_pred).ref, mask);
    if (q && q->kind == OPND_REG)
        ir_copy_guarded(b, ir_destination(b, q, TYPE_pred).ref, other);
}

/* 9.7.6.1, 9.7.6.2: t = a cmp b; p = t op c, q = !t op c. Packed types compare the halves: p the low, q the
 * high. */
void lower_compare(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    enum isa_type type = isa_operand_type(inst, &inst->operand[1]);
    enum lane_id lane = (enum lane_id)inst->lane;
    bool packed = type == TYPE_f16x2 || type == TYPE_bf16x2, setp = inst->kind == KIND_SETP;
    if (!lane) {
        build_error(b, "not-supported", NULL, "`%.*s` is not supported yet", STR_ARG(inst->text));
        return;
    }
    ir_ref x = ir_source(b, &in->operands[1], type), y = ir_source(b, &in->operands[2], type);
    ir_ref c = in->n_operands > 3 ? ir_predicate(b, &in->operands[3]) : REF_NONE;
    bool direct = setp && !packed && !c && in->operands[0].kind == OPND_REG;
    if (direct) {
        struct ir_insn *i = ir_emit_guarded(b, IR_LANES);
        i->lane = inst->lane;
        i->a = x;
        i->b = y;
        ir_ref d = ir_destination(b, &in->operands[0], TYPE_pred).ref;
        b->f->insns.at[b->f->insns.n - 1].d = d;
        return;
    }
    ir_ref low, high = REF_NONE;
    if (packed) {
        low = ir_lanes(b, lane, half_of(b, x, 0), half_of(b, y, 0), REF_NONE);
        high = ir_lanes(b, lane, half_of(b, x, 1), half_of(b, y, 1), REF_NONE);
    } else {
        low = ir_lanes(b, lane, x, y, REF_NONE);
        if (setp && in->operands[0].kind == OPND_PAIR)
            high = ir_lanes(b, LANE_not_pred, low, REF_NONE, REF_NONE);
    }
    low = combine(b, low, c);
    high = high ? combine(b, high, c) : REF_NONE;
    if (setp)
        finish_setp(b, low, high);
    else
        finish_set(b, low, high, (enum isa_type)inst->type[0]);
}

/* lop3.BoolOp: d = lop3(a, b, c), p = (d != 0) op q (9.7.8.6). */
void lower_lop3p(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct ptx_operand *o = &in->operands[0];
    ir_ref src[3];
    for (unsigned k = 0; k < 3; k++)
        src[k] = ir_source(b, &in->operands[1 + k], TYPE_b32);
    ir_ref q = ir_predicate(b, &in->operands[5]);
    ir_ref value = ir_lanes(b, LANE_lop3_b32, src[0], src[1], src[2]);
    b->f->insns.at[b->f->insns.n - 1].imm = in->operands[4].bits;
    ir_ref nonzero = ir_lanes(b, LANE_cmp_b32_ne, value, ir_const_of(b, 32, 0), REF_NONE);
    nonzero = combine(b, nonzero, q);
    bool pair = o->kind == OPND_PAIR;
    struct ir_dest d = ir_destination(b, pair ? &o->elems[0] : o, TYPE_b32);
    ir_copy_guarded(b, d.ref, value);
    ir_finish(b, d);
    if (pair && o->elems[1].kind == OPND_REG)
        ir_copy_guarded(b, ir_destination(b, &o->elems[1], TYPE_pred).ref, nonzero);
}

/* ---- mov ---- */

static enum lane_id unpack_lane(unsigned element, unsigned whole)
{
    switch (element << 8 | whole) {
    case 8 << 8 | 16: return LANE_unpack_b8_b16;
    case 8 << 8 | 32: return LANE_unpack_b8_b32;
    case 16 << 8 | 32: return LANE_unpack_b16_b32;
    case 16 << 8 | 64: return LANE_unpack_b16_b64;
    case 32 << 8 | 64: return LANE_unpack_b32_b64;
    case 32 << 8 | 128: return LANE_unpack_b32_b128;
    case 64 << 8 | 128: return LANE_unpack_b64_b128;
    default: return LANE_none;
    }
}

static enum isa_type bits_type(unsigned bits)
{
    return bits == 8 ? TYPE_b8 : bits == 16 ? TYPE_b16 : bits == 32 ? TYPE_b32 : TYPE_b64;
}

static void lower_unpack(struct builder *b, enum isa_type type)
{
    const struct ptx_operand *v = &b->insn->operands[0];
    unsigned whole = isa_type_bits(type), element = whole / v->n;
    enum lane_id lane = unpack_lane(element, whole);
    if (!lane) {
        build_error(b, "ptx-operand", NULL, "%u bits cannot be unpacked into %u registers", whole, v->n);
        return;
    }
    ir_ref x = ir_source(b, &b->insn->operands[1], type);
    for (unsigned k = 0; k < v->n; k++) {
        if (v->elems[k].kind != OPND_REG)
            continue;
        struct ir_dest d = ir_destination(b, &v->elems[k], bits_type(element));
        struct ir_insn *i = ir_emit_guarded(b, IR_LANES); /* no element can be x: its width is another */
        i->lane = (uint16_t)lane;
        i->d = d.ref;
        i->a = x;
        i->imm = k;
        ir_finish(b, d);
    }
}

/* Packs pairs until one value is left: {a, b, c, d} = {{a, b}, {c, d}}. */
static ir_ref pack(struct builder *b, ir_ref *parts, unsigned n, unsigned element)
{
    while (n > 1) {
        enum lane_id lane = element == 8    ? LANE_pack_b16_b8
                            : element == 16 ? LANE_pack_b32_b16
                            : element == 32 ? LANE_pack_b64_b32
                                            : LANE_pack_b128_b64;
        for (unsigned k = 0; k < n / 2; k++)
            parts[k] = ir_lanes(b, lane, parts[2 * k], parts[2 * k + 1], REF_NONE);
        n /= 2;
        element *= 2;
    }
    return parts[0];
}

void lower_mov(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    enum isa_type type = (enum isa_type)in->inst->type[0];
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    if (to->kind == OPND_VECTOR) {
        lower_unpack(b, type);
        return;
    }
    ir_ref value;
    if (from->kind == OPND_VECTOR) {
        unsigned element = isa_type_bits(type) / from->n;
        ir_ref parts[8];
        for (unsigned k = 0; k < from->n; k++)
            parts[k] = ir_source(b, &from->elems[k], bits_type(element));
        value = pack(b, parts, from->n, element);
    } else {
        value = ir_source(b, from, type);
    }
    struct ir_dest d = ir_destination(b, to, type);
    ir_copy_guarded(b, d.ref, value);
    ir_finish(b, d);
}
