/* Modules, declarations and bodies (PTX ISA 5, 7, 11); see module.h and verify.h. */
#include "ptx/verify.h"

static struct place symbol_place(const struct verifier *v, const struct ptx_symbol *s)
{
    return ptx_place(v->m, s->offset, (uint32_t)s->name.n);
}

/* ---- types ---- */

/* 5.2.1: the types that registers and memory have. Others are those of operands, which .b8 to .b64
 * hold. */
static bool is_fundamental(enum isa_type type)
{
    switch (isa_type_class(type)) {
    case CLASS_B:
    case CLASS_U:
    case CLASS_S:
    case CLASS_P: return true;
    case CLASS_F: return type != TYPE_bf16 && type != TYPE_bf16x2;
    default: return false;
    }
}

/* 5.3: textures and the like are names of their own from PTX 1.5 on, samplers apart from textures
 * where the target says so. */
static void check_opaque(struct verifier *v, const struct ptx_symbol *name, enum isa_type type)
{
    bool independent = false;
    for (uint32_t i = 0; i < v->m->target_words.n; i++)
        independent |= str_is(v->m->target_words.at[i], "texmode_independent");
    const char *what = arena_printf(v->diags->arena, "`.%s`", isa_type_name(type));
    verify_need(v, symbol_place(v, name), what, (struct isa_need){15, 10, false});
    if (type == TYPE_samplerref && !independent)
        diag_error(v->diags, symbol_place(v, name), "ptx-target", "write .target ..., texmode_independent",
                   "a separate sampler needs `texmode_independent`");
}

/* What a name can be declared as in a state space (5.2, 5.3, 5.4.2);
 * `opaque`: as a texture, too. */
static void check_type(struct verifier *v, const struct ptx_symbol *name, enum ptx_space space, enum isa_type type,
                       unsigned vector, bool opaque)
{
    struct place at = symbol_place(v, name);
    struct arena *a = v->diags->arena;
    const char *text = isa_type_name(type);
    const char *what = space == SPACE_REG     ? "a register"
                       : space == SPACE_PARAM ? "a parameter"
                                              : "a variable in memory";
    bool reg_only = type == TYPE_pred && space != SPACE_REG, not_param = type == TYPE_f16x2 && space == SPACE_PARAM;
    if (isa_type_class(type) == CLASS_O && !opaque)
        diag_error(v->diags, at, "ptx-type", "declare it in .global, outside of functions, or as a kernel's parameter",
                   "%s cannot be .%s", space == SPACE_GLOBAL ? "a variable of a function" : what, text);
    else if (isa_type_class(type) == CLASS_O)
        check_opaque(v, name, type);
    else if (!is_fundamental(type) || reg_only || not_param)
        diag_error(v->diags, at, "ptx-type",
                   reg_only ? "keep it as .u32"
                            : arena_printf(a, "declare it as .b%u", isa_type_bits(type) < 8 ? 8 : isa_type_bits(type)),
                   "%s cannot be .%s", what, text);
    else if (vector > 1 && type == TYPE_pred)
        diag_error(v->diags, at, "ptx-type", "declare them one by one", "`%.*s` would be a vector of predicates",
                   STR_ARG(name->name));
    else if (vector > 4 || (vector > 1 && vector * isa_type_bits(type) > 128))
        diag_error(v->diags, at, "ptx-type", NULL, "a vector has at most 4 elements and 128 bits, not .v%u .%s", vector,
                   text);
}

/* 11.6: .weak and .common are newer than .extern and .visible. */
static void check_linkage(struct verifier *v, const struct ptx_symbol *name, enum ptx_linkage linkage)
{
    if (linkage == LINK_WEAK)
        verify_need(v, symbol_place(v, name), "`.weak`", (struct isa_need){31, 10, false});
    if (linkage == LINK_COMMON)
        verify_need(v, symbol_place(v, name), "`.common`", (struct isa_need){50, 20, false});
}

/* ---- variables ---- */

static void check_texture(struct verifier *v, const struct ptx_var *var)
{
    struct place at = symbol_place(v, &var->symbol);
    if (v->m->version >= 15)
        diag_error(v->diags, at, "ptx-version", "write .global .texref",
                   "`.tex` is no longer valid from .version 1.5 on");
    else if ((var->type != TYPE_u32 && var->type != TYPE_u64) || var->n_dims || var->vector > 1)
        diag_error(v->diags, at, "ptx-type", NULL, "a texture is a .u32 or a .u64");
    else if (var->func)
        diag_error(v->diags, at, "ptx-type", "declare it in the module", "`%.*s` is a texture declared in a function",
                   STR_ARG(var->symbol.name));
}

