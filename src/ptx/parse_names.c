/* What all of the parser uses: expecting tokens, reporting errors, names in scopes (PTX ISA 4.4); see parser.h. */
#include <stdarg.h>

#include "ptx/parser.h"

/* ---- tokens ---- */

struct place place_of(const struct parser *p, struct token t)
{
    return ptx_place(p->module, t.offset, (uint32_t)(t.text.n ? t.text.n : 1));
}

static const char *number_help(struct str s)
{
    char c = s.n > 1 && s.p[0] == '0' ? s.p[1] : 0;
    switch (c) {
    case 'f':
    case 'F': return "behind 0f stand 8 hexadecimal digits";
    case 'd':
    case 'D': return "behind 0d stand 16 hexadecimal digits";
    case 'x':
    case 'X': return "behind 0x stand hexadecimal digits";
    case 'b':
    case 'B': return "behind 0b stand binary digits";
    default: return c >= '0' && c <= '9' ? "numbers that start with 0 are octal" : NULL;
    }
}

static bool report(struct parser *p, struct token at, const char *help, const char *format, va_list args)
{
    struct place where = place_of(p, at);
    if (at.kind == TOKEN_DOT)
        where.length++;
    const char *text = arena_vprintf(p->arena, format, args);
    if (at.kind == TOKEN_BAD && at.text.n >= 2 && memcmp(at.text.p, "/*", 2) == 0)
        diag_error(p->diags, where, "ptx-syntax", NULL, "this comment does not end");
    else if (at.kind == TOKEN_BAD && at.text.n && at.text.p[0] >= '0' && at.text.p[0] <= '9')
        diag_error(p->diags, where, "ptx-syntax", number_help(at.text), "`%.*s` is not a number", STR_ARG(at.text));
    else if (at.kind == TOKEN_BAD)
        diag_error(p->diags, where, "ptx-syntax", NULL, "this string does not end");
    else
        diag_error(p->diags, where, "ptx-syntax", help, "%s", text);
    return false;
}

bool fail(struct parser *p, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(p, p->tok, help, format, args);
    va_end(args);
    return false;
}

bool fail_at(struct parser *p, struct token at, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(p, at, help, format, args);
    va_end(args);
    return false;
}

const char *describe(struct parser *p, struct token t)
{
    if (t.kind == TOKEN_END)
        return "the end of the file";
    return arena_printf(p->arena, t.kind == TOKEN_DOT ? "`.%.*s`" : "`%.*s`", STR_ARG(t.text));
}

bool expect(struct parser *p, char c, const char *what)
{
    return accept(p, c) || fail(p, NULL, "expected `%c` after %s, not %s", c, what, describe(p, p->tok));
}

bool expect_end(struct parser *p, const char *what)
{
    if (accept(p, ';'))
        return true;
    const char *text = p->module->source->text.p;
    if (p->tok.kind == TOKEN_BAD || !memchr(text + p->taken_to, '\n', p->tok.offset - p->taken_to))
        return expect(p, ';', what);
    diag_error(p->diags, ptx_place(p->module, p->taken_to, 1), "ptx-syntax", NULL, "`;` is missing behind %s", what);
    return true;
}

bool take_name(struct parser *p, struct str *name, uint32_t *offset, const char *what)
{
    if (p->tok.kind != TOKEN_IDENT)
        return fail(p, NULL, "expected the name of %s, not %s", what, describe(p, p->tok));
    *name = p->tok.text;
    *offset = p->tok.offset;
    advance(p);
    return true;
}

void skip_statement(struct parser *p)
{
    while (p->tok.kind != TOKEN_END && !at_punct(p, ';') && !at_punct(p, '{') && !at_punct(p, '}'))
        advance(p);
    accept(p, ';');
}

/* ---- names ---- */

struct ptx_symbol *find_symbol(struct parser *p, struct str name)
{
    uint32_t hash = str_hash(name);
    for (struct scope *s = p->scope; s; s = s->parent) {
        struct ptx_symbol *symbol = map_get_hashed(&s->names, name, hash);
        if (symbol)
            return symbol;
    }
    return NULL;
}

