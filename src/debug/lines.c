/* See lines.h. */
#include "debug/lines.h"

#include <string.h>

struct finding {
    const struct lines_known *known;
    const struct code *code;
    struct arena *arena;
};

/* clang's threadIdx is read by an inlined function of this header; nvcc has no call there. */
static bool is_special_register(const struct source_line *line)
{
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    return slash && strcmp(slash, "/__clang_cuda_builtin_vars.h") == 0;
}

static const struct source_place *place(const struct source_line *lines, uint32_t n, struct arena *arena)
{
    while (n > 1 && is_special_register(&lines[n - 1]))
        n--;
    struct source_place *p = arena_alloc(arena, sizeof *p + n * sizeof p->at[0]);
    p->n = n;
    memcpy(p->at, lines, n * sizeof p->at[0]);
    for (uint32_t i = 0; i < n; i++)
        p->at[i].is_library = is_library_file(p->at[i].file);
    return p;
}

/* The .loc's chain: a .loc has the name of the function that its own line is inlined from. */
static const struct source_place *of_loc(const struct finding *f, const struct cuda_place *p, const struct ptx_loc *loc)
{
    struct source_line lines[MOST_INLINED];
    uint32_t n = p->n_chain < MOST_INLINED ? p->n_chain : MOST_INLINED;
    for (uint32_t i = 0; i < n; i++)
        lines[i] = (struct source_line){.file = p->chain[i].file, .line = p->chain[i].line};
    for (uint32_t i = n; i-- > 0 && loc; loc = loc->at)
        lines[i].function = loc->inlined ? f->known->function(f->known->data, f->code, loc) : NULL;
    return place(lines, n, f->arena);
}

/* The .loc has only the innermost line. Calls have their own line, followed by the line of the
 * inlined function. */
static const struct source_place *of_calls(const struct finding *f, const struct cuda_place *p, const struct op *o)
{
    struct source_line calls[MOST_INLINED], lines[MOST_INLINED + 1];
    uint32_t n = f->known->calls(f->known->data, f->code, o, calls);
    n = n < MOST_INLINED ? n : MOST_INLINED - 1;
    for (uint32_t i = 0; i <= n; i++)
        lines[i] = (struct source_line){.file = i < n ? calls[i].file : p->file,
                                        .function = i ? calls[i - 1].function : NULL,
                                        .line = i < n ? calls[i].line : p->line};
    return place(lines, n + 1, f->arena);
}

static bool is_users(const struct source_place *p)
{
    return p && (p->n > 1 || !p->at[0].is_library);
}

/* Compilers that do not say where a function of a library was inlined leave lines of its header
 * alone: these belong to the line of the user's before, or else behind. */
static void find_shown(const struct source_place *const *own, const struct source_place **shown, uint32_t first,
                       uint32_t n)
{
    const struct source_place *last = NULL;
    for (uint32_t i = first; i < first + n; i++) {
        last = is_users(own[i]) ? own[i] : last;
        shown[i] = own[i] && last ? last : own[i];
    }
    last = NULL;
    for (uint32_t i = first + n; i-- > first;) {
        last = is_users(own[i]) ? own[i] : last;
        if (own[i] && !is_users(shown[i]) && last)
            shown[i] = last;
    }
}

void lines_find(struct lines *l, struct kernel *k, const struct lines_known *known, struct arena *arena)
{
    const struct site_table *t = kernel_sites(k);
    *l = (struct lines){.sites = t};
    if (!t)
        return;
    const struct source_place **own = ARENA_ARRAY(arena, const struct source_place *, t->n + 1),
                              **shown = ARENA_ARRAY(arena, const struct source_place *, t->n + 1);
    bool *any = ARENA_ARRAY(arena, bool, k->functions.n + 1);
    for (uint32_t i = 0; i < k->functions.n; i++) {
        const struct code *c = k->functions.at[i];
        const struct finding f = {known, c, arena};
        for (uint32_t o = 0; o < c->n_ops; o++) {
            const struct site *s = &t->at[c->first_site + o];
            const struct cuda_place *p = s->place.cuda;
            own[c->first_site + o] = !p ? NULL : p->n_chain ? of_loc(&f, p, s->loc) : of_calls(&f, p, &c->ops[o]);
            any[i] |= p != NULL;
        }
        find_shown(own, shown, c->first_site, c->n_ops);
    }
    l->own = own;
    l->shown = shown;
    l->known = any;
}
