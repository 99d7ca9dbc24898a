/* Static device variables under -rdc=true. clang 19 appends the compilation's number to the name
 * of one that the host uses ("v" becomes "v__static__52f882bf5cd252cd"), so that other files can
 * have a variable of that name. But if a kernel uses the variable before clang has seen the host
 * use it, the kernel's PTX names a variable "v" that nobody defines. Such names get the number
 * here. */
#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "cc/cc.h"

static const char mark[] = "__static__";

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static size_t name_bytes(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && is_of_name(p[n]))
        n++;
    return n;
}

/* Of 64 bits, without the zeros at its start. */
static bool is_number(const char *p, size_t n)
{
    size_t digits = 0;
    while (digits < n && isxdigit((unsigned char)p[digits]))
        digits++;
    return digits > 0 && digits <= 16 && n == digits;
}

/* Of all variables of the text that have a number: their names without and with it. */
static void find_numbered(struct map *names, struct str ptx, struct arena *arena)
{
    const char *end = ptx.p + ptx.n;
    for (const char *p = ptx.p, *at; (at = memmem(p, (size_t)(end - p), mark, sizeof mark - 1));) {
        const char *start = at, *number = at + sizeof mark - 1, *stop = number + name_bytes(number, end);
        while (start > p && is_of_name(start[-1]))
            start--;
        struct str name = {start, (size_t)(at - start)};
        if (name.n && is_number(number, (size_t)(stop - number)) && !map_get(names, name))
            map_put(names, name, arena_strndup(arena, start, (size_t)(stop - start)));
        p = stop;
    }
}

struct str cc_name_statics(struct str ptx, struct arena *arena)
{
    struct text out = {.arena = arena};
    struct map names;
    const char *end = ptx.p + ptx.n, *from = ptx.p;
    map_init(&names, arena);
    find_numbered(&names, ptx, arena);
    for (const char *p = ptx.p; names.n && p < end;) {
        size_t n = name_bytes(p, end);
        const char *numbered = n ? map_get(&names, (struct str){p, n}) : NULL;
        if (numbered) {
            text_put(&out, from, (size_t)(p - from));
            text_puts(&out, numbered);
            from = p + n;
        }
        p += n ? n : 1;
    }
    if (from == ptx.p)
        return ptx;
    text_put(&out, from, (size_t)(end - from));
    return (struct str){out.p, out.n};
}
