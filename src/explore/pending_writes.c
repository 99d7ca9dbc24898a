/* Decides whether a write can still appear that an undecided read waits for; see search.h.
 *
 * A read is served if it can read from an existing write, or if a thread that can proceed may still
 * write to its place; a thread can proceed if all reads that it waits for are served. The least set
 * of served reads with this property is computed. A read outside it has no value in any execution
 * that this part of the tree leads to. This is sound because what counts as possible is an
 * over-approximation (future.h).
 *
 * If a thread waits for one read alone, what it does next is known for each existing write; it may
 * do everything that can come behind only if the read may also read from a later write. Likewise, a
 * compare-and-swap writes only if an existing write lets it, or a later one may. */
#include "explore/future.h"
#include "explore/memory.h"
#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

/* An incomplete event other than an undecided read with a known place. */
struct incomplete {
    uint16_t event, thread, po;
    uint16_t location; /* NO_LOCATION: not known */
    uint8_t kind;
    uint64_t needs;
};

/* What is known to be possible so far. */
struct hope {
    struct explorer *x;
    struct state *s;
    const struct open *all;
    unsigned n;
    bool served[MAX_OPEN];
    bool later[MAX_OPEN];      /* a read that decides something may read from a future write */
    uint16_t thread[MAX_OPEN]; /* its thread */
    uint64_t bit[MAX_OPEN];    /* a bit for its number % 64 in the thread */
    enum {
        STANDS,
        MOVES_BY_NOW, /* depends on what the read that it waits for can read from now */
        MOVES
    } moves[MAX_THREADS]; /* by thread */
    /* by thread: 1 + the only read that it waits for; 0: none, or several */
    uint16_t waits_for[MAX_THREADS];
    uint64_t open[MAX_THREADS]; /* by thread: events that are not served, by number % 64 */
    /* The same, with only those served that have a value now. */
    uint64_t open_at_first[MAX_THREADS];
    uint16_t reads[MAX_THREADS],
        next[MAX_OPEN]; /* by thread: 1 + its first read; by read: 1 + the next one of its thread */
    unsigned first_incomplete[MAX_THREADS + 1]; /* by thread */
    struct incomplete *incomplete;
    unsigned n_incomplete, incomplete_room;
    bool grew;
};

static const struct run_event *run_event_of(const struct state *s, uint16_t event)
{
    return &s->runs[s->g.events[event].thread]->events[s->g.events[event].po];
}

/* Is what the event needs served? With bits by number % 64, one served event of several with the
 * same bit is enough. */
static bool needs_served(const struct hope *h, uint16_t thread, uint64_t needs)
{
    return !(needs & h->open[thread]);
}

static void find_incomplete(struct hope *h)
{
    h->n_incomplete = 0;
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct run *run = h->s->runs[t];
        h->first_incomplete[t] = h->n_incomplete;
        for (uint16_t po = run->complete; po < run->n_events; po++) {
            const struct run_event *e = &run->events[po];
            bool placed = e->flags & RUN_PLACED;
            bool is_write = e->kind == RUN_WRITE && !(placed && e->flags & RUN_VALUED);
            if (!is_write && (placed || (e->kind != RUN_READ && e->kind != RUN_UPDATE)))
                continue;
            if (h->n_incomplete == h->incomplete_room) {
                h->incomplete_room = 2 * h->incomplete_room + 64;
                h->incomplete = memory_grow(h->incomplete, h->incomplete_room, sizeof *h->incomplete);
            }
            uint16_t event = graph_event(&h->s->g, t, po);
            h->incomplete[h->n_incomplete++] =
                (struct incomplete){event,   t,
                                    po,      placed ? h->s->g.events[event].location : NO_LOCATION,
                                    e->kind, e->place_needs | (is_write ? e->value_needs : 0)};
        }
    }
    h->first_incomplete[h->s->n_threads] = h->n_incomplete;
}

static bool is_swap(const struct hope *h, unsigned read)
{
    uint16_t event = h->all[read].event;
    return h->s->g.events[event].kind == GRAPH_UPDATE && run_event_of(h->s, event)->insn->access->mem.atom == ATOM_cas;
}

/* The only read that a thread waits for, if its place is known. */
static uint16_t find_waited_for(const struct hope *h, uint16_t thread)
{
    const struct run *run = h->s->runs[thread];
    unsigned n_waiting = 0;
    if (run->end != RUN_WAITS)
        return 0;
    for (uint16_t po = run->complete; po < run->n_events; po++)
        n_waiting += run->needs >> po % 64 & !(run->events[po].flags & RUN_RESOLVED);
    if (n_waiting != 1)
        return 0;
    uint16_t i = h->reads[thread];
    while (i && !(h->bit[i - 1] & run->needs))
        i = h->next[i - 1];
    return i;
}

