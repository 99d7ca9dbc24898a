/* See pack_slices.h. The text is read twice: as a module, for the parameters of kernels and the
 * contents of variables, and as tokens, for the extent of each statement and the names it uses. */
#include "cuda/image/pack_slices.h"

#include "base/map.h"
#include "ptx/lex.h"
#include "ptx/module.h"

enum kind { FRAME, FUNCTION, VARIABLE, ALIAS, LEFT_OUT };

/* A statement outside functions. */
struct statement {
    enum kind kind;
    struct str name; /* FUNCTION, VARIABLE, ALIAS */
    struct str text;
    VEC(uint32_t) uses;    /* indices of other statements */
    uint32_t next_of_name; /* 1 + another statement with this name (a declaration), or 0 */
    uint32_t seen;         /* 1 + the last kernel that was found to use it */
    /* kernels: another one of the same slice, or itself; variables: 1 + a kernel that shares it,
       or 0 */
    uint32_t group;
    uint32_t taken; /* 1 + the slice that contains it */
    const struct ptx_func *kernel;
    const struct ptx_var *shared; /* set for a variable that the host or a kernel may write */
};

struct cutter {
    struct arena *arena;
    const struct source *source;
    VEC(struct statement) all;
    struct map by_name; /* 1 + the index of the first statement with the name, as a pointer */
};

/* ---- statements ---- */

struct reader {
    struct lexer lexer;
    struct token token; /* not consumed yet */
    const char *end;    /* the end of the previous token */
};

static void advance(struct reader *r)
{
    r->end = r->lexer.p;
    r->token = lex_next(&r->lexer);
}

static bool at(const struct reader *r, char punct)
{
    return r->token.kind == TOKEN_PUNCT && r->token.punct == punct;
}

static bool ended(const struct reader *r)
{
    return r->token.kind == TOKEN_END || r->token.kind == TOKEN_BAD;
}

/* Statements without an end mark: .version 9.0; .target sm_90, debug; .address_size 64; .file 1
 * "name", 1, 2 */
static bool read_frame(struct reader *r, struct str word)
{
    bool list = str_is(word, "target"), file = str_is(word, "file");
    if (!list && !file && !str_is(word, "version") && !str_is(word, "address_size"))
        return false;
    advance(r);
    if (file)
        advance(r);
    advance(r);
    while (at(r, ',')) {
        advance(r);
        advance(r);
    }
    return true;
}

static void read_rest(struct reader *r, struct statement *s)
{
    int depth = 0;
    bool in_value = false;
    for (; !ended(r); advance(r)) {
        bool opens = at(r, '(') || at(r, '{') || at(r, '['), closes = at(r, ')') || at(r, '}') || at(r, ']');
        if (r->token.kind == TOKEN_DOT && depth == 0 && s->kind == VARIABLE) {
            bool function = str_is(r->token.text, "entry") || str_is(r->token.text, "func");
            s->kind = function                           ? FUNCTION
                      : str_is(r->token.text, "alias")   ? ALIAS
                      : str_is(r->token.text, "section") ? LEFT_OUT
                      : str_is(r->token.text, "pragma")  ? FRAME
                                                         : VARIABLE;
        }
        if (r->token.kind == TOKEN_IDENT && depth == 0 && !in_value && !s->name.n)
            s->name = r->token.text;
        in_value = in_value || at(r, '=');
        depth += opens - closes;
        bool body = closes && depth == 0 && r->token.punct == '}' && (s->kind == FUNCTION || s->kind == LEFT_OUT);
        if (body || (depth == 0 && at(r, ';'))) {
            advance(r);
            return;
        }
    }
}

static void read_statements(struct cutter *c)
{
    struct reader r = {0};
    lex_init(&r.lexer, c->source, c->source->text);
    advance(&r);
    while (!ended(&r)) {
        struct statement s = {.kind = VARIABLE};
        const char *start = c->source->text.p + r.token.offset;
        if (r.token.kind == TOKEN_DOT && read_frame(&r, r.token.text))
            s.kind = FRAME;
        else
            read_rest(&r, &s);
        s.text = (struct str){start, (size_t)(r.end - start)};
        *VEC_PUSH(c->arena, &c->all) = s;
    }
}

