/* Memory of graphs, and base causality as vector clocks; see graph.h. */
#include "explore/graph.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"
#include "explore/model.h"

static void more_events(struct graph *g, uint16_t n)
{
    g->events = memory_grow(g->events, n, sizeof *g->events);
    g->event_sets = memory_grow(g->event_sets, (size_t)n * EVENT_SETS * g->words, sizeof *g->event_sets);
    g->clocks = memory_grow(g->clocks, (size_t)n * g->n_threads, sizeof *g->clocks);
    g->events_room = n;
}

static void more_edges(struct graph *g, uint16_t n)
{
    g->edges = memory_grow(g->edges, n, sizeof *g->edges);
    g->edges_room = n;
}

/* Moves rows to a larger row length, with their contents. */
static void *spread(void *at, uint16_t rows, uint16_t from, uint16_t to, size_t size)
{
    uint8_t *bytes = memory_grow(at, (size_t)rows * to, size);
    for (uint16_t i = rows; from < to && i-- > 1;)
        memmove(bytes + (size_t)i * to * size, bytes + (size_t)i * from * size, from * size);
    return bytes;
}

static void more_po(struct graph *g, uint16_t n)
{
    g->by_po = spread(g->by_po, g->n_threads, g->po_room, n, sizeof *g->by_po);
    g->po_room = n;
}

static uint16_t words_for(uint16_t members)
{
    return (uint16_t)((members + 63) / 64);
}

/* Adds words to sets; the new words are 0. */
static void widen(uint64_t **sets, size_t n, unsigned from, unsigned to)
{
    uint64_t *now = memory_zeroed(n * to + 1, sizeof *now);
    for (size_t i = 0; i < n && from <= to; i++)
        copy_set(now + i * to, *sets + i * from, from);
    free(*sets);
    *sets = now;
}

static void set_words(struct graph *g, uint16_t words)
{
    size_t rows = (size_t)g->locations_room * g->members_room;
    uint64_t **all[] = {&g->strong, &g->before, &g->cause, &g->co};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        widen(all[i], rows, g->words, words);
    widen(&g->event_sets, (size_t)g->events_room * EVENT_SETS, g->words, words);
    widen(&g->location_sets, (size_t)g->locations_room * LOCATION_SETS, g->words, words);
    g->words = words;
}

static void more_members(struct graph *g, uint16_t locations, uint16_t n)
{
    if (words_for(n) != g->words)
        set_words(g, words_for(n));
    size_t set = g->words * sizeof *g->strong;
    g->members = spread(g->members, locations, g->members_room, n, sizeof *g->members);
    g->strong = spread(g->strong, locations, g->members_room, n, set);
    g->before = spread(g->before, locations, g->members_room, n, set);
    g->cause = spread(g->cause, locations, g->members_room, n, set);
    g->co = spread(g->co, locations, g->members_room, n, set);
    g->members_room = n;
}

static void more_locations(struct graph *g, uint16_t n)
{
    g->locations = memory_grow(g->locations, n, sizeof *g->locations);
    g->location_sets = memory_grow(g->location_sets, (size_t)n * LOCATION_SETS * g->words, sizeof *g->location_sets);
    more_members(g, n, g->members_room);
    g->locations_room = n;
}

static void more_location_numbers(struct graph *g, uint16_t n)
{
    g->location_of = memory_grow(g->location_of, n, sizeof *g->location_of);
    memset(g->location_of + g->location_of_room, 0, (n - g->location_of_room) * sizeof *g->location_of);
    g->location_of_room = n;
}

void graph_begin(struct graph *g, uint16_t n_threads)
{
    *g = (struct graph){.n_threads = n_threads, .members_room = 8, .words = 1};
    more_events(g, 64);
    more_edges(g, 64);
    g->n_by_po = memory_grow(NULL, n_threads + 1u, sizeof *g->n_by_po);
    memset(g->n_by_po, 0, (n_threads + 1u) * sizeof *g->n_by_po);
    more_po(g, 16);
    more_locations(g, 16);
    more_location_numbers(g, 32);
}

void graph_free(struct graph *g)
{
    void *all[] = {g->events,     g->clocks,        g->by_po,   g->n_by_po, g->edges,  g->location_of, g->locations,
                   g->event_sets, g->location_sets, g->members, g->strong,  g->before, g->cause,       g->co};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    *g = (struct graph){0};
}

