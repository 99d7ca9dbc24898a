/* Lines of CUDA C that PTX comes from: .file and .loc (PTX ISA 11.5.2, 11.5.3). */
#include "ptx/module.h"

static const char *file_name(const struct ptx_module *m, uint32_t index, struct arena *arena)
{
    const struct ptx_file *file = map_get(&m->files, (struct str){(const char *)&index, sizeof index});
    return file ? arena_strndup(arena, file->name.p, file->name.n) : NULL;
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
