/* Matrix instructions: shapes against types, and as many registers as the fragments have (PTX ISA
 * 9.7.14, 9.7.15); see verify.h. */
#include "isa/matrix.h"
#include "isa/needs.h"
#include "ptx/verify.h"

/* The operands of one instruction, in the order in which its form names them. */
struct walk {
    struct verifier *v;
    struct matrix x;
    unsigned at; /* the next operand */
    bool a_in_registers;
};

static const struct ptx_operand *next_operand(struct walk *w)
{
    return w->at < w->v->insn->n_operands ? &w->v->insn->operands[w->at++] : NULL;
}

/* The type of the registers that hold a fragment. */
static enum isa_type register_type(const struct fragment *f)
{
    switch (f->type) {
    case TYPE_f32:
    case TYPE_f64: return (enum isa_type)f->type;
    default: return TYPE_b32;
    }
}

static void check_fragment(struct walk *w, const struct ptx_operand *o, const struct fragment *f, const char *name,
                           bool writes)
{
    enum isa_type want = register_type(f);
    bool alone = w->x.kind == MATRIX_TRANSPOSE;
    unsigned n = ptx_n_elements(o);
    if (ptx_is_list(o) == alone || n != f->n_regs) {
        operand_error(w->v, o, alone ? "write a register without braces" : "list as many registers in braces",
                      "the fragment %s of `%.*s` is %s%u register%s of .%s%s", name, STR_ARG(w->v->insn->inst->text),
                      alone ? "" : "a list of ", f->n_regs, f->n_regs == 1 ? "" : "s", isa_type_name(want),
                      n == f->n_regs ? "" : arena_printf(w->v->diags->arena, ", and not of %u", n));
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        if (!writes)
            verify_source(w->v, &e, want, false);
        else if (e.kind == OPND_SINK)
            operand_error(w->v, &e, "write an unused register", "no register of a fragment can be `_`");
        else
            verify_destination(w->v, &e, want, false);
    }
}

static bool distinct(const struct ptx_operand *a, const struct ptx_operand *b)
{
    return a->kind != OPND_REG || b->kind != OPND_REG || a->reg != b->reg || a->number != b->number ||
           a->component != b->component;
}

/* What is written by one instruction is written once. */
static void check_distinct(struct walk *w, const struct ptx_operand *o)
{
    for (unsigned k = 0; o->kind == OPND_VECTOR && k < o->n; k++)
        for (unsigned j = 0; j < k; j++)
            if (!distinct(&o->elems[k], &o->elems[j])) {
                operand_error(w->v, &o->elems[k], "give each element a register of its own", "`%.*s` is written twice",
                              STR_ARG(operand_text(w->v, &o->elems[k])));
                return;
            }
}

static enum ptx_space space_of(const struct verifier *v)
{
    switch (isa_pick(v->m->isa, v->insn->inst, SLOT_MATRIXSPACE)) {
    case MOD_global: return SPACE_GLOBAL;
    case MOD_none: return SPACE_GENERIC;
    default: return SPACE_SHARED;
    }
}

static void check_constant(struct walk *w, const struct ptx_operand *o, const char *name, int64_t low, int64_t high,
                           int64_t step)
{
    int64_t value = (int64_t)o->bits;
    if (o->kind != OPND_INT)
        operand_error(w->v, o, NULL, "the %s of `%.*s` must be a constant", name, STR_ARG(w->v->insn->inst->text));
    else if (value < low || value > high || (value - low) % step)
        operand_error(w->v, o, NULL, step > 1 ? "the %s must be %lld or %lld" : "the %s must be from %lld to %lld",
                      name, (long long)low, (long long)high);
}

/* Of how many lanes' metadata the selector names one: four lanes have a row's and the next one's
 * but seven. */
static int64_t selector_count(const struct matrix *x)
{
    unsigned group = x->a.bits == 32 ? 2 : x->a.bits == 4 ? 8 : 4;
    return 16 / (x->k / group);
}

