/* Instructions of textures and surfaces: what they name, and operands against their shape (PTX ISA
 * 9.7.10, 9.7.11); see verify.h. */
#include "isa/opcodes.h"
#include "isa/texture.h"
#include "ptx/verify.h"

/* The operands of one instruction, one after the other. */
struct walk {
    struct verifier *v;
    struct texture_form form;
    unsigned at;
};

static const struct ptx_operand *peek(const struct walk *w)
{
    return w->at < w->v->insn->n_operands ? &w->v->insn->operands[w->at] : NULL;
}

static const struct ptx_operand *next(struct walk *w)
{
    const struct ptx_operand *o = peek(w);
    w->at++;
    if (!o && w->at == w->v->insn->n_operands + 1u)
        diag_error(w->v->diags, insn_place(w->v), "ptx-operand", NULL, "`%.*s` takes more operands than %u",
                   STR_ARG(w->v->insn->inst->text), w->v->insn->n_operands);
    return o;
}

static bool is_independent(const struct verifier *v)
{
    for (uint32_t i = 0; i < v->m->target_words.n; i++)
        if (str_is(v->m->target_words.at[i], "texmode_independent"))
            return true;
    return false;
}

/* A variable or parameter of an opaque type, or a register that holds its address (5.3). */
static void check_reference(struct walk *w, const struct ptx_operand *o, enum isa_type want, enum isa_type or)
{
    struct verifier *v = w->v;
    struct str text = operand_text(v, o);
    const struct ptx_var *var =
        o->kind == OPND_SYMBOL && o->symbol->kind == SYMBOL_VAR ? (const struct ptx_var *)o->symbol : NULL;
    if (o->kind == OPND_REG) {
        verify_need(v, ptx_place(v->m, o->offset, o->length), "a texture or surface in a register",
                    (struct isa_need){31, 20, false});
        verify_source(v, o, v->m->address_bits == 32 ? TYPE_u32 : TYPE_u64, true);
    } else if (!var) {
        operand_error(v, o, "name a variable of that type, or a register that holds its address",
                      "`%.*s` needs a .%s here", STR_ARG(v->insn->inst->text), isa_type_name(want));
    } else if (var->space != SPACE_TEX ? var->type != want && var->type != or : want != TYPE_texref) {
        operand_error(v, o, NULL, "`%.*s` needs a .%s here, and `%.*s` is .%s", STR_ARG(v->insn->inst->text),
                      isa_type_name(want), STR_ARG(text), isa_type_name(var->type));
    }
}

/* `n` values, in braces where they are several; where more may stand, the others are ignored. */
static void check_values(struct walk *w, const struct ptx_operand *o, unsigned n, unsigned most, enum isa_type first,
                         enum isa_type type, const char *what)
{
    struct verifier *v = w->v;
    unsigned have = ptx_n_elements(o);
    bool list = ptx_is_list(o);
    if (have < n || have > most || (!list && n > 1)) {
        operand_error(v, o, NULL, "`%.*s` needs %u %s%s here", STR_ARG(v->insn->inst->text), n, what,
                      n > 1 ? " in braces" : "");
        return;
    }
    for (unsigned k = 0; k < have; k++) {
        struct ptx_operand e = ptx_element(o, k);
        enum isa_type want = k == 0 ? first : type;
        bool as_bits = e.kind == OPND_REG && isa_type_bits(e.reg->type) == isa_type_bits(want) &&
                       isa_type_class(e.reg->type) != CLASS_P;
        verify_source(v, &e, as_bits ? e.reg->type : want, false);
    }
}

/* [a, b, {c}] */
static void check_place(struct walk *w)
{
    struct verifier *v = w->v;
    const struct ptx_operand *o = next(w);
    bool surface = w->form.is_surface;
    if (!o)
        return;
    if (o->kind != OPND_MEM || o->n < 2 || o->disp || (surface && o->n > 2)) {
        operand_error(v, o, surface ? "as in [surface, {%r1, %r2}]" : "as in [texture, {%f1, %f2}]",
                      "`%.*s` needs %s and coordinates in brackets here", STR_ARG(v->insn->inst->text),
                      surface ? "a surface" : "a texture");
        return;
    }
    check_reference(w, &o->elems[0], surface ? TYPE_surfref : TYPE_texref, TYPE_none);
    if (o->n == 3 && !is_independent(v))
        operand_error(v, &o->elems[1], "write .target ..., texmode_independent, or leave out the sampler",
                      "a separate sampler needs texmode_independent");
    if (o->n == 3)
        check_reference(w, &o->elems[1], TYPE_samplerref, TYPE_none);
    enum texture_shape shape = (enum texture_shape)w->form.shape;
    enum isa_type type = w->form.by_integers ? TYPE_s32 : TYPE_f32;
    unsigned n = shape_coordinates(shape) + shape_is_layered(shape);
    check_values(w, &o->elems[o->n - 1], n, 4, shape_is_layered(shape) ? TYPE_u32 : type, type,
                 n > 1 ? "coordinates" : "coordinate");
}

