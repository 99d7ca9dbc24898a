/* Operands against what a form of isa/ops.def says of them (PTX ISA 6.4, 9.4); see verify.h. */
#include <stdarg.h>

#include "isa/opcodes.h"
#include "ptx/verify.h"

struct str operand_text(const struct verifier *v, const struct ptx_operand *o)
{
    return (struct str){v->m->source->text.p + o->offset, o->length};
}

void operand_error(struct verifier *v, const struct ptx_operand *o, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(v->diags->arena, format, args);
    va_end(args);
    diag_error(v->diags, ptx_place(v->m, o->offset, o->length), "ptx-operand", help, "%s", text);
}

/* ---- types ---- */

/* Integers and bits may stand for each other, floating point only for itself and bits; packed and
 * other formats are held in bits (9.4, Table "Operand Size Exceeding Instruction-Type Size"). */
static bool classes_agree(enum isa_type reg, enum isa_type want)
{
    enum isa_class have = isa_type_class(reg), need = isa_type_class(want);
    bool bits = have == CLASS_B || reg == TYPE_f16x2 || reg == TYPE_bf16x2;
    switch (need) {
    case CLASS_P: return have == CLASS_P;
    case CLASS_B: return have != CLASS_P && have != CLASS_O;
    case CLASS_U:
    case CLASS_S: return bits || have == CLASS_U || have == CLASS_S;
    case CLASS_F: return have == CLASS_B || reg == want || (want == TYPE_bf16 && have <= CLASS_S);
    default: return bits || reg == want;
    }
}

bool types_fit(enum isa_type have, enum isa_type want, bool relaxed)
{
    unsigned bits = isa_type_bits(have), need = isa_type_bits(want);
    bool wide_enough = relaxed && isa_type_class(want) != CLASS_X ? bits >= need : bits == need;
    return wide_enough && classes_agree(have, want);
}

bool register_fits(const struct ptx_reg *r, enum isa_type want, bool relaxed)
{
    return types_fit(r->type, want, relaxed);
}

/* The register types that would do, for a message. */
static const char *fitting_types(struct arena *a, enum isa_type want)
{
    unsigned bits = isa_type_bits(want);
    switch (isa_type_class(want)) {
    case CLASS_P: return ".pred";
    case CLASS_U:
    case CLASS_S: return arena_printf(a, ".b%u, .u%u or .s%u", bits, bits, bits);
    case CLASS_F: return arena_printf(a, ".b%u or .%s", bits, isa_type_name(want));
    case CLASS_B:
        return bits > 64    ? ".b128"
               : bits == 8  ? ".b8 or wider"
               : bits == 16 ? ".b16, .u16, .s16 or .f16"
                            : arena_printf(a, ".b%u, .u%u, .s%u or .f%u", bits, bits, bits, bits);
    default: return arena_printf(a, ".b%u", bits);
    }
}

/* A register that is read may stand with a constant that is added. The PTX ISA has this in
 * addresses alone; ptxas takes it in all instructions, and makes the sum of integers (of floats it
 * makes nothing, or crashes). */
static bool check_register_plus(struct verifier *v, const struct ptx_operand *o)
{
    enum isa_class class = isa_type_class(o->reg->type);
    bool integer = class == CLASS_B || class == CLASS_U || class == CLASS_S;
    if (integer && isa_type_bits(o->reg->type) <= 64)
        return true;
    operand_error(v, o, "add it first", "`%.*s` is .%s, to which no constant can be added here",
                  STR_ARG(operand_text(v, o)), isa_type_name(o->reg->type));
    return false;
}

