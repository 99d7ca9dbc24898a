/* Writes that a read has passed, as an earlier one has; see search.h.
 *
 * Let R be an open read that reads from none of some writes, but from another one, W. Let all
 * writes of the place be strong in the scope of the gpu at least, and R, too: any two of them are
 * morally strong, so that coherence orders all writes, and W precedes R in observation order (or in
 * program order, if W is of R's thread: R does not precede what it reads from). Let M be one that R
 * does not read from. If M precedes W in coherence, what R precedes in base causality order does
 * not read from M, as W precedes it in causality order (8.9.5, axiom Causality, 8.10.6). M does
 * that if
 * - M precedes R in causality order: W before M would be against axiom Causality for R;
 * - M is the initial value, which precedes all (PTX ISA 9.0, 8.2), or one of a chain of updates
 *   that begins with the initial value, each of which reads from the one before, and R reads from
 *   none that is before M in the chain, either: by axiom Atomicity (8.10.3) nothing comes between
 *   them.
 * Where R writes if it reads from the last write of such a chain, nothing behind it reads from that,
 * either: R reads from it, and writes behind it, or from what comes later. A compare-and-swap
 * writes where the value is its comparand.
 *
 * That takes nothing from any execution in which R reads as decided. Without it, a loop whose
 * failing compare-and-swap waits for a later value would go round on the old one until its bound,
 * to no end, and of updates of one thread a later one would read what an earlier one has left
 * behind. */
#include "explore/future.h"
#include "explore/search.h"

#include <string.h>

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

/* Does the event write, if it reads from the member? */
static bool writes_behind(struct explorer *x, struct state *s, const struct open *o, unsigned member)
{
    const struct event *e = &s->g.events[o->event];
    if (e->kind != GRAPH_UPDATE)
        return false;
    if (s->runs[e->thread]->events[e->po].insn->access->mem.atom != ATOM_cas)
        return true;
    return !o->waits && run_taking(x, s, o->event, member)->events[e->po].kind == RUN_UPDATE;
}

/* An update that writes does not read from a write that another one has read from. */
static void leave_taken(struct explorer *x, struct state *s, struct open *o)
{
    uint64_t taken[MAX_WORDS];
    if (s->g.events[o->event].kind != GRAPH_UPDATE)
        return;
    model_taken(&s->g, o->event, taken);
    FOR_MEMBERS(m, k, s->g.words, taken[k] & o->now[k])
    if (writes_behind(x, s, o, m))
        drop_member(o->now, m);
}

/* By member: the update that reads from it; NO_MEMBER: none does. */
static void find_followers(const struct graph *g, uint16_t location, uint16_t *follower)
{
    const uint64_t *reads = graph_location_set(g, location, READS), *writes = graph_location_set(g, location, WRITES);
    memset(follower, 0xff, g->locations[location].n * sizeof *follower);
    FOR_MEMBERS(u, k, g->words, reads[k] & writes[k])
    follower[g->events[graph_member(g, location, u)].rf] = (uint16_t)u;
}

/* The writes that what follows the read does not read from. */
static void find_passed(struct explorer *x, struct state *s, const struct open *o, const uint16_t *follower,
                        uint64_t *all)
{
    const struct graph *g = &s->g;
    const struct event *r = &g->events[o->event];
    const uint64_t *writes = graph_location_set(g, r->location, WRITES);
    unsigned first = INITIAL;
    clear_set(all, g->words);
    if (!r->strong || r->scope < SCOPE_GPU)
        return;
    while (first != NO_MEMBER && !has(o->now, first)) {
        add_member(all, first);
        first = follower[first];
    }
    if (first != NO_MEMBER && follower[first] == NO_MEMBER && writes_behind(x, s, o, first))
        add_member(all, first);
    FOR_MEMBERS(m, k, g->words, writes[k] & ~o->now[k] & ~all[k])
    if (has(graph_row(g, g->cause, r->location, m), r->member))
        add_member(all, m);
}

void pass_over(struct explorer *x, struct state *s, struct open *all, unsigned n)
{
    const struct graph *g = &s->g;
    uint16_t location = n ? g->events[all[0].event].location : NO_LOCATION;
    if (n < 2 || !all_are_strong(x, &x->program->locations.at[g->locations[location].id]))
        return;
    uint16_t follower[g->locations[location].n];
    uint64_t passed[n][g->words];
    find_followers(g, location, follower);
    for (unsigned i = 0; i < n; i++) {
        leave_taken(x, s, &all[i]);
        find_passed(x, s, &all[i], follower, passed[i]);
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            if (sets_meet(passed[k], all[i].now, g->words) && graph_precedes(g, all[k].event, all[i].event))
                take_from_set(all[i].now, passed[k], g->words);
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
