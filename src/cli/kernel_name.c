/* See kernel_name.h. Reads as much of the Itanium C++ ABI's mangling (5.1) as kernels' names need: nested and
 * plain names, template arguments that are integers or builtin types. */
#include "cli/kernel_name.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/str.h"

/* ---- mangled names ---- */

/* <source-name>: a length, then the name. NULL where there is none. */
static const char *source_name(const char **at, struct arena *arena)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return NULL;
    unsigned long n = strtoul(*at, &end, 10);
    if (n == 0 || n > strlen(end))
        return NULL;
    *at = end + n;
    return arena_strndup(arena, end, n);
}

static const char *builtin_type(char c)
{
    static const char *const names[] = {
        ['v'] = "void",
        ['b'] = "bool",
        ['c'] = "char",
        ['a'] = "signed char",
        ['h'] = "unsigned char",
        ['s'] = "short",
        ['t'] = "unsigned short",
        ['i'] = "int",
        ['j'] = "unsigned",
        ['l'] = "long",
        ['m'] = "unsigned long",
        ['x'] = "long long",
        ['y'] = "unsigned long long",
        ['f'] = "float",
        ['d'] = "double",
    };
    return (unsigned char)c < sizeof names / sizeof names[0] ? names[(unsigned char)c] : NULL;
}

/* One template argument: "Li16E", "f", "6__half". */
static const char *template_argument(const char **at, struct arena *arena)
{
    if (**at != 'L') {
        const char *builtin = builtin_type(**at);
        *at += builtin != NULL;
        return builtin ? builtin : source_name(at, arena);
    }
    bool is_bool = (*at)[1] == 'b', negative = (*at)[2] == 'n';
    const char *digits = *at + 2 + negative;
    size_t n = strspn(digits, "0123456789");
    if (!builtin_type((*at)[1]) || n == 0 || digits[n] != 'E')
        return NULL;
    *at = digits + n + 1;
    if (is_bool)
        return digits[0] == '1' ? "true" : "false";
    return arena_printf(arena, "%s%.*s", negative ? "-" : "", (int)n, digits);
}

/* "I...E"; "" where none stands there, "<...>" where it is not understood. */
static const char *template_arguments(const char **at, struct arena *arena)
{
    const char *list = "";
    if (**at != 'I')
        return "";
    for (++*at; **at && **at != 'E';) {
        const char *one = template_argument(at, arena);
        if (!one)
            return "<...>";
        list = arena_printf(arena, "%s%s%s", list, *list ? "," : "", one);
    }
    return arena_printf(arena, "<%s>", list);
}

const char *kernel_readable(const char *name, struct arena *arena)
{
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    const char *at = name + 2, *out = "", *part;
    bool nested = *at == 'N';
    at += nested;
    at += *at == 'L'; /* internal linkage */
    while ((part = source_name(&at, arena))) {
        bool hidden = strncmp(part, "_GLOBAL__N_", 11) == 0;
        out = arena_printf(arena, "%s%s%s%s", out, *out ? "::" : "", hidden ? "(anonymous)" : part,
                           template_arguments(&at, arena));
        if (!nested)
            break;
    }
    return *out ? out : name;
}

/* ---- finding ---- */

/* Does the readable name match as typed: whole, or without scopes, or without template arguments? */
static bool reads_as(const char *readable, const char *typed)
{
    if (strcmp(readable, typed) == 0)
        return true;
    const char *angle = strchr(readable, '<');
    size_t base = angle ? (size_t)(angle - readable) : strlen(readable), n = strlen(typed);
    if (n == base && strncmp(readable, typed, n) == 0)
        return true;
    const char *scope = NULL;
    for (const char *s = readable; s + 1 < readable + base; s++)
        if (s[0] == ':' && s[1] == ':')
            scope = s + 2;
    return scope && reads_as(scope, typed);
}

static const char *all_names(const hd_module *module, struct arena *arena)
{
    const char *list = "", *name;
    for (size_t i = 0; (name = hd_module_kernel_name(module, i)); i++) {
        const char *readable = kernel_readable(name, arena);
        bool same = readable == name;
        list = arena_printf(arena, "%s\n  %s%s%s%s", list, readable, same ? "" : "   (", same ? "" : name,
                            same ? "" : ")");
    }
    return list;
}

static const char *nearest(const hd_module *module, const char *typed, struct arena *arena)
{
    const char *near = NULL, *name;
    unsigned least = 4;
    for (size_t i = 0; (name = hd_module_kernel_name(module, i)); i++) {
        const char *readable = kernel_readable(name, arena);
        struct str base = {readable, strcspn(readable, "<")};
        unsigned d = str_distance(str_of(typed), base, 3);
        if (d < least) {
            least = d;
            near = readable;
        }
    }
    return near;
}

const char *kernel_find(const hd_module *module, const char *typed, const char **error, struct arena *arena)
{
    const char *found = NULL, *name;
    unsigned matches = 0;
    for (size_t i = 0; (name = hd_module_kernel_name(module, i)); i++) {
        if (typed && strcmp(name, typed) == 0)
            return name;
        if (!typed || reads_as(kernel_readable(name, arena), typed)) {
            found = name;
            matches++;
        }
    }
    if (matches == 1)
        return found;
    const char *near = typed ? nearest(module, typed, arena) : NULL;
    if (hd_module_kernel_count(module) == 0)
        *error = "the PTX has no kernel (.entry)";
    else if (!typed)
        *error = arena_printf(arena, "which kernel? There are:%s", all_names(module, arena));
    else if (matches > 1)
        *error = arena_printf(arena, "`%s` may be several kernels:%s", typed, all_names(module, arena));
    else if (near)
        *error = arena_printf(arena, "there is no kernel `%s`; did you mean `%s`?", typed, near);
    else
        *error = arena_printf(arena, "there is no kernel `%s`; there are:%s", typed, all_names(module, arena));
    return NULL;
}

bool kernel_is_name(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%");
    if (isdigit((unsigned char)word[0]) || n == 0 || strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0)
        return false;
    bool scope = word[n] == ':' && word[n + 1] == ':';
    return word[n] == 0 || word[n] == '<' || scope;
}