static void check_register(struct verifier *v, const struct ptx_operand *o, enum isa_type want, bool relaxed)
{
    struct arena *a = v->diags->arena;
    struct str text = operand_text(v, o);
    if (o->reg->vector > 1 && o->component == COMPONENT_NONE) {
        operand_error(v, o, arena_printf(a, "take an element: `%.*s.x`", STR_ARG(text)),
                      "`%.*s` is a vector of %u registers", STR_ARG(text), o->reg->vector);
        return;
    }
    if (o->disp && !check_register_plus(v, o))
        return;
    if (register_fits(o->reg, want, relaxed))
        return;
    unsigned have = isa_type_bits(o->reg->type), need = isa_type_bits(want);
    const char *kind = isa_type_class(want) == CLASS_P
                           ? "a predicate"
                           : arena_printf(a, "a register of %s%u bits", relaxed ? "at least " : "", need);
    const char *help = isa_type_class(want) == CLASS_P
                           ? "setp makes one from a comparison"
                           : arena_printf(a, "use a register of type %s", fitting_types(a, want));
    if (have != need && !(relaxed && have > need))
        operand_error(v, o, help, "`%.*s` needs %s here, and `%.*s` is .%s", STR_ARG(v->insn->inst->text), kind,
                      STR_ARG(text), isa_type_name(o->reg->type));
    else
        operand_error(v, o, help, "`%.*s` cannot use `%.*s` here, which is .%s", STR_ARG(v->insn->inst->text),
                      STR_ARG(text), isa_type_name(o->reg->type));
}

/* ---- constants and addresses ---- */

/* .f32 and .f64 take floating-point constants, .b32 and .b64 those of their own width, too; 16-bit
 * floats none. */
static void check_constant(struct verifier *v, const struct ptx_operand *o, enum isa_type want)
{
    enum isa_class class = isa_type_class(want);
    struct str op = v->insn->inst->text;
    if (o->kind == OPND_INT) {
        if (want == TYPE_f32 || want == TYPE_f64)
            operand_error(v, o, want == TYPE_f32 ? "write 1.0 or 0f3f800000" : "write 1.0 or 0d3ff0000000000000",
                          "`%.*s` cannot use the integer `%.*s` here", STR_ARG(op), STR_ARG(operand_text(v, o)));
        else if (class == CLASS_F || class == CLASS_V)
            operand_error(v, o, "move the constant's bits into a register first", "`%.*s` takes no constant here",
                          STR_ARG(op));
        return;
    }
    bool fits = want == TYPE_f32 || want == TYPE_f64 ||
                (class == CLASS_B && isa_type_bits(want) == isa_type_bits((enum isa_type)o->float_type));
    if (!fits)
        operand_error(v, o, class == CLASS_F ? "move the constant's bits into a register first" : "write an integer",
                      "`%.*s` cannot use the floating-point constant `%.*s` here", STR_ARG(op),
                      STR_ARG(operand_text(v, o)));
}

/* The address of a variable or function as a value. mov takes all; other instructions a variable's
 * plus a constant. */
static void check_symbol(struct verifier *v, const struct ptx_operand *o, enum isa_type want)
{
    struct str text = operand_text(v, o);
    enum isa_class class = isa_type_class(want);
    if (o->symbol->kind != SYMBOL_VAR && o->symbol->kind != SYMBOL_FUNC) {
        operand_error(v, o, NULL, "`%.*s` is a label, not a value", STR_ARG(text));
    } else if (o->symbol->kind == SYMBOL_VAR && ((const struct ptx_var *)o->symbol)->space == SPACE_TEX) {
        operand_error(v, o, NULL, "`%.*s` is a texture, which has no address", STR_ARG(text));
    } else if (class == CLASS_F || class == CLASS_P) {
        operand_error(v, o, NULL, "the address of `%.*s` cannot be a .%s", STR_ARG(text), isa_type_name(want));
    } else if (o->symbol->kind == SYMBOL_VAR && v->insn->inst->kind != KIND_MOV && !o->disp) {
        bool param = ((const struct ptx_var *)o->symbol)->space == SPACE_PARAM;
        operand_error(v, o,
                      param ? "load it first, with ld.param"
                            : "load it first, or take its address into a register with mov.u64",
                      "`%.*s` is a variable, not a register", STR_ARG(text));
    }
}

