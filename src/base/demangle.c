/* Demangling, by GNU libiberty; see demangle.h. */
#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* ---- numba's names ---- */

static bool is_digit16(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned digit_of(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* "_3clocals_3e" is "<locals>": numba writes what is no letter of C so, as _ and two digits. */
static char *decoded(const char *name, struct arena *arena)
{
    char *text = arena_strdup(arena, name), *to = text;
    for (const char *p = name; *p; p++) {
        unsigned c = p[0] == '_' && is_digit16(p[1]) && is_digit16(p[2]) ? digit_of(p[1]) << 4 | digit_of(p[2]) : 0;
        bool is_mark =
            c > ' ' && c < 127 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_' && !(c >= '0' && c <= '9');
        *to++ = is_mark ? (char)c : *p;
        p += is_mark ? 2 : 0;
    }
    *to = 0;
    return text;
}

/* numba marks functions by ABI tags: "app::solve[abi:v1][abi:c...]". As Python has it: "app.solve",
 * and without the module where that is the script. NULL: it is none of numba's. */
static const char *python_name(const char *name, struct arena *arena)
{
    static const char locals[] = "<locals>.", script[] = "__main__.";
    const char *tags = strstr(name, "[abi:v");
    if (!tags || !strstr(tags, "][abi:"))
        return NULL;
    char *text = decoded(arena_strndup(arena, name, (size_t)(tags - name)), arena), *to = text, *start = text;
    for (const char *p = text; *p; p++) {
        bool is_scope = p[0] == ':' && p[1] == ':';
        *to++ = is_scope ? '.' : *p;
        p += is_scope;
    }
    *to = 0;
    for (char *at; (at = strstr(text, locals));)
        memmove(at, at + sizeof locals - 1, strlen(at + sizeof locals - 1) + 1);
    start += strncmp(text, script, sizeof script - 1) == 0 ? sizeof script - 1 : 0;
    return start;
}

bool is_python_symbol(const char *symbol)
{
    const char *tag = strstr(symbol, "B2v"); /* [abi:vN], as the Itanium ABI mangles it */
    return strncmp(symbol, "_ZN", 3) == 0 && tag && tag[3] >= '0' && tag[3] <= '9';
}

/* nvcc keeps what is static in a namespace of its own,
 * "_INTERNAL_8f0c3a12_6_app_cu_2dd4f5a1::f": the source has none. In the text itself. */
static void drop_internal(char *text)
{
    static const char mark[] = "_INTERNAL_";
    for (char *at = text; (at = strstr(at, mark));) {
        bool begins = at == text || strchr(" ,<(*&:", at[-1]);
        char *end = at + strspn(at, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (begins && str_starts(str_of(end), "::"))
            memmove(at, end + 2, strlen(end + 2) + 1);
        else
            at = end;
    }
}

const char *demangle(struct str symbol, struct arena *arena)
{
    char *name = arena_strndup(arena, symbol.p, symbol.n);
    char *readable = str_starts(symbol, "_Z") ? cplus_demangle_v3(name, DMGL_NO_OPTS) : NULL;
    if (!readable)
        return name;
    drop_internal(readable);
    const char *kept = arena_strdup(arena, readable), *python = python_name(kept, arena);
    free(readable);
    return python ? python : kept;
}
