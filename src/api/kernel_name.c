/* See kernel_name.h. */
#include "api/kernel_name.h"

#include <ctype.h>

#include "api/handles.h"
#include "base/demangle.h"
#include "base/text.h"

const char *kernel_readable(const char *name, struct arena *arena)
{
    return demangle(str_of(name), arena);
}

/* ---- finding ---- */

/* The next character that distinguishes names. Spaces do not, nor do suffixes of literals, as in
 * <16u, 4ul>. */
static char significant(const char **at, const char *start)
{
    while (**at == ' ' || ((**at == 'u' || **at == 'l') && *at > start && isdigit((unsigned char)(*at)[-1]) &&
                           strchr("ul,> ", (*at)[1])))
        ++*at;
    return *(*at)++;
}

static bool same_name(const char *a, const char *b)
{
    for (const char *p = a, *q = b;;) {
        char c = significant(&p, a);
        if (c != significant(&q, b))
            return false;
        if (!c)
            return true;
    }
}

/* Does the readable name match what was typed: in full, or without scopes, or without template
 * arguments and ABI tags, such as numba's kernels have? */
static bool reads_as(const char *readable, const char *typed)
{
    if (same_name(readable, typed))
        return true;
    const char *angle = strpbrk(readable, "<[");
    size_t base = angle ? (size_t)(angle - readable) : strlen(readable), n = strlen(typed);
    if (n == base && strncmp(readable, typed, n) == 0)
        return true;
    const char *scope = NULL;
    for (const char *s = readable; s + 1 < readable + base; s++)
        if ((s[0] == ':' && s[1] == ':') || s[0] == '.') /* separators of C++ and Python */
            scope = s + (s[0] == '.' ? 1 : 2);
    return scope && reads_as(scope, typed);
}

bool kernel_is_called(const char *name, const char *readable, const char *typed)
{
    return strcmp(name, typed) == 0 || reads_as(readable, typed);
}

static const char *all_names(const hd_module *module, struct arena *arena)
{
    enum { SHOWN = 100 };
    struct text list = {.arena = arena};
    const char *name;
    text_put(&list, "", 0);
    for (size_t i = 0; i < SHOWN && (name = hd_module_kernel_name(module, i)); i++) {
        const char *readable = kernel_readable(name, arena);
        bool same = readable == name;
        text_printf(&list, "\n  %s%s%s%s", readable, same ? "" : "   (", same ? "" : name, same ? "" : ")");
    }
    if (hd_module_kernel_count(module) > SHOWN)
        text_printf(&list, "\n  and %zu more", hd_module_kernel_count(module) - SHOWN);
    return list.p;
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
        *error = arena_printf(arena, "the name of the kernel is missing; there are:%s", all_names(module, arena));
    else if (matches > 1)
        *error = arena_printf(arena, "`%s` fits several kernels:%s", typed, all_names(module, arena));
    else if (near)
        *error = arena_printf(arena, "there is no kernel `%s`; did you mean `%s`?", typed, near);
    else
        *error = arena_printf(arena, "there is no kernel `%s`; there are:%s", typed, all_names(module, arena));
    return NULL;
}

struct finding_name {
    const hd_module *module;
    const char *typed, *name;
};

static hd_result find_name(void *data, struct diags *d)
{
    struct finding_name *f = data;
    const char *error;
    f->name = kernel_find(f->module, f->typed, &error, d->arena);
    if (!f->name)
        diag_error(d, (struct place){0}, "no-kernel", NULL, "%s", error);
    return f->name ? HD_SUCCESS : HD_ERROR_NOT_FOUND;
}

hd_result hd_module_find_kernel(const hd_module *m, const char *typed, const char **name, hd_report **report)
{
    struct finding_name f = {.module = m, .typed = typed};
    if (report)
        *report = NULL;
    if (!m || !name)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = report_during(report, NULL, find_name, &f);
    *name = f.name;
    return r;
}

bool kernel_is_name(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%");
    if (isdigit((unsigned char)word[0]) || n == 0 || strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0)
        return false;
    bool scope = word[n] == ':' && word[n + 1] == ':';
    return word[n] == 0 || word[n] == '<' || scope;
}