static void check_results(struct walk *w)
{
    struct verifier *v = w->v;
    const struct ptx_operand *o = next(w);
    unsigned n = w->form.n;
    if (o && o->kind == OPND_PAIR) {
        verify_need(v, insn_place(v), "a predicate of what is resident", (struct isa_need){71, 30, false});
        verify_destination(v, &o->elems[1], TYPE_pred, false);
        o = &o->elems[0];
    }
    if (!o)
        return;
    if ((n > 1 || ptx_is_list(o)) && ptx_n_elements(o) != n) {
        operand_error(v, o, NULL, "`%.*s` has %u results%s", STR_ARG(v->insn->inst->text), n,
                      n > 1 ? ", in braces" : "");
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        bool as_bits = e.kind == OPND_REG && w->form.op != SURFACE_LOAD &&
                       isa_type_bits(e.reg->type) == isa_type_bits((enum isa_type)w->form.type) &&
                       isa_type_class(e.reg->type) != CLASS_P;
        verify_destination(v, &e, as_bits ? e.reg->type : (enum isa_type)w->form.type, w->form.op == SURFACE_LOAD);
    }
}

/* lod; dPdx, dPdy (9.7.10.3). Of layers and cubes, too, gradients are those of the coordinates
 * alone. */
static void check_lod(struct walk *w)
{
    enum texture_shape shape = (enum texture_shape)w->form.shape;
    unsigned n = shape_coordinates(shape);
    const struct ptx_operand *o = w->form.lod >= LOD_LEVEL ? next(w) : NULL;
    if (o && w->form.lod == LOD_LEVEL)
        verify_source(w->v, o, w->form.by_integers ? TYPE_s32 : TYPE_f32, false);
    for (int k = 0; o && w->form.lod == LOD_GRADIENTS && k < 2; k++) {
        check_values(w, o, n, 4, TYPE_f32, TYPE_f32, "gradients");
        o = k ? o : next(w);
    }
}

/* What may stand behind: offsets of texels, from -8 to 7, and what depths are compared with. */
static void check_rest(struct walk *w)
{
    struct verifier *v = w->v;
    enum texture_shape shape = (enum texture_shape)w->form.shape;
    const struct isa_need need = {43, 30, false};
    const struct ptx_operand *o = peek(w);
    if (o && (ptx_is_list(o) || (o->kind != OPND_FLOAT && shape_coordinates(shape) == 1))) {
        w->at++;
        verify_need(v, ptx_place(v->m, o->offset, o->length), "offsets of texels", need);
        if (shape_is_cube(shape))
            operand_error(v, o, NULL, "`%.*s` takes no offsets", STR_ARG(v->insn->inst->text));
        else
            check_values(w, o, shape_coordinates(shape), 4, TYPE_s32, TYPE_s32, "offsets");
        o = peek(w);
    }
    if (o) {
        w->at++;
        verify_need(v, ptx_place(v->m, o->offset, o->length), "a depth to compare with", need);
        verify_source(v, o, TYPE_f32, false);
        if (shape == SHAPE_3D || shape == SHAPE_1D || shape == SHAPE_LAYERED_1D)
            operand_error(v, o, NULL, "`%.*s` compares no depths", STR_ARG(v->insn->inst->text));
    }
}

static void check_query(struct walk *w)
{
    const struct ptx_operand *d = next(w), *o = next(w);
    if (d)
        verify_destination(w->v, d, TYPE_u32, false);
    if (!o)
        return;
    bool named = o->kind == OPND_MEM && o->n == 1 && !o->disp;
    if (named)
        check_reference(w, &o->elems[0], w->form.is_surface ? TYPE_surfref : TYPE_texref,
                        w->form.is_surface ? TYPE_none : TYPE_samplerref);
    else
        operand_error(w->v, o, "as in [%rd1]", "`%.*s` needs a %s in brackets here", STR_ARG(w->v->insn->inst->text),
                      w->form.is_surface ? "surface" : "texture or sampler");
    const struct ptx_operand *level = w->form.lod == LOD_LEVEL ? next(w) : NULL;
    if (level)
        verify_source(w->v, level, TYPE_s32, false);
}

static void check_test(struct walk *w)
{
    const struct ptx_operand *d = next(w), *o = next(w);
    if (d)
        verify_destination(w->v, d, TYPE_pred, false);
    if (o && o->kind != OPND_SYMBOL)
        verify_source(w->v, o, TYPE_u64, false);
}

void verify_texture(struct verifier *v)
{
    struct walk w = {.v = v, .form = texture_form_of(v->m->isa, v->insn->inst)};
    switch ((enum texture_op)w.form.op) {
    case TEXTURE_QUERY: check_query(&w); break;
    case TEXTURE_TEST: check_test(&w); break;
    case SURFACE_LOAD:
        check_results(&w);
        check_place(&w);
        break;
    case SURFACE_STORE:
    case SURFACE_REDUCE: {
        check_place(&w);
        const struct ptx_operand *o = next(&w);
        enum isa_type type = (enum isa_type)w.form.type;
        if (o && w.form.n == 1 && !ptx_is_list(o))
            verify_source(v, o, type, true);
        else if (o && ptx_n_elements(o) == w.form.n)
            for (unsigned k = 0; k < w.form.n; k++) {
                struct ptx_operand e = ptx_element(o, k);
                bool as_bits = e.kind == OPND_REG && isa_type_bits(e.reg->type) == isa_type_bits(type);
                verify_source(v, &e, as_bits ? e.reg->type : type, true);
            }
        else if (o)
            operand_error(v, o, NULL, "`%.*s` needs %u values here", STR_ARG(v->insn->inst->text), w.form.n);
        break;
    }
    default:
        check_results(&w);
        check_place(&w);
        check_lod(&w);
        check_rest(&w);
        break;
    }
    if (w.at < v->insn->n_operands)
        operand_error(v, &v->insn->operands[w.at], NULL, "`%.*s` takes no operand here", STR_ARG(v->insn->inst->text));
}
