/* What all of the parser uses: expecting tokens, reporting errors, names in scopes (PTX ISA 4.4);
 * see parser.h. */
#include <stdarg.h>

#include "base/printable.h"
#include "ptx/parser.h"

/* ---- tokens ---- */

struct place parse_place_of(const struct parser *p, struct token t)
{
    return ptx_place(p->module, t.offset, (uint32_t)(t.text.n ? t.text.n : 1));
}

static const char *number_help(struct str s)
{
    char c = s.n > 1 && s.p[0] == '0' ? s.p[1] : 0;
    switch (c) {
    case 'f':
    case 'F': return "0f is followed by 8 hexadecimal digits";
    case 'd':
    case 'D': return "0d is followed by 16 hexadecimal digits";
    case 'x':
    case 'X': return "0x is followed by hexadecimal digits";
    case 'b':
    case 'B': return "0b is followed by binary digits";
    default:
        return c >= '0' && c <= '9'                         ? "numbers that start with 0 are octal"
               : s.p[s.n - 1] == 'f' || s.p[s.n - 1] == 'F' ? "constants of all floats are written without f: 1.5"
                                                            : NULL;
    }
}

static bool report(struct parser *p, struct token at, const char *help, const char *format, va_list args)
{
    struct place where = parse_place_of(p, at);
    if (at.kind == TOKEN_DOT)
        where.length++;
    if (at.kind == TOKEN_BAD && at.text.n >= 2 && memcmp(at.text.p, "/*", 2) == 0)
        diag_error(p->diags, where, "ptx-syntax", NULL, "this comment does not end");
    else if (at.kind == TOKEN_BAD && at.text.n && at.text.p[0] >= '0' && at.text.p[0] <= '9')
        diag_error(p->diags, where, "ptx-syntax", number_help(at.text), "`%.*s` is not a number", STR_ARG(at.text));
    else if (at.kind == TOKEN_BAD)
        diag_error(p->diags, where, "ptx-syntax", NULL, "this string does not end");
    else
        diag_verror(p->diags, where, "ptx-syntax", help, format, args);
    return false;
}

bool parse_fail(struct parser *p, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(p, p->tok, help, format, args);
    va_end(args);
    return false;
}

bool parse_fail_at(struct parser *p, struct token at, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(p, at, help, format, args);
    va_end(args);
    return false;
}

const char *parse_describe(struct parser *p, struct token t)
{
    if (t.kind == TOKEN_END)
        return "the end of the file";
    if (diags_full(p->diags))
        return "this";
    return arena_printf(p->arena, "`%s%s`", t.kind == TOKEN_DOT ? "." : "", printable_excerpt(p->arena, t.text, false));
}

bool parse_enter(struct parser *p)
{
    if (p->depth == MAX_DEPTH)
        return parse_fail(p, NULL, "this is nested too deeply: at most %d levels are possible", MAX_DEPTH);
    p->depth++;
    return true;
}

bool parse_expect(struct parser *p, char c, const char *what)
{
    return accept(p, c) || parse_fail(p, NULL, "expected `%c` after %s, not %s", c, what, parse_describe(p, p->tok));
}

bool parse_expect_end(struct parser *p, const char *what)
{
    if (accept(p, ';'))
        return true;
    const char *text = p->module->source->text.p;
    if (p->tok.kind == TOKEN_BAD || !memchr(text + p->taken_to, '\n', p->tok.offset - p->taken_to))
        return parse_expect(p, ';', what);
    diag_error(p->diags, ptx_place(p->module, p->taken_to, 1), "ptx-syntax", NULL, "`;` is missing behind %s", what);
    return true;
}

bool parse_take_name(struct parser *p, struct str *name, uint32_t *offset, const char *what)
{
    if (p->tok.kind != TOKEN_IDENT)
        return parse_fail(p, NULL, "expected the name of %s, not %s", what, parse_describe(p, p->tok));
    *name = p->tok.text;
    *offset = p->tok.offset;
    parse_advance(p);
    return true;
}

/* At a brace: does it open a list of operands, which has no statements in it? */
static bool at_list(const struct parser *p)
{
    struct lexer ahead = p->lex;
    struct token t;
    do
        t = lex_next(&ahead);
    while (t.kind != TOKEN_END && !(t.kind == TOKEN_PUNCT && strchr(";{}", t.punct)));
    return t.kind == TOKEN_PUNCT && t.punct == '}';
}

