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

/* ---- modules ---- */

static const char *newest(uint16_t ptx, struct arena *a)
{
    return arena_printf(a, "%u.%u", ptx / 10u, ptx % 10u);
}

/* .version and .target name what exists, and the version knows the target (11.1). Those behind the newest known pass. */
static void check_head(struct verifier *v)
{
    enum { NEWEST = 90 };
    const struct ptx_module *m = v->m;
    struct arena *a = v->diags->arena;
    for (uint32_t i = 0; i < m->target_words.n && m->version <= NEWEST; i++) {
        struct str word = m->target_words.at[i];
        struct place at = ptx_place(m, (uint32_t)(word.p - m->source->text.p), (uint32_t)word.n);
        uint16_t since = isa_target_since(word);
        if (!str_starts(word, "sm_"))
            continue;
        if (!since)
            diag_error(v->diags, at, "ptx-target", "for example sm_75, sm_80, sm_90, sm_100",
                       "there is no target `%.*s`", STR_ARG(word));
        else if (since > m->version)
            diag_error(v->diags, at, "ptx-target", arena_printf(a, "write .version %s", newest(since, a)),
                       "`%.*s` needs .version %s; this module says .version %s", STR_ARG(word), newest(since, a),
                       newest(m->version, a));
    }
}

void ptx_verify(const struct ptx_module *m, struct diags *diags)
{
    struct verifier v = {.m = m, .diags = diags};
    check_head(&v);
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *it = &m->items.at[i];
        if (it->kind == ITEM_VAR)
            check_variable(&v, it->var);
        else if (it->kind == ITEM_FUNC && it->func->has_body)
            check_body(&v, it->func);
    }
}
