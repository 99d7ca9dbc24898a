/* Modules, functions' heads (PTX ISA 5, 7, 11); see parser.h. */
#include "ptx/parser.h"

#include <stdio.h>

/* What an item of a module begins with. */
static bool at_item(const struct parser *p)
{
    static const char *const words[] = {"version", "target",  "address_size", "file",   "section", "alias",
                                        "extern",  "visible", "weak",         "common", "entry",   "func"};
    enum ptx_space space;
    bool known = p->tok.kind == TOKEN_DOT && ptx_space_by_name(p->tok.text, &space);
    for (size_t i = 0; !known && i < sizeof words / sizeof words[0]; i++)
        known = at_dot(p, words[i]);
    return known;
}

/* .maxntid 256, 1, 1 and the like (11.4); .pragma has strings. */
static bool parse_function_directive(struct parser *p, struct ptx_func *f)
{
    if (!isa_directive_by_name(p->tok.text))
        return parse_fail(p, "a function's body is in braces", "unknown directive %s", parse_describe(p, p->tok));
    struct ptx_directive *d = VEC_PUSH(p->arena, &f->directives);
    d->name = p->tok.text;
    f->signature.noreturn |= str_is(d->name, "noreturn");
    if (str_is(d->name, "pragma"))
        return parse_pragma(p, &d->text, &p->keeps_rolled.function);
    parse_advance(p);
    bool parenthesis = accept(p, '(');
    while (p->tok.kind == TOKEN_INT || p->tok.kind == TOKEN_IDENT || at_punct(p, '(')) {
        if (d->n == 3)
            return parse_fail(p, NULL, "`.%.*s` takes at most three numbers", STR_ARG(d->name));
        if (!parse_size(p, UINT32_MAX, &d->value[d->n++], "the number"))
            return false;
        if (!accept(p, ','))
            break;
    }
    return !parenthesis || parse_expect(p, ')', "the numbers");
}

/* Parameters of a definition are names of the body's outer scope. */
static void open_function(struct parser *p, struct ptx_func *f, struct scope *scope)
{
    p->func = f;
    scope_open(p, scope);
}

static bool parse_function_head(struct parser *p, struct ptx_func *f)
{
    if (!f->entry && at_dot(p, "attribute")) {
        struct ptx_var ignored = {0}; /* .unified functions */
        if (!parse_attribute(p, &ignored))
            return false;
    }
    if (!f->entry && at_punct(p, '(') && !parse_signature_side(p, &f->signature, true, true))
        return false;
    if (!parse_take_name(p, &f->symbol.name, &f->symbol.offset, f->entry ? "the kernel" : "the function"))
        return false;
    if (at_punct(p, '(') && !parse_signature_side(p, &f->signature, false, true))
        return false;
    while (p->tok.kind == TOKEN_DOT && !at_item(p))
        if (!parse_function_directive(p, f))
            return false;
    return true;
}

/* A prototype of a function needs no semicolon (ptxas; nvcc 3 and 4 wrote none). */
static bool parse_end_of_prototype(struct parser *p, const struct ptx_func *f)
{
    bool open = !f->entry && (at_item(p) || p->tok.kind == TOKEN_END);
    return open || parse_expect_end(p, "the declaration");
}

/* A declaration may be repeated, and one definition may join it. */
static bool enter_function(struct parser *p, struct ptx_func *f)
{
    struct ptx_symbol *before = parse_find_in_scope(&p->module_scope, f->symbol.name);
    struct ptx_func *other = before && before->kind == SYMBOL_FUNC ? (struct ptx_func *)before : NULL;
    if (before && (!other || (other->has_body && f->has_body) || other->entry != f->entry))
        return parse_fail_twice(p, &f->symbol, f->symbol.name, before->offset);
    if (other && !f->has_body)
        f->definition = other->definition;
    else if (other)
        other->definition = f;
    if (!other || f->has_body)
        scope_enter(p, &p->module_scope, &f->symbol);
    return true;
}

static bool parse_function(struct parser *p, enum ptx_linkage linkage)
{
    struct ptx_func *f = ARENA_NEW(p->arena, struct ptx_func);
    struct scope scope;
    f->symbol.kind = SYMBOL_FUNC;
    f->module = p->module;
    f->linkage = linkage;
    f->definition = f;
    f->entry = at_dot(p, "entry");
    f->n_registers = p->module->n_registers;
    p->keeps_rolled.function = p->keeps_rolled.block = false;
    parse_advance(p);
    struct scope *outer = p->scope;
    open_function(p, f, &scope);
    bool ok = parse_function_head(p, f);
    f->has_body = ok && at_punct(p, '{');
    f->body_offset = p->tok.offset;
    if (ok) {
        *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_FUNC, .func = f};
        ok = enter_function(p, f);
    }
    if (f->has_body)
        ok &= parse_body(p);
    else if (ok)
        ok = parse_end_of_prototype(p, f);
    p->scope = outer;
    p->func = NULL;
    return ok;
}

