/* Decides whether any left-out iteration may race, without putting it back; see
 * skipped_iterations.h. What iterations read depends on the values at some places, not on who
 * wrote them: executions with the same values share the answer. */
#include "explore/skipped_iterations.h"

#include "explore/machine.h"

/* Is the thread in the iteration that began there, or in the next one, after which the state may be
 * as before both? */
static bool is_in_round(const struct rounds *r, const struct run *run)
{
    for (uint32_t i = 0; run->machine && i < run->machine->n_heads; i++) {
        const struct head *h = &run->machine->heads[i];
        if (h->started == r->first || (h->before && h->before->started == r->first))
            return true;
    }
    return false;
}

bool round_is_strong(const struct rounds *r, const struct event *write, const struct run_event *read)
{
    const struct graph *g = &r->s->g;
    return write->strong && read->flags & RUN_STRONG &&
           r->x->threads.level[write->thread * g->n_threads + r->thread] <=
               (write->scope < read->scope ? write->scope : read->scope);
}

/* Does the write precede, in base causality order, everything that such iterations read, like an
 * initialisation before a barrier? */
static bool is_before_rounds(const struct rounds *r, uint16_t write)
{
    const struct graph *g = &r->s->g;
    return r->first && graph_precedes(g, write, graph_event(g, r->thread, r->first - 1));
}

bool round_read_may_race(const struct rounds *r, const struct run_event *read)
{
    const struct graph *g = &r->s->g;
    uint16_t l = read->location < g->location_of_room ? g->location_of[read->location] : 0;
    for (unsigned m = 1; l && m < g->locations[l - 1].n; m++) {
        uint16_t write = graph_member(g, l - 1, m);
        const struct event *w = &g->events[write];
        const struct run_event *e = &r->s->runs[w->thread]->events[w->po];
        if (w->thread != r->thread && w->writes && !round_is_strong(r, w, read) && !is_before_rounds(r, write) &&
            verdict_is_first_race(r->x->verdict, read->insn, e->insn))
            return true;
    }
    return false;
}

const struct run_event *round_next_read(const struct run *run)
{
    const struct run_event *e = &run->events[run->complete];
    bool is_there = run->complete < run->n_events && e->flags & RUN_PLACED;
    return is_there && (e->kind == RUN_READ || e->kind == RUN_UPDATE) ? e : NULL;
}

enum round_end round_end(const struct rounds *r, const struct run *run, uint16_t po)
{
    const struct run_event *e = &run->events[po];
    bool fails = run->end == RUN_SPINS && run->round == r->first;
    /* an iteration with such an update is not left out */
    bool changes = e->kind == RUN_UPDATE && po < run->complete && e->wrote != e->read;
    if (changes || (!fails && !is_in_round(r, run)))
        return ROUND_IS_NONE;
    return !fails || run->complete < run->n_events ? ROUND_GOES_ON : ROUND_FAILS;
}

/* What failing iterations read that begin at the end of a run, which depends on the values at some
 * places. */
enum { MAX_PLACES = 16, MAX_SITES = 32, MAX_VALUES = 16, STEPS_AHEAD = 512 };
struct rounds_seen {
    struct rounds_seen *next;
    uint16_t first, n_places, n_sites;
    uint16_t places[MAX_PLACES];
    const struct run_event *sites[MAX_SITES];
    uint64_t *seen; /* a hash table of the values that were seen; 0: free */
    uint32_t n_seen, room;
    unsigned steps_left;
    bool too_many; /* too many places, reads, values or steps: nothing is known */
};

/* The different values at a place; returns their number. */
static unsigned values_at(const struct rounds *r, uint16_t location, uint64_t values[MAX_VALUES])
{
    const struct graph *g = &r->s->g;
    uint16_t l = location < g->location_of_room ? g->location_of[location] : 0;
    unsigned n = 1;
    values[0] = r->x->program->locations.at[location].initial;
    for (unsigned m = 1; l && n < MAX_VALUES && m < g->locations[l - 1].n; m++) {
        const struct event *w = &g->events[graph_member(g, l - 1, m)];
        bool is_new = w->writes;
        for (unsigned i = 0; i < n && is_new; i++)
            is_new = values[i] != w->wrote;
        if (is_new)
            values[n++] = w->wrote;
    }
    return n;
}