static void check_variable(struct verifier *v, const struct ptx_var *var)
{
    check_linkage(v, &var->symbol, var->linkage);
    if (var->space == SPACE_TEX)
        check_texture(v, var);
    check_type(v, &var->symbol, var->space, var->type, var->vector, var->space == SPACE_GLOBAL && !var->func);
    if (var->managed && var->space != SPACE_GLOBAL)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type", "declare it in .global",
                   "`%.*s` is .managed, and in .%s", STR_ARG(var->symbol.name), ptx_space_name(var->space));
    if (var->linkage == LINK_COMMON && var->space != SPACE_GLOBAL)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type", "declare it in .global",
                   "`%.*s` is .common, and in .%s", STR_ARG(var->symbol.name), ptx_space_name(var->space));
    if (var->unsized && var->linkage != LINK_EXTERN && !var->initialised)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type",
                   "give the number of elements, or make it .extern", "the size of `%.*s` is not known",
                   STR_ARG(var->symbol.name));
}

/* At module scope: memory that lives longer than a call (5.1). PTX before 3.0 had .local there,
 * too. */
static void check_module_variable(struct verifier *v, const struct ptx_var *var)
{
    bool local = var->space == SPACE_LOCAL && v->m->version >= 30;
    if (local || var->space == SPACE_REG || var->space == SPACE_PARAM)
        diag_error(v->diags, symbol_place(v, &var->symbol), "ptx-type", "declare it in a function",
                   "`%.*s` is in .%s, which belongs to functions", STR_ARG(var->symbol.name),
                   ptx_space_name(var->space));
    check_variable(v, var);
}

/* The same of registers, which are a thread's for as long as it runs. */
static void check_outer_register(struct verifier *v, const struct ptx_reg *r)
{
    if (v->m->version >= 30)
        diag_error(v->diags, symbol_place(v, &r->symbol), "ptx-type", "declare it in a function",
                   "`%.*s` is a register: from .version 3.0 on, only functions may declare registers",
                   STR_ARG(r->symbol.name));
    check_type(v, &r->symbol, SPACE_REG, r->type, r->vector, false);
}

/* ---- functions ---- */

static void check_parameter(struct verifier *v, const struct ptx_func *f, const struct ptx_var *param)
{
    struct place at = symbol_place(v, &param->symbol);
    if (f->entry && param->space != SPACE_PARAM)
        diag_error(v->diags, at, "ptx-type", "write .param", "parameters of kernels are in .param");
    else if (f->entry && param->unsized)
        diag_error(v->diags, at, "ptx-type", "give the number of elements", "a kernel's parameters have a size");
    uint32_t align = param->pointer_align;
    if (param->pointer && (!f->entry || param->pointer_space == SPACE_PARAM || param->pointer_space == SPACE_REG))
        diag_error(v->diags, at, "ptx-type", NULL,
                   "`.ptr` is for a kernel's parameter that points to .global, .const, .shared "
                   "or .local");
    if (align & (align - 1))
        diag_error(v->diags, at, "ptx-type", NULL,
                   "the alignment of what a parameter points to must be a power of two");
    if (param->space == SPACE_PARAM && param->vector > 1)
        diag_error(v->diags, at, "ptx-type", "write an array", "a parameter cannot be a vector");
    else
        check_type(v, &param->symbol, param->space, param->type, param->vector, f->entry);
    if (param->n_dims && param->space == SPACE_REG)
        diag_error(v->diags, at, "ptx-type", "write .param", "`%.*s` is an array in registers",
                   STR_ARG(param->symbol.name));
    else if (param->n_dims > 1)
        diag_error(v->diags, at, "ptx-type", "multiply the dimensions",
                   "a parameter that is an array has only one dimension");
}

const struct ptx_directive *ptx_directive(const struct ptx_func *f, const char *name)
{
    for (uint32_t i = f->directives.n; i-- > 0;)
        if (str_is(f->directives.at[i].name, name))
            return &f->directives.at[i];
    return NULL;
}

uint32_t ptx_product(const struct ptx_directive *d)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < d->n; i++) {
        product *= (uint32_t)d->value[i]; /* both are below 2^32 */
        product = product < UINT32_MAX ? product : UINT32_MAX;
    }
    return (uint32_t)product;
}

static struct place directive_place(const struct verifier *v, const struct ptx_directive *d)
{
    return ptx_place(v->m, (uint32_t)(d->name.p - v->m->source->text.p), (uint32_t)d->name.n);
}

static void check_directive(struct verifier *v, const struct ptx_func *f, const struct ptx_directive *d)
{
    const struct isa_directive *entry = isa_directive_by_name(d->name);
    struct place at = directive_place(v, d);
    struct arena *a = v->diags->arena;
    verify_need(v, at, arena_printf(a, "`.%s`", entry->name), entry->need);
    if (!(entry->of & (f->entry ? OF_KERNELS : OF_FUNCTIONS)))
        diag_error(v->diags, at, "ptx-directive", NULL, "`.%s` belongs to %s", entry->name,
                   f->entry ? "functions (.func)" : "kernels (.entry)");
    if (d->n < entry->least || d->n > entry->most)
        diag_error(v->diags, at, "ptx-directive", NULL, "`.%s` takes %u%s number%s, not %u", entry->name, entry->least,
                   entry->most > entry->least ? arena_printf(a, " to %u", entry->most) : "",
                   entry->most == 1 ? "" : "s", d->n);
    for (uint32_t k = 0; k < d->n; k++)
        if (d->value[k] == 0)
            diag_error(v->diags, at, "ptx-directive", NULL, "`.%s` needs numbers above 0", entry->name);
}

