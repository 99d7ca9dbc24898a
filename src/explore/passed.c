/* Writes that a read has passed, as an earlier one has; see search.h.
 *
 * An open read R that has been decided to read from none of some writes reads from another one, W. Let all writes of the place be strong
 * in the scope of the gpu at least, and R, too: any two of them are morally strong, so that coherence orders all writes, and W
 * precedes R in observation order (or in program order, if W is of R's thread: R does not precede what it reads from). Let M be one that R
 * does not read from, and let M be the initial value, or precede R in causality order. Then M precedes W in coherence: the
 * initial value precedes all (PTX ISA 9.0, 8.2), and else W before M would be against axiom Causality (8.10.6) for R. What R precedes in base
 * causality order, W precedes in causality order (8.9.5): by axiom Causality no such read reads from M.
 *
 * That takes nothing from any execution in which R reads as decided. Without it, a loop whose failing compare-and-swap waits for a later value
 * would go round on the old one until its bound, to no end. */
#include "explore/future.h"
#include "explore/search.h"

static bool may_be_weak(struct explorer *x, const struct location *l)
{
    for (uint16_t t = 0; t < x->threads.n; t++)
        if (future_writes(future_weak(&x->runners[t]), l))
            return true;
    return false;
}

static bool all_are_strong(struct explorer *x, struct location *l)
{
    if (l->writes == WRITES_NOT_ASKED)
        l->writes = may_be_weak(x, l) ? WRITES_WEAK : WRITES_STRONG;
    return l->writes == WRITES_STRONG;
}

members passed(struct explorer *x, const struct graph *g, uint16_t event)
{
    const struct event *e = &g->events[event];
    const struct graph_location *l = &g->locations[e->location];
    const members *cause = graph_rows(g, g->cause, e->location);
    members all = 0;
    for (members m = l->pending & ~bit(e->member); m; m &= m - 1) {
        uint16_t other = graph_member(g, e->location, first_member(m));
        const struct event *r = &g->events[other];
        if (!r->excluded || !r->strong || r->scope < SCOPE_GPU || !graph_precedes(g, other, event) ||
            !all_are_strong(x, &x->program->locations.at[l->id]))
            continue;
        for (members k = r->excluded & ~all; k; k &= k - 1) {
            unsigned w = first_member(k);
            all |= w == INITIAL || has(cause[w], r->member) ? k & -k : 0;
        }
    }
    return all;
}

bool chain_may_race(struct explorer *x, const struct run *run)
{
    for (uint16_t po = run->round; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        bool is_strong = e->flags & RUN_STRONG && e->scope >= SCOPE_GPU;
        if (e->kind == RUN_READ && !(is_strong && all_are_strong(x, &x->program->locations.at[e->location])))
            return true;
    }
    return false;
}
