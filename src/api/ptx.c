/* PTX as text, without a machine (include/heddle.h): reads, verifies, describes and prints it. */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "base/text.h"

struct hd_ptx {
    struct arena arena;
    struct ptx_module *module;
    hd_ptx_info info;
    VEC(hd_ptx_function) functions;
    VEC(const char *) missing; /* requirements that warnings have named */
    struct str printed;
};

/* Warns of each missing requirement once, at its first use. */
static void warn_refused(hd_ptx *p, const struct ptx_insn *insn, struct diags *diags)
{
    const char *missing = insn->inst->form->meaning;
    for (uint32_t i = 0; i < p->missing.n; i++)
        if (strcmp(p->missing.at[i], missing) == 0)
            return;
    *VEC_PUSH(&p->arena, &p->missing) = missing;
    diag_warn(diags, ptx_place(p->module, insn->offset, insn->length), "not-supported", NULL,
              "a kernel that reaches `%.*s` cannot be launched: Heddle has no %s yet", STR_ARG(insn->inst->text),
              missing);
}

static void count_instructions(hd_ptx *p, const struct ptx_func *f, hd_ptx_function *d, struct diags *diags)
{
    for (uint32_t i = 0; i < f->body.n; i++) {
        if (f->body.at[i].kind != STMT_INSN)
            continue;
        const struct ptx_insn *insn = f->body.at[i].insn;
        d->instructions++;
        if (insn->inst->kind != KIND_REFUSED)
            continue;
        warn_refused(p, insn, diags);
        if (!d->missing)
            d->missing = insn->inst->form->meaning;
    }
}

/* The function that statement i of f calls by name, or NULL. */
static const struct ptx_func *callee_of(const struct ptx_func *f, uint32_t i)
{
    const struct ptx_call *c = f->body.at[i].kind == STMT_INSN ? f->body.at[i].insn->call : NULL;
    bool by_name = c && c->callee.kind == OPND_SYMBOL && c->callee.symbol->kind == SYMBOL_FUNC;
    return by_name ? ((const struct ptx_func *)c->callee.symbol)->definition : NULL;
}

/* A call by name: an element of the list of calls of one function. */
struct caller {
    struct caller *next;
    uint32_t function;
};

struct callers {
    struct caller **of; /* by function */
    uint32_t *lacking;  /* functions that lack something, and whose callers are not marked yet */
    uint32_t n_lacking;
};

static void set_missing(hd_ptx *p, struct callers *c, uint32_t function, const char *missing)
{
    if (p->functions.at[function].missing)
        return;
    p->functions.at[function].missing = missing;
    c->lacking[c->n_lacking++] = function;
}

static void note_calls(hd_ptx *p, struct callers *c, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_func *callee = callee_of(f, i);
        if (callee && callee->has_body) {
            struct caller *caller = ARENA_NEW(&p->arena, struct caller);
            *caller = (struct caller){c->of[callee->handle], f->handle};
            c->of[callee->handle] = caller;
        } else if (callee && str_starts(callee->symbol.name, "__cudaCDP2")) {
            set_missing(p, c, f->handle, "dynamic parallelism");
        }
    }
}

/* A function lacks what the functions lack that it calls by name. */
static void find_missing(hd_ptx *p)
{
    const struct ptx_module *m = p->module;
    struct callers c = {.of = ARENA_ARRAY(&p->arena, struct caller *, p->functions.n),
                        .lacking = ARENA_ARRAY(&p->arena, uint32_t, p->functions.n)};
    for (uint32_t i = 0; i < p->functions.n; i++)
        if (p->functions.at[i].missing)
            c.lacking[c.n_lacking++] = i;
    for (uint32_t i = 0; i < m->items.n; i++)
        if (m->items.at[i].kind == ITEM_FUNC && m->items.at[i].func->has_body)
            note_calls(p, &c, m->items.at[i].func);
    while (c.n_lacking > 0) {
        uint32_t lacking = c.lacking[--c.n_lacking];
        for (const struct caller *caller = c.of[lacking]; caller; caller = caller->next)
            set_missing(p, &c, caller->function, p->functions.at[lacking].missing);
    }
    for (uint32_t i = 0; i < p->functions.n; i++)
        p->info.kernels_refused += p->functions.at[i].is_kernel && p->functions.at[i].missing;
}