static uint32_t find(const struct cutter *c, struct str name)
{
    return (uint32_t)(uintptr_t)map_get(&c->by_name, name);
}

static void note_names(struct cutter *c)
{
    map_init(&c->by_name, c->arena);
    for (uint32_t i = 0; i < c->all.n; i++) {
        struct statement *s = &c->all.at[i];
        if (s->kind == FRAME || s->kind == LEFT_OUT || !s->name.n)
            continue;
        s->next_of_name = find(c, s->name);
        map_put(&c->by_name, s->name, (void *)(uintptr_t)(i + 1));
    }
}

static void note_uses(struct cutter *c)
{
    for (uint32_t i = 0; i < c->all.n; i++) {
        struct statement *s = &c->all.at[i];
        struct lexer l;
        if (s->kind == FRAME || s->kind == LEFT_OUT)
            continue;
        lex_init(&l, c->source, s->text);
        for (struct token t = lex_next(&l); t.kind != TOKEN_END && t.kind != TOKEN_BAD; t = lex_next(&l)) {
            uint32_t used = t.kind == TOKEN_IDENT && *t.text.p != '%' ? find(c, t.text) : 0;
            bool again = !used || c->all.at[used - 1].seen == i + 1;
            if (!again) {
                c->all.at[used - 1].seen = i + 1;
                *VEC_PUSH(c->arena, &s->uses) = used - 1;
            }
        }
    }
    for (uint32_t i = 0; i < c->all.n; i++)
        c->all.at[i].seen = 0;
}

/* ---- what the module says ---- */

/* Compilers' own names, for constants that nobody writes: $str (clang), __unnamed_1 (nvcc),
 * __PRETTY_FUNCTION__. Names in a program contain no $. */
static bool is_constant(const struct ptx_var *v)
{
    struct str name = v->symbol.name;
    return str_has(name, "$") || str_starts(name, "__unnamed_") || str_has(name, "__PRETTY_FUNCTION__") ||
           str_has(name, "__func__") || str_has(name, "__FUNCTION__");
}

static void note_module(struct cutter *c, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *item = &m->items.at[i];
        const struct ptx_var *v = item->kind == ITEM_VAR ? item->var : NULL;
        const struct ptx_func *f = item->kind == ITEM_FUNC ? item->func : NULL;
        uint32_t number = v ? find(c, v->symbol.name) : f ? find(c, f->symbol.name) : 0;
        if (!number)
            continue;
        if (f && f->entry && f->has_body)
            c->all.at[number - 1].kernel = f;
        else if (v && (v->space == SPACE_GLOBAL || v->space == SPACE_CONST) && !is_constant(v))
            c->all.at[number - 1].shared = v;
    }
}

/* ---- slices ---- */

static uint32_t group_of(struct cutter *c, uint32_t kernel)
{
    while (c->all.at[kernel].group != kernel) {
        c->all.at[kernel].group = c->all.at[c->all.at[kernel].group].group;
        kernel = c->all.at[kernel].group;
    }
    return kernel;
}

typedef VEC(uint32_t) numbers;

/* Marks everything that the statement needs, directly or indirectly, and everything that the
   statements of `list` from `first` on need. */
static void close_over(struct cutter *c, uint32_t number, uint32_t mark, numbers *list)
{
    uint32_t next = list->n;
    *VEC_PUSH(c->arena, list) = number;
    c->all.at[number].seen = mark;
    for (; next < list->n; next++) {
        const struct statement *s = &c->all.at[list->at[next]];
        for (uint32_t i = 0; i <= s->uses.n; i++) {
            uint32_t used = i < s->uses.n ? s->uses.at[i] : s->next_of_name - 1;
            if (used == UINT32_MAX || c->all.at[used].seen == mark)
                continue;
            c->all.at[used].seen = mark;
            *VEC_PUSH(c->arena, list) = used;
        }
    }
}

