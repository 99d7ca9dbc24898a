/* Lines of CUDA C, and whose they are; see diag.h. */
#include <fnmatch.h>
#include <string.h>

#include "base/diag.h"

bool cuda_place_equal(const struct cuda_place *a, const struct cuda_place *b)
{
    if (!a || !b)
        return a == b;
    bool same = a->line == b->line && strcmp(a->file, b->file) == 0 && a->n_chain == b->n_chain;
    for (uint32_t i = 0; same && i < a->n_chain; i++)
        same = a->chain[i].line == b->chain[i].line && strcmp(a->chain[i].file, b->chain[i].file) == 0;
    return same;
}

const struct cuda_place *cuda_place_copy(struct arena *arena, const struct cuda_place *from)
{
    if (!from)
        return NULL;
    struct cuda_place *p = ARENA_NEW(arena, struct cuda_place);
    struct cuda_line *chain = from->n_chain ? ARENA_ARRAY(arena, struct cuda_line, from->n_chain) : NULL;
    for (uint32_t i = 0; i < from->n_chain; i++)
        chain[i] = (struct cuda_line){arena_strdup(arena, from->chain[i].file), from->chain[i].line};
    *p = *from;
    p->file = arena_strdup(arena, from->file);
    p->chain = chain;
    return p;
}

bool is_library_file(const char *file)
{
    static const char *const patterns[] = {
#define LIBRARY(pattern) pattern,
#include "base/library_files.def"
#undef LIBRARY
    };
    const char *dot = strrchr(file, '.');
    if (dot && strcmp(dot, ".cu") == 0)
        return false;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i], file, 0) == 0)
            return true;
    return false;
}