/* 9.7.15.5.2: scale-d, then what floats and types of 16 bits have. */
static void check_wgmma(struct walk *w)
{
    bool is_float = w->x.d_type != TYPE_s32, transposes = w->x.a.bits == 16;
    const struct ptx_operand *o = next_operand(w);
    if (o)
        verify_source(w->v, o, TYPE_pred, false);
    for (unsigned k = 0; is_float && k < 2; k++)
        if ((o = next_operand(w)))
            check_constant(w, o, k ? "scale of B" : "scale of A", -1, 1, 2);
    for (unsigned k = w->a_in_registers; transposes && k < 2; k++)
        if ((o = next_operand(w)))
            check_constant(w, o, k ? "transposition of B" : "transposition of A", 0, 1, 1);
}

static void check_one(struct walk *w, struct str name)
{
    bool needs = name.p[name.n - 1] != '?';
    name.n -= !needs;
    if (str_is(name, "WGMMA")) {
        check_wgmma(w);
        return;
    }
    const struct ptx_operand *o = next_operand(w);
    bool in_memory = w->x.kind == MATRIX_WARPGROUP && o && !ptx_is_list(o);
    if (!o)
        return;
    if (str_is(name, "D")) {
        check_fragment(w, o, &w->x.d, "D", true);
        check_distinct(w, o);
    } else if (str_is(name, "A") && !in_memory) {
        w->a_in_registers = true;
        check_fragment(w, o, &w->x.a, "A", false);
    } else if (str_is(name, "A") || (str_is(name, "B") && w->x.kind == MATRIX_WARPGROUP)) {
        verify_source(w->v, o, TYPE_b64, false);
    } else if (str_is(name, "B")) {
        check_fragment(w, o, &w->x.b, "B", false);
    } else if (str_is(name, "C")) {
        check_fragment(w, o, &w->x.c, "C", false);
    } else if (str_is(name, "M")) {
        verify_address(w->v, o, space_of(w->v));
    } else if (str_is(name, "SELECTOR")) {
        check_constant(w, o, "selector", 0, selector_count(&w->x) - 1, 1);
    } else {
        verify_source(w->v, o, TYPE_u32, false);
    }
}

/* How many operands there are to be: those of the form, and what wgmma has for its types. */
static void count_operands(const struct verifier *v, const struct matrix *x, unsigned *least, unsigned *most)
{
    const struct ptx_insn *in = v->insn;
    const char *rest = in->inst->form->operands;
    bool in_registers = in->n_operands > 1 && ptx_is_list(&in->operands[1]);
    *least = *most = 0;
    for (struct str name; isa_next_word(&rest, ' ', &name);) {
        unsigned n =
            !str_is(name, "WGMMA") ? 1 : 1 + (x->d_type != TYPE_s32 ? 2 : 0) + (x->a.bits == 16 ? 2 - in_registers : 0);
        *least += name.p[name.n - 1] != '?' ? n : 0;
        *most += n;
    }
}

void verify_matrix(struct verifier *v)
{
    const struct isa_inst *inst = v->insn->inst;
    struct walk w = {.v = v};
    const char *why, *rest = inst->form->operands;
    unsigned least, most;
    if (!matrix_of(inst, v->diags->arena, &w.x, &why)) {
        diag_error(v->diags, insn_place(v), "ptx-opcode", NULL, "`%.*s`: %s", STR_ARG(inst->text), why);
        return;
    }
    struct isa_need need = matrix_need(inst, &w.x);
    if (isa_need_met(inst->need, v->m->version, v->m->target))
        verify_need(v, insn_place(v), arena_printf(v->diags->arena, "`%.*s`", STR_ARG(inst->text)), need);
    count_operands(v, &w.x, &least, &most);
    if (v->insn->n_operands < least || v->insn->n_operands > most) {
        char usage[128];
        isa_operands_text(usage, sizeof usage, inst->form->operands);
        diag_error(v->diags, insn_place(v), "ptx-operand",
                   arena_printf(v->diags->arena, "%.*s %s;", STR_ARG(inst->text), usage),
                   "`%.*s` takes %u operands, not %u", STR_ARG(inst->text), most, v->insn->n_operands);
        return;
    }
    for (struct str name; isa_next_word(&rest, ' ', &name);)
        check_one(&w, name);
}