/* 11.4: .reqntid says all that .maxntid could; .reqnctapercluster and .maxclusterrank likewise. */
static void check_directives(struct verifier *v, const struct ptx_func *f)
{
    static const char *const pairs[][2] = {{"reqntid", "maxntid"}, {"reqnctapercluster", "maxclusterrank"}};
    for (uint32_t i = 0; i < f->directives.n; i++)
        check_directive(v, f, &f->directives.at[i]);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (ptx_directive(f, pairs[i][0]) && ptx_directive(f, pairs[i][1]))
            diag_error(v->diags, symbol_place(v, &f->symbol), "ptx-directive",
                       arena_printf(v->diags->arena, "leave out .%s", pairs[i][1]), "`%.*s` has both .%s and .%s",
                       STR_ARG(f->symbol.name), pairs[i][0], pairs[i][1]);
    const struct ptx_directive *grid_of_clusters = ptx_directive(f, "blocksareclusters");
    if (grid_of_clusters && !(ptx_directive(f, "reqntid") && ptx_directive(f, "reqnctapercluster")))
        diag_error(v->diags, directive_place(v, grid_of_clusters), "ptx-directive", "write both of them",
                   "`.blocksareclusters` needs .reqntid and .reqnctapercluster");
}

static bool same_sizes(const struct ptx_signature *a, const struct ptx_signature *b)
{
    bool same = a->params.n == b->params.n && a->returns.n == b->returns.n;
    for (uint32_t i = 0; same && i < a->params.n; i++)
        same = a->params.at[i]->size == b->params.at[i]->size;
    for (uint32_t i = 0; same && i < a->returns.n; i++)
        same = a->returns.at[i]->size == b->returns.at[i]->size;
    return same;
}

/* PTX ISA 4.4 "Kernel Function Parameters": 32,764 bytes at most, in the newest targets. */
static void check_param_bytes(struct verifier *v, const struct ptx_func *f)
{
    enum { MAX_PARAM_BYTES = 32764 };
    if (f->entry && f->signature.param_bytes > MAX_PARAM_BYTES)
        diag_error(v->diags, symbol_place(v, &f->symbol), "ptx-type", "pass a pointer to them",
                   "the parameters of `%.*s` have %llu bytes; %d are the most", STR_ARG(f->symbol.name),
                   (unsigned long long)f->signature.param_bytes, MAX_PARAM_BYTES);
}

static void check_head_of(struct verifier *v, const struct ptx_func *f)
{
    check_param_bytes(v, f);
    check_linkage(v, &f->symbol, f->linkage);
    for (uint32_t i = 0; i < f->signature.params.n; i++)
        check_parameter(v, f, f->signature.params.at[i]);
    for (uint32_t i = 0; i < f->signature.returns.n; i++)
        check_parameter(v, f, f->signature.returns.at[i]);
    for (uint32_t i = 0; f->signature.returns.n > 1 && i < f->signature.returns.n; i++)
        if (f->signature.returns.at[i]->space != SPACE_REG)
            diag_error(v->diags, symbol_place(v, &f->signature.returns.at[i]->symbol), "ptx-type",
                       "write .reg, or return one array", "a function with several results returns them in registers");
    check_directives(v, f);
    const struct ptx_func *other = f->definition;
    bool agree = other == f || f->alias_of || same_sizes(&f->signature, &other->signature);
    const struct ptx_func *later = f->symbol.offset > other->symbol.offset ? f : other;
    const struct ptx_func *first = later == f ? other : f;
    if (!agree)
        diag_error(v->diags, symbol_place(v, &later->symbol), "ptx-name", "write the same parameters at both places",
                   "`%.*s` was declared with other parameters in line %u", STR_ARG(f->symbol.name),
                   place_locate(symbol_place(v, &first->symbol)).line);
}

static void check_body(struct verifier *v, const struct ptx_func *f)
{
    v->func = f;
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_stmt *s = &f->body.at[i];
        if (s->kind == STMT_INSN)
            verify_insn(v, s->insn);
        else if (s->kind == STMT_VAR)
            check_variable(v, s->var);
        else if (s->kind == STMT_REG)
            check_type(v, &s->reg->symbol, SPACE_REG, s->reg->type, s->reg->vector, false);
    }
}

/* ---- modules ---- */

static const char *newest(uint16_t ptx, struct arena *a)
{
    return arena_printf(a, "%u.%u", ptx / 10u, ptx % 10u);
}

/* .version and .target name what exists, and the version knows the target (11.1). Those behind the
 * newest known pass. */
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
            check_module_variable(&v, it->var);
        if (it->kind == ITEM_ALIAS)
            verify_need(&v, symbol_place(&v, &it->alias->symbol), "`.alias`", (struct isa_need){63, 30, false});
        if (it->kind == ITEM_REG)
            check_outer_register(&v, it->reg);
        if (it->kind != ITEM_FUNC)
            continue;
        check_head_of(&v, it->func);
        if (it->func->has_body)
            check_body(&v, it->func);
    }
}