/* %tid and the like stand in mov and cvt alone (9.7.9.3). */
static void check_sreg(struct verifier *v, const struct ptx_operand *o, enum isa_type want)
{
    const struct isa_sreg_info *info = isa_sreg_info((enum isa_sreg)o->sreg);
    struct arena *a = v->diags->arena;
    struct str text = operand_text(v, o);
    verify_need(v, ptx_place(v->m, o->offset, o->length), arena_printf(a, "`%%%s`", info->name), info->need);
    if (info->components > 1 && o->component == COMPONENT_NONE) {
        operand_error(v, o, arena_printf(a, "write `%.*s.x`", STR_ARG(text)), "`%.*s` has three components",
                      STR_ARG(text));
        return;
    }
    if (info->components == 1 && o->component != COMPONENT_NONE) {
        operand_error(v, o, NULL, "`%%%s` has no components", info->name);
        return;
    }
    enum isa_class from = isa_type_class(want);
    if (v->insn->inst->op == OP_cvt && from != CLASS_F &&
        isa_type_class((enum isa_type)v->insn->inst->type[0]) != CLASS_F)
        return;
    if (v->insn->inst->op != OP_mov) {
        operand_error(v, o,
                      arena_printf(a, "move it into a register first: mov.%s %%r, %.*s;", isa_type_name(info->type),
                                   STR_ARG(text)),
                      "`%.*s` cannot use a special register", STR_ARG(v->insn->inst->text));
        return;
    }
    /* PTX 1 had the thread and block indices in 16 bits, the grid's number in 32. */
    unsigned have = isa_type_bits(info->type), need = isa_type_bits(want);
    bool old = (info->components > 1 && need == 16) || (o->sreg == SREG_gridid && need < 64);
    if ((have != need && !old) || isa_type_class(want) == CLASS_F)
        operand_error(v, o, arena_printf(a, "write mov.%s", isa_type_name(info->type)), "`%.*s` is .%s, not .%s",
                      STR_ARG(text), isa_type_name(info->type), isa_type_name(want));
}

void verify_source(struct verifier *v, const struct ptx_operand *o, enum isa_type want, bool relaxed)
{
    struct str op = v->insn->inst->text;
    bool predicate = want == TYPE_pred;
    if (o->negated && !predicate && v->insn->inst->kind != KIND_VIDEO) {
        operand_error(v, o, "use the instruction not or neg", "`!` is for predicates, `-` for constants");
        return;
    }
    if (o->selector.n && v->insn->inst->kind != KIND_VIDEO) {
        operand_error(v, o, o->kind == OPND_SREG ? "its parts are .x, .y and .z" : NULL,
                      "`%.*s` has no part `.%.*s` here", STR_ARG(operand_text(v, o)), STR_ARG(o->selector));
        return;
    }
    switch (o->kind) {
    case OPND_REG: check_register(v, o, want, relaxed); break;
    case OPND_INT:
    case OPND_FLOAT: check_constant(v, o, want); break;
    case OPND_SYMBOL: check_symbol(v, o, want); break;
    case OPND_SREG: check_sreg(v, o, want); break;
    case OPND_SINK: operand_error(v, o, NULL, "`_` cannot be read"); break;
    case OPND_MEM:
        operand_error(v, o, "load it into a register first, with ld", "`%.*s` cannot read memory here", STR_ARG(op));
        break;
    default: operand_error(v, o, NULL, "`%.*s` needs one value here", STR_ARG(op)); break;
    }
}

/* ---- destinations ---- */

void verify_destination(struct verifier *v, const struct ptx_operand *o, enum isa_type want, bool relaxed)
{
    struct str op = v->insn->inst->text;
    switch (o->kind) {
    case OPND_REG:
        if (o->negated || o->disp)
            operand_error(v, o, NULL,
                          o->disp ? "a destination is a plain register" : "a destination cannot be negated");
        else
            check_register(v, o, want, relaxed);
        break;
    case OPND_SINK: break;
    case OPND_SREG: operand_error(v, o, NULL, "`%.*s` can only be read", STR_ARG(operand_text(v, o))); break;
    case OPND_VECTOR: operand_error(v, o, NULL, "`%.*s` writes one register", STR_ARG(op)); break;
    default:
        operand_error(v, o, "the destination is the first operand", "`%.*s` needs a register to write here",
                      STR_ARG(op));
        break;
    }
}

/* `_` drops a result where there is more than one, or an effect besides. */
static bool may_drop(const struct isa_inst *inst, const struct isa_operand *spec)
{
    return inst->kind == KIND_ATOM || inst->kind == KIND_MBARRIER || spec->pair || spec->kind == OPERAND_DPRED;
}

