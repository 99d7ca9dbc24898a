/* Can a write come that a read waits for? More exact than pending_writes.c,
 * and slower; see search.h.
 *
 * Threads are followed by values. A thread that waits for a read goes on with the value of each
 * existing write of that location (except those that causality hides), of each write that a thread
 * has been found able to make, and of its own earlier writes. So a wait that no value ends stops
 * everything behind it. If threads meet, or an address or a value is unknown, the thread may do
 * everything that can follow (future.h). The result is the least set with these properties, so it
 * contains everything that can happen: by No Thin Air (8.10.4), a write comes only after everything
 * that it depends on. */
#include "explore/future.h"
#include "explore/search.h"

#include <string.h>

enum { MAX_WAITS = 128, MAX_COMING = 192, MAX_LOOSE = 32, MAX_VALUES = 6 };

/* An event, undecided or in the future, that may get several values; its
 * thread goes on with each. */
struct wait {
    struct run *run;
    uint16_t thread, po;
    uint16_t seen; /* how many of the coming writes have been tried */
    bool is_alone; /* the thread does not wait for it: only its own write follows */
    bool is_loose;
};

/* A write that may come. */
struct coming {
    uint64_t value;
    uint16_t thread, po, location; /* the program's number */
    bool is_known;                 /* its value */
    /* Its event exists but is incomplete: its own thread may read it, too. */
    bool is_there;
};

struct look {
    struct explorer *x;
    struct state *s;
    const struct open *all, *target;
    unsigned n;
    unsigned n_waits, n_coming, n_loose;
    struct wait waits[MAX_WAITS];
    struct coming coming[MAX_COMING];
    struct {
        const struct future *future;
        uint16_t thread;
    } loose[MAX_LOOSE];
    bool grew;
    bool is_lost; /* too much to follow: everything is possible */
};

/* Distinguishes only a few values of each event. */
static void add_coming(struct look *k, struct coming new)
{
    unsigned values = 0;
    for (unsigned i = 0; i < k->n_coming; i++) {
        const struct coming *c = &k->coming[i];
        if (c->thread != new.thread || c->po != new.po || c->location != new.location || c->is_there != new.is_there)
            continue;
        if (!c->is_known || (new.is_known && c->value == new.value))
            return;
        values++;
    }
    new.is_known &= values < MAX_VALUES;
    if (k->n_coming == MAX_COMING) {
        k->is_lost = true;
        return;
    }
    k->coming[k->n_coming++] = new;
    k->grew = true;
}

static void add_loose(struct look *k, uint16_t thread, struct run *run)
{
    const struct future *f = future_of(&k->x->runners[thread], run);
    if (run->end == RUN_CUT || run->end == RUN_REFUSED || k->n_loose == MAX_LOOSE) {
        k->is_lost = true;
        return;
    }
    k->loose[k->n_loose].future = f;
    k->loose[k->n_loose++].thread = thread;
    k->grew = true;
}

static void add_wait(struct look *k, uint16_t thread, struct run *run, uint16_t po, bool is_alone)
{
    for (unsigned i = 0; i < k->n_waits; i++)
        if (k->waits[i].run == run && k->waits[i].po == po && k->waits[i].is_alone == is_alone)
            return;
    if (k->n_waits == MAX_WAITS) {
        k->is_lost = true;
        return;
    }
    k->waits[k->n_waits++] = (struct wait){.run = run, .thread = thread, .po = po, .is_alone = is_alone};
    k->grew = true;
}

/* The first event that the end of a run waits for, if that event waits for nothing itself. */
static uint16_t first_wait(const struct run *run)
{
    for (uint16_t po = run->complete; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        bool reads = e->kind == RUN_READ || e->kind == RUN_UPDATE;
        if (run->needs >> po % 64 & 1 && !(e->flags & RUN_RESOLVED))
            return reads && e->flags & RUN_PLACED && !e->value_needs ? po : NO_EVENT;
    }
    return NO_EVENT;
}

static bool is_target(const struct look *k, uint16_t thread, uint16_t po)
{
    const struct event *e = &k->s->g.events[k->target->event];
    return e->thread == thread && e->po == po;
}

/* Follows the thread beyond the end of a run. */
static void follow(struct look *k, uint16_t thread, struct run *run)
{
    if (run->end == RUN_DONE || run->end == RUN_SPINS || run->end == RUN_FAULTED)
        return;
    uint16_t po = run->end == RUN_WAITS ? first_wait(run) : NO_EVENT;
    if (po == NO_EVENT)
        add_loose(k, thread, run);
    else if (!is_target(k, thread, po))
        add_wait(k, thread, run, po, false);
}

static struct coming written(uint16_t thread, uint16_t po, const struct run_event *e, bool is_there)
{
    bool is_known = e->flags & (e->kind == RUN_WRITE ? RUN_VALUED : RUN_RESOLVED);
    return (struct coming){e->wrote, thread, po, e->location, is_known, is_there};
}

