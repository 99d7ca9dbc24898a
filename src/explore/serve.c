/* What may still come: whether a write can show up that an open read waits for; see search.h.
 *
 * A read is served if it can read from a write that is there, or if some thread that can go on may still write at its place; a thread
 * can go on if all reads that it waits for are served. The least set of served reads that fulfils this is found. A read that is not
 * in it has no value in any execution that this part of the tree can become: that is no guess, as all that is taken for possible is
 * more than what is (future.h). */
#include "explore/future.h"
#include "explore/search.h"

#include <string.h>

/* What is known to be possible so far. */
struct hope {
    struct explorer *x;
    struct state *s;
    const struct open *all;
    unsigned n;
    bool served[MAX_OPEN];
    bool moves[MAX_THREADS];    /* by thread */
    uint64_t open[MAX_THREADS]; /* by thread: events, by number % 64, that are not served */
    bool grew;
};

static const struct run_event *run_event_of(const struct state *s, uint16_t event)
{
    return &s->runs[s->g.events[event].thread]->events[s->g.events[event].po];
}

/* Has what the event needs been served? Bits by number: if several events have one, one of them is enough. */
static bool needs_served(const struct hope *h, uint16_t thread, uint64_t needs)
{
    return !(needs & h->open[thread]);
}

static void find_open(struct hope *h)
{
    uint64_t served[h->s->n_threads];
    memset(served, 0, sizeof served);
    memset(h->open, 0, h->s->n_threads * sizeof *h->open);
    for (unsigned i = 0; i < h->n; i++) {
        const struct event *e = &h->s->g.events[h->all[i].event];
        *(h->served[i] ? &served[e->thread] : &h->open[e->thread]) |= 1ull << e->po % 64;
    }
    /* what has no place yet, and is waited for */
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct run *run = h->s->runs[t];
        for (uint16_t po = 0; po < run->n_events; po++) {
            const struct run_event *e = &run->events[po];
            if ((e->kind == RUN_READ || e->kind == RUN_UPDATE) && !(e->flags & (RUN_PLACED | RUN_RESOLVED)))
                *(e->place_needs & h->open[t] & ~served[t] ? &h->open[t] : &served[t]) |= 1ull << po % 64;
        }
        h->open[t] &= ~served[t];
    }
}

/* Can a write that is there, but not complete, become what the read reads from? */
static bool incomplete_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    const struct event *r = &g->events[read];
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct run *run = h->s->runs[t];
        for (uint16_t po = 0; po < run->n_events; po++) {
            const struct run_event *e = &run->events[po];
            if (e->kind != RUN_WRITE || (e->flags & RUN_PLACED && e->flags & RUN_VALUED))
                continue;
            uint16_t w = graph_event(g, t, po);
            if ((e->flags & RUN_PLACED && g->events[w].location != r->location) || graph_precedes(g, read, w))
                continue;
            if (needs_served(h, t, e->place_needs | e->value_needs))
                return true;
        }
    }
    return false;
}

static bool update_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    for (unsigned i = 0; i < h->n; i++) {
        uint16_t w = h->all[i].event;
        if (h->served[i] && w != read && g->events[w].kind == EVENT_UPDATE &&
            g->events[w].location == g->events[read].location && !graph_precedes(g, read, w))
            return true;
    }
    for (uint16_t t = 0; t < h->s->n_threads; t++) { /* updates whose place is not known */
        const struct run *run = h->s->runs[t];
        for (uint16_t po = 0; po < run->n_events; po++)
            if (run->events[po].kind == RUN_UPDATE && !(run->events[po].flags & (RUN_PLACED | RUN_RESOLVED)) &&
                !graph_precedes(g, read, graph_event(g, t, po)) && needs_served(h, t, run->events[po].place_needs))
                return true;
    }
    return false;
}

static bool future_serves(const struct hope *h, uint16_t read)
{
    const struct graph *g = &h->s->g;
    const struct event *r = &g->events[read];
    const struct location *l = &h->x->program->locations.at[g->locations[r->location].id];
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        if (!h->moves[t] || t == r->thread)
            continue;
        if (g->n_by_po[t] && graph_clock(g, graph_event(g, t, g->n_by_po[t] - 1))[r->thread] > r->po)
            continue; /* whatever it writes follows the read in causality order */
        if (future_writes(future_of(&h->x->runners[t], h->s->runs[t]), l))
            return true;
    }
    return false;
}

static bool can_be_served(const struct hope *h, const struct open *o)
{
    if (o->waits) /* something is there to read from, once its operands are */
        return needs_served(h, h->s->g.events[o->event].thread, run_event_of(h->s, o->event)->value_needs);
    return incomplete_serves(h, o->event) || update_serves(h, o->event) || future_serves(h, o->event);
}

/* A thread at a meeting goes on if the others can come. */
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

static void spread(struct hope *h)
{
    for (uint16_t t = 0; t < h->s->n_threads; t++) {
        const struct run *run = h->s->runs[t];
        if (h->moves[t])
            continue;
        h->moves[t] = run->end == RUN_WAITS   ? needs_served(h, t, run->needs)
                      : run->end == RUN_MEETS ? meeting_moves(h, t)
                                              : false;
        h->grew |= h->moves[t];
    }
    for (unsigned i = 0; i < h->n; i++)
        if (!h->served[i] && can_be_served(h, &h->all[i])) {
            h->served[i] = h->grew = true;
            find_open(h);
        }
}

bool may_be_served(struct explorer *x, struct state *s, const struct open *all, unsigned n, unsigned which)
{
    static _Thread_local struct hope h;
    h.x = x;
    h.s = s;
    h.all = all;
    h.n = n;
    memset(h.moves, 0, s->n_threads * sizeof *h.moves);
    for (unsigned i = 0; i < n; i++)
        h.served[i] = i != which && all[i].now != 0;
    find_open(&h);
    do {
        h.grew = false;
        spread(&h);
    } while (h.grew && !h.served[which]);
    return h.served[which];
}

bool may_arrive(struct explorer *x, struct state *s, uint16_t thread, uint8_t barrier)
{
    struct run *run = s->runs[thread];
    if (run->end != RUN_WAITS && run->end != RUN_MEETS)
        return false;
    return future_of(&x->runners[thread], run)->barriers >> barrier & 1;
}
