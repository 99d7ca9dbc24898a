/* The lines of a kernel's operations, as a user looks at them, with the calls that are inlined
 * there: those that .loc names (PTX ISA 11.5.3), and those that debugging information knows of. */
#ifndef HEDDLE_DEBUG_LINES_H
#define HEDDLE_DEBUG_LINES_H

#include "exec/code.h"
#include "exec/site.h"

/* A line of a function, or of one that was inlined there: `function`, as the source has it; NULL:
 * of the function itself, or not known. */
struct source_line {
    const char *file, *function;
    uint32_t line;
    bool is_library; /* the file is a library's; set by lines_find() */
};

/* Where an operation comes from: lines from the function's own to that of the innermost inlined
 * call. */
enum { MOST_INLINED = 40 };
struct source_place {
    uint32_t n; /* at least 1 */
    struct source_line at[];
};

struct lines {
    const struct site_table *sites;        /* NULL: memory is exhausted */
    const struct source_place *const *own; /* of each site; NULL: none is known */
    const struct source_place *const *shown;
    const bool *known; /* of each function: some lines of it are */
};

/* What is known beside the .loc's: the name of the function that one is inlined from, or NULL; and
 * the calls that are inlined at an operation, from the outermost in, each with the line of the
 * call: returns how many. */
struct lines_known {
    void *data;
    const char *(*function)(void *data, const struct code *c, const struct ptx_loc *loc);
    uint32_t (*calls)(void *data, const struct code *c, const struct op *o, struct source_line at[MOST_INLINED]);
};

void lines_find(struct lines *l, struct kernel *k, const struct lines_known *known, struct arena *arena);

/* The site of an operation. */
static inline const struct site *site_of(const struct lines *l, const struct op *o)
{
    return l->sites ? &l->sites->at[o->site] : NULL;
}
/* Its place, as a user looks at it; NULL: none is known. */
static inline const struct source_place *place_of_op(const struct lines *l, const struct op *o)
{
    return l->sites ? l->shown[o->site] : NULL;
}

#endif
