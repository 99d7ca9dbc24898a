/* What nvcc captures in an extended lambda that captures by `=`, read from clang's dump of it; see
 * cc.h.
 *
 * A constant of the function around, whose value alone a lambda uses, is captured by nvcc and not
 * by clang, as C++ has it (odr-use). nvcc captures each variable, and `this`, that the body names
 * where it computes, in the order of the text: not in constant expressions (bounds of arrays,
 * arguments of templates, labels, initializers of constexpr variables), nor in operands that are
 * not evaluated. So the body gets statements at its start that have clang capture the same, in that
 * order:
 *
 *     [=] __device__ (int i) { return n + x[i]; }
 *     [=] __device__ (int i) { { auto &heddle_captured = n; } { auto &heddle_captured = x; } return n + x[i]; }
 *
 * A line of the dump is a node, indented by its depth:
 *
 *     `-DeclRefExpr 0x55d0 <line:9:45> 'const int' lvalue Var 0x55c8 'n' 'const int' refers_to_enclosing_variable_or_capture
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/text.h"
#include "cc/cc.h"

struct use {
    struct str declaration; /* its address in the dump; "" is `this` */
    struct str name;
    bool is_binding; /* a structured one, which may be of a bit field */
    unsigned line, column;
};

/* A lambda inside the one that is looked at. */
struct inner {
    size_t depth;
    struct str captures;   /* "[=, a = b]" */
    unsigned line, column; /* where they are */
    bool in_body;
};

struct reader {
    struct arena *arena;
    struct str text; /* what clang has read */
    size_t depth;    /* of this line */
    size_t skipped;  /* of a node that names nothing that is captured, or 0 */
    bool skip_next;
    unsigned line, column; /* where the node begins */
    unsigned last_line;    /* what a place is in that says none */
    VEC(struct use) uses;
    VEC(struct str) own; /* what the lambda itself declares */
    VEC(struct inner) inner;
};

/* ---- a line ---- */

static struct str behind(struct str line, const char *word)
{
    const char *at = memmem(line.p, line.n, word, strlen(word));
    size_t skipped = at ? (size_t)(at - line.p) + strlen(word) : line.n;
    return (struct str){line.p + skipped, line.n - skipped};
}

/* Up to the first of these characters. */
static struct str until(struct str line, const char *ends)
{
    size_t n = 0;
    while (n < line.n && !strchr(ends, line.p[n]))
        n++;
    return (struct str){line.p, n};
}

/* "col:45", "line:9:45", "FILE:9:45". Returns the column. */
static unsigned read_place(struct reader *r, struct str place)
{
    unsigned numbers[2] = {0};
    size_t at = place.n;
    for (int i = 0; i < 2; i++) {
        size_t end = at;
        while (at > 0 && isdigit((unsigned char)place.p[at - 1]))
            at--;
        if (at == end || at == 0 || place.p[at - 1] != ':')
            break;
        numbers[i] = (unsigned)strtoul(place.p + at, NULL, 10);
        at--;
    }
    if (numbers[1])
        r->last_line = numbers[1];
    return numbers[0];
}

/* "<line:9:45, col:50> col:47": from where to where a node is, and where its name. */
static void read_places(struct reader *r, struct str line)
{
    struct str range = until(behind(line, " <"), ">"), name = until(behind(line, "> "), " ");
    r->column = read_place(r, until(range, ","));
    r->line = r->last_line;
    read_place(r, behind(range, ", "));
    if (str_starts(name, "line:"))
        read_place(r, name);
}

/* ---- what a lambda inside captures ---- */

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The captures of the lambda that begins where the node does. */
static struct str captures_here(const struct reader *r)
{
    const char *at = r->text.p, *end = r->text.p + r->text.n;
    for (unsigned line = 1; at && line < r->line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || (size_t)(end - at) < r->column)
        return (struct str){NULL, 0};
    size_t open = (size_t)(at - r->text.p) + r->column - 1;
    return (struct str){r->text.p + open, cc_behind_bracket(r->text, open) - open};
}

/* Does it make a variable of this name, `[n = 3]`? */
static bool makes(struct str captures, struct str name)
{
    for (size_t at = 1; at + name.n < captures.n; at++) {
        bool is_word = memcmp(captures.p + at, name.p, name.n) == 0 && !is_of_word(captures.p[at - 1]);
        size_t before = at - 1, next = at + name.n;
        while (before > 0 && strchr(" \t\n&.", captures.p[before]))
            before--;
        while (next < captures.n && isspace((unsigned char)captures.p[next]))
            next++;
        if (is_word && strchr("[,", captures.p[before]) && next < captures.n && strchr("={(", captures.p[next]))
            return true;
    }
    return false;
}

/* What a default captures is below the lambda, too, at the place of its `=` or `&`; where it is
 * used counts. */
static bool is_by_default(const struct reader *r)
{
    const struct inner *last = r->inner.n ? &r->inner.at[r->inner.n - 1] : NULL;
    if (!last || last->in_body || r->line != last->line || r->column < last->column)
        return false;
    struct str here = {last->captures.p + (r->column - last->column), 2};
    return r->column - last->column + 2 <= last->captures.n &&
           (here.p[0] == '=' || (here.p[0] == '&' && !is_of_word(here.p[1])));
}

static bool is_made_inside(const struct reader *r, struct str name)
{
    for (uint32_t i = 0; i < r->inner.n; i++)
        if (r->inner.at[i].in_body && makes(r->inner.at[i].captures, name))
            return true;
    return false;
}