static void verify_result(struct verifier *v, const struct ptx_operand *o, const struct isa_operand *spec, bool relaxed)
{
    enum isa_type want = isa_operand_type(v->insn->inst, spec);
    if (o->kind == OPND_PAIR && spec->pair) {
        verify_destination(v, &o->elems[0], want, relaxed);
        verify_destination(v, &o->elems[1], TYPE_pred, false);
    } else if (o->kind == OPND_PAIR) {
        operand_error(v, o, NULL, "`%.*s` has one result", STR_ARG(v->insn->inst->text));
    } else if (o->kind == OPND_SINK && !may_drop(v->insn->inst, spec)) {
        operand_error(v, o, "write an unused register", "the result of `%.*s` cannot be dropped",
                      STR_ARG(v->insn->inst->text));
    } else {
        verify_destination(v, o, want, relaxed);
    }
}

/* ---- vectors ---- */

static unsigned vector_length(const struct isa_inst *inst)
{
    return isa_has(inst, MOD_v2) ? 2 : isa_has(inst, MOD_v4) ? 4 : isa_has(inst, MOD_v8) ? 8 : 1;
}

static void verify_vector(struct verifier *v, const struct ptx_operand *o, const struct isa_operand *spec, bool relaxed)
{
    const struct isa_inst *inst = v->insn->inst;
    unsigned n = vector_length(inst);
    enum isa_type want = isa_operand_type(inst, spec);
    if (ptx_is_vector_register(o) && o->reg->vector == n && !o->disp) {
        if (!register_fits(o->reg, want, relaxed))
            operand_error(v, o, NULL, "`%.*s` cannot use `%.*s`, which is .%s", STR_ARG(inst->text),
                          STR_ARG(operand_text(v, o)), isa_type_name(o->reg->type));
        return;
    }
    if (o->kind != OPND_VECTOR || o->n != n) {
        operand_error(v, o, n == 2 ? "as in {%r1, %r2}" : "list as many registers in braces",
                      "`%.*s` needs a vector of %u elements here", STR_ARG(inst->text), n);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        const struct ptx_operand *e = &o->elems[k];
        bool as_bits = e->kind == OPND_REG && want == TYPE_f32 && isa_type_bits(e->reg->type) == 32;
        if (spec->kind == OPERAND_SRC && e->kind == OPND_SINK && inst->kind == KIND_MOV)
            continue; /* so ptxas: it is 0 */
        if (spec->kind == OPERAND_DST)
            verify_destination(v, e, as_bits ? TYPE_b32 : want, relaxed);
        else
            verify_source(v, e, as_bits ? TYPE_b32 : want, relaxed);
    }
}

void verify_vector_mov(struct verifier *v)
{
    const struct ptx_operand *to = &v->insn->operands[0], *from = &v->insn->operands[1];
    enum isa_type type = (enum isa_type)v->insn->inst->type[0];
    unsigned n = vector_length(v->insn->inst), bits = n * isa_type_bits(type);
    if (bits > 128)
        diag_error(v->diags, insn_place(v), "ptx-operand", NULL, "a vector has at most 128 bits, not %u", bits);
    verify_vector(v, to, &(struct isa_operand){.kind = OPERAND_DST, .type = type}, false);
    bool special = from->kind == OPND_SREG && isa_sreg_info((enum isa_sreg)from->sreg)->components > 1;
    if (special && n == 4 && from->component == COMPONENT_NONE) {
        struct ptx_operand first = *from;
        first.component = 0;
        verify_source(v, &first, type, false);
    } else {
        verify_vector(v, from, &(struct isa_operand){.kind = OPERAND_SRC, .type = type}, false);
    }
}

/* ---- memory ---- */

