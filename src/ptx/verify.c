/* Modules, declarations and bodies (PTX ISA 5, 7, 11); see module.h and verify.h. */
#include "ptx/verify.h"

static struct place symbol_place(const struct verifier *v, const struct ptx_symbol *s)
{
    return ptx_place(v->m, s->offset, (uint32_t)s->name.n);
}

/* ---- variables ---- */

static void check_variable(struct verifier *v, const struct ptx_var *var)
{
    enum isa_class class = isa_type_class(var->type);
    if (class == CLASS_P || class == CLASS_X || var->type == TYPE_f32x2)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type", "store it as .b8, .b16, .b32 or .b64",
                   "a variable in memory cannot be .%s", isa_type_name(var->type));
    if (var->unsized && var->linkage != LINK_EXTERN && !var->initialised)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type",
                   "give the number of elements, or make it .extern", "the size of `%.*s` is not known",
                   STR_ARG(var->symbol.name));
}

/* ---- functions ---- */

static void check_body(struct verifier *v, const struct ptx_func *f)
{
    v->func = f;
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_stmt *s = &f->body.at[i];
        if (s->kind == STMT_INSN)
            verify_insn(v, s->insn);
        else if (s->kind == STMT_VAR)
            check_variable(v, s->var);
    }
}

void ptx_verify(const struct ptx_module *m, struct diags *diags)
{
    struct verifier v = {.m = m, .diags = diags};
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *it = &m->items.at[i];
        if (it->kind == ITEM_VAR)
            check_variable(&v, it->var);
        else if (it->kind == ITEM_FUNC && it->func->has_body)
            check_body(&v, it->func);
    }
}
