/* Kernels of which a launch may leave arguments out, or arguments of the template: see cc.h.
 *
 * A function beside the kernel takes the same, and makes the call:
 *
 *     template <class T, int n = 1> __global__ void k(T *p, int v = 3);
 *     template <class T, int n = 1> __device__ __forceinline__ ::heddle::kernel_call<void (*)(T *p, int v), &k<T, n>>
 *     heddle_launch_k(T *p, int v = 3) { return {p, v}; }
 *     template <class T, int n> __global__ void k(T *p, int v)
 *
 * The last line is what the source has, without its default arguments; the others stand in the same
 * line. The function is declared where the kernel is, and defined where the kernel is defined.
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
        bool is_end = depth == 0 && (list.p[0] == '<' ? c == '>' && next != '=' : c == ')');
        if (behind != at)
            at = behind - 1;
        else if (is_end || (depth == 0 && c == ','))
            return at;
        else if (c == '(' || c == '[' || c == '{')
            at = cc_behind_bracket(list, at) - 1;
        else if (has_default && depth == 0 && c == '=' && next != '=' && !strchr("=!<>", before))
            return at;
        else if (c == '<' && next == '<')
            at++;
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

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_is(word, *words))
            return true;
    return false;
}

/* The name of a parameter, from its text without a default argument; empty where it has
 * none, at the place for one. */
static struct str name_of_parameter(struct str part)
{
    static const char *const types[] = {"class", "typename", "int",    "unsigned", "bool",         "char",       "long",
                                        "short", "float",    "double", "const",    "__restrict__", "__restrict", NULL},
                             *const before_types[] = {"const", "volatile", "struct", "enum", "union", NULL};
    size_t end = cc_before_blanks(part, part.n), inner = end;
    while (end > 0 && part.p[end - 1] == ']')
        end = inner = cc_before_blanks(part, cc_open_bracket(part, end, '[', ']'));
    const char *pointer = memmem(part.p, part.n, "(*", 2); /* to a function */
    if (pointer)
        for (inner = (size_t)(pointer - part.p) + 2; inner < end && part.p[inner] != ')';)
            inner++;
    size_t at = cc_word_start(part, inner), before = cc_before_blanks(part, at), type = cc_word_start(part, before);
    struct str name = {part.p + at, inner - at};
    bool is_type =
        before == 0 || part.p[before - 1] == ':' || is_one_of(name, types) ||
        (cc_before_blanks(part, type) == 0 && is_one_of((struct str){part.p + type, before - type}, before_types));
    return is_type && !pointer ? (struct str){part.p + end, 0} : name;
}

/* Adds a list of parameters with a name for each, and the names as arguments. Returns how many
 * there are: more than a launch can give, if one is a pack. */
static unsigned name_parameters(struct text *named, struct text *arguments, struct str list)
{
    enum { MANY = 1000 };
    unsigned n = 0;
    text_put(named, list.p, 1);
    for (size_t from = cc_skip_blanks(list, 1), at; from + 1 < list.n; from = at + 1) {
        size_t equals = cc_behind_parameter(list, from, true);
        at = cc_behind_parameter(list, from, false);
        struct str part = {list.p + from, at - from}, name = name_of_parameter((struct str){part.p, equals - from});
        size_t begin = (size_t)(name.p - part.p), end = begin + name.n, before = cc_before_blanks(part, begin);
        bool is_pack = before > 0 && part.p[before - 1] == '.';
        if (!name.n)
            name = str_of(arena_printf(named->arena, " heddle_%u", n));
        text_put(named, part.p, begin);
        text_str(named, name);
        text_put(named, part.p + end, part.n - end);
        text_put(named, list.p + at, at + 1 < list.n);
        text_printf(arguments, "%s%.*s%s", n ? ", " : "", STR_ARG(name), is_pack ? "..." : "");
        n += is_pack ? MANY : 1;
    }
    text_put(named, list.p + list.n - 1, 1);
    return n;
}

static bool has_defaults(struct str list)
{
    for (size_t at = 1; at < list.n; at = cc_behind_parameter(list, at, false) + 1)
        if (cc_behind_parameter(list, at, true) != cc_behind_parameter(list, at, false))
            return true;
    return false;
}