void verify_address(struct verifier *v, const struct ptx_operand *o, enum ptx_space space)
{
    if (o->kind != OPND_MEM) {
        operand_error(v, o, "put the address in brackets, as in [%rd1+4]", "`%.*s` needs an address here",
                      STR_ARG(v->insn->inst->text));
        return;
    }
    const struct ptx_operand *base = &o->elems[0];
    struct str text = operand_text(v, base);
    if (o->n > 1 && !isa_has(v->insn->inst, MOD_tensor))
        operand_error(v, &o->elems[1], NULL, "`%.*s` takes no coordinates", STR_ARG(v->insn->inst->text));
    if (base->kind == OPND_REG) {
        enum isa_class class = isa_type_class(base->reg->type);
        bool integer = class == CLASS_B || class == CLASS_U || class == CLASS_S;
        if (!integer || isa_type_bits(base->reg->type) > 64 ||
            (base->reg->vector > 1 && base->component == COMPONENT_NONE))
            operand_error(v, base, "use a .b64 or .u64 register", "`%.*s` is .%s, and cannot hold an address",
                          STR_ARG(text), isa_type_name(base->reg->type));
        else if ((space == SPACE_GENERIC || space == SPACE_GLOBAL) && v->m->address_bits == 64 &&
                 isa_type_bits(base->reg->type) < 64) /* ptxas refuses it, too; the other spaces are small */
            operand_error(v, base, "use a .b64 or .u64 register; cvt.u64.u32 widens a number",
                          "`%.*s` is .%s, and %s addresses have 64 bits in this module (.address_size)", STR_ARG(text),
                          isa_type_name(base->reg->type), ptx_space_name(space));
        return;
    }
    if (base->kind == OPND_INT) {
        if (space != SPACE_LOCAL)
            operand_error(v, base, "move it into a register first", "an address can be a constant only in .local");
        return;
    }
    if (base->kind != OPND_SYMBOL || base->symbol->kind == SYMBOL_LABEL || base->symbol->kind == SYMBOL_TABLE) {
        operand_error(v, base, "use a register or a variable", "`%.*s` cannot be an address", STR_ARG(text));
        return;
    }
    enum ptx_space have =
        base->symbol->kind == SYMBOL_VAR ? ((const struct ptx_var *)base->symbol)->space : SPACE_GENERIC;
    bool generic = space == SPACE_GENERIC && have != SPACE_PARAM && have != SPACE_REG && have != SPACE_TEX;
    if (have != space && !generic)
        operand_error(v, base,
                      have == SPACE_PARAM ? "load the pointer first, with ld.param, and use its register"
                                          : arena_printf(v->diags->arena, "write .%s", ptx_space_name(have)),
                      "`%.*s` is in .%s, and `%.*s` accesses %s%s", STR_ARG(text), ptx_space_name(have),
                      STR_ARG(v->insn->inst->text), space == SPACE_GENERIC ? "generic addresses" : ".",
                      space == SPACE_GENERIC ? "" : ptx_space_name(space));
}

/* ---- by the form's entry ---- */

/* .b0 to .b3, .h0, .h1; of the packed video instructions four digits or two (9.7.18). */
static void verify_selector(struct verifier *v, const struct ptx_operand *o)
{
    struct str s = o->selector;
    bool ok = s.n >= 2 && s.n <= 5 && (s.p[0] == 'b' || s.p[0] == 'h');
    for (size_t i = 1; ok && i < s.n; i++)
        ok = s.p[i] >= '0' && s.p[i] <= '7';
    if (s.n && !ok)
        operand_error(v, o, "selectors are .b0 to .b3, .h0 and .h1, or .b3210 and .h10", "`.%.*s` selects nothing",
                      STR_ARG(s));
}

void verify_operand(struct verifier *v, const struct ptx_operand *o, const struct isa_operand *spec, bool relaxed)
{
    const struct isa_inst *inst = v->insn->inst;
    enum isa_type want = isa_operand_type(inst, spec);
    if (spec->selector)
        verify_selector(v, o);
    /* A vector of one element, where longer ones may stand, is that element: ptxas takes it, and
     * compilers write it. */
    bool braces = o->kind == OPND_VECTOR && o->n == 1;
    if (spec->vector && (vector_length(inst) > 1 || braces)) {
        verify_vector(v, o, spec, relaxed);
        return;
    }
    switch (spec->kind) {
    case OPERAND_DST:
    case OPERAND_DPRED: verify_result(v, o, spec, relaxed); break;
    case OPERAND_SRC:
    case OPERAND_SPRED: verify_source(v, o, want, relaxed); break;
    case OPERAND_REG:
        if (o->kind == OPND_REG && !o->disp)
            verify_source(v, o, want, relaxed);
        else
            operand_error(v, o, NULL, "`%.*s` needs a register here", STR_ARG(inst->text));
        break;
    case OPERAND_IMM:
        if (o->kind != OPND_INT)
            operand_error(v, o, NULL, "`%.*s` needs an integer constant here", STR_ARG(inst->text));
        break;
    default: break;
    }
}