/* Adds what the events of a run from `from` on write, except the event that it waits for. */
static void add_writes(struct look *k, uint16_t thread, const struct run *run, uint16_t from)
{
    uint16_t wait = run->end == RUN_WAITS ? first_wait(run) : NO_EVENT;
    for (uint16_t po = from; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        if ((e->kind != RUN_WRITE && e->kind != RUN_UPDATE) || po == wait)
            continue;
        if (!(e->flags & RUN_PLACED)) {
            k->is_lost = true;
            return;
        }
        add_coming(k, written(thread, po, e, false));
    }
}

static bool is_in_graph(const struct look *k, uint16_t thread, uint16_t po)
{
    return po < k->s->g.n_by_po[thread];
}

/* The event of a wait gets the value of a write. taken: an update that
 * writes cannot read from it. */
static void go_on(struct look *k, struct wait w, uint64_t value, bool taken)
{
    struct run *next = run_try(&k->x->runners[w.thread], w.run, w.po, value);
    if (!next) {
        k->is_lost = true;
        return;
    }
    const struct run_event *e = &next->events[w.po];
    bool updates = w.po < next->n_events && e->kind == RUN_UPDATE;
    if (updates && taken)
        return;
    if (updates)
        add_coming(k, written(w.thread, w.po, e, is_in_graph(k, w.thread, w.po)));
    if (w.is_alone)
        return;
    add_writes(k, w.thread, next, w.run->n_events);
    follow(k, w.thread, next);
}

/* ---- existing writes ---- */

/* The members of a location that precede everything after the thread's last event in
 * causality order: those that precede this event in base causality order, and what the reads
 * among them have observed. */
static void find_before(const struct graph *g, uint16_t thread, uint16_t l, uint64_t *before)
{
    const uint64_t *reads = graph_location_set(g, l, READS);
    clear_set(before, g->words);
    if (!g->n_by_po[thread])
        return;
    const uint16_t *clock = graph_clock(g, graph_event(g, thread, g->n_by_po[thread] - 1));
    for (unsigned m = 1; m < g->locations[l].n; m++) {
        uint16_t event = graph_member(g, l, m);
        const struct event *e = &g->events[event];
        if (e->thread != thread && clock[e->thread] <= e->po)
            continue;
        add_member(before, m);
        if (has(reads, m))
            join_set(before, graph_event_set(g, event, OBSERVED), g->words);
    }
    drop_member(before, INITIAL);
}

/* The writes of a location that the thread may still read by axiom Causality. */
static void find_visible(const struct graph *g, uint16_t thread, uint16_t l, uint64_t *may)
{
    const uint64_t *writes = graph_location_set(g, l, WRITES);
    uint64_t before[MAX_WORDS];
    find_before(g, thread, l, before);
    copy_set(may, writes, g->words);
    FOR_MEMBERS(m, k, g->words, writes[k])
    if (sets_meet(graph_row(g, g->co, l, m), before, g->words))
        drop_member(may, m);
}

/* Has an update read from the member, so that no other update that writes can (8.10.3)? */
static bool is_taken(struct explorer *x, const struct graph *g, uint16_t l, unsigned member, const struct run_event *e)
{
    const uint64_t *reads = graph_location_set(g, l, READS), *writes = graph_location_set(g, l, WRITES);
    if (!(e->flags & RUN_STRONG) || e->scope < SCOPE_GPU || !all_are_strong(x, &x->program->locations.at[e->location]))
        return false;
    FOR_MEMBERS(other, k, g->words, reads[k] & writes[k])
    if (g->events[graph_member(g, l, other)].rf == member && has(graph_row(g, g->co, l, member), other))
        return true;
    return false;
}

/* The event as an undecided read; NULL: it is none. */
static const struct open *open_read(const struct look *k, uint16_t thread, uint16_t po)
{
    for (unsigned i = 0; i < k->n; i++) {
        const struct event *e = &k->s->g.events[k->all[i].event];
        if (e->thread == thread && e->po == po)
            return &k->all[i];
    }
    return NULL;
}

static void go_on_by_those_there(struct look *k, struct wait w)
{
    const struct graph *g = &k->s->g;
    uint16_t place = w.run->events[w.po].location;
    uint16_t l = place < g->location_of_room ? g->location_of[place] : 0;
    const struct open *o = open_read(k, w.thread, w.po);
    uint64_t may[MAX_WORDS];
    if (!l)
        go_on(k, w, k->x->program->locations.at[place].initial, false);
    else if (o)
        copy_set(may, o->now, g->words);
    else if (is_in_graph(k, w.thread, w.po))
        copy_set(may, graph_location_set(g, l - 1, WRITES), g->words);
    else
        find_visible(g, w.thread, l - 1, may);
    FOR_MEMBERS(m, i, l ? g->words : 0, may[i])
    go_on(k, w, member_value(k->x, g, l - 1, m), is_taken(k->x, g, l - 1, m, &w.run->events[w.po]));
    for (uint16_t own = g->n_by_po[w.thread]; own < w.po; own++) {
        const struct run_event *e = &w.run->events[own];
        if ((e->kind == RUN_WRITE || e->kind == RUN_UPDATE) && e->location == place)
            add_coming(k, written(w.thread, own, e, true));
    }
}