/* ---- modules ---- */

static bool parse_version(struct parser *p)
{
    unsigned major, minor;
    if (p->tok.kind != TOKEN_F64 || sscanf(p->tok.text.p, "%u.%u", &major, &minor) != 2 || major > 99 || minor > 9)
        return parse_fail(p, "for example .version 8.0", "expected a version, not %s", parse_describe(p, p->tok));
    p->module->version = (uint16_t)(10 * major + minor);
    if (isa_version_is_newer(p->module->version))
        diag_warn(p->diags, ptx_place(p->module, p->tok.offset, (uint32_t)p->tok.text.n), "ptx-newer-version",
                  "kernels that use what is new in it are refused",
                  "PTX %.*s is newer than what Heddle knows, which is up to 9.3", STR_ARG(p->tok.text));
    else if (!isa_version_exists(p->module->version))
        diag_error(p->diags, ptx_place(p->module, p->tok.offset, (uint32_t)p->tok.text.n), "ptx-unknown-version",
                   "the versions are 1.0 to 1.5, 2.0 to 2.3, 3.0 to 3.2, 4.0 to 4.3, 5.0, 5.1, 6.0 to 6.5, 7.0 to 7.8, "
                   "8.0 to 8.8 and 9.0 to 9.3",
                   "there is no PTX version %.*s", STR_ARG(p->tok.text));
    parse_advance(p);
    return true;
}

static bool parse_target(struct parser *p)
{
    do {
        struct token at = p->tok;
        struct str w;
        uint32_t offset;
        if (!parse_take_name(p, &w, &offset, "a target"))
            return false;
        *VEC_PUSH(p->arena, &p->module->target_words) = w;
        struct isa_target t = {0};
        size_t digits = str_starts(w, "compute_") ? 8 : 3;
        for (size_t i = digits; i < w.n && w.p[i] >= '0' && w.p[i] <= '9' && t.sm < 1000; i++)
            t.sm = (uint16_t)(t.sm * 10 + (w.p[i] - '0'));
        char last = w.p[w.n - 1];
        t.suffix = last == 'a' || last == 'f' ? last : 0;
        if (t.sm && (str_starts(w, "sm_") || str_starts(w, "compute_"))) {
            p->module->target = t;
        } else if (!str_is(w, "debug") && !str_is(w, "texmode_unified") && !str_is(w, "texmode_independent") &&
                   !str_is(w, "map_f64_to_f32")) {
            p->wrong_target = true;
            return parse_fail_at(p, at, "for example sm_90", "`%.*s` is not a target", STR_ARG(w));
        }
    } while (accept(p, ','));
    return true;
}

static bool parse_address_size(struct parser *p)
{
    struct token at = p->tok;
    uint64_t bits;
    if (!parse_size(p, 64, &bits, ".address_size"))
        return false;
    if (bits != 32 && bits != 64)
        return parse_fail_at(p, at, NULL, ".address_size is 32 or 64");
    p->module->address_bits = (uint8_t)bits;
    return true;
}

/* A file's name as compilers write it: quotes and backslashes behind a backslash, and bytes that
 * are not ASCII as three octal digits behind one. */
static struct str file_name(struct str text, struct arena *arena)
{
    if (!memchr(text.p, '\\', text.n))
        return text;
    char *name = arena_alloc(arena, text.n);
    size_t n = 0;
    for (const char *at = text.p, *end = text.p + text.n; at < end;) {
        bool is_escape = *at == '\\' && at + 1 < end;
        if (is_escape && end - at >= 4 && strspn((char[]){at[1], at[2], at[3], 0}, "01234567") == 3 && at[1] <= '3') {
            name[n++] = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 4;
        } else {
            at += is_escape && strchr("\"\\", at[1]);
            name[n++] = *at++;
        }
    }
    return (struct str){name, n};
}

static bool parse_file(struct parser *p)
{
    struct ptx_file *f = ARENA_NEW(p->arena, struct ptx_file);
    uint64_t index;
    if (!parse_size(p, UINT32_MAX, &index, "the file's index"))
        return false;
    f->index = (uint32_t)index;
    if (p->tok.kind != TOKEN_STRING)
        return parse_fail(p, NULL, "expected the file's name in quotes");
    f->name = file_name(p->tok.text, p->arena);
    parse_advance(p);
    if (accept(p, ',')) {
        f->has_time = true;
        if (!parse_size(p, UINT64_MAX, &f->time, "the time") || !parse_expect(p, ',', "the time") ||
            !parse_size(p, UINT64_MAX, &f->size, "the size"))
            return false;
    }
    struct str key = {(const char *)&f->index, sizeof f->index};
    if (!map_get(&p->module->files, key))
        map_put(&p->module->files, key, f);
    *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_FILE, .file = f};
    return true;
}