static void like(struct graph *to, const struct graph *from)
{
    if (to->n_threads != from->n_threads) {
        graph_free(to);
        graph_begin(to, from->n_threads);
    }
    if (to->events_room < from->n_events)
        more_events(to, from->events_room);
    if (to->edges_room < from->n_edges)
        more_edges(to, from->edges_room);
    if (to->po_room != from->po_room)
        more_po(to, from->po_room);
    if (to->members_room != from->members_room)
        more_members(to, to->locations_room, from->members_room);
    if (to->locations_room < from->n_locations)
        more_locations(to, from->locations_room);
    if (to->location_of_room < from->location_of_room)
        more_location_numbers(to, from->location_of_room);
}

void graph_copy(struct graph *to, const struct graph *from)
{
    like(to, from);
    to->n_events = from->n_events;
    to->n_edges = from->n_edges;
    to->n_locations = from->n_locations;
    to->exceeds = from->exceeds;
    to->n_fences = from->n_fences;
    memcpy(to->fences, from->fences, from->n_fences * sizeof *to->fences);
    to->cyclic = from->cyclic;
    to->meets = from->meets;
    memcpy(to->events, from->events, from->n_events * sizeof *to->events);
    memcpy(to->event_sets, from->event_sets,
           (size_t)from->n_events * EVENT_SETS * from->words * sizeof *to->event_sets);
    memcpy(to->clocks, from->clocks, (size_t)from->n_events * from->n_threads * sizeof *to->clocks);
    for (uint16_t t = 0; t < from->n_threads; t++)
        memcpy(to->by_po + (size_t)t * to->po_room, from->by_po + (size_t)t * to->po_room,
               from->n_by_po[t] * sizeof *to->by_po);
    memcpy(to->n_by_po, from->n_by_po, from->n_threads * sizeof *to->n_by_po);
    memcpy(to->edges, from->edges, from->n_edges * sizeof *to->edges);
    memcpy(to->location_of, from->location_of, from->location_of_room * sizeof *to->location_of);
    memset(to->location_of + from->location_of_room, 0,
           (size_t)(to->location_of_room - from->location_of_room) * sizeof *to->location_of);
    memcpy(to->locations, from->locations, from->n_locations * sizeof *to->locations);
    memcpy(to->location_sets, from->location_sets,
           (size_t)from->n_locations * LOCATION_SETS * from->words * sizeof *to->location_sets);
    for (uint16_t l = 0; l < from->n_locations; l++) {
        size_t at = (size_t)l * from->members_room, n = from->locations[l].n, set = from->words * sizeof *to->strong;
        memcpy(to->members + at, from->members + at, n * sizeof *to->members);
        at *= from->words;
        memcpy(to->strong + at, from->strong + at, n * set);
        memcpy(to->before + at, from->before + at, n * set);
        memcpy(to->cause + at, from->cause + at, n * set);
        memcpy(to->co + at, from->co + at, n * set);
    }
}

/* ---- events ---- */

_Static_assert(MAX_MEMBERS == 1024 && MAX_FENCES == 256 && NO_EVENT == 65535, "what `exceeds` says");

static uint16_t add(struct graph *g, uint16_t thread, uint16_t po)
{
    if (g->n_events + 1 >= NO_EVENT) {
        g->exceeds = "65,534 events";
        return 0;
    }
    if (g->n_events == g->events_room)
        more_events(g, g->events_room < NO_EVENT / 2 ? 2 * g->events_room : NO_EVENT);
    g->events[g->n_events] = (struct event){
        .thread = thread, .po = po, .location = NO_LOCATION, .member = NO_MEMBER, .rf = NO_MEMBER, .met = NO_EVENT};
    clear_set(graph_event_set(g, g->n_events, OBSERVED), EVENT_SETS * g->words);
    return g->n_events++;
}

uint16_t graph_add(struct graph *g, uint16_t thread)
{
    uint16_t po = g->n_by_po[thread];
    if (po == g->po_room)
        more_po(g, 2 * g->po_room);
    uint16_t e = add(g, thread, po);
    g->by_po[(size_t)thread * g->po_room + po] = e;
    g->n_by_po[thread]++;
    if (po)
        memcpy(graph_clock(g, e), graph_clock(g, graph_event(g, thread, po - 1)), g->n_threads * sizeof *g->clocks);
    else
        memset(graph_clock(g, e), 0, g->n_threads * sizeof *g->clocks);
    graph_clock(g, e)[thread] = po;
    return e;
}

uint16_t graph_meet(struct graph *g)
{
    uint16_t e = add(g, NO_EVENT, 0);
    g->events[e].kind = GRAPH_MEET;
    memset(graph_clock(g, e), 0, g->n_threads * sizeof *g->clocks);
    return e;
}

/* ---- locations ---- */

static uint16_t new_member(struct graph *g, uint16_t location)
{
    uint64_t *rows[] = {g->strong, g->before, g->cause, g->co};
    uint16_t m = g->locations[location].n++;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        clear_set(graph_row(g, rows[i], location, m), g->words);
    return m;
}

