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

size_t cc_behind_parameter(struct str list, size_t at, bool has_default)
{
    int depth = 0;
    for (; at < list.n; at++) {
        size_t behind = cc_skip(list, at);
        char c = list.p[at], before = list.p[at - 1], next = at + 1 < list.n ? list.p[at + 1] : 0;
        bool is_end = depth == 0 && c == (list.p[0] == '<' ? '>' : ')');
        if (behind != at)
            at = behind - 1;
        else if (is_end || (depth == 0 && c == ','))
            return at;
        else if (c == '(' || c == '[' || c == '{')
            at = cc_behind_bracket(list, at) - 1;
        else if (has_default && depth == 0 && c == '=' && next != '=' && !strchr("=!<>", before))
            return at;
        else if (next != '=' && !(c == '>' && before == '-'))
            depth += (c == '<') - (c == '>' && depth > 0);
    }
    return at;
}

/* A list of parameters without its default arguments, but for their ends of lines. */
static void put_without_defaults(struct text *out, struct str list)
{
    text_put(out, list.p, 1);
    for (size_t at = 1, end; at < list.n; at = end + 1) {
        size_t equals = cc_behind_parameter(list, at, true);
        end = cc_behind_parameter(list, at, false);
        text_put(out, list.p + at, equals - at);
        for (size_t i = equals; i < end; i++)
            if (list.p[i] == '\n')
                text_put(out, list.p + i, 1);
        text_put(out, list.p + end, end < list.n);
    }
}

/* The name of a parameter of a template, from its text without a default argument; empty where it has none, at the place for one. */
static struct str name_of_parameter(struct str part)
{
    static const char *const types[] = {"class", "typename", "int", "unsigned", "bool", "char", "long", "short"};
    size_t end = cc_before_blanks(part, part.n), at = end;
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
    text_puts(named, "<");
    for (size_t from = 1, at; from < header.n; from = at + 1) {
        size_t equals = cc_behind_parameter(header, from, true);
        at = cc_behind_parameter(header, from, false);
        struct str part = {header.p + from, at - from}, name = name_of_parameter((struct str){part.p, equals - from});
        size_t begin = (size_t)(name.p - part.p), end = begin + name.n, before = cc_before_blanks(part, begin);
        bool is_pack = before > 0 && part.p[before - 1] == '.';
        if (!name.n)
            name = str_of(arena_printf(named->arena, " heddle_%u", n));
        text_put(named, part.p, begin);
        text_str(named, name);
        text_put(named, part.p + end, part.n - end);
        text_put(named, header.p + at, at < header.n);
        text_printf(arguments, "%s%.*s%s", n ? ", " : "", STR_ARG(name), is_pack ? "..." : "");
        n += is_pack ? MANY : 1;
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
    *made = (struct deducing){.at = start,
                              .is_specialized = start < f->word && close <= cc_skip_blanks(text, open + 1) + 1};
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