/* ---- nodes ---- */

/* What is below names nothing, or only what is a constant expression. The body of a lambda is below
 * its class and, once more, beside it. */
static bool names_nothing(struct str kind, struct str line)
{
    static const char *const kinds[] = {"CXXRecordDecl", "FunctionDecl",     "EnumDecl",    "StaticAssertDecl",
                                        "ConstantExpr",  "TemplateArgument", "AlignedAttr", "RequiresExpr"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_is(kind, kinds[i]))
            return true;
    return str_is(kind, "VarDecl") && str_has(line, "' constexpr");
}

static void note_use(struct reader *r, struct str declaration, struct str name, bool is_binding)
{
    for (uint32_t i = 0; i < r->own.n; i++)
        if (str_eq(r->own.at[i], declaration))
            return;
    if (!is_by_default(r) && !is_made_inside(r, name))
        *VEC_PUSH(r->arena, &r->uses) = (struct use){declaration, name, is_binding, r->line, r->column};
}

/* `DeclRefExpr 0x1 <col:45> 'const int' lvalue Var 0x2 'n' 'const int' ...`. nvcc takes no
 * parameters of a pack. */
static void read_reference(struct reader *r, struct str line)
{
    static const char *const kinds[] = {" Var 0x", " ParmVar 0x", " Binding 0x"};
    if (!str_has(line, " refers_to_enclosing_variable_or_capture") || str_has(line, " non_odr_use_unevaluated") ||
        str_has(line, "...' "))
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_has(line, kinds[i])) {
            struct str variable = behind(line, kinds[i]);
            note_use(r, until(variable, " "), until(behind(variable, "'"), "'"), i == 2);
            return;
        }
}

static bool declares(struct str kind)
{
    return str_is(kind, "VarDecl") || str_is(kind, "ParmVarDecl") || str_is(kind, "BindingDecl");
}

static void enter(struct reader *r, struct str kind)
{
    while (r->inner.n && r->inner.at[r->inner.n - 1].depth >= r->depth)
        r->inner.n--;
    struct inner *last = r->inner.n ? &r->inner.at[r->inner.n - 1] : NULL;
    if (last && r->depth == last->depth + 2)
        last->in_body = str_is(kind, "CompoundStmt");
    if (str_is(kind, "LambdaExpr"))
        *VEC_PUSH(r->arena, &r->inner) = (struct inner){r->depth, captures_here(r), r->line, r->column, false};
}

static void read_node(struct reader *r, struct str line)
{
    size_t depth = strspn(line.p, " |`-");
    struct str kind = until((struct str){line.p + depth, line.n - depth}, " ");
    read_places(r, line);
    r->depth = depth;
    if (declares(kind))
        *VEC_PUSH(r->arena, &r->own) = until(behind(line, "Decl 0x"), " ");
    if (r->skipped && depth > r->skipped)
        return;
    r->skipped = r->skip_next || names_nothing(kind, line) ? depth : 0;
    r->skip_next = str_is(kind, "CaseStmt"); /* its label */
    enter(r, kind);
    if (r->skipped)
        return;
    if (str_is(kind, "DeclRefExpr"))
        read_reference(r, line);
    else if (str_is(kind, "CXXThisExpr"))
        note_use(r, (struct str){"", 0}, (struct str){"this", 4}, false);
}

/* ---- all ---- */

static int by_place(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->column > y->column) - (x->column < y->column);
}

/* The statements. */
static const char *captured(struct reader *r)
{
    struct text out = {.arena = r->arena};
    if (r->uses.n)
        qsort(r->uses.at, r->uses.n, sizeof *r->uses.at, by_place);
    for (uint32_t i = 0, k; i < r->uses.n; i++) {
        const struct use *u = &r->uses.at[i];
        for (k = 0; !str_eq(r->uses.at[k].declaration, u->declaration); k++)
            ;
        bool is_first = k == i, has_address = u->declaration.n && !u->is_binding;
        if (is_first && has_address)
            text_printf(&out, " { __attribute__((unused)) auto &heddle_captured = %.*s; }", STR_ARG(u->name));
        else if (is_first)
            text_printf(&out, " (void)%.*s;", STR_ARG(u->name));
    }
    return out.p ? out.p : "";
}

/* A lambda's part of the dump, up to an empty line. Returns what is behind it. */
static struct str read_lambda(struct reader *r, struct str dump)
{
    while (dump.n && *dump.p != '\n') {
        struct str line = until(dump, "\n");
        read_node(r, line);
        size_t n = line.n + (line.n < dump.n);
        dump = (struct str){dump.p + n, dump.n - n};
    }
    return dump;
}

void cc_read_captures(struct str text, struct str dump, struct cc_captures *captures, struct arena *arena)
{
    static const char heading[] = "Dumping " CC_CAPTURES;
    captures->found = ARENA_ARRAY(arena, const char *, captures->lambdas.n);
    for (uint32_t i = 0; i < captures->lambdas.n; i++)
        captures->found[i] = "";
    while (str_has(dump, heading)) {
        dump = behind(dump, heading);
        struct reader r = {.arena = arena, .text = text};
        unsigned long number = strtoul(dump.p, NULL, 10);
        dump = read_lambda(&r, behind(dump, "\n"));
        if (number < captures->lambdas.n)
            captures->found[number] = captured(&r);
    }
}