static void find_reads(struct hope *h)
{
    memset(h->reads, 0, h->s->n_threads * sizeof *h->reads);
    for (unsigned i = h->n; i-- > 0;) {
        const struct event *e = &h->s->g.events[h->all[i].event];
        h->thread[i] = e->thread;
        h->bit[i] = 1ull << e->po % 64;
        h->next[i] = h->reads[e->thread];
        h->reads[e->thread] = (uint16_t)(i + 1);
    }
}

/* Finds the thread's events that are not served. Of events with the same bit, one that is served is
 * enough. */
static void find_unserved(struct hope *h, uint16_t thread)
{
    uint64_t served = 0, open = 0;
    for (uint16_t i = h->reads[thread]; i; i = h->next[i - 1]) {
        served |= h->served[i - 1] ? h->bit[i - 1] : 0;
        open |= h->served[i - 1] ? 0 : h->bit[i - 1];
    }
    for (unsigned i = h->first_incomplete[thread]; i < h->first_incomplete[thread + 1]; i++) {
        /* in program order: an event depends only on earlier ones */
        const struct incomplete *e = &h->incomplete[i];
        if (e->kind != RUN_WRITE)
            *(e->needs & open & ~served ? &open : &served) |= 1ull << e->po % 64;
    }
    h->open[thread] = open & ~served;
}

/* Can an existing, incomplete event become a write that the read reads from? */
static bool incomplete_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    for (unsigned i = 0; i < h->n_incomplete; i++) {
        const struct incomplete *e = &h->incomplete[i];
        if (e->kind != RUN_READ && (e->location == NO_LOCATION || e->location == g->events[read].location) &&
            needs_served(h, e->thread, e->needs) && !graph_precedes(g, read, e->event))
            return true;
    }
    return false;
}

/* Does a compare-and-swap write if it reads from an existing write? */
static bool swaps_now(const struct hope *h, unsigned swap)
{
    uint16_t event = h->all[swap].event;
    FOR_MEMBERS(m, k, h->s->g.words, h->all[swap].now[k])
    if (run_taking(h->x, h->s, event, m)->events[h->s->g.events[event].po].kind == RUN_UPDATE)
        return true;
    return false;
}

static bool update_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    for (unsigned i = 0; i < h->n; i++) {
        uint16_t w = h->all[i].event;
        if (h->served[i] && w != read && g->events[w].kind == GRAPH_UPDATE &&
            g->events[w].location == g->events[read].location && !graph_precedes(g, read, w) &&
            (!is_swap(h, i) || h->later[i] || swaps_now(h, i)))
            return true;
    }
    return false;
}

/* May the thread write there if the read that it waits for reads from an existing write? Beyond a
 * bound that is not known. */
static bool writes_by_now(const struct hope *h, uint16_t thread, uint16_t location)
{
    const struct program *p = h->x->program;
    const struct open *o = &h->all[h->waits_for[thread] - 1];
    uint16_t n_events = h->s->runs[thread]->n_events;
    FOR_MEMBERS(m, k, h->s->g.words, o->now[k])
    {
        struct run *run = run_taking(h->x, h->s, o->event, m);
        for (uint16_t po = n_events; po < run->n_events; po++) {
            const struct run_event *e = &run->events[po];
            if ((e->kind == RUN_WRITE || e->kind == RUN_UPDATE) &&
                (!(e->flags & RUN_PLACED) || e->location == location))
                return true;
        }
        if (run->end == RUN_CUT || run->end == RUN_REFUSED ||
            future_writes(future_of(&h->x->runners[thread], run), &p->locations.at[location]))
            return true;
    }
    return false;
}

static bool future_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    const struct event *r = &g->events[read];
    const struct program *p = h->x->program;
    uint16_t location = g->locations[r->location].id;
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        if (!h->moves[t] || t == r->thread || graph_precedes_rest(g, read, t))
            continue;
        if (future_writes(future_of(&h->x->runners[t], h->s->runs[t]), &p->locations.at[location]) &&
            (h->moves[t] == MOVES || writes_by_now(h, t, location)))
            return true;
    }
    return false;
}

static bool can_be_served(const struct hope *h, const struct open *o)
{
    if (o->waits) /* there is something to read once its operands are known */
        return needs_served(h, h->s->g.events[o->event].thread, run_event_of(h->s, o->event)->value_needs);
    return incomplete_serves(h, o->event) || update_serves(h, o->event) || future_serves(h, o->event);
}

