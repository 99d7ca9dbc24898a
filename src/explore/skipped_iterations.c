/* Finds races of iterations that were left out; see loops.c.
 *
 * Taking a failing iteration of an await loop out of an execution leaves an execution (loops.c),
 * but loses races of the iteration's reads. So each such iteration is put back into each complete
 * execution, alone, at its place: before the last iteration of its loop, which begins in the same
 * state. One at a time suffices, because a race has one read of an iteration and a write, and all
 * other iterations can be left out.
 *
 * The iterations are found in the tree of the thread's runs. From where the last iteration begins,
 * each read reads from each existing write, until the iteration fails or turns out not to. If two
 * iterations are needed until the state is as before, both are put back. If more are needed, and
 * they may race, the search is not exhaustive (verdict.unseen). */
#include "explore/skipped_iterations.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

/* ---- an execution with the round ---- */

/* The run that has the iteration before the last one; the caller frees its events. */
static struct run with_round(const struct run *run, const struct run *failed, uint16_t first)
{
    struct run both = *run;
    uint16_t n = failed->n_events - first;
    both.n_events += n;
    both.complete += n;
    both.round += run->end == RUN_SPINS ? n : 0;
    both.events = memory_grow(NULL, both.n_events, sizeof *both.events);
    memcpy(both.events, failed->events, failed->n_events * sizeof *both.events);
    memcpy(both.events + failed->n_events, run->events + first, (run->n_events - first) * sizeof *both.events);
    return both;
}

static uint16_t shifted(const struct rounds *r, uint16_t n_round, const struct event *e)
{
    return e->po + (e->thread == r->thread && e->po >= r->first ? n_round : 0);
}

static uint16_t event_in(const struct rounds *r, uint16_t n_round, const struct graph *to, uint16_t event)
{
    const struct event *e = &r->s->g.events[event];
    return graph_event(to, e->thread, shifted(r, n_round, e));
}

/* Copies the order of the execution without the iteration. */
static void copy_order(const struct rounds *r, uint16_t n_round, struct graph *to)
{
    const struct graph *g = &r->s->g;
    uint16_t *meeting = memory_zeroed(g->n_events + 1u, sizeof *meeting);
    for (uint16_t e = 0; e < g->n_events; e++)
        if (g->events[e].thread == NO_EVENT)
            meeting[e] = graph_meet(to);
    for (uint16_t e = 0; e < g->n_events; e++)
        for (uint16_t i = g->events[e].edges; i; i = g->edges[i - 1].next) {
            uint16_t y = g->edges[i - 1].to;
            graph_order(to, g->events[e].thread == NO_EVENT ? meeting[e] : event_in(r, n_round, to, e),
                        g->events[y].thread == NO_EVENT ? meeting[y] : event_in(r, n_round, to, y));
        }
    free(meeting);
}

/* Decides a read, if the write that it reads from is complete; an update must have read. */
static bool read_from(const struct explorer *x, struct graph *to, uint16_t event, uint16_t from, enum graph_kind kind,
                      uint64_t value, uint64_t wrote)
{
    if (from != NO_EVENT && to->events[from].kind != GRAPH_WRITE && to->events[from].rf == NO_MEMBER)
        return false;
    to->events[event].read = value;
    model_read(to, &x->threads, event, from == NO_EVENT ? INITIAL : to->events[from].member, kind, wrote);
    return true;
}

static bool read_again(const struct rounds *r, uint16_t n_round, struct graph *to, uint16_t event)
{
    const struct graph *g = &r->s->g;
    const struct event *e = &g->events[event];
    uint16_t now = event_in(r, n_round, to, event);
    uint16_t from = e->rf == INITIAL ? NO_EVENT : event_in(r, n_round, to, graph_member(g, e->location, e->rf));
    return read_from(r->x, to, now, from, (enum graph_kind)e->kind, e->read, e->wrote);
}

/* Decides all reads as before, and those of the iteration as chosen. */
static void copy_reads(const struct rounds *r, uint16_t n_round, const struct run *run, struct graph *to)
{
    const struct graph *g = &r->s->g;
    for (bool again = true, some = true; again && some;) {
        again = some = false;
        for (uint16_t e = 0; e < g->n_events; e++) {
            if (g->events[e].rf == NO_MEMBER || to->events[event_in(r, n_round, to, e)].rf != NO_MEMBER)
                continue;
            bool done = read_again(r, n_round, to, e);
            some |= done;
            again |= !done;
        }
    }
    for (unsigned i = 0; i < r->n; i++) {
        const struct choice *c = &r->choices[i];
        uint16_t from = c->from == NO_EVENT ? NO_EVENT : event_in(r, n_round, to, c->from);
        read_from(r->x, to, graph_event(to, r->thread, c->po), from, GRAPH_READ, run->events[c->po].read, 0);
    }
}

static void try_round(struct rounds *r, const struct run *failed)
{
    uint16_t n_round = failed->n_events - r->first;
    struct run both = with_round(r->s->runs[r->thread], failed, r->first);
    struct state with = {.n_threads = r->s->n_threads};
    with.runs = memory_grow(NULL, with.n_threads, sizeof *with.runs);
    memcpy(with.runs, r->s->runs, with.n_threads * sizeof *with.runs);
    with.runs[r->thread] = &both;
    graph_begin(&with.g, with.n_threads);
    for (uint16_t t = 0; t < with.n_threads; t++)
        advance(r->x, &with, t);
    if (!r->x->program->refusal.text) {
        copy_order(r, n_round, &with.g);
        copy_reads(r, n_round, &both, &with.g);
        if (model_settle(&with.g, &r->x->threads))
            r->look(r->x, &with);
    }
    graph_free(&with.g);
    free(with.runs);
    free(both.events);
}

