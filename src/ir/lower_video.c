/* Video instructions (PTX ISA 9.7.18): their selectors and modifiers become the constant of a lane
 * function; see builder.h, isa/video.h. */
#include "ir/builder.h"
#include "isa/opcodes.h"
#include "isa/video.h"

/* One position of an operand's text. */
struct selector {
    const char *name;
    uint8_t at, bits;
};

static const struct selector selectors[] = {
    {"", 0, 32}, {"b0", 0, 8}, {"b1", 8, 8}, {"b2", 16, 8}, {"b3", 24, 8}, {"h0", 0, 16}, {"h1", 16, 16},
};

static bool wrong_selector(struct builder *b, const struct ptx_operand *o, const char *help)
{
    const struct isa_inst *inst = b->insn->inst;
    build_error(b, "ptx-operand", help, "`.%.*s` is not a selector of this operand of `%.*s`", STR_ARG(o->selector),
                STR_ARG(inst->text));
    return false;
}

static const struct selector *scalar_selector(struct builder *b, const struct ptx_operand *o)
{
    for (size_t i = 0; i < sizeof selectors / sizeof selectors[0]; i++)
        if (str_is(o->selector, selectors[i].name))
            return &selectors[i];
    wrong_selector(b, o, "one of .b0 .b1 .b2 .b3 .h0 .h1");
    return NULL;
}

/* Scalar: a part of each source; the destination's part says where the result goes into c. */
static bool select_scalar(struct builder *b, struct video *v)
{
    const struct ptx_operand *o = b->insn->operands;
    const struct selector *d = scalar_selector(b, &o[0]), *a = scalar_selector(b, &o[1]),
                          *s = scalar_selector(b, &o[2]);
    if (!d || !a || !s)
        return false;
    v->a = (uint16_t)(a->at | a->bits << 8);
    v->b = (uint16_t)(s->at | s->bits << 8);
    v->bytes = (uint8_t)((1u << d->bits / 8) - 1) << d->at / 8;
    bool merges = d->bits != 32;
    if (merges && (b->insn->n_operands < 4 || v->second || b->insn->inst->op == OP_vmad))
        return wrong_selector(b, &o[0], "a result takes a selector only if it is merged into a fourth operand");
    if (v->second && b->insn->n_operands < 4) {
        build_error(b, "ptx-operand", NULL, "`%.*s` needs a fourth operand", STR_ARG(b->insn->inst->text));
        return false;
    }
    return true;
}

/* .h32, .b7610: the elements of {b, a} that stand there, high to low, as bytes. */
static bool simd_source(struct builder *b, const struct ptx_operand *o, unsigned elements, unsigned first,
                        uint16_t *out)
{
    unsigned bytes = 4 / elements;
    struct str s = o->selector;
    if (s.n && (s.n != elements + 1 || s.p[0] != (elements == 2 ? 'h' : 'b')))
        return wrong_selector(
            b, o, elements == 2 ? "two of the halves 0 to 3, as in .h32" : "four of the bytes 0 to 7, as in .b7610");
    *out = 0;
    for (unsigned i = 0; i < elements; i++) {
        unsigned which = s.n ? (unsigned)(s.p[elements - i] - '0') : first + i;
        if (which >= 2 * elements)
            return wrong_selector(b, o, elements == 2 ? "halves are 0 to 3" : "bytes are 0 to 7");
        for (unsigned k = 0; k < bytes; k++)
            *out |= (uint16_t)((which * bytes + k) << 4 * (i * bytes + k));
    }
    return true;
}

/* .h1, .b310: the elements of the destination that get their result, in falling order. */
static bool simd_destination(struct builder *b, const struct ptx_operand *o, unsigned elements, uint8_t *out)
{
    unsigned bytes = 4 / elements, last = elements;
    struct str s = o->selector;
    *out = s.n ? 0 : 15;
    if (s.n && s.p[0] != (elements == 2 ? 'h' : 'b'))
        return wrong_selector(b, o, NULL);
    for (size_t i = 1; i < s.n; i++) {
        unsigned which = (unsigned)(s.p[i] - '0');
        if (which >= last)
            return wrong_selector(b, o, "elements are in descending order, as in .h10 and .b310");
        last = which;
        *out |= (uint8_t)((1u << bytes) - 1) << which * bytes;
    }
    return s.n != 1 || wrong_selector(b, o, NULL);
}

