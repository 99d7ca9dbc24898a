/* See link.h. Two passes: collect what is visible, then resolve what is open. */
#include "ptx/link.h"

struct linker {
    struct ptx_image *image;
    struct diags *diags;
};

static enum ptx_linkage linkage_of(const struct ptx_symbol *s)
{
    return s->kind == SYMBOL_FUNC ? ((const struct ptx_func *)s)->linkage : ((const struct ptx_var *)s)->linkage;
}

static bool is_defined(const struct ptx_symbol *s)
{
    if (s->kind == SYMBOL_FUNC)
        return ((const struct ptx_func *)s)->has_body;
    return ((const struct ptx_var *)s)->linkage != LINK_EXTERN;
}

static const struct ptx_module *module_of(const struct ptx_image *image, const struct ptx_symbol *s)
{
    for (uint32_t i = 0; i < image->n_modules; i++)
        for (uint32_t k = 0; k < image->modules[i]->items.n; k++) {
            struct ptx_item it = image->modules[i]->items.at[k];
            if ((it.kind == ITEM_FUNC && &it.func->symbol == s) || (it.kind == ITEM_VAR && &it.var->symbol == s))
                return image->modules[i];
        }
    return image->modules[0];
}

static void make_visible(struct linker *l, struct ptx_symbol *s)
{
    struct ptx_symbol *before = map_get(&l->image->symbols, s->name);
    if (!before || (linkage_of(before) == LINK_WEAK && linkage_of(s) == LINK_VISIBLE)) {
        map_put(&l->image->symbols, s->name, s);
        return;
    }
    bool yields = linkage_of(s) == LINK_WEAK || linkage_of(before) == LINK_COMMON || linkage_of(s) == LINK_COMMON;
    if (before->kind != s->kind || !yields) {
        const struct ptx_module *first = module_of(l->image, before);
        diag_error(l->diags, ptx_place(module_of(l->image, s), s->offset, (uint32_t)s->name.n), "ptx-link",
                   "make one of them .weak, or leave out its .visible", "`%.*s` is also defined in %s, line %u",
                   STR_ARG(s->name), first->source->name, place_locate(ptx_place(first, before->offset, 0)).line);
    } else if (linkage_of(before) == LINK_COMMON && s->kind == SYMBOL_VAR &&
               ((struct ptx_var *)s)->size > ((struct ptx_var *)before)->size) {
        map_put(&l->image->symbols, s->name, s); /* the largest common definition stands */
    }
}

static void collect(struct linker *l, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->items.n; i++) {
        struct ptx_item it = m->items.at[i];
        if (it.kind != ITEM_FUNC && it.kind != ITEM_VAR)
            continue;
        struct ptx_symbol *s = it.kind == ITEM_FUNC ? &it.func->symbol : &it.var->symbol;
        if (is_defined(s) && linkage_of(s) != LINK_STATIC)
            make_visible(l, s);
        if (it.kind != ITEM_FUNC || !it.func->has_body)
            continue;
        if (it.func->entry) {
            *VEC_PUSH(l->image->arena, &l->image->kernels) = it.func;
            if (!map_get(&l->image->kernels_by_name, it.func->symbol.name))
                map_put(&l->image->kernels_by_name, it.func->symbol.name, it.func);
        }
        it.func->handle = l->image->functions.n;
        *VEC_PUSH(l->image->arena, &l->image->functions) = it.func;
    }
}

static bool signatures_agree(const struct ptx_signature *a, const struct ptx_signature *b)
{
    if (a->params.n != b->params.n || a->returns.n != b->returns.n)
        return false;
    for (uint32_t i = 0; i < a->params.n; i++)
        if (a->params.at[i]->size != b->params.at[i]->size)
            return false;
    for (uint32_t i = 0; i < a->returns.n; i++)
        if (a->returns.at[i]->size != b->returns.at[i]->size)
            return false;
    return true;
}

static void resolve_func(struct linker *l, const struct ptx_module *m, struct ptx_func *f)
{
    if (f->alias_of)
        f->definition = f->alias_of;
    struct ptx_symbol *found = map_get(&l->image->symbols, f->symbol.name);
    bool weak_yields = f->has_body && f->linkage == LINK_WEAK;
    if (found && found->kind == SYMBOL_FUNC && f->linkage != LINK_STATIC && (!f->definition->has_body || weak_yields))
        f->definition = (struct ptx_func *)found;
    if (f->definition != f && !signatures_agree(&f->signature, &f->definition->signature))
        diag_error(l->diags, ptx_place(m, f->symbol.offset, (uint32_t)f->symbol.name.n), "ptx-link", NULL,
                   "`%.*s` is declared here with other parameters than where it is defined", STR_ARG(f->symbol.name));
}

static void resolve_var(struct linker *l, const struct ptx_module *m, struct ptx_var *v)
{
    struct ptx_symbol *found = map_get(&l->image->symbols, v->symbol.name);
    if (v->linkage != LINK_STATIC && found && found->kind == SYMBOL_VAR &&
        (v->linkage == LINK_EXTERN || v->linkage == LINK_WEAK || v->linkage == LINK_COMMON))
        v->definition = (struct ptx_var *)found;
    if (v->definition != v && v->definition->space != v->space)
        diag_error(l->diags, ptx_place(m, v->symbol.offset, (uint32_t)v->symbol.name.n), "ptx-link", NULL,
                   "`%.*s` is declared here in another state space (.%s) than where it is defined (.%s)",
                   STR_ARG(v->symbol.name), ptx_space_name(v->space), ptx_space_name(v->definition->space));
    /* Dynamic shared memory. */
    bool open_shared = v->space == SPACE_SHARED && v->linkage == LINK_EXTERN;
    if (v->definition->linkage == LINK_EXTERN && !open_shared)
        diag_error(l->diags, ptx_place(m, v->symbol.offset, (uint32_t)v->symbol.name.n), "ptx-link",
                   "give the module that defines it, too", "`%.*s` is not defined in any module",
                   STR_ARG(v->symbol.name));
}

struct ptx_image *ptx_link(struct arena *arena, struct ptx_module **modules, uint32_t n, struct diags *diags)
{
    struct ptx_image *image = ARENA_NEW(arena, struct ptx_image);
    image->arena = arena;
    image->n_modules = n;
    image->modules = modules;
    map_init(&image->symbols, arena);
    map_init(&image->kernels_by_name, arena);
    struct linker l = {image, diags};
    for (uint32_t i = 0; i < n; i++)
        collect(&l, modules[i]);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < modules[i]->items.n; k++) {
            struct ptx_item it = modules[i]->items.at[k];
            if (it.kind == ITEM_FUNC)
                resolve_func(&l, modules[i], it.func);
            else if (it.kind == ITEM_VAR)
                resolve_var(&l, modules[i], it.var);
        }
    }
    ptx_check_shared(modules, n, diags);
    return image;
}

struct ptx_func *ptx_find_kernel(const struct ptx_image *image, struct str name)
{
    const struct ptx_func *kernel = map_get(&image->kernels_by_name, name);
    return kernel ? kernel->definition : NULL;
}