/* ---- coming writes ---- */

static void set_loose(struct look *k, struct wait *w)
{
    const struct run_event *e = &w->run->events[w->po];
    w->is_loose = true;
    if (e->kind == RUN_UPDATE)
        add_coming(k, written(w->thread, w->po, e, is_in_graph(k, w->thread, w->po)));
    if (!w->is_alone)
        add_loose(k, w->thread, w->run);
}

static bool comes_loosely(const struct look *k, uint16_t thread, uint16_t location)
{
    for (unsigned i = 0; i < k->n_loose; i++)
        if (k->loose[i].thread != thread && future_writes(k->loose[i].future, &k->x->program->locations.at[location]))
            return true;
    return false;
}

static void go_on_by_those_coming(struct look *k, unsigned number)
{
    uint16_t thread = k->waits[number].thread;
    uint16_t place = k->waits[number].run->events[k->waits[number].po].location;
    while (!k->is_lost && k->waits[number].seen < k->n_coming) {
        struct coming c = k->coming[k->waits[number].seen++];
        if (c.location != place || (c.thread == thread && (!c.is_there || c.po >= k->waits[number].po)))
            continue;
        if (c.is_known)
            go_on(k, k->waits[number], c.value, false);
        else if (!k->waits[number].is_loose)
            set_loose(k, &k->waits[number]);
    }
    if (!k->waits[number].is_loose && comes_loosely(k, thread, place))
        set_loose(k, &k->waits[number]);
}

/* ---- the question ---- */

/* Does that depend on the target? */
static bool needs_target(const struct look *k, uint16_t thread, const struct run *run, uint64_t needs)
{
    const struct event *e = &k->s->g.events[k->target->event];
    return e->thread == thread && needs >> e->po % 64 & 1 && run->n_events - run->complete <= 64;
}

/* Adds the events that exist but are incomplete. */
static void add_incomplete(struct look *k, uint16_t thread, struct run *run)
{
    uint16_t waits_for = run->end == RUN_WAITS ? first_wait(run) : NO_EVENT;
    for (uint16_t po = run->complete; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        bool is_complete = e->flags & RUN_PLACED && e->flags & (e->kind == RUN_WRITE ? RUN_VALUED : RUN_RESOLVED);
        if ((e->kind != RUN_WRITE && e->kind != RUN_UPDATE) || is_complete || po == waits_for ||
            is_target(k, thread, po) || needs_target(k, thread, run, e->place_needs | e->value_needs))
            continue;
        const struct open *o = open_read(k, thread, po);
        if (!(e->flags & RUN_PLACED))
            k->is_lost = true;
        else if (e->kind == RUN_UPDATE && o && !o->waits)
            add_wait(k, thread, run, po, true);
        else
            add_coming(k, written(thread, po, e, true));
    }
}

/* Can the target read from one of the writes? Not only a value that ends its loop counts: the
 * thread may spin on another one for ever. */
static bool is_served(const struct look *k)
{
    const struct graph *g = &k->s->g;
    uint16_t target = k->target->event, thread = g->events[target].thread;
    uint16_t place = g->locations[g->events[target].location].id;
    for (unsigned i = 0; i < k->n_loose; i++)
        if (k->loose[i].thread != thread && !graph_precedes_rest(g, target, k->loose[i].thread) &&
            future_writes(k->loose[i].future, &k->x->program->locations.at[place]))
            return true;
    for (unsigned i = 0; i < k->n_coming; i++) {
        const struct coming *c = &k->coming[i];
        if (c->location == place &&
            (c->is_there || (c->thread != thread && !graph_precedes_rest(g, target, c->thread))))
            return true;
    }
    return false;
}

bool may_come(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which)
{
    struct look k = {.x = x, .s = s, .all = all, .target = &all[which], .n = n};
    if (k.target->waits)
        return true;
    for (uint16_t t = 0; t < s->n_threads && !k.is_lost; t++) {
        add_incomplete(&k, t, s->runs[t]);
        follow(&k, t, s->runs[t]);
    }
    for (unsigned begun = 0; k.grew && !k.is_lost;) {
        k.grew = false;
        for (; begun < k.n_waits && !k.is_lost; begun++)
            go_on_by_those_there(&k, k.waits[begun]);
        for (unsigned i = 0; i < k.n_waits && !k.is_lost; i++)
            go_on_by_those_coming(&k, i);
    }
    return k.is_lost || is_served(&k);
}