static bool select_simd(struct builder *b, unsigned elements, struct video *v)
{
    const struct ptx_operand *o = b->insn->operands;
    return simd_destination(b, &o[0], elements, &v->bytes) && simd_source(b, &o[1], elements, 0, &v->a) &&
           simd_source(b, &o[2], elements, elements, &v->b);
}

/* 9.7.18.1.3: only vmad negates: the product, where one of a and b is, or else c. */
static bool add_negation(struct builder *b, struct video *v)
{
    const struct ptx_insn *in = b->insn;
    bool negated[4] = {0}, any = false;
    for (unsigned k = 0; k < in->n_operands && k < 4; k++)
        any |= negated[k] = in->operands[k].negated;
    bool product = negated[1] != negated[2];
    if (!any)
        return true;
    if (negated[0] || in->inst->op != OP_vmad || v->flags & VIDEO_PO || (product && negated[3])) {
        build_error(b, "ptx-operand",
                    "only `vmad` without `.po` can negate operands: a or b (which negates the product), or c, not both",
                    "an operand of `%.*s` cannot be negated here", STR_ARG(in->inst->text));
        return false;
    }
    v->flags |= (product ? VIDEO_NEGATE_PRODUCT : 0) | (negated[3] ? VIDEO_NEGATE_C : 0);
    return true;
}

static struct video modifiers_of(const struct isa_inst *inst)
{
    /* vset: the destination has no type in the opcode. */
    bool set = inst->operand[0].type != TYPE_none;
    bool d = !set && isa_operand_type(inst, &inst->operand[0]) == TYPE_s32;
    bool a = isa_operand_type(inst, &inst->operand[1]) == TYPE_s32;
    bool s = isa_operand_type(inst, &inst->operand[2]) == TYPE_s32;
    return (struct video){
        .flags = (uint8_t)((a ? VIDEO_A_SIGNED : 0) | (s ? VIDEO_B_SIGNED : 0) | (d ? VIDEO_D_SIGNED : 0) |
                           (isa_has(inst, MOD_sat) ? VIDEO_SAT : 0) | (isa_has(inst, MOD_wrap) ? VIDEO_WRAP : 0) |
                           (isa_has(inst, MOD_po) ? VIDEO_PO : 0)),
        .second = isa_has(inst, MOD_add)   ? VIDEO_SECOND_ADD
                  : isa_has(inst, MOD_min) ? VIDEO_SECOND_MIN
                  : isa_has(inst, MOD_max) ? VIDEO_SECOND_MAX
                                           : VIDEO_SECOND_NONE,
        .scale = isa_has(inst, MOD_shr7)    ? 7
                 : isa_has(inst, MOD_shr15) ? 15
                                            : 0,
    };
}

/* Elements that an opcode works on at once: the digit that ends its name, or 1. */
static unsigned elements_of(isa_op op)
{
    const char *name = isa_op_name(op), *last = name + strlen(name) - 1;
    return *last == '2' ? 2 : *last == '4' ? 4 : 1;
}

void lower_video(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    struct video v = modifiers_of(in->inst);
    unsigned elements = elements_of(in->inst->op);
    if (!add_negation(b, &v) || !(elements == 1 ? select_scalar(b, &v) : select_simd(b, elements, &v)))
        return;
    ir_ref a = ir_source(b, &in->operands[1], TYPE_b32), s = ir_source(b, &in->operands[2], TYPE_b32);
    ir_ref c = in->n_operands > 3 ? ir_source(b, &in->operands[3], TYPE_b32) : ir_const_of(b, 32, 0);
    struct ir_dest d = ir_destination(b, &in->operands[0], TYPE_b32);
    ir_emit_lanes(b, in->inst->lane, d.ref, a, s, c)->imm = video_to_imm(v);
    ir_finish(b, d);
}