/* .section .name { ... }: debug data, kept as text. */
static bool parse_section(struct parser *p)
{
    uint32_t start = p->tok.offset;
    while (p->tok.kind == TOKEN_DOT || p->tok.kind == TOKEN_IDENT)
        parse_advance(p);
    if (!at_punct(p, '{'))
        return parse_fail(p, NULL, "expected `{` after the section's name");
    while (p->tok.kind != TOKEN_END && !at_punct(p, '}'))
        parse_advance(p);
    struct str *text = ARENA_NEW(p->arena, struct str);
    const char *base = p->module->source->text.p;
    *text = (struct str){base + start, p->tok.offset + 1 - start};
    if (!parse_expect(p, '}', "the section"))
        return false;
    *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_SECTION, .text = text};
    return true;
}

/* .alias name, aliasee; both are functions declared above (11.? ".alias"). */
static bool parse_alias(struct parser *p)
{
    struct token at[2];
    struct ptx_func *f[2];
    for (int i = 0; i < 2; i++) {
        at[i] = p->tok;
        struct str name;
        uint32_t offset;
        if (!parse_take_name(p, &name, &offset, "a function"))
            return false;
        f[i] = (struct ptx_func *)map_get(&p->module_scope.names, name);
        if (!f[i] || f[i]->symbol.kind != SYMBOL_FUNC)
            return parse_fail_at(p, at[i], NULL, "`%.*s` is not a function declared above", STR_ARG(name));
        if (i == 0 && !parse_expect(p, ',', "the alias"))
            return false;
    }
    if (f[0]->has_body || f[0]->entry || !f[1]->definition->has_body)
        return parse_fail_at(p, at[0], "declare the alias, and define the function that it names",
                             "an alias must be declared, and the function that it names must be defined");
    f[0]->alias_of = f[1]->definition;
    *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_ALIAS, .alias = f[0]};
    return parse_expect_end(p, "the alias");
}

static bool same_shape(const struct ptx_var *a, const struct ptx_var *b)
{
    return a->space == b->space && a->type == b->type && a->vector == b->vector;
}

static void take_module_variable(struct parser *p, struct ptx_var *v)
{
    struct ptx_symbol *before = parse_find_in_scope(&p->module_scope, v->symbol.name);
    struct ptx_var *other = before && before->kind == SYMBOL_VAR ? (struct ptx_var *)before : NULL;
    *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_VAR, .var = v};
    bool same_size = other && (other->unsized || v->unsized || other->size == v->size);
    if (other && other != v && same_size && same_shape(other, v) &&
        (other->linkage == LINK_EXTERN || v->linkage == LINK_EXTERN)) {
        if (other->linkage == LINK_EXTERN) {
            other->definition = v;
            scope_enter(p, &p->module_scope, &v->symbol);
        } else {
            v->definition = other;
        }
        return;
    }
    parse_declare(p, &v->symbol);
}

static bool parse_linkage(struct parser *p, enum ptx_linkage *linkage)
{
    static const char *const names[] = {
        [LINK_EXTERN] = "extern", [LINK_VISIBLE] = "visible", [LINK_WEAK] = "weak", [LINK_COMMON] = "common"};
    for (unsigned i = LINK_EXTERN; i <= LINK_COMMON; i++)
        if (at_dot(p, names[i])) {
            *linkage = (enum ptx_linkage)i;
            parse_advance(p);
            return true;
        }
    return false;
}

static bool parse_item(struct parser *p)
{
    enum ptx_linkage linkage = LINK_STATIC;
    if (at_dot(p, "version") || at_dot(p, "target") || at_dot(p, "address_size") || at_dot(p, "file") ||
        at_dot(p, "section") || at_dot(p, "alias")) {
        struct str word = p->tok.text;
        parse_advance(p);
        switch (word.p[0]) {
        case 'v': return parse_version(p);
        case 't': return parse_target(p);
        case 'f': return parse_file(p);
        case 's': return parse_section(p);
        default: return word.p[1] == 'd' ? parse_address_size(p) : parse_alias(p);
        }
    }
    if (at_dot(p, "pragma")) {
        struct str *text = ARENA_NEW(p->arena, struct str);
        *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_PRAGMA, .text = text};
        return parse_pragma(p, text, &p->module->keeps_rolled);
    }
    parse_linkage(p, &linkage);
    if (at_dot(p, "entry") || at_dot(p, "func"))
        return parse_function(p, linkage);
    enum ptx_space space;
    if (at_dot(p, "reg") && linkage == LINK_STATIC)
        return parse_registers(p);
    if (p->tok.kind == TOKEN_DOT && ptx_space_by_name(p->tok.text, &space))
        return parse_variables(p, linkage, take_module_variable);
    if (accept(p, ';'))
        return true;
    if (p->tok.kind == TOKEN_IDENT || at_punct(p, '}') || at_punct(p, '@'))
        return parse_fail(p, "is there a `}` too many above?", "%s is outside a function", parse_describe(p, p->tok));
    return parse_fail(p, "a module holds directives such as .entry, .func, .global", "unexpected %s",
                      parse_describe(p, p->tok));
}

