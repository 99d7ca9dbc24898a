/* Places of findings; see places.h. */
#include "check/report/places.h"

#include <string.h>

#include "exec/site.h"

struct kept_source {
    struct kept_source *next;
    const struct source *source;
};

static const struct source *keep_source(struct kept_sources *kept, const struct source *from, struct arena *arena)
{
    for (const struct kept_source *k = kept->newest; k; k = k->next)
        if (strcmp(k->source->name, from->name) == 0 && str_eq(k->source->text, from->text))
            return k->source;
    struct kept_source *k = ARENA_NEW(arena, struct kept_source);
    const struct source *copy = source_new(arena, from->name, from->text);
    if (k) {
        *k = (struct kept_source){kept->newest, copy};
        kept->newest = k;
    }
    return copy;
}

struct place place_keep(struct kept_sources *kept, const struct site *s, struct arena *arena)
{
    struct place p = s ? s->place : (struct place){0};
    p.cuda = cuda_place_copy(arena, p.cuda);
    if (p.source)
        p.source = keep_source(kept, p.source, arena);
    return p;
}

int place_compare(const struct place *a, const struct place *b)
{
    const char *x = a->source ? a->source->name : "", *y = b->source ? b->source->name : "";
    int order = strcmp(x, y);
    if (order || a->source || !a->cuda || !b->cuda)
        return order ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
    order = strcmp(a->cuda->file, b->cuda->file);
    return order ? order : a->cuda->line < b->cuda->line ? -1 : a->cuda->line > b->cuda->line;
}

bool place_same_line(const struct place *a, const struct place *b)
{
    return a->cuda ? cuda_place_equal(a->cuda, b->cuda) : !b->cuda && place_compare(a, b) == 0;
}

void place_launch(struct diags *diags, const hd_checker_options *o, const void *where, bool of_note)
{
    const hd_frame *frames = NULL;
    size_t n = where && o->frames ? o->frames(o->data, where, &frames) : 0;
    if (n)
        diag_launched(diags, frames, n, of_note);
}
