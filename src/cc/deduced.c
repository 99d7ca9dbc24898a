/* Kernels whose template arguments follow from what a launch passes: see cc.h.
 *
 * A function that is declared beside the template, and never defined, has a call deduce them:
 *
 *     template <class T, int n = 1> __global__ void k(T *p, int v = 3);
 *     template <class T, int n = 1> __device__ ::heddle::named_kernel<void (*)(T *p, int v), &k<T, n>>
 *     heddle_launch_k(T *p, int v = 3);
 *     template <class T, int n> __global__ void k(T *p, int v)
 *
 * The last line is what the source has, without its default arguments; the others stand in the same
 * line.
 */
#include <ctype.h>

#include "base/text.h"
#include "cc/cc.h"
#include "cc/declarations.h"

void cc_put_line(struct text *out, struct str part)
{
    for (size_t at = 0; at < part.n; at++) {
        size_t behind = cc_skip(part, at), n = behind == at ? 1 : behind - at;
        if (behind == at || part.p[at] != '/')
            text_put(out, isspace((unsigned char)part.p[at]) ? " " : part.p + at, n);
        at += n - 1;
    }
}

/* A part of a source without its default arguments, but for their ends of lines. */
static void put_without_defaults(struct text *out, struct str part)
{
    int depth = 0, skipped = -1; /* the depth of the brackets around a default argument */
    for (size_t at = 0; at < part.n; at++) {
        size_t behind = cc_skip(part, at), n = behind == at ? 1 : behind - at;
        char c = behind == at ? part.p[at] : ' ';
        depth -= strchr(")]}>", c) != NULL;
        if (skipped >= 0 && (depth < skipped || (depth == skipped && c == ',')))
            skipped = -1;
        if (skipped < 0 && c == '=')
            skipped = depth;
        for (size_t i = at; i < at + n; i++)
            if (skipped < 0 || part.p[i] == '\n')
                text_put(out, part.p + i, 1);
        depth += strchr("([{<", c) != NULL;
        at += n - 1;
    }
}

/* The name of a parameter of a template, from its text; empty where it has none, at the place for one. */
static struct str name_of_parameter(struct str part)
{
    static const char *const types[] = {"class", "typename", "int", "unsigned", "bool", "char", "long", "short"};
    const char *equals = memchr(part.p, '=', part.n);
    size_t end = cc_before_blanks(part, equals ? (size_t)(equals - part.p) : part.n), at = end;
    while (at > 0 && cc_is_of_word(part.p[at - 1]))
        at--;
    struct str name = {part.p + at, end - at};
    size_t before = cc_before_blanks(part, at);
    bool is_name = before > 0 && part.p[before - 1] != ':';
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        is_name = is_name && !str_is(name, types[i]);
    return is_name ? name : (struct str){part.p + end, 0};
}

/* Adds `<...>` with a name for each parameter, and the names as arguments. Returns how many there
 * are: more than a launch can give, if one is a pack. */
static unsigned name_parameters(struct text *named, struct text *arguments, struct str header)
{
    enum { MANY = 1000 };
    unsigned n = 0;
    size_t from = 1;
    text_puts(named, "<");
    for (size_t at = 0, depth = 0; at < header.n; at++) {
        char c = header.p[at];
        depth += strchr("<([{", c) != NULL;
        depth -= strchr(">)]}", c) != NULL;
        if ((depth > 1 || c != ',') && depth > 0)
            continue;
        struct str part = {header.p + from, at - from}, name = name_of_parameter(part);
        size_t begin = (size_t)(name.p - part.p), end = begin + name.n, before = cc_before_blanks(part, begin);
        bool is_pack = before > 0 && part.p[before - 1] == '.';
        if (!name.n)
            name = str_of(arena_printf(named->arena, " heddle_%u", n));
        text_put(named, part.p, begin);
        text_str(named, name);
        text_put(named, part.p + end, part.n - end);
        text_put(named, &c, 1);
        text_printf(arguments, "%s%.*s%s", n ? ", " : "", STR_ARG(name), is_pack ? "..." : "");
        n += is_pack ? MANY : 1;
        from = at + 1;
    }
    return n;
}

bool cc_deducing(struct str text, const struct device_function *f, struct deducing *made, struct arena *arena)
{
    size_t start = f->start, open, close, name = (size_t)(f->name.p - text.p);
    for (; start < f->word && !str_is(cc_word_at(text, start), "template"); start++) {
        size_t behind = cc_skip(text, start);
        start = behind != start ? behind - 1 : start;
    }
    open = cc_skip_blanks(text, start + 8);
    close = start < f->word && text.p[open] == '<' ? cc_behind_arguments(text, open) : 0;
    size_t parameters = cc_skip_blanks(text, name + f->name.n);
    *made = (struct deducing){.at = start, .is_specialized = start < f->word && close <= open + 2};
    if (!close || close > f->word || made->is_specialized || text.p[parameters] != '(' ||
        memchr(text.p + start, '#', parameters - start))
        return false;
    struct str header = {text.p + open, close - open}, specifiers = {text.p + close, name - close},
               taken = {text.p + parameters, cc_behind_bracket(text, parameters) - parameters};
    struct text line = {.arena = arena}, named = line, types = {.arena = arena}, arguments = {.arena = arena},
                out = {.arena = arena};
    cc_put_line(&line, header);
    made->parameters = name_parameters(&named, &arguments, (struct str){line.p, line.n});
    text_printf(&out, "template %s ", named.p);
    cc_put_line(&out, specifiers);
    text_str(&out, f->name);
    cc_put_line(&out, taken);
    text_printf(&out, "; template %s __device__ ::heddle::named_kernel<void (*)", named.p);
    put_without_defaults(&types, taken);
    cc_put_line(&out, (struct str){types.p, types.n});
    text_printf(&out, ", &%.*s<%s>> " CC_DEDUCING "%.*s", STR_ARG(f->name), arguments.p, STR_ARG(f->name));
    cc_put_line(&out, taken);
    text_puts(&out, "; template ");
    put_without_defaults(&out, header);
    text_str(&out, specifiers);
    text_str(&out, f->name);
    text_str(&out, (struct str){types.p, types.n});
    made->declaration = (struct str){out.p, out.n};
    made->end = parameters + taken.n;
    return true;
}