/* After an error outside of a function: to the next thing that can start an item. */
static void skip_item(struct parser *p)
{
    unsigned depth = 0, lists = 0;
    bool moved = false, stray = p->tok.kind == TOKEN_IDENT || at_punct(p, '}') || at_punct(p, '@');
    for (; p->tok.kind != TOKEN_END; parse_advance(p), moved = true) {
        if (at_punct(p, '{'))
            depth++;
        else if (at_punct(p, '}') && depth > 0 && --depth == 0)
            break;
        else if (at_punct(p, '('))
            lists++;
        else if (at_punct(p, ')') && lists > 0)
            lists--;
        else if (depth == 0 && at_punct(p, ';') && !stray)
            break;
        else if (depth == 0 && lists == 0 && moved && at_item(p))
            return;
    }
    parse_advance(p);
}

static void fill_sregs(struct parser *p)
{
    map_init(&p->sregs, p->arena);
    for (uintptr_t i = 0; i < SREG_COUNT; i++) {
        const char *name = arena_printf(p->arena, "%%%s", isa_sreg_info((enum isa_sreg)i)->name);
        map_put(&p->sregs, str_of(name), (void *)(i + 1));
    }
}

/* What of the source is PTX: without UTF-8's byte order mark at its start, and the NUL bytes behind
 * its end that a C string and a fat binary have. A NUL byte elsewhere, where another reader of the
 * text would end, is refused, as is UTF-16. */
static bool find_text(const struct ptx_module *m, struct diags *diags, struct str *text)
{
    struct str t = m->source->text;
    bool little = str_starts(t, "\xff\xfe"), big = str_starts(t, "\xfe\xff");
    if (little || big) {
        diag_error(diags, (struct place){.source = m->source}, "ptx-syntax", "save the file as UTF-8",
                   "the text is UTF-16, not PTX");
        return false;
    }
    if (str_starts(t, "\xef\xbb\xbf"))
        t = (struct str){t.p + 3, t.n - 3};
    while (t.n && t.p[t.n - 1] == 0)
        t.n--;
    const char *nul = t.n ? memchr(t.p, 0, t.n) : NULL;
    if (nul)
        diag_error(diags, ptx_place(m, (uint32_t)(nul - m->source->text.p), 1), "ptx-syntax",
                   "is it PTX? Text has no such byte", "the text contains a NUL byte");
    *text = t;
    return !nul;
}

struct ptx_module *ptx_parse(struct arena *arena, const struct source *source, struct diags *diags)
{
    struct ptx_module *m = ARENA_NEW(arena, struct ptx_module);
    m->arena = arena;
    m->source = source;
    m->isa = ARENA_NEW(arena, struct isa);
    isa_init(m->isa, arena);
    struct parser p = {.arena = arena, .module = m, .diags = diags};
    map_init(&p.reported, arena);
    map_init(&m->files, arena);
    scope_open(&p, &p.module_scope);
    fill_sregs(&p);
    if (source->text.n >= UINT32_MAX) {
        diag_error(diags, (struct place){.source = source}, "ptx-syntax", NULL, "the file is larger than 4 GB");
        return NULL;
    }
    struct str text;
    if (!find_text(m, diags, &text))
        return NULL;
    lex_init(&p.lex, source, text);
    parse_advance(&p);
    if (!at_dot(&p, "version")) {
        parse_fail(&p, "PTX text begins with .version and .target; `heddle cc -ptx FILE.cu` makes it from CUDA C++",
                   "expected `.version`, not %s", parse_describe(&p, p.tok));
        return NULL;
    }
    while (p.tok.kind != TOKEN_END)
        if (!parse_item(&p)) {
            p.func = NULL;
            p.scope = &p.module_scope;
            skip_item(&p);
        }
    if (!m->target.sm && !p.wrong_target)
        diag_error(diags, ptx_place(m, 0, 0), "ptx-target", "write for example `.target sm_90`",
                   "the module has no .target");
    return m;
}