/* ---- rounds ---- */

static bool round_may_race(const struct rounds *r, const struct run *failed)
{
    for (uint16_t po = r->first; po < failed->n_events; po++)
        if (failed->events[po].kind == RUN_READ && round_read_may_race(r, &failed->events[po]))
            return true;
    return false;
}

/* Does a read return the same value as the previous read of the place, but from another write? It
 * may as well read from the same write, which orders no more: races remain. */
static bool reads_in_vain(const struct rounds *r, const struct run *run, uint16_t po, uint16_t from, uint64_t value)
{
    const struct choice *last = r->n ? &r->choices[r->n - 1] : NULL;
    if (!last || last->po + 1 != po || last->from == from)
        return false;
    const struct run_event *now = &run->events[po], *before = &run->events[last->po];
    return now->kind == RUN_READ && before->kind == RUN_READ && now->location == before->location &&
           before->read == value;
}

/* Does a read return to a write that an earlier read of the place has left? Reads of morally strong
 * writes only move forward in coherence order (PTX ISA 9.0, 8.10.5). */
static bool comes_back(const struct rounds *r, const struct run *run, uint16_t po, uint16_t from)
{
    const struct run_event *now = &run->events[po];
    bool left = false;
    for (unsigned i = r->n; i-- > 0;) {
        const struct choice *c = &r->choices[i];
        const struct run_event *e = &run->events[c->po];
        if (e->location != now->location)
            continue;
        if (c->from == from || (left && from == NO_EVENT))
            return left && (from == NO_EVENT || round_is_strong(r, &r->s->g.events[from], e));
        left |= c->from != NO_EVENT && round_is_strong(r, &r->s->g.events[c->from], now) &&
                round_is_strong(r, &r->s->g.events[c->from], e) &&
                (from == NO_EVENT || round_is_strong(r, &r->s->g.events[from], e));
    }
    return left && from == NO_EVENT;
}

static void choose_reads(struct rounds *r, struct run *run);

/* Chooses a write for the iteration's next read. */
static void choose_read(struct rounds *r, struct run *run, uint16_t po, uint16_t from, uint64_t value)
{
    if (search_ends(r->x) || reads_in_vain(r, run, po, from, value) || comes_back(r, run, po, from))
        return;
    struct run *next = run_resolve(&r->x->runners[r->thread], run, po, value);
    r->choices[r->n++] = (struct choice){po, from};
    enum round_end end = round_end(r, next, po);
    if (end == ROUND_GOES_ON)
        choose_reads(r, next);
    else if (end == ROUND_FAILS && round_may_race(r, next))
        try_round(r, next);
    r->n--;
}

static void choose_reads(struct rounds *r, struct run *run)
{
    const struct graph *g = &r->s->g;
    uint16_t po = run->complete;
    if (po < run->n_events && r->n == MAX_READS)
        verdict_unseen(r->x->verdict, run->events[po].insn);
    if (!round_next_read(run) || r->n == MAX_READS)
        return;
    uint16_t id = run->events[po].location, l = id < g->location_of_room ? g->location_of[id] : 0;
    choose_read(r, run, po, NO_EVENT, r->x->program->locations.at[id].initial);
    for (unsigned m = 1; l && m < g->locations[l - 1].n; m++) {
        uint16_t w = graph_member(g, l - 1, m);
        const struct event *e = &g->events[w];
        if (e->writes && !(e->thread == r->thread && e->po >= r->first))
            choose_read(r, run, po, w, e->wrote);
    }
}

/* Extends a run, with all events before one event, to a later one. */
static struct run *run_on(const struct rounds *r, struct run *run, uint16_t from, uint16_t to)
{
    const struct run *all = r->s->runs[r->thread];
    for (uint16_t po = from; po < to; po++) {
        const struct run_event *e = &all->events[po];
        if (e->flags & RUN_RESOLVED && !(run->events[po].flags & RUN_RESOLVED))
            run = run_resolve(&r->x->runners[r->thread], run, po, e->read);
    }
    return run;
}

void look_at_rounds(struct explorer *x, const struct state *s,
                    void (*look)(struct explorer *x, const struct state *with))
{
    uint64_t hashes[s->g.n_locations + 1];
    memset(hashes, 0, sizeof hashes);
    for (uint16_t t = 0; t < s->n_threads; t++) {
        struct rounds r = {.x = x, .s = s, .thread = t, .hashes = hashes, .look = look};
        struct run *before = x->runners[t].start;
        uint16_t last = 0;
        for (uint16_t po = 0; po < s->runs[t]->n_events; po++) {
            const struct run_event *e = &s->runs[t]->events[po];
            r.first = po;
            if (e->round == ROUND_NONE ||
                (e->round == ROUND_SINGLE && e->kind != RUN_FENCE && !round_read_may_race(&r, e)))
                continue;
            before = run_on(&r, before, last, po);
            last = po;
            if (rounds_may_race(&r, before))
                choose_reads(&r, before);
        }
    }
}
