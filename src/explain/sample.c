/* See sample.h. */
#include "explain/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 256 }; /* per kernel; launches of further shapes are all counted */

static bool are_equal(const struct launch_dims *a, const struct launch_dims *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 && a->explicit_cluster == b->explicit_cluster &&
           a->shared_bytes == b->shared_bytes;
}

struct launch_shape *shape_of(struct launch_shape **all, const struct launch_request *q)
{
    struct launch_shape *s = *all;
    unsigned n = 0;
    for (; s; s = s->next, n++)
        if (are_equal(&s->dims, &q->dims))
            return s;
    s = n < MOST_SHAPES ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->dims = q->dims;
    s->next = *all;
    return *all = s;
}

void shapes_free(struct launch_shape *all)
{
    while (all) {
        struct launch_shape *next = all->next;
        tables_free(&all->tables);
        free(all);
        all = next;
    }
}

bool shape_is_counted(struct launch_shape *s, bool all)
{
    bool counted = ++s->launches >= s->next_counted || all || !s->is_known;
    if (counted)
        /* Alternately odd and even, because programs alternate launches, too. */
        s->next_counted = s->launches + s->launches / 2 + 1;
    return counted;
}

static double difference(double a, double b)
{
    double larger = fmax(a, b);
    return larger > 0 ? fabs(a - b) / larger : 0;
}

/* Sums over all kinds of accesses. */
static double sectors_and_wavefronts(const struct kernel_counters *c)
{
    double all = 0;
    for (unsigned k = 0; k < ACCESS_KINDS; k++)
        all += (double)(c->access[k].sectors + c->access[k].wavefronts);
    return all;
}

double shape_keep(struct launch_shape *s, const struct kernel_counters *c, const struct tables *t,
                  const struct sites *sites)
{
    double off = 0;
    if (s->is_known) {
        off = difference((double)c->warp_instructions, (double)s->last.warp_instructions);
        off = fmax(off, difference((double)c->thread_instructions, (double)s->last.thread_instructions));
        off = fmax(off, difference(sectors_and_wavefronts(c), sectors_and_wavefronts(&s->last)));
    }
    if (s->is_known)
        tables_clear(&s->tables, sites);
    else
        s->is_known = tables_make(&s->tables, sites);
    if (!s->is_known)
        return off;
    tables_add(&s->tables, t, sites);
    s->last = *c;
    s->last.timeline = NULL;
    return off;
}
