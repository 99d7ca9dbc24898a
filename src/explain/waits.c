/* See waits.h. */
#include "explain/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void groups_commit(struct group_clocks *g)
{
    double *done = g->done[g->committed % GROUPS_KNOWN];
    if (g->committed)
        clocks_wait(g->open, g->done[(g->committed - 1) % GROUPS_KNOWN]);
    memcpy(done, g->open, sizeof g->open);
    memset(g->open, 0, sizeof g->open);
    g->committed++;
}

const double *groups_done(const struct group_clocks *g, uint64_t left)
{
    bool known = left < g->committed && left < GROUPS_KNOWN;
    return known ? g->done[(g->committed - 1 - left) % GROUPS_KNOWN] : NULL;
}

struct mbarrier_clock *mbarrier_clock(struct mbarrier_clocks *all, uint64_t address)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].address == address)
            return &all->at[i];
    struct mbarrier_clock *new = VEC_ADD(all);
    if (new)
        *new = (struct mbarrier_clock){.address = address};
    return new;
}

void mbarrier_complete(struct mbarrier_clock *m)
{
    memcpy(m->last, m->phase, sizeof m->last);
    memset(m->phase, 0, sizeof m->phase);
}
