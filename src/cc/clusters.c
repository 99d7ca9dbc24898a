/* __cluster_dims__: clang 19 does not know it, so the header makes it an annotation of the kernel
 * (heddle/define.h), which stands in the LLVM IR of a file and not in its PTX. Where the PTX has
 * the marker that such annotations leave behind, the file's IR says which kernels they are of, and
 * these get the directives that nvcc gives them (PTX ISA 11.4).
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cc/cc.h"

static const char marker[] = "heddle_clusters";

bool cc_has_clusters(struct str ptx)
{
    return str_has(ptx, marker);
}

/* ---- the annotations in the IR ---- */

struct annotation {
    struct str kernel;
    unsigned dims[3];
};

typedef VEC(struct annotation) annotations;

/* The line that begins with `name = `; without it. Empty where there is none. */
static struct str find_definition(struct str ir, struct str name, struct arena *arena)
{
    const char *start = arena_printf(arena, "\n%.*s = ", STR_ARG(name));
    const char *at = memmem(ir.p, ir.n, start, strlen(start));
    if (!at)
        return (struct str){"", 0};
    at += strlen(start);
    const char *end = memchr(at, '\n', (size_t)(ir.p + ir.n - at));
    return (struct str){at, (size_t)((end ? end : ir.p + ir.n) - at)};
}

/* A name of IR at `p`: "@k" or "@\"k\"", up to `end`. */
static struct str name_at(const char *p, const char *end)
{
    bool quoted = p + 1 < end && p[1] == '"';
    const char *stop = quoted ? memchr(p + 2, '"', (size_t)(end - p - 2)) : p;
    while (!quoted && stop < end && !strchr(", }", *stop))
        stop++;
    return (struct str){p, stop ? (size_t)(stop - p) + quoted : 0};
}

static struct str plain(struct str name)
{
    size_t quotes = name.n > 1 && name.p[1] == '"';
    return (struct str){name.p + 1 + quotes, name.n - 1 - 2 * quotes};
}

/* "... { i32, i32, i32 } { i32 2, i32 1, i32 1 }, ..." */
static bool read_dims(struct str arguments, unsigned dims[3])
{
    static const char types[] = "{ i32, i32, i32 } {";
    const char *end = arguments.p + arguments.n, *p = memmem(arguments.p, arguments.n, types, sizeof types - 1);
    p = p ? p + sizeof types - 1 : NULL;
    for (int i = 0; i < 3; i++) {
        p = p ? memmem(p, (size_t)(end - p), "i32 ", 4) : NULL;
        if (!p)
            return false;
        p += 4;
        dims[i] = (unsigned)strtoul(p, NULL, 10); /* a line ends behind it */
    }
    return true;
}

/* An element of the list: { ptr @kernel, ptr @string, ptr @file, i32 line, ptr @arguments } */
static void read_element(annotations *list, struct str ir, struct str element, struct arena *arena)
{
    struct str names[4];
    unsigned n = 0;
    const char *end = element.p + element.n;
    for (const char *p = element.p; n < 4 && (p = memchr(p, '@', (size_t)(end - p)));) {
        names[n] = name_at(p, end);
        p += names[n].n ? names[n].n : 1;
        n++;
    }
    struct annotation a = {.kernel = n == 4 ? plain(names[0]) : (struct str){"", 0}};
    if (n == 4 && str_has(find_definition(ir, names[1], arena), "c\"heddle_clusters\\00\"") &&
        read_dims(find_definition(ir, names[3], arena), a.dims))
        *VEC_PUSH(arena, list) = a;
}

static annotations read_annotations(struct str ir, struct arena *arena)
{
    annotations list = {0};
    static const char open[] = "{ ptr @";
    struct str all = find_definition(ir, str_of("@llvm.global.annotations"), arena);
    const char *end = all.p + all.n, *p = memmem(all.p, all.n, open, sizeof open - 1);
    while (p) {
        const char *close = memchr(p, '}', (size_t)(end - p));
        read_element(&list, ir, (struct str){p, (size_t)((close ? close : end) - p)}, arena);
        p = close ? memmem(close, (size_t)(end - close), open, sizeof open - 1) : NULL;
    }
    return list;
}

/* ---- the directives in the PTX ---- */

/* What PTX allows in no name is "_$_" there. */
static bool is_name_of(struct str ptx, struct str ir)
{
    size_t at = 0;
    for (size_t i = 0; i < ir.n; i++) {
        bool replaced = ir.p[i] == '.' || ir.p[i] == '@';
        const char *want = replaced ? "_$_" : ir.p + i;
        size_t n = replaced ? 3 : 1;
        if (ptx.n - at < n || memcmp(ptx.p + at, want, n) != 0)
            return false;
        at += n;
    }
    return at == ptx.n;
}

static const struct annotation *find_kernel(const annotations *list, struct str name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (is_name_of(name, list->at[i].kernel))
            return &list->at[i];
    return NULL;
}

/* Where the head of the entry at `p`, its name, ends: at the brace of its body; NULL for a
 * declaration. */
static const char *find_body(const char *p, const char *end)
{
    while (p < end && *p != '{' && *p != ';')
        p++;
    return p < end && *p == '{' ? p : NULL;
}

struct str cc_add_clusters(struct str ptx, struct str ir, struct arena *arena)
{
    static const char entry[] = ".entry ";
    annotations list = read_annotations(ir, arena);
    struct text out = {.arena = arena};
    const char *from = ptx.p, *end = ptx.p + ptx.n, *p = ptx.p;
    while ((p = memmem(p, (size_t)(end - p), entry, sizeof entry - 1))) {
        p += sizeof entry - 1;
        size_t n = 0;
        while (p + n < end && !strchr(" (\n\r\t", p[n]))
            n++;
        const struct annotation *a = find_kernel(&list, (struct str){p, n});
        const char *body = a ? find_body(p, end) : NULL;
        if (!body)
            continue;
        text_put(&out, from, (size_t)(body - from));
        text_printf(&out, ".explicitcluster\n.reqnctapercluster %u, %u, %u\n", a->dims[0], a->dims[1], a->dims[2]);
        from = p = body;
    }
    text_put(&out, from, (size_t)(end - from));
    return (struct str){out.p, out.n};
}
