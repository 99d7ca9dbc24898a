/* See heap_log.h. */
#include "exec/heap_log.h"

#include <stdlib.h>

#include "base/vec.h"

/* What would have come has not: it is forgotten. What it would have allocated is closed. */
static void cut(struct heap_log *g, struct mem *m)
{
    while (g->n > g->now) {
        const struct heap_entry *e = &g->at[--g->n];
        if (!e->is_free)
            mem_free_closed(m, e->of);
    }
}

static bool add(struct heap_log *g, struct heap_entry e)
{
    struct heap_entry *new = VEC_ADD(g);
    if (!new)
        return false;
    *new = e;
    g->now = g->n;
    return true;
}

/* Is that what was done next, the time before? */
static bool comes_again(const struct heap_log *g, bool is_free, uint64_t bytes)
{
    return g->now < g->n && g->at[g->now].is_free == is_free && g->at[g->now].bytes == bytes;
}

void *heap_log_malloc(struct heap_log *g, struct mem *m, uint64_t bytes)
{
    if (comes_again(g, false, bytes) && mem_open(m, g->at[g->now].of, bytes))
        return g->at[g->now++].of;
    cut(g, m);
    void *p = mem_alloc(m, bytes, MEM_HEAP, NULL);
    if (p && add(g, (struct heap_entry){p, bytes, false}))
        return p;
    if (p)
        mem_free(m, p);
    return NULL;
}

bool heap_log_free(struct heap_log *g, struct mem *m, void *p, uint64_t bytes)
{
    if (!mem_close(m, p))
        return false;
    if (comes_again(g, true, bytes) && g->at[g->now].of == p) {
        g->now++;
        return true;
    }
    cut(g, m);
    if (!add(g, (struct heap_entry){p, bytes, true}))
        mem_free_closed(m, p);
    return true;
}

void heap_log_reopen(struct heap_log *g, struct mem *m, size_t now)
{
    for (size_t i = g->now; i-- > now;)
        if (g->at[i].is_free)
            mem_open(m, g->at[i].of, g->at[i].bytes);
}

void heap_log_back(struct heap_log *g, struct mem *m, size_t now)
{
    for (size_t i = g->now; i-- > now;)
        if (!g->at[i].is_free)
            mem_close(m, g->at[i].of);
    g->now = now;
}

void heap_log_end(struct heap_log *g, struct mem *m)
{
    cut(g, m);
    for (size_t i = 0; i < g->n; i++)
        if (g->at[i].is_free)
            mem_free_closed(m, g->at[i].of);
    free(g->at);
    *g = (struct heap_log){0};
}
