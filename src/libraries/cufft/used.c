/* See used.h. The axes of a side and its batch are levels of repetition. Contiguous levels are
 * merged; the first remaining level becomes the rows of an entry, and the others become several
 * entries.
 */
#include "libraries/cufft/used.h"

#include <stdlib.h>

enum { LEVELS = TRANSFORM_RANK + 1 };
/* A layout with more pieces is declared as one range. */
static const size_t MOST_ENTRIES = 4096;

struct level {
    size_t count, step; /* bytes */
};

struct levels {
    size_t width; /* contiguous bytes */
    struct level at[LEVELS];
    unsigned n;
};

static void add_level(struct levels *l, int64_t count, int64_t step)
{
    struct level new = {(size_t)count, (size_t)step};
    unsigned i = l->n;
    if (count <= 1 || step == 0)
        return;
    for (; i > 0 && l->at[i - 1].step > new.step; i--)
        l->at[i] = l->at[i - 1];
    l->at[i] = new;
    l->n++;
}

static void take_first(struct levels *l)
{
    l->n--;
    for (unsigned i = 0; i < l->n; i++)
        l->at[i] = l->at[i + 1];
}

/* Merges repetitions that touch or overlap. */
static void join(struct levels *l)
{
    while (l->n && l->at[0].step <= l->width) {
        l->width += (l->at[0].count - 1) * l->at[0].step;
        take_first(l);
    }
}

static struct levels levels_of(const struct transform *t, enum transform_side side)
{
    const struct transform_layout *layout = side == TRANSFORM_SIDE_FROM ? &t->from : &t->to;
    struct levels l = {.width = transform_element_bytes(t, side)};
    int64_t bytes = (int64_t)l.width;
    for (unsigned a = 0; a < t->rank; a++)
        add_level(&l, transform_length(t, side, a), layout->stride[a] * bytes);
    add_level(&l, t->batch, layout->distance * bytes);
    join(&l);
    return l;
}

static size_t entries_of(const struct levels *l)
{
    size_t n = 1;
    for (unsigned i = 1; i < l->n && n <= MOST_ENTRIES; i++)
        n *= l->at[i].count;
    return n;
}

static void span(struct levels *l)
{
    for (; l->n; take_first(l))
        l->width += (l->at[0].count - 1) * l->at[0].step;
}

bool used_add(struct used_list *list, const struct transform *t, enum transform_side side, const void *at, unsigned use)
{
    struct levels l = levels_of(t, side);
    size_t n = entries_of(&l);
    if (n > MOST_ENTRIES) {
        span(&l);
        n = 1;
    }
    hd_used *grown = realloc(list->at, (list->n + n) * sizeof *grown);
    if (!grown)
        return false;
    list->at = grown;
    for (size_t i = 0; i < n; i++) {
        size_t offset = 0, left = i;
        for (unsigned level = 1; level < l.n; left /= l.at[level++].count)
            offset += left % l.at[level].count * l.at[level].step;
        grown[list->n++] =
            (hd_used){(const char *)at + offset, l.width, l.n ? l.at[0].count : 1, l.n ? l.at[0].step : l.width, use};
    }
    return true;
}
