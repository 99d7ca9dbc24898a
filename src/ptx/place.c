/* Lines of CUDA C that PTX comes from: .file and .loc (PTX ISA 11.5.2, 11.5.3). */
#include "ptx/module.h"

static const char *file_name(const struct ptx_module *m, uint32_t index, struct arena *arena)
{
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *it = &m->items.at[i];
        if (it->kind == ITEM_FILE && it->file->index == index)
            return arena_strndup(arena, it->file->name.p, it->file->name.n);
    }
    return NULL;
}

/* Where the user called an inlined function says more than where a header has it. */
const struct cuda_place *ptx_cuda_place(const struct ptx_module *m, const struct ptx_loc *loc, struct arena *arena)
{
    const char *file = loc && loc->line ? file_name(m, loc->file, arena) : NULL;
    const char *outer = loc && loc->inlined ? file_name(m, loc->at_file, arena) : NULL;
    if (!file)
        return NULL;
    struct cuda_place *p = ARENA_NEW(arena, struct cuda_place);
    *p = outer ? (struct cuda_place){outer, loc->at_line, file, loc->line}
               : (struct cuda_place){file, loc->line, NULL, 0};
    return p;
}