/* Behind the blanks, the comments and the lines of the preprocessor's at `at`. */
static size_t skip_lines(struct str text, size_t at)
{
    for (size_t from = text.n; from != at;) {
        from = at;
        at = cc_skip_blanks(text, at);
        while (at < text.n && text.p[at] == '#' && text.p[at] != '\n')
            for (; at < text.n && text.p[at] != '\n'; at++)
                at += text.p[at] == '\\';
        at = at < text.n && text.p[at] == '/' ? cc_skip(text, at) : at;
    }
    return at;
}

/* Where the declaration begins with `template`, or f->word. */
static size_t template_start(struct str text, const struct device_function *f)
{
    size_t start = f->start;
    for (; start < f->word && !str_is(cc_word_at(text, start), "template"); start++) {
        size_t behind = cc_skip(text, start);
        start = behind != start ? behind - 1 : start;
    }
    return start;
}

bool cc_deducing(struct str text, const struct device_function *f, bool defined, struct deducing *made,
                 struct arena *arena)
{
    size_t start = template_start(text, f), name = (size_t)(f->name.p - text.p), open = start, close = start;
    bool is_template = start < f->word;
    if (is_template) {
        open = cc_skip_blanks(text, start + 8);
        close = text.p[open] == '<' ? cc_behind_arguments(text, open) : 0;
    } else {
        start = open = close = skip_lines(text, f->start);
    }
    size_t parameters = cc_skip_blanks(text, name + f->name.n), scope = name;
    *made =
        (struct deducing){.at = start, .is_specialized = is_template && close <= cc_skip_blanks(text, open + 1) + 1};
    if (!close || close > f->word || start > f->word || made->is_specialized || text.p[parameters] != '(' ||
        memchr(text.p + start, '#', parameters - start))
        return false;
    while (scope > 1 && text.p[scope - 1] == ':')
        scope = cc_word_start(text, scope - 2);
    struct str header = {text.p + open, close - open}, specifiers = {text.p + close, name - close},
               taken = {text.p + parameters, cc_behind_bracket(text, parameters) - parameters},
               scopes = {text.p + scope, name - scope};
    struct text line = {.arena = arena}, named = line, types = line, templates = line, values = line, out = line,
                as = line;
    cc_put_line(&line, header);
    if (is_template) {
        text_puts(&named, "template ");
        made->parameters = name_parameters(&named, &templates, (struct str){line.p, line.n});
    }
    const struct str head = {named.p ? named.p : "", named.n};
    line.n = 0;
    cc_put_line(&line, taken);
    struct str parameter_line = {line.p, line.n};
    made->has_defaults = has_defaults(parameter_line);
    put_without_defaults(&types, taken);
    cc_put_line(&as, (struct str){types.p, types.n});
    if (!scopes.n) {
        text_str(&out, head);
        text_puts(&out, " ");
        cc_put_line(&out, specifiers);
        text_str(&out, f->name);
        text_str(&out, parameter_line);
        text_puts(&out, "; ");
    }
    text_printf(&out, "%.*s __device__ __forceinline__ ::heddle::kernel_call<void (*)%.*s, &%.*s%.*s", STR_ARG(head),
                (int)as.n, as.p, STR_ARG(scopes), STR_ARG(f->name));
    if (is_template)
        text_printf(&out, "<%.*s>", (int)templates.n, templates.p);
    text_printf(&out, "> %.*s" CC_DEDUCING "%.*s", STR_ARG(scopes), STR_ARG(f->name));
    name_parameters(&out, &values, parameter_line);
    if (defined)
        text_printf(&out, " { return {%.*s}; } ", (int)values.n, values.n ? values.p : "");
    else
        text_puts(&out, "; ");
    if (is_template) {
        text_puts(&out, "template ");
        put_without_defaults(&out, header);
    }
    text_str(&out, specifiers);
    text_str(&out, f->name);
    text_put(&out, types.p, types.n);
    made->declaration = (struct str){out.p, out.n};
    made->end = parameters + taken.n;
    return true;
}
