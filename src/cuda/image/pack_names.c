/* See pack_names.h. */
#include "cuda/image/pack_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char anonymous[] = "_GLOBAL__N_", internal[] = "_INTERNAL_", clang_s[] = "12_GLOBAL__N_1";

/* The name of a namespace that a compiler made for one file: `n` characters behind the digits of
   its length. */
struct own {
    size_t n;
    const char *file; /* the file's name, n_file characters; nvcc writes it, clang does not */
    size_t n_file;
};

static size_t digits_at(const char *p, bool (*is)(int c))
{
    size_t n = 0;
    while (is((unsigned char)p[n]))
        n++;
    return n;
}

static bool is_decimal(int c)
{
    return isdigit(c);
}

static bool is_hexadecimal(int c)
{
    return isxdigit(c);
}

/* Reads nvcc's name behind its mark: HASH_LENGTH_FILE_HASH. An optional `_NUMBER` cannot be told
 * from the length of the next component; the name's own length, in `digits` before the mark,
 * settles it. These digits may also include a number that ends the previous component. */
static bool read_nvcc_s(const char *mark, size_t n_mark, const char *digits, struct own *own)
{
    const char *p = mark + n_mark;
    size_t hash = digits_at(p, is_hexadecimal), length = 0;
    if (!hash || p[hash] != '_' || !isdigit((unsigned char)p[hash + 1]))
        return false;
    p += hash + 1;
    for (; isdigit((unsigned char)*p) && length < 4096; p++)
        length = 10 * length + (size_t)(*p - '0');
    if (*p++ != '_' || strlen(p) <= length || p[length] != '_')
        return false;
    own->file = p;
    own->n_file = length;
    p += length + 1;
    size_t least = (size_t)(p - mark) + 1, most = (size_t)(p - mark) + digits_at(p, is_hexadecimal), n = 0, unit = 1;
    if (mark[most] == '_')
        most += 1 + digits_at(mark + most + 1, is_decimal);
    for (const char *d = mark; d > digits && unit < 100000; unit *= 10) {
        n += unit * (size_t)(*--d - '0');
        if (*d != '0' && n >= least && n <= most) {
            own->n = n;
            return true;
        }
    }
    return false;
}

/* The common form of the name at the mark; "" for a namespace that clang does not write. NULL if it
 * is no such name. */
static const char *common_form(const char *start, const char *mark, struct own *own, const char **digits)
{
    *digits = mark;
    while (*digits > start && isdigit((unsigned char)(*digits)[-1]))
        --*digits;
    *own = (struct own){0};
    bool is_anonymous = strncmp(mark, anonymous, sizeof anonymous - 1) == 0;
    if (is_anonymous && mark - *digits >= 2 && strncmp(mark - 2, clang_s, sizeof clang_s - 1) == 0) {
        own->n = sizeof clang_s - 1 - 2;
        *digits = mark - 2;
        return clang_s;
    }
    size_t n_mark = is_anonymous ? sizeof anonymous : sizeof internal - 1; /* _GLOBAL__N__ */
    if (is_anonymous && mark[n_mark - 1] != '_')
        return NULL;
    if (!read_nvcc_s(mark, n_mark, *digits, own))
        return NULL;
    char length[24];
    *digits = mark - snprintf(length, sizeof length, "%zu", own->n);
    return is_anonymous ? clang_s : "";
}

/* ---- template functions that a name has had before ---- */

/* Skips the template arguments at `p` ("I...E"); NULL if they cannot be parsed. E ends nested and
 * local names, arguments, packs, expressions, literals, functions and closures ("C++ ABI for
 * Itanium", 5.1). */
static const char *behind_arguments(const char *p)
{
    char open[64];
    size_t depth = 0;
    do {
        size_t n = digits_at(p, is_decimal);
        if (n) { /* a length and a name, or an enumerator */
            bool is_number = depth && open[depth - 1] == 'L' && (p[-1] == 'E' || p[-1] == '_');
            size_t length = is_number ? 0 : strtoul(p, NULL, 10);
            if (length > strlen(p + n))
                return NULL;
            p += n + length;
            continue;
        }
        bool is_number = (*p == 'A' && isdigit((unsigned char)p[1])) || (*p == 'L' && islower((unsigned char)p[1]));
        if (*p == 'E') {
            bool is_closure = open[--depth] == 'U'; /* UlvE_, UlvE0_ */
            p += is_closure ? 1 + digits_at(p + 1, is_decimal) : 0;
        } else if ((*p == 'S' && !islower((unsigned char)p[1])) || *p == 'T' || (is_number && *p == 'A')) {
            p = strchr(p, '_');
        } else if (is_number) {
            p = strchr(p, 'E');
        } else if (strchr("NZIJXLF", *p) || (*p == 'U' && p[1] == 'l')) {
            if (!*p || depth == sizeof open)
                return NULL;
            open[depth++] = *p;
        }
        if (!p)
            return NULL;
        p++;
    } while (depth);
    return p;
}

/* "NS5_IiEE" and "S5_IiE" mean the same: one compiler writes the first, the other the second. */
static void unnest_substitutions(char *name)
{
    for (char *p = name; (p = strstr(p, "NS")); p++) {
        char *arguments = p + 2 + strspn(p + 2, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (arguments[0] != '_' || arguments[1] != 'I')
            continue;
        char *end = (char *)behind_arguments(arguments + 1);
        if (!end || *end != 'E')
            continue;
        memmove(end, end + 1, strlen(end));
        memmove(p, p + 1, strlen(p));
    }
}

static const char *next_mark(const char *p)
{
    const char *a = strstr(p, anonymous), *i = strstr(p, internal);
    return !a || (i && i < a) ? i : a;
}

char *pack_name(const char *name, const char *file)
{
    struct own own = {0, file, file ? strlen(file) : 0}, found;
    size_t at = 0, n_file = own.n_file;
    bool is_own = false;
    /* The common form is never longer than the original. */
    char *to = malloc(strlen(name) + 1 + (n_file > strlen(name) ? n_file : strlen(name)) + 1);
    if (!to)
        return NULL;
    const char *from = name, *digits;
    for (const char *mark = next_mark(name); mark; mark = next_mark(mark + 1)) {
        const char *form = mark >= from ? common_form(from, mark, &found, &digits) : NULL;
        if (!form)
            continue;
        memcpy(to + at, from, (size_t)(digits - from));
        at += (size_t)(digits - from);
        memcpy(to + at, form, strlen(form));
        at += strlen(form);
        from = mark + found.n;
        is_own = true;
        if (found.file)
            own = found;
    }
    strcpy(to + at, from);
    unnest_substitutions(to);
    at = strlen(to);
    if (is_own && own.file) {
        to[at++] = '@';
        memcpy(to + at, own.file, own.n_file);
        at += own.n_file;
        to[at] = 0;
    }
    return to;
}

char *pack_file_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : strlen(name);
    char *to = malloc(n + sizeof "_cu");
    for (size_t i = 0; to && i < n; i++)
        to[i] = isalnum((unsigned char)name[i]) ? name[i] : '_';
    if (to)
        memcpy(to + n, "_cu", sizeof "_cu");
    return to;
}
