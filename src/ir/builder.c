/* The parts from which lowering builds functions: registers, constants, instructions, blocks,
 * operands, places in the frame; see builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"

#include <stdarg.h>

void build_error(struct builder *b, const char *code, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_verror(b->diags, b->place, code, help, format, args);
    va_end(args);
}

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
        if (k->width == c.width && k->base == c.base && k->lo == c.lo && k->symbol == c.symbol)
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
        b->f->regs.at[b->f->regs.n - 1].number = number;
    }
    return ir_make_ref(REF_REG, b->reg_of[number]);
}

ir_ref ir_named_reg(struct builder *b, const struct ptx_operand *o)
{
    return ir_reg_of(b, o->reg, o->number + (o->component == COMPONENT_NONE ? 0 : o->component));
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
    /* none: parameters in registers, the end of an empty body. */
    i->origin = b->insn->inst ? b->insn : NULL;
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

static struct ir_insn *set_lanes(struct ir_insn *i, lane_id lane, ir_ref d, ir_ref a, ir_ref b, ir_ref c)
{
    i->lane = (uint16_t)lane;
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = c;
    return i;
}

struct ir_insn *ir_emit_lanes(struct builder *b, lane_id lane, ir_ref d, ir_ref a, ir_ref b_, ir_ref c)
{
    return set_lanes(ir_emit_guarded(b, IR_LANES), lane, d, a, b_, c);
}

ir_ref ir_lanes(struct builder *b, lane_id lane, ir_ref a, ir_ref b_, ir_ref c)
{
    ir_ref d = ir_temp(b, lane_info(lane)->d);
    set_lanes(ir_emit(b, IR_LANES), lane, d, a, b_, c);
    return d;
}

struct ir_access *ir_new_access(struct builder *b, enum ptx_space space, unsigned bytes, unsigned n)
{
    struct ir_access *a = ARENA_NEW(b->arena, struct ir_access);
    a->mem = (struct mem_access){.space = space, .bytes = (uint8_t)bytes, .n = (uint8_t)n};
    return a;
}

struct ir_insn *ir_emit_access(struct builder *b, enum ir_kind kind, ir_ref base, struct ir_access *access)
{
    struct ir_insn *i = ir_emit_guarded(b, kind);
    i->access = access;
    i->a = base;
    return i;
}

static lane_id resize_lane(unsigned from, unsigned to, bool sign)
{
    static const struct {
        uint8_t from, to;
        lane_id zero, sign;
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
    lane_id lane = resize_lane(from, width, sign);
    if (!lane) {
        build_error(b, "ptx-type", NULL, "a register of %u bits cannot be used where %u bits are needed", from, width);
        return a;
    }
    return ir_lanes(b, lane, a, REF_NONE, REF_NONE);
}

static struct ir_block *current(struct builder *b)
{
    return &b->f->blocks.at[b->f->blocks.n - 1];
}

void ir_cut(struct builder *b)
{
    if (b->f->blocks.n && current(b)->first == b->f->insns.n)
        return;
    if (b->f->blocks.n)
        current(b)->next = b->f->blocks.n;
    struct ir_block *block = VEC_PUSH(b->arena, &b->f->blocks);
    *block = (struct ir_block){.first = b->f->insns.n, .next = NO_BLOCK};
}

/* ---- the frame ---- */

uint32_t ir_add_frame_bytes(struct builder *b, uint64_t size, uint32_t align)
{
    uint32_t at = (b->f->frame_bytes + align - 1) & ~(align - 1);
    if (size > (1u << 30) || at + size > (1u << 30)) {
        build_error(b, "not-supported", NULL, "local memory of a thread is limited to 1 GB");
        return 0;
    }
    b->f->frame_bytes = at + (uint32_t)size;
    return at;
}

uint32_t ir_add_frame_var(struct builder *b, struct ptx_var *v)
{
    uint32_t *at = &b->f->frame_at[v->number];
    /* Interleaving by words (mem/local.h) needs an alignment of 4. */
    if (!*at)
        *at = 1 + ir_add_frame_bytes(b, v->size, v->align < 4 ? 4 : v->align);
    return *at - 1;
}

uint32_t ir_frame_offset(const struct ir_func *f, const struct ptx_var *v)
{
    uint32_t at = f->frame_at[v->number];
    return at ? at - 1 : 0;
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

ir_ref ir_symbol_place(struct builder *b, struct ptx_symbol *s, int64_t disp, unsigned width)
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

/* Its address as a value. */
static ir_ref symbol_address(struct builder *b, struct ptx_symbol *s, int64_t disp, unsigned width)
{
    ir_ref at = ir_symbol_place(b, s, disp, width);
    if (s->kind != SYMBOL_VAR || ((struct ptx_var *)s)->space != SPACE_SHARED || !b->f->clustered)
        return at;
    return ir_lanes(b, LANE_AS_WIDE(add, width), at, ir_shared_start(b, width), REF_NONE);
}

ir_ref ir_shared_start(struct builder *b, unsigned width)
{
    return ir_resize(b, ir_make_ref(REF_SREG, IR_SHARED_START), width, false);
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

/* With the constant that stands behind it, at the register's own width. */
static ir_ref register_value(struct builder *b, const struct ptx_operand *o)
{
    ir_ref r = ir_named_reg(b, o);
    unsigned width = ir_ref_width(b, r);
    lane_id add = width == 16 ? LANE_add_b16 : LANE_AS_WIDE(add, width);
    return o->disp ? ir_lanes(b, add, r, ir_const_of(b, width, (uint64_t)o->disp), REF_NONE) : r;
}

ir_ref ir_source(struct builder *b, const struct ptx_operand *o, enum isa_type type)
{
    unsigned width = ir_width(type);
    bool sign = isa_type_class(type) == CLASS_S;
    switch (o->kind) {
    case OPND_REG: return ir_resize(b, register_value(b, o), width, sign);
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
    ir_ref reg = ir_named_reg(b, o);
    if (ir_ref_width(b, reg) == width)
        return d.ref = reg, d;
    d.ref = ir_temp(b, width);
    d.reg = reg;
    d.sign = isa_type_class(type) == CLASS_S;
    return d;
}

static lane_id move_lane(unsigned width)
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
    ir_emit_lanes(b, move_lane(ir_ref_width(b, reg)), reg, value, REF_NONE, REF_NONE);
}

void ir_finish(struct builder *b, struct ir_dest d)
{
    if (!d.reg)
        return;
    lane_id lane = resize_lane(ir_ref_width(b, d.ref), ir_ref_width(b, d.reg), d.sign);
    if (!lane) {
        build_error(b, "ptx-type", NULL, "the destination register is too narrow");
        return;
    }
    ir_emit_lanes(b, lane, d.reg, d.ref, REF_NONE, REF_NONE);
}

void ir_write(struct builder *b, const struct ptx_operand *o, enum isa_type type, ir_ref value)
{
    if (o->kind != OPND_REG)
        return;
    struct ir_dest d = ir_destination(b, o, type);
    ir_copy_guarded(b, d.ref, value);
    ir_finish(b, d);
}