static void join_groups(struct cutter *c)
{
    numbers list = {0};
    for (uint32_t i = 0; i < c->all.n; i++)
        if (c->all.at[i].kernel)
            c->all.at[i].group = i;
    for (uint32_t i = 0; i < c->all.n; i++) {
        list.n = 0;
        if (c->all.at[i].kernel)
            close_over(c, i, i + 1, &list);
        for (uint32_t k = 0; k < list.n; k++) {
            struct statement *s = &c->all.at[list.at[k]];
            if (!s->shared)
                continue;
            if (s->group)
                c->all.at[group_of(c, i)].group = group_of(c, s->group - 1);
            s->group = i + 1;
        }
    }
}

static void add_symbol(struct cutter *c, struct slices *to, const struct statement *s, uint32_t slice)
{
    struct slice_symbol *symbol = VEC_PUSH(c->arena, &to->symbols);
    *symbol = (struct slice_symbol){.name = s->name, .slice = slice};
    if (s->kernel) {
        const struct ptx_directive *most = ptx_directive(s->kernel, "maxntid");
        most = most ? most : ptx_directive(s->kernel, "reqntid");
        symbol->kind = PACK_KERNEL;
        symbol->bytes = (uint32_t)s->kernel->signature.param_bytes;
        symbol->threads = most ? ptx_product(most) : 0;
    } else {
        symbol->kind = PACK_VARIABLE;
        symbol->bytes = (uint32_t)s->shared->size;
    }
}

/* Writes the marked statements as a slice, with the frame, in the order of the text. */
static void write_slice(struct cutter *c, struct slices *to, uint32_t mark)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->all.n; i++)
        n += c->all.at[i].kind == FRAME || c->all.at[i].seen == mark ? c->all.at[i].text.n + 1 : 0;
    char *text = arena_alloc(c->arena, n + 1);
    uint32_t slice = to->texts.n;
    n = 0;
    for (uint32_t i = 0; i < c->all.n; i++) {
        struct statement *s = &c->all.at[i];
        bool frame = s->kind == FRAME;
        if (!frame && s->seen != mark)
            continue;
        memcpy(text + n, s->text.p, s->text.n);
        n += s->text.n;
        text[n++] = '\n';
        if (!frame && (s->kernel || s->shared) && !s->taken) {
            add_symbol(c, to, s, slice);
            s->taken = slice + 1;
        }
    }
    *VEC_PUSH(c->arena, &to->texts) = (struct str){text, n};
}

static void write_slices(struct cutter *c, struct slices *to)
{
    numbers list = {0};
    uint32_t mark = c->all.n + 1;
    for (uint32_t i = 0; i < c->all.n; i++) {
        if (!c->all.at[i].kernel || group_of(c, i) != i)
            continue;
        mark++;
        list.n = 0;
        for (uint32_t k = 0; k < c->all.n; k++)
            if (c->all.at[k].kernel && group_of(c, k) == i)
                close_over(c, k, mark, &list);
        write_slice(c, to, mark);
    }
    mark++;
    bool left = false;
    for (uint32_t i = 0; i < c->all.n; i++)
        if (c->all.at[i].shared && !c->all.at[i].taken) {
            close_over(c, i, mark, &list);
            left = true;
        }
    if (left)
        write_slice(c, to, mark);
}

bool slices_of(struct arena *arena, const struct source *source, struct diags *diags, struct slices *slices)
{
    struct cutter c = {.arena = arena, .source = source};
    const struct ptx_module *m = ptx_parse(arena, source, diags);
    *slices = (struct slices){0};
    if (!m || diags->errors)
        return false;
    read_statements(&c);
    note_names(&c);
    note_uses(&c);
    note_module(&c, m);
    join_groups(&c);
    write_slices(&c, slices);
    return true;
}
