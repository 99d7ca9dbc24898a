/* Operands, registers, constants, and the pure instructions; see builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"

/* ---- pure instructions ---- */

static ir_ref carry_of(struct builder *b)
{
    if (!b->carry)
        b->carry = ir_temp(b, 32);
    return b->carry;
}

struct ir_operands lower_operands(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    struct ir_operands o = {.imm = 0};
    unsigned n = 0;
    for (unsigned k = 0; k < in->inst->n_operands && k < in->n_operands; k++) {
        const struct isa_operand *spec = &in->inst->operand[k];
        enum isa_type type = isa_operand_type(in->inst, spec);
        if (spec->kind == OPERAND_DST || spec->kind == OPERAND_DPRED)
            o.d = ir_destination(b, &in->operands[k], type);
        else if (spec->kind == OPERAND_IMM)
            o.imm = in->operands[k].bits;
        else
            o.src[n++] =
                spec->kind == OPERAND_SPRED ? ir_predicate(b, &in->operands[k]) : ir_source(b, &in->operands[k], type);
    }
    return o;
}

void lower_pure(struct builder *b)
{
    const struct isa_inst *inst = b->insn->inst;
    const struct lane_info *lane = lane_info(inst->lane);
    if (!inst->lane) {
        build_error(b, "not-supported", NULL, "`%.*s` is not supported yet", STR_ARG(inst->text));
        return;
    }
    struct ir_operands o = lower_operands(b);
    if (o.src[2] && !lane->c) { /* min and max of three (9.7.3.11, 9.7.3.12) */
        o.src[0] = ir_lanes(b, inst->lane, o.src[0], o.src[1], REF_NONE);
        o.src[1] = o.src[2];
        o.src[2] = REF_NONE;
    }
    struct ir_insn *i = ir_emit_lanes(b, inst->lane, o.d.ref, o.src[0], o.src[1], o.src[2]);
    i->e = lane->e == CARRY_FOURTH ? o.src[3] : lane->e ? carry_of(b) : REF_NONE;
    i->imm = o.imm;
    ir_fold_immediates(b, i);
    ir_finish(b, o.d);
}

/* mask = mask op c for set and setp with a second operation. */
static ir_ref combine(struct builder *b, ir_ref mask, ir_ref c)
{
    if (!c)
        return mask;
    const struct isa_inst *inst = b->insn->inst;
    lane_id lane = isa_has(inst, MOD_and) ? LANE_and_pred : isa_has(inst, MOD_or) ? LANE_or_pred : LANE_xor_pred;
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
    lane_id lane = width == 16 ? LANE_selp_b16 : LANE_selp_b32;
    ir_ref one = ir_const_of(b, width, true_value(type)), zero = ir_const_of(b, width, 0);
    ir_ref value = ir_lanes(b, lane, one, zero, mask);
    if (high)
        value = ir_lanes(b, LANE_pack_b32_b16, value, ir_lanes(b, lane, one, zero, high), REF_NONE);
    ir_write(b, &b->insn->operands[0], type, value);
}

static void finish_setp(struct builder *b, ir_ref mask, ir_ref other)
{
    const struct ptx_operand *o = &b->insn->operands[0];
    bool pair = o->kind == OPND_PAIR;
    ir_write(b, pair ? &o->elems[0] : o, TYPE_pred, mask);
    if (pair)
        ir_write(b, &o->elems[1], TYPE_pred, other);
}

/* 9.7.6.1, 9.7.6.2: t = a cmp b; p = t op c, q = !t op c. Packed types compare the halves: p the
 * low, q the high. */
void lower_compare(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    enum isa_type type = isa_operand_type(inst, &inst->operand[1]);
    lane_id lane = inst->lane;
    bool packed = type == TYPE_f16x2 || type == TYPE_bf16x2, setp = inst->kind == KIND_SETP;
    if (!lane) {
        build_error(b, "not-supported", NULL, "`%.*s` is not supported yet", STR_ARG(inst->text));
        return;
    }
    ir_ref x = ir_source(b, &in->operands[1], type), y = ir_source(b, &in->operands[2], type);
    ir_ref c = in->n_operands > 3 ? ir_predicate(b, &in->operands[3]) : REF_NONE;
    bool direct = setp && !packed && !c && in->operands[0].kind == OPND_REG;
    if (direct) {
        ir_emit_lanes(b, lane, ir_destination(b, &in->operands[0], TYPE_pred).ref, x, y, REF_NONE);
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
    ir_write(b, pair ? &o->elems[0] : o, TYPE_b32, value);
    if (pair)
        ir_write(b, &o->elems[1], TYPE_pred, nonzero);
}

/* ---- mov ---- */

static lane_id unpack_lane(unsigned element, unsigned whole)
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
    unsigned whole = isa_type_bits(type), n = ptx_n_elements(v), element = whole / n;
    lane_id lane = unpack_lane(element, whole);
    if (!lane) {
        build_error(b, "ptx-operand", NULL, "%u bits cannot be unpacked into %u registers", whole, n);
        return;
    }
    ir_ref x = ir_source(b, &b->insn->operands[1], type);
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(v, k);
        if (e.kind != OPND_REG)
            continue;
        struct ir_dest d = ir_destination(b, &e, bits_type(element));
        /* No element can be x: its width is another. */
        ir_emit_lanes(b, lane, d.ref, x, REF_NONE, REF_NONE)->imm = k;
        ir_finish(b, d);
    }
}

/* Packs pairs until one value is left: {a, b, c, d} = {{a, b}, {c, d}}. */
static ir_ref pack(struct builder *b, ir_ref *parts, unsigned n, unsigned element)
{
    while (n > 1) {
        lane_id lane = element == 8    ? LANE_pack_b16_b8
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

/* Element by element; all are read before one is written. */
static void lower_vector_mov(struct builder *b, enum isa_type type)
{
    const struct ptx_operand *to = &b->insn->operands[0], *from = &b->insn->operands[1];
    unsigned n = lower_vector(b->insn->inst);
    ir_ref values[4];
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(from, k);
        values[k] = ir_temp(b, ir_width(type));
        ir_copy_guarded(b, values[k], e.kind == OPND_SINK ? ir_const_of(b, ir_width(type), 0) : ir_source(b, &e, type));
    }
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(to, k);
        ir_write(b, &e, type, values[k]);
    }
}

void lower_mov(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    enum isa_type type = (enum isa_type)in->inst->type[0];
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    if (lower_vector(in->inst) > 1) {
        lower_vector_mov(b, type);
        return;
    }
    if (ptx_n_elements(to) > 1) {
        lower_unpack(b, type);
        return;
    }
    ir_ref value;
    unsigned n = ptx_n_elements(from), element = isa_type_bits(type) / n;
    if (n > 1) {
        ir_ref parts[8];
        for (unsigned k = 0; k < n; k++) {
            struct ptx_operand e = ptx_element(from, k);
            parts[k] = e.kind == OPND_SINK ? ir_const_of(b, ir_width(bits_type(element)), 0)
                                           : ir_source(b, &e, bits_type(element));
        }
        value = pack(b, parts, n, element);
    } else {
        value = ir_source(b, from, type);
    }
    ir_write(b, to, type, value);
}