void parse_skip_statement(struct parser *p)
{
    while (p->tok.kind != TOKEN_END && !at_punct(p, ';') && !at_punct(p, '}')) {
        bool is_list = at_punct(p, '{') && at_list(p);
        if (at_punct(p, '{') && !is_list)
            return;
        while (is_list && !at_punct(p, '}'))
            parse_advance(p);
        parse_advance(p);
    }
    accept(p, ';');
}

/* ---- names ---- */

/* What a scope knows of the names STEM0, STEM1, ...; 5.4.6 calls STEM<count> a parameterized
 * variable name. */
struct name_range {
    uint32_t count;         /* STEM<count> is declared; 0: none is */
    struct ptx_symbol *reg; /* what it declares: registers, */
    struct ptx_var *vars;   /* or `count` variables */
    struct str stem;        /* where, for messages */
    uint32_t offset;
    /* Of the names STEMn that are declared by themselves, that of the least number. */
    struct ptx_symbol *least;
    uint32_t least_number;
};

/* A name, and the range that it may be of: %r12 is number 12 of %r<100>, and so is %r012. */
struct name {
    struct str whole, stem;
    uint32_t hash, stem_hash;
    bool numbered;
    uint32_t number;
};

static struct name split(struct str whole)
{
    size_t n = whole.n;
    while (n > 0 && whole.p[n - 1] >= '0' && whole.p[n - 1] <= '9')
        n--;
    uint64_t number = 0;
    for (size_t i = n; i < whole.n && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(whole.p[i] - '0');
    struct str stem = {whole.p, n};
    bool numbered = n > 0 && n < whole.n;
    return (struct name){.whole = whole,
                         .stem = stem,
                         .hash = str_hash(whole),
                         .stem_hash = numbered ? str_hash(stem) : 0,
                         .numbered = numbered,
                         .number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX};
}

static struct ptx_symbol *find_here(const struct scope *s, const struct name *name)
{
    const struct name_range *r = name->numbered ? map_get_hashed(&s->ranges, name->stem, name->stem_hash) : NULL;
    if (r && name->number < r->count)
        return r->reg ? r->reg : &r->vars[name->number].symbol;
    return map_get_hashed(&s->names, name->whole, name->hash);
}

struct ptx_symbol *parse_find_in_scope(const struct scope *s, struct str text)
{
    struct name name = split(text);
    return find_here(s, &name);
}

static struct ptx_symbol *find(struct parser *p, const struct name *name)
{
    struct ptx_symbol *symbol = NULL;
    for (const struct scope *s = p->scope; s && !symbol; s = s->parent)
        symbol = find_here(s, name);
    return symbol;
}

struct ptx_symbol *parse_find_symbol(struct parser *p, struct str text)
{
    struct name name = split(text);
    return find(p, &name);
}

const struct ptx_reg *parse_find_reg(struct parser *p, struct str text, uint32_t *number)
{
    struct name name = split(text);
    const struct ptx_symbol *symbol = find(p, &name);
    if (!symbol || symbol->kind != SYMBOL_REG)
        return NULL;
    const struct ptx_reg *reg = (const struct ptx_reg *)symbol;
    *number = reg->first + (reg->parametrised ? name.number * reg->vector : 0);
    return reg;
}

/* Names that are looked at for all hints together: a hint is not worth seconds. */
enum { MAX_COMPARED = 500000 };

/* The declared name nearest to one that is not, or an empty one. */
static struct str nearest_name(struct parser *p, struct str name, bool label)
{
    struct str best = {0};
    unsigned least = name.n < 2 ? 1 : name.n < 4 ? 2 : 3;
    for (struct scope *s = p->scope; s; s = s->parent)
        for (uint32_t i = 0; i < s->names.capacity; i++) {
            const struct map_entry *e = &s->names.entries[i];
            if (p->n_compared == MAX_COMPARED)
                return best;
            bool fits = e->value && is_label((const struct ptx_symbol *)e->value) == label;
            p->n_compared += fits;
            unsigned distance = fits ? str_distance(name, e->name, 2) : 3;
            if (distance < least || (distance == least && best.n && e->name.p < best.p)) {
                least = distance;
                best = e->name;
            }
        }
    return best;
}

/* %r12 where %r<10> stands. */
static const char *too_few(struct parser *p, struct str text)
{
    struct name name = split(text);
    const struct name_range *r = NULL;
    for (const struct scope *s = p->scope; name.numbered && s && !(r && r->count); s = s->parent)
        r = map_get_hashed(&s->ranges, name.stem, name.stem_hash);
    if (!r || !r->count)
        return NULL;
    return arena_printf(p->arena, "`%.*s<%u>` declares %.*s0 to %.*s%u", STR_ARG(r->stem), r->count, STR_ARG(r->stem),
                        STR_ARG(r->stem), r->count - 1);
}

bool parse_fail_undeclared(struct parser *p, struct token at, const char *kind)
{
    if (map_put(&p->reported, at.text, p))
        return false;
    bool full = diags_full(p->diags);
    const char *help = *kind || full ? NULL : too_few(p, at.text);
    struct str near = help || full ? (struct str){0} : nearest_name(p, at.text, *kind != 0);
    if (near.n)
        help = arena_printf(p->arena, "did you mean `%.*s`?", STR_ARG(near));
    else if (!help && !*kind && at.text.p[0] == '%')
        help = "declare it, for example: .reg .b32 %r<10>;";
    diag_error(p->diags, parse_place_of(p, at), "ptx-name", help, "%s`%.*s` is not declared", kind, STR_ARG(at.text));
    return false;
}

/* ---- declarations ---- */

void scope_open(struct parser *p, struct scope *s)
{
    *s = (struct scope){.parent = p->scope, .first_use = p->label_uses.n};
    map_init(&s->names, p->arena);
    map_init(&s->ranges, p->arena);
    p->scope = s;
}

bool parse_fail_twice(struct parser *p, const struct ptx_symbol *symbol, struct str name, uint32_t first)
{
    diag_error(p->diags, ptx_place(p->module, symbol->offset, (uint32_t)symbol->name.n), "ptx-name", NULL,
               "`%.*s` is declared twice (first in line %u)", STR_ARG(name),
               place_locate(ptx_place(p->module, first, 0)).line);
    return false;
}

static struct name_range *range_of(struct parser *p, struct scope *s, struct str stem)
{
    struct name_range *r = map_get(&s->ranges, stem);
    if (!r) {
        r = ARENA_NEW(p->arena, struct name_range);
        map_put(&s->ranges, stem, r);
    }
    return r;
}

void scope_enter(struct parser *p, struct scope *s, struct ptx_symbol *symbol)
{
    struct name name = split(symbol->name);
    map_put(&s->names, symbol->name, symbol);
    if (!name.numbered || is_label(symbol))
        return;
    struct name_range *r = range_of(p, s, name.stem);
    if (!r->least || name.number < r->least_number) {
        r->least = symbol;
        r->least_number = name.number;
    }
}

bool parse_declare(struct parser *p, struct ptx_symbol *symbol)
{
    struct name name = split(symbol->name);
    struct ptx_symbol *before = find_here(p->scope, &name);
    if (before == symbol) /* one of a range of variables */
        return true;
    if (str_is(symbol->name, "_")) {
        diag_error(p->diags, ptx_place(p->module, symbol->offset, 1), "ptx-name", NULL,
                   "`_` is the operand that is dropped, and cannot be declared");
        return false;
    }
    /* A label beside registers of its name is hidden by them. */
    if (before && before->kind == SYMBOL_REG && is_label(symbol) && ((const struct ptx_reg *)before)->parametrised)
        before = map_get(&p->scope->names, symbol->name);
    if (before)
        return parse_fail_twice(p, symbol, symbol->name, before->offset);
    scope_enter(p, p->scope, symbol);
    return true;
}

bool parse_declare_range(struct parser *p, struct ptx_symbol *stem, uint32_t count, struct ptx_var *vars)
{
    struct name_range *r = range_of(p, p->scope, stem->name);
    if (r->count)
        return parse_fail_twice(p, stem, stem->name, r->offset);
    if (r->least && r->least_number < count)
        return parse_fail_twice(p, stem, r->least->name, r->least->offset);
    r->count = count;
    r->reg = vars ? NULL : stem;
    r->vars = vars;
    r->stem = stem->name;
    r->offset = stem->offset;
    return true;
}

/* ---- state spaces ---- */

const char *ptx_space_name(enum ptx_space space)
{
    static const char *const names[] = {"generic", "reg", "global", "const", "shared", "local", "param", "tex"};
    return names[space];
}

bool ptx_space_by_name(struct str s, enum ptx_space *space)
{
    for (unsigned i = SPACE_REG; i <= SPACE_TEX; i++)
        if (str_is(s, ptx_space_name((enum ptx_space)i))) {
            *space = (enum ptx_space)i;
            return true;
        }
    return false;
}
