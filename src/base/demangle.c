/* Demangling, by GNU libiberty; see demangle.h. */
#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

const char *demangle(struct str symbol, struct arena *arena)
{
    char *name = arena_strndup(arena, symbol.p, symbol.n);
    char *readable = str_starts(symbol, "_Z") ? cplus_demangle_v3(name, DMGL_NO_OPTS) : NULL;
    if (!readable)
        return name;
    const char *kept = arena_strdup(arena, readable);
    free(readable);
    return kept;
}