/* A hash of the set of values at a place, computed once for each place of a graph. */
static uint64_t hash_of_values(const struct rounds *r, uint16_t location)
{
    uint16_t l = location < r->s->g.location_of_room ? r->s->g.location_of[location] : 0;
    if (!l) /* the initial value */
        return 1;
    uint64_t values[MAX_VALUES], *hash = &r->hashes[l - 1];
    for (unsigned n = *hash ? 0 : values_at(r, location, values); n-- > 0;)
        *hash += mix(1, values[n]);
    return *hash;
}

static uint64_t hash_of_places(const struct rounds *r, const struct rounds_seen *seen)
{
    uint64_t h = 1;
    for (unsigned i = 0; i < seen->n_places; i++)
        h = mix(h, hash_of_values(r, seen->places[i]));
    return h | 1;
}

static uint64_t *find_hash(uint64_t *table, uint32_t room, uint64_t hash)
{
    uint32_t i = (uint32_t)(hash >> 32) & (room - 1);
    while (table[i] && table[i] != hash)
        i = (i + 1) & (room - 1);
    return &table[i];
}

static void note_hash(struct arena *arena, struct rounds_seen *seen, uint64_t hash)
{
    if (2 * seen->n_seen >= seen->room) {
        uint32_t room = seen->room ? 2 * seen->room : 16;
        uint64_t *table = ARENA_ARRAY(arena, uint64_t, room);
        for (uint32_t i = 0; i < seen->room; i++)
            if (seen->seen[i])
                *find_hash(table, room, seen->seen[i]) = seen->seen[i];
        seen->seen = table;
        seen->room = room;
    }
    *find_hash(seen->seen, seen->room, hash) = hash;
    seen->n_seen++;
}

/* What was seen before does not cover the values at a place that is new. */
static void note_place(struct rounds_seen *seen, uint16_t location)
{
    for (unsigned i = 0; i < seen->n_places; i++)
        if (seen->places[i] == location)
            return;
    seen->too_many |= seen->n_places == MAX_PLACES;
    if (seen->too_many)
        return;
    seen->places[seen->n_places++] = location;
    seen->n_seen = seen->room = 0;
}

static bool is_same_site(const struct run_event *a, const struct run_event *b)
{
    return a->insn == b->insn && a->location == b->location && a->flags == b->flags && a->scope == b->scope;
}

static void note_sites(struct rounds_seen *seen, const struct run *failed)
{
    for (uint16_t po = seen->first; po < failed->n_events; po++) {
        const struct run_event *e = &failed->events[po];
        bool is_new = e->kind == RUN_READ;
        for (unsigned i = 0; i < seen->n_sites && is_new; i++)
            is_new = !is_same_site(seen->sites[i], e);
        seen->too_many |= is_new && seen->n_sites == MAX_SITES;
        if (is_new && !seen->too_many)
            seen->sites[seen->n_sites++] = e;
    }
}

static void look_ahead(const struct rounds *r, struct run *run, struct rounds_seen *seen)
{
    const struct run_event *e = round_next_read(run);
    uint64_t values[MAX_VALUES];
    if (!e)
        return;
    uint16_t po = run->complete;
    unsigned n = values_at(r, e->location, values);
    note_place(seen, e->location);
    seen->too_many |= n == MAX_VALUES;
    for (unsigned i = 0; i < n && !seen->too_many; i++) {
        struct run *next = run_resolve(&r->x->runners[r->thread], run, po, values[i]);
        enum round_end end = round_end(r, next, po);
        seen->too_many |= !--seen->steps_left;
        if (end == ROUND_GOES_ON)
            look_ahead(r, next, seen);
        else if (end == ROUND_FAILS)
            note_sites(seen, next);
    }
}

static const struct rounds_seen *rounds_seen(const struct rounds *r, struct run *run)
{
    struct rounds_seen *seen = run->rounds_seen;
    while (seen && seen->first != r->first)
        seen = seen->next;
    if (!seen) {
        seen = ARENA_NEW(r->x->arena, struct rounds_seen);
        *seen = (struct rounds_seen){.next = run->rounds_seen, .first = r->first};
        run->rounds_seen = seen;
    }
    if (seen->too_many || (seen->room && *find_hash(seen->seen, seen->room, hash_of_places(r, seen))))
        return seen;
    seen->steps_left = STEPS_AHEAD;
    look_ahead(r, run, seen);
    note_hash(r->x->arena, seen, hash_of_places(r, seen));
    return seen;
}

bool rounds_may_race(const struct rounds *r, struct run *run)
{
    const struct rounds_seen *seen = rounds_seen(r, run);
    for (unsigned i = 0; i < seen->n_sites; i++)
        if (round_read_may_race(r, seen->sites[i]))
            return true;
    return seen->too_many;
}