/* A thread at a meeting can proceed if the others can arrive. */
static bool meeting_moves(const struct hope *h, uint16_t thread)
{
    const struct place_in_grid *at = &h->x->runners[thread].at;
    const struct run_event *e = &h->s->runs[thread]->events[h->s->runs[thread]->n_events - 1];
    bool all = e->kind == RUN_EXCHANGE || e->barrier == CLUSTER_BARRIER || !e->count;
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct place_in_grid *other = &h->x->runners[t].at;
        const struct run *run = h->s->runs[t];
        bool here = e->kind == RUN_EXCHANGE         ? other->block == at->block && other->warp == at->warp
                    : e->barrier == CLUSTER_BARRIER ? other->cluster == at->cluster
                                                    : other->block == at->block;
        bool can = h->moves[t] || run->end == RUN_MEETS || run->end == RUN_DONE;
        if (here && t != thread && can != all)
            return can;
    }
    return true;
}

/* Finds the threads that can proceed, given what is served so far. */
static void spread_to_threads(struct hope *h)
{
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct run *run = h->s->runs[t];
        uint16_t read = h->waits_for[t];
        if (h->moves[t] == MOVES)
            continue;
        bool moved = h->moves[t] != STANDS;
        if (run->end == RUN_WAITS && needs_served(h, t, run->needs))
            h->moves[t] = read && !h->later[read - 1] ? MOVES_BY_NOW : MOVES;
        else if (run->end == RUN_MEETS && meeting_moves(h, t))
            h->moves[t] = MOVES;
        /* A meeting may depend on it; else only later reads do. */
        h->grew |= !moved && h->moves[t] && h->s->g.meets;
    }
}

/* Finds the reads that are served by these threads: among all, or among those that serve_all()
   found. */
static void spread_to_reads(struct hope *h, bool of_all)
{
    for (unsigned i = 0; i < h->n; i++) {
        bool asked = h->served[i] ? !h->later[i] && (h->waits_for[h->thread[i]] == i + 1 || is_swap(h, i))
                                  : of_all || h->all[i].later;
        if (!asked || !can_be_served(h, &h->all[i]))
            continue;
        h->later[i] = h->grew = true;
        if (!h->served[i]) {
            h->served[i] = true;
            find_unserved(h, h->thread[i]);
        }
    }
}

void serve_end(struct explorer *x)
{
    if (x->hope)
        free(x->hope->incomplete);
}

/* Allocates it without clearing the arrays: most of their elements are not used. */
static struct hope *new_hope(struct arena *arena)
{
    struct hope *h = arena_alloc(arena, sizeof *h);
    h->incomplete = NULL;
    h->incomplete_room = 0;
    return h;
}

void serve_all(struct explorer *x, struct state *s, struct open *all, unsigned n)
{
    struct hope *h = x->hope = x->hope ? x->hope : new_hope(x->arena);
    h->x = x;
    h->s = s;
    h->all = all;
    h->n = n;
    h->grew = false;
    find_incomplete(h);
    find_reads(h);
    for (unsigned i = 0; i < n; i++) {
        h->later[i] = false;
        h->served[i] = all[i].n_now != 0;
        h->grew |= !h->served[i];
    }
    for (uint16_t t = 0; t < s->n_threads; t++) {
        find_unserved(h, t);
        h->waits_for[t] = find_waited_for(h, t);
    }
    memcpy(h->open_at_first, h->open, s->n_threads * sizeof *h->open);
    memset(h->moves, 0, s->n_threads * sizeof *h->moves);
    while (h->grew) {
        h->grew = false;
        spread_to_threads(h);
        spread_to_reads(h, true);
    }
    for (unsigned i = 0; i < n; i++)
        all[i].later = !all[i].n_now && h->served[i];
}

/* With fewer writes, no more reads are served than serve_all() found. */
bool may_be_served(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which)
{
    struct hope *h = x->hope;
    memset(h->later, 0, n * sizeof *h->later);
    for (unsigned i = 0; i < n; i++)
        h->served[i] = all[i].n_now != 0;
    h->served[which] = false;
    memcpy(h->open, h->open_at_first, s->n_threads * sizeof *h->open);
    find_unserved(h, h->thread[which]);
    memset(h->moves, 0, s->n_threads * sizeof *h->moves);
    do {
        h->grew = false;
        spread_to_threads(h);
        if (can_be_served(h, &all[which]))
            return true;
        spread_to_reads(h, false);
    } while (h->grew);
    return false;
}

bool may_arrive(struct explorer *x, struct state *s, uint16_t thread, uint8_t barrier)
{
    struct run *run = s->runs[thread];
    if (run->end != RUN_WAITS && run->end != RUN_MEETS)
        return false;
    return future_of(&x->runners[thread], run)->barriers >> barrier & 1;
}
