/* Lines of CUDA C that PTX comes from: .file and .loc (PTX ISA 11.5.2, 11.5.3). */
#include "ptx/module.h"

enum { MOST_CALLS = 64 }; /* that are inlined in each other, and are told */

static const char *file_name(const struct ptx_module *m, uint32_t index, struct arena *arena)
{
    const struct ptx_file *file = map_get(&m->files, (struct str){(const char *)&index, sizeof index});
    return file ? arena_strndup(arena, file->name.p, file->name.n) : NULL;
}

/* The lines of a .loc from the innermost out; returns how many. Of a call whose own .loc is not
 * there, its place alone is known. */
static uint32_t lines_of(const struct ptx_module *m, const struct ptx_loc *loc, struct cuda_line *lines,
                         struct arena *arena)
{
    uint32_t n = 0;
    for (const struct ptx_loc *l = loc; l && n < MOST_CALLS; l = l->at) {
        const char *file = l->line ? file_name(m, l->file, arena) : NULL;
        const char *at = l->inlined && !l->at && l->at_line ? file_name(m, l->at_file, arena) : NULL;
        if (file)
            lines[n++] = (struct cuda_line){file, l->line};
        if (at && n < MOST_CALLS)
            lines[n++] = (struct cuda_line){at, l->at_line};
    }
    return n;
}

/* Where the user called an inlined function says more than where a header has it. */
const struct cuda_place *ptx_cuda_place(const struct ptx_module *m, const struct ptx_loc *loc, struct arena *arena)
{
    struct cuda_line lines[MOST_CALLS];
    uint32_t n = loc && loc->line ? lines_of(m, loc, lines, arena) : 0, shown = 0;
    if (!n)
        return NULL;
    struct cuda_line *chain = n > 1 ? ARENA_ARRAY(arena, struct cuda_line, n) : NULL;
    for (uint32_t i = 0; chain && i < n; i++)
        chain[i] = lines[n - 1 - i];
    for (uint32_t i = 0; i < n && is_library_file(lines[n - 1 - shown].file); i++)
        shown = i + 1 < n ? i + 1 : 0;
    struct cuda_place *p = ARENA_NEW(arena, struct cuda_place);
    const struct cuda_line *line = &lines[n - 1 - shown];
    *p = (struct cuda_place){
        .file = line->file, .line = line->line, .chain = chain, .n_chain = chain ? n : 0, .shown = shown};
    return p;
}

static bool uses(const struct ptx_operand *o, const struct ptx_operand *value)
{
    bool found = o->kind == OPND_REG && o->reg == value->reg && o->number == value->number;
    for (unsigned i = 0; (o->kind == OPND_MEM || o->kind == OPND_VECTOR) && i < o->n && !found; i++)
        found = uses(&o->elems[i], value);
    return found;
}

const struct ptx_loc *ptx_loc_of_use(const struct ptx_func *f, uint32_t load)
{
    enum { FARTHEST = 2000 }; /* statements */
    const struct ptx_operand *value = f->body.at[load].insn->operands;
    const struct ptx_loc *loc = NULL;
    value = value->kind == OPND_VECTOR && value->n ? value->elems : value;
    for (uint32_t i = load + 1; value->kind == OPND_REG && i < f->body.n && i - load < FARTHEST; i++) {
        const struct ptx_stmt *s = &f->body.at[i];
        if (s->kind == STMT_LOC)
            loc = s->loc;
        for (unsigned k = 0; s->kind == STMT_INSN && loc && loc->line && k < s->insn->n_operands; k++)
            if (uses(&s->insn->operands[k], value))
                return loc;
    }
    return NULL;
}
