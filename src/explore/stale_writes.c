/* Writes that a read cannot read because an earlier read has passed them; see search.h.
 *
 * Let R be an undecided read that was decided not to read from some writes, but from another one,
 * W. Let all writes of the place, and R, be strong in at least the scope of the gpu. Then any two
 * of them are morally strong, so coherence orders all writes, and W precedes R in observation order
 * (or in program order if both are of one thread: R does not precede what it reads from). Let M be
 * one of the writes that R does not read from. If M precedes W in coherence, then reads behind R in
 * base causality order do not read from M, because W precedes them in causality order (8.9.5; axiom
 * Causality, 8.10.6). M precedes W in coherence if
 * - M precedes R in causality order: W before M would violate axiom Causality for R; or if
 * - M is the initial value, which precedes all writes (PTX ISA 9.0, 8.2), or belongs to a chain of
 * updates that begins at the initial value, each reading from the one before, and R reads from none
 * of the writes before M in the chain: by axiom Atomicity (8.10.3) nothing comes between them.
 * If R writes when it reads from the last write of such a chain, then later reads do not read from
 * that write either: R reads from it, and they come behind R's write, or R reads from a later
 * write. A compare-and-swap writes if the value is its comparand.
 *
 * This removes no execution in which R reads as decided. Without it, a loop whose
 * failing compare-and-swap waits for a later value would repeat with the old value up
 * to its bound, in vain, and a later update of a thread would read a value that an
 * earlier one had already passed. */
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

bool all_are_strong(struct explorer *x, struct location *l)
{
    if (l->writes == WRITES_NOT_ASKED)
        l->writes = may_be_weak(x, l) ? WRITES_WEAK : WRITES_STRONG;
    return l->writes == WRITES_STRONG;
}

/* Does the event write if it reads from the member? */
static bool writes_behind(struct explorer *x, struct state *s, const struct open *o, unsigned member)
{
    const struct event *e = &s->g.events[o->event];
    if (e->kind != GRAPH_UPDATE)
        return false;
    if (s->runs[e->thread]->events[e->po].insn->access->mem.atom != ATOM_cas)
        return true;
    return !o->waits && run_taking(x, s, o->event, member)->events[e->po].kind == RUN_UPDATE;
}

/* An update that writes cannot read from a write that another update has read from. */
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

/* By member: the update that reads from it; NO_MEMBER if there is none. */
static void find_followers(const struct graph *g, uint16_t location, uint16_t *follower)
{
    const uint64_t *reads = graph_location_set(g, location, READS), *writes = graph_location_set(g, location, WRITES);
    memset(follower, 0xff, g->locations[location].n * sizeof *follower);
    FOR_MEMBERS(u, k, g->words, reads[k] & writes[k])
    follower[g->events[graph_member(g, location, u)].rf] = (uint16_t)u;
}

/* The writes that events behind the read cannot read from. */
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