static uint16_t location_place(struct graph *g, uint16_t id)
{
    if (id >= g->location_of_room)
        more_location_numbers(g, id + 32);
    if (g->location_of[id])
        return g->location_of[id] - 1;
    if (g->n_locations == g->locations_room)
        more_locations(g, 2 * g->locations_room);
    uint16_t l = g->n_locations++;
    g->location_of[id] = l + 1;
    g->locations[l] = (struct graph_location){.id = id};
    clear_set(graph_location_set(g, l, READS), LOCATION_SETS * g->words);
    add_member(graph_location_set(g, l, WRITES), INITIAL);
    new_member(g, l);
    return l;
}

static void update_before(struct graph *g, uint16_t event)
{
    const struct event *e = &g->events[event];
    for (unsigned m = 1; m < g->locations[e->location].n; m++) {
        uint16_t other = graph_member(g, e->location, m);
        if (graph_precedes(g, other, event))
            add_member(graph_row(g, g->before, e->location, m), e->member);
    }
    g->locations[e->location].dirty = true;
}

void graph_place(struct graph *g, const struct threads *t, uint16_t event, uint16_t id)
{
    uint16_t l = location_place(g, id);
    struct graph_location *at = &g->locations[l];
    struct event *e = &g->events[event];
    if (at->n == MAX_MEMBERS) {
        g->exceeds = "1,023 accesses to one place";
        return;
    }
    if (at->n == g->members_room)
        more_members(g, g->locations_room, 2 * g->members_room);
    e->location = l;
    e->member = new_member(g, l);
    g->members[(size_t)l * g->members_room + e->member] = event;
    /* PTX ISA 9.0, 8.2, Initialization. */
    add_member(graph_row(g, g->before, l, INITIAL), e->member);
    for (unsigned m = 1; m < e->member; m++) {
        uint16_t other = graph_member(g, l, m);
        bool is_strong = model_morally_strong(g, t, event, other);
        if (is_strong) {
            add_member(graph_row(g, g->strong, l, m), e->member);
            add_member(graph_row(g, g->strong, l, e->member), m);
        }
        if (g->events[other].thread != e->thread)
            *(is_strong ? &at->some_strong : &at->some_weak) = true;
        if (graph_precedes(g, event, other))
            add_member(graph_row(g, g->before, l, e->member), m);
    }
    update_before(g, event);
}

/* ---- base causality ---- */

static bool raise_clock(struct graph *g, uint16_t event, const uint16_t *by)
{
    uint16_t *clock = graph_clock(g, event);
    bool grew = false;
    for (uint16_t t = 0; t < g->n_threads; t++)
        if (clock[t] < by[t]) {
            clock[t] = by[t];
            grew = true;
        }
    if (g->events[event].thread != NO_EVENT && clock[g->events[event].thread] > g->events[event].po)
        g->cyclic = true;
    if (grew && g->events[event].location != NO_LOCATION)
        update_before(g, event);
    return grew;
}

static void spread_clock(struct graph *g, uint16_t event);

static void spread_edges(struct graph *g, uint16_t event)
{
    for (uint16_t i = g->events[event].edges; i; i = g->edges[i - 1].next) {
        const struct event *e = &g->events[event];
        uint16_t by[g->n_threads], to = g->edges[i - 1].to;
        memcpy(by, graph_clock(g, event), sizeof by);
        const struct event *f = &g->events[to];
        if (e->thread != NO_EVENT && by[e->thread] < e->po + 1)
            by[e->thread] = e->po + 1;
        /* an event must not order a meeting before its own */
        if (e->thread == NO_EVENT && by[f->thread] == f->po + 1)
            by[f->thread] = f->po;
        if (raise_clock(g, to, by))
            spread_clock(g, to);
    }
}

/* An event whose clock has grown passes it on to the events that follow. */
static void spread_clock(struct graph *g, uint16_t event)
{
    uint16_t thread = g->events[event].thread;
    spread_edges(g, event);
    if (thread == NO_EVENT)
        return;
    for (uint16_t po = g->events[event].po + 1; po < g->n_by_po[thread]; po++) {
        uint16_t next = graph_event(g, thread, po);
        if (!raise_clock(g, next, graph_clock(g, graph_event(g, thread, po - 1))))
            return;
        spread_edges(g, next);
    }
}

void graph_order(struct graph *g, uint16_t x, uint16_t y)
{
    if (g->n_edges == g->edges_room)
        more_edges(g, 2 * g->edges_room);
    g->edges[g->n_edges] = (struct edge){y, g->events[x].edges};
    g->events[x].edges = ++g->n_edges;
    spread_edges(g, x);
}