static const char *target_words(const struct ptx_module *m)
{
    struct text text = {.arena = m->arena};
    text_put(&text, "", 0);
    for (uint32_t i = 0; i < m->target_words.n; i++) {
        text_puts(&text, i ? ", " : "");
        text_str(&text, m->target_words.at[i]);
    }
    return text.p;
}

static void describe(hd_ptx *p, struct diags *diags)
{
    const struct ptx_module *m = p->module;
    p->info = (hd_ptx_info){.version_major = m->version / 10u,
                            .version_minor = m->version % 10u,
                            .target = target_words(m),
                            .address_bits = m->address_bits ? m->address_bits : 64};
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *it = &m->items.at[i];
        p->info.variables += it->kind == ITEM_VAR;
        if (it->kind != ITEM_FUNC || !it->func->has_body)
            continue;
        struct ptx_func *f = it->func;
        f->handle = p->functions.n;
        hd_ptx_function *d = VEC_PUSH(&p->arena, &p->functions);
        *d = (hd_ptx_function){.name = arena_strndup(&p->arena, f->symbol.name.p, f->symbol.name.n),
                               .is_kernel = f->entry,
                               .line = place_locate(ptx_place(m, f->symbol.offset, 0)).line,
                               .params = f->signature.params.n};
        count_instructions(p, f, d, diags);
        p->info.kernels += f->entry;
        p->info.functions += !f->entry;
        p->info.instructions += d->instructions;
    }
    find_missing(p);
}

struct reading_ptx {
    hd_ptx *ptx;
    const hd_source *source;
};

static hd_result read_ptx(void *data, struct diags *diags)
{
    const struct reading_ptx *r = data;
    hd_ptx *p = r->ptx;
    const struct source *s = source_new(&p->arena, r->source->name ? r->source->name : "<ptx>",
                                        (struct str){r->source->text, r->source->bytes});
    p->module = ptx_parse(&p->arena, s, diags);
    if (p->module)
        ptx_verify(p->module, diags);
    if (p->module && !diags->errors)
        ptx_check_shared(&p->module, 1, diags);
    diags_sort(diags, 0);
    if (!p->module || diags->errors)
        return HD_ERROR_INVALID_PTX;
    describe(p, diags);
    return HD_SUCCESS;
}

hd_result hd_ptx_read(const hd_source *source, hd_ptx **ptx, hd_report **report)
{
    if (report)
        *report = NULL;
    if (!source || !source->text || !ptx)
        return HD_ERROR_INVALID_VALUE;
    hd_ptx *p = calloc(1, sizeof *p);
    if (!p)
        return HD_ERROR_OUT_OF_MEMORY;
    hd_result result = report_during(report, &p->arena, read_ptx, &(struct reading_ptx){p, source});
    if (result == HD_SUCCESS)
        *ptx = p;
    else
        hd_ptx_free(p);
    return result;
}

void hd_ptx_free(hd_ptx *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    free(p);
}

void hd_ptx_get_info_sized(const hd_ptx *p, hd_ptx_info *info, size_t bytes)
{
    const hd_ptx_info none = {0};
    SIZED_WRITE(info, bytes, p ? &p->info : &none);
}

bool hd_ptx_get_function_sized(const hd_ptx *p, size_t i, hd_ptx_function *function, size_t bytes)
{
    if (!p || !function || i >= p->functions.n)
        return false;
    SIZED_WRITE(function, bytes, &p->functions.at[i]);
    return true;
}

/* Sets *text to the PTX, printed if `code` is NULL; leaves it unset if memory is exhausted. */
static const char *write_text(hd_ptx *p, const hd_ptx_code *code, struct str *text, size_t *bytes)
{
    jmp_buf oom;
    if (!text->p && setjmp(oom) == 0) {
        p->arena.on_oom = &oom;
        *text = code ? ptx_rewrite(p->module, code, &p->arena) : ptx_print(p->module, &p->arena);
    }
    p->arena.on_oom = NULL;
    if (bytes)
        *bytes = text->n;
    return text->p;
}

const char *hd_ptx_print(hd_ptx *p, size_t *bytes)
{
    return p ? write_text(p, NULL, &p->printed, bytes) : NULL;
}

const char *hd_ptx_rewrite_sized(hd_ptx *p, const hd_ptx_code *code, size_t code_bytes, size_t *bytes)
{
    hd_ptx_code own;
    struct str text = {0};
    bool is_known = code && SIZED_READ(hd_ptx_code, &own, code, code_bytes) == HD_SUCCESS;
    return p && is_known ? write_text(p, &own, &text, bytes) : NULL;
}
