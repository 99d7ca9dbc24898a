/* Calls (PTX ISA 9.7.12.4): arguments against parameters; see verify.h. */
#include "ptx/verify.h"

const struct ptx_signature *ptx_signature_of(const struct ptx_call *c)
{
    if (c->callee.kind == OPND_SYMBOL && c->callee.symbol->kind == SYMBOL_FUNC)
        return &((const struct ptx_func *)c->callee.symbol)->signature;
    const struct ptx_table *t = (const struct ptx_table *)c->table;
    if (!t || t->symbol.kind != SYMBOL_TABLE)
        return NULL;
    if (t->table_kind == TABLE_CALLPROTOTYPE)
        return &t->signature;
    bool targets = t->table_kind == TABLE_CALLTARGETS && t->targets.n && t->targets.at[0];
    return targets ? &((const struct ptx_func *)t->targets.at[0])->signature : NULL;
}

/* A vector register passes its bits, to a vector of no more elements or
 * to one register; so ptxas. */
static void check_vector_argument(struct verifier *v, const struct ptx_operand *o, const struct ptx_var *formal)
{
    struct arena *a = v->diags->arena;
    const char *type = isa_type_name(formal->type);
    const char *parameter =
        formal->vector > 1 ? arena_printf(a, ".v%u .%s", formal->vector, type) : arena_printf(a, ".%s", type);
    bool is_vector = ptx_is_vector_register(o);
    unsigned bits = is_vector ? o->reg->vector * isa_type_bits(o->reg->type) : 0;
    if (!is_vector)
        operand_error(v, o, "declare one with .reg and pass it whole", "the parameter is %s, a vector register",
                      parameter);
    else if (bits != formal->vector * isa_type_bits(formal->type) || o->reg->vector < formal->vector)
        operand_error(v, o, arena_printf(a, "pass a register of %s", parameter),
                      "`%.*s` is .v%u .%s, and the parameter is %s", STR_ARG(operand_text(v, o)), o->reg->vector,
                      isa_type_name(o->reg->type), parameter);
}

/* Types agree as those of instructions; .f16x2 is any 32 bits. A constant is what its low bits are,
 * but of .f32. */
static void check_scalar_argument(struct verifier *v, const struct ptx_operand *o, enum isa_type type, bool result)
{
    bool bits = type == TYPE_f16x2 || (o->kind == OPND_REG && o->reg->type == TYPE_f16x2 && type == TYPE_f32);
    bool raw = o->kind == OPND_FLOAT && (isa_type_class(type) == CLASS_B || type == TYPE_f16);
    enum isa_type want = bits ? TYPE_b32 : type;
    if (result)
        verify_destination(v, o, want, false);
    else if (o->negated || (want == TYPE_pred && o->kind != OPND_REG) || o->kind == OPND_SYMBOL)
        operand_error(v, o,
                      want == TYPE_pred ? "compute it first, with setp or not.pred" : "move it into a register first",
                      "an argument is a register, a constant or a .param variable");
    else if (!raw)
        verify_source(v, o, want, false);
}

/* One argument or result against the parameter that it is for. */
static void check_argument(struct verifier *v, const struct ptx_operand *o, const struct ptx_var *formal, bool result)
{
    struct str text = operand_text(v, o);
    if (o->kind == OPND_SYMBOL && o->symbol->kind == SYMBOL_VAR) {
        const struct ptx_var *actual = (const struct ptx_var *)o->symbol;
        if (actual->space != SPACE_PARAM)
            operand_error(v, o, "copy it into a .param variable first", "`%.*s` is in .%s, not in .param",
                          STR_ARG(text), ptx_space_name(actual->space));
        else if (o->disp)
            operand_error(v, o, "name the variable alone", "an argument cannot be a part of a .param variable");
        else if (actual->size != formal->size)
            operand_error(v, o, NULL, "`%.*s` has %llu bytes, and the parameter has %llu", STR_ARG(text),
                          (unsigned long long)actual->size, (unsigned long long)formal->size);
        else if (formal->n_dims && actual->align != formal->align)
            operand_error(v, o, arena_printf(v->diags->arena, "write .align %u", formal->align),
                          "`%.*s` is aligned to %u bytes, and the parameter to %u", STR_ARG(text), actual->align,
                          formal->align);
        else if (!formal->n_dims && !types_fit(actual->type, formal->type, false))
            operand_error(v, o, NULL, "`%.*s` is .%s, and the parameter is .%s", STR_ARG(text),
                          isa_type_name(actual->type), isa_type_name(formal->type));
        return;
    }
    if (formal->n_dims)
        operand_error(v, o, "copy it into a .param array first", "the parameter is an array of %llu bytes",
                      (unsigned long long)formal->size);
    else if (o->kind == OPND_SINK && result)
        return;
    else if (formal->vector > 1 || ptx_is_vector_register(o))
        check_vector_argument(v, o, formal);
    else
        check_scalar_argument(v, o, formal->type, result);
}

static bool check_argument_count(struct verifier *v, const struct ptx_signature *s)
{
    const struct ptx_call *c = v->insn->call;
    bool args = s->variadic ? c->n_args + 1 >= s->params.n : c->n_args == s->params.n;
    if (args && c->n_returns == s->returns.n)
        return true;
    operand_error(v, &c->callee, NULL, "`%.*s` takes %u argument%s and returns %u, not %u and %u",
                  STR_ARG(operand_text(v, &c->callee)), s->params.n, s->params.n == 1 ? "" : "s", s->returns.n,
                  c->n_args, c->n_returns);
    return false;
}

void verify_call(struct verifier *v)
{
    const struct ptx_call *c = v->insn->call;
    const struct ptx_operand *callee = &c->callee;
    bool direct = callee->kind == OPND_SYMBOL && callee->symbol->kind == SYMBOL_FUNC;
    if (!direct && callee->kind != OPND_REG) {
        operand_error(v, callee, "declare it with .func", "`%.*s` is not a function", STR_ARG(operand_text(v, callee)));
        return;
    }
    if (!direct && !register_fits(callee->reg, TYPE_u64, false) && !register_fits(callee->reg, TYPE_u32, false)) {
        operand_error(v, callee, "use a .b64 or .u64 register", "`%.*s` is .%s, and cannot hold a function's address",
                      STR_ARG(operand_text(v, callee)), isa_type_name(callee->reg->type));
        return;
    }
    const struct ptx_signature *s = ptx_signature_of(v->insn->call);
    if (!s) {
        operand_error(v, callee, "end the call with the name of a .callprototype or .calltargets list",
                      "a call through a register must say what it calls");
        return;
    }
    if (direct && ((const struct ptx_func *)callee->symbol)->entry) {
        operand_error(v, callee, "make it a .func", "`%.*s` is a kernel, and cannot be called",
                      STR_ARG(operand_text(v, callee)));
        return;
    }
    if (!check_argument_count(v, s))
        return;
    for (uint32_t i = 0; i < c->n_returns; i++)
        check_argument(v, &c->returns[i], s->returns.at[i], true);
    for (uint32_t i = 0; i < c->n_args && i < s->params.n; i++)
        if (!s->params.at[i]->unsized)
            check_argument(v, &c->args[i], s->params.at[i], false);
}
