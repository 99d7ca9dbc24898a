/* See timeline.h. */
#include "explain/timeline.h"

#include <stdlib.h>

struct timeline *timeline_new(uint32_t n_warps)
{
    struct timeline *t = calloc(1, sizeof *t + n_warps * sizeof t->warps[0]);
    if (t)
        t->n_warps = n_warps;
    return t;
}

/* Cycles; a shorter gap is just the issue of the next instruction. */
static const double LEAST_WAIT = 8;

static void add(struct timeline *t, struct warp_spans *w, float to, enum span_kind kind)
{
    if (to <= w->at)
        return;
    struct span *last = w->n ? &w->span[w->n - 1] : NULL;
    if (last && last->kind == kind)
        last->to = to;
    else if (w->n < MOST_SPANS)
        w->span[w->n++] = (struct span){w->at, to, kind};
    else
        t->cut = true;
    w->at = to;
}

void timeline_add(struct timeline *t, uint32_t warp, double from, double to, enum span_kind kind)
{
    struct warp_spans *w = &t->warps[warp];
    kind = to - from < LEAST_WAIT ? SPAN_RUN : kind;
    add(t, w, (float)from, SPAN_RUN);
    add(t, w, (float)to, kind);
}