/* %r12 is register 12 of a declaration %r<100>; %r012 is not. */
static const struct ptx_reg *find_parametrised(struct parser *p, struct str name, uint32_t *number)
{
    size_t digits = 0;
    while (digits < name.n && name.p[name.n - 1 - digits] >= '0' && name.p[name.n - 1 - digits] <= '9')
        digits++;
    struct str base = {name.p, name.n - digits};
    if (digits == 0 || digits > 9 || base.n == 0 || (digits > 1 && base.p[base.n] == '0'))
        return NULL;
    const struct ptx_reg *reg = (const struct ptx_reg *)find_symbol(p, base);
    uint32_t index = 0;
    for (size_t i = base.n; i < name.n; i++)
        index = index * 10 + (uint32_t)(name.p[i] - '0');
    if (!reg || reg->symbol.kind != SYMBOL_REG || !reg->parametrised || index >= reg->count)
        return NULL;
    *number = reg->first + index * reg->vector;
    return reg;
}

const struct ptx_reg *find_reg(struct parser *p, struct str name, uint32_t *number)
{
    const struct ptx_reg *reg = find_parametrised(p, name, number);
    if (reg)
        return reg;
    const struct ptx_symbol *symbol = find_symbol(p, name);
    if (!symbol || symbol->kind != SYMBOL_REG || ((const struct ptx_reg *)symbol)->parametrised)
        return NULL;
    reg = (const struct ptx_reg *)symbol;
    *number = reg->first;
    return reg;
}

static bool is_name_of(const struct ptx_symbol *s, bool label)
{
    bool is_label = s->kind == SYMBOL_LABEL || s->kind == SYMBOL_TABLE;
    return is_label == label && !(s->kind == SYMBOL_REG && ((const struct ptx_reg *)s)->parametrised);
}

/* The declared name nearest to one that is not, or an empty one. */
static struct str nearest_name(struct parser *p, struct str name, bool label)
{
    struct str best = {0};
    unsigned least = name.n < 2 ? 1 : name.n < 4 ? 2 : 3;
    for (struct scope *s = p->scope; s; s = s->parent)
        for (uint32_t i = 0; i < s->names.capacity; i++) {
            const struct map_entry *e = &s->names.entries[i];
            bool fits = e->value && is_name_of((const struct ptx_symbol *)e->value, label);
            unsigned distance = fits ? str_distance(name, e->name, 2) : 3;
            if (distance < least || (distance == least && best.n && e->name.p < best.p)) {
                least = distance;
                best = e->name;
            }
        }
    return best;
}

/* %r12 where %r<10> stands. */
static const char *too_few_registers(struct parser *p, struct str name)
{
    size_t digits = 0;
    while (digits < name.n && name.p[name.n - 1 - digits] >= '0' && name.p[name.n - 1 - digits] <= '9')
        digits++;
    const struct ptx_reg *r = (const struct ptx_reg *)find_symbol(p, (struct str){name.p, name.n - digits});
    if (!digits || !r || r->symbol.kind != SYMBOL_REG || !r->parametrised)
        return NULL;
    return arena_printf(p->arena, "`%.*s<%u>` declares %.*s0 to %.*s%u", STR_ARG(r->symbol.name), r->count,
                        STR_ARG(r->symbol.name), STR_ARG(r->symbol.name), r->count - 1);
}

bool fail_undeclared(struct parser *p, struct token at, const char *kind)
{
    if (map_put(&p->reported, at.text, p))
        return false;
    const char *help = *kind ? NULL : too_few_registers(p, at.text);
    struct str near = help ? (struct str){0} : nearest_name(p, at.text, *kind != 0);
    if (near.n)
        help = arena_printf(p->arena, "did you mean `%.*s`?", STR_ARG(near));
    else if (!help && !*kind && at.text.p[0] == '%')
        help = "declare it, for example: .reg .b32 %r<10>;";
    diag_error(p->diags, place_of(p, at), "ptx-name", help, "%s`%.*s` is not declared", kind, STR_ARG(at.text));
    return false;
}

bool declare(struct parser *p, struct ptx_symbol *symbol)
{
    struct ptx_symbol *before = map_get(&p->scope->names, symbol->name);
    if (before) {
        diag_error(p->diags, ptx_place(p->module, symbol->offset, (uint32_t)symbol->name.n), "ptx-name", NULL,
                   "`%.*s` is declared twice (first in line %u)", STR_ARG(symbol->name),
                   place_locate(ptx_place(p->module, before->offset, 0)).line);
        return false;
    }
    map_put(&p->scope->names, symbol->name, symbol);
    return true;
}
