/* See interleave.h. Searches over the choice of the next write; a read that can execute is executed
 * at once. */
#include "explore/interleave.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"
#include "explore/verdict.h"

enum { MAX_NODES = 4096, SEEN_ROOM = 4 * MAX_NODES, MAX_SHOWN = 4096 };

/* An instruction of a thread: its accesses, one for each element of a vector, or a meeting. */
struct item {
    uint16_t po, n; /* its events */
    bool meets, reads_only;
    uint16_t met;        /* for a meeting: its number; NO_EVENT: none; */
    bool waits;          /* it only waits for the arrivals of others */
    uint32_t step;       /* the step of the run */
    uint64_t code_block; /* the instruction's block and function, */
    uint32_t at;         /* and its index in the function */
};

struct trail {
    uint16_t thread, holder;
    uint32_t item;
};

struct weave {
    const struct explorer *x;
    const struct state *s;
    const struct graph *g;
    const uint64_t *values; /* final values, or NULL */
    /* the values that threads read in endlessly repeated iterations must be the final ones */
    bool rounds_stay;
    bool in_blocks; /* lanes of a warp diverge only between blocks of code */
    bool ended;     /* the search was interrupted */
    uint32_t n_nodes;
    struct item *items;
    uint32_t *first;   /* by thread: its first item, */
    uint32_t *next;    /* and its next access, or its end */
    uint16_t *warp;    /* by thread: the first thread of its warp */
    uint16_t *holder;  /* by warp: 1 + the thread that is inside a block of code; 0: none */
    bool shares;       /* some warp has several threads */
    uint16_t *current; /* by location of the graph: the current member */
    uint16_t *readers; /* by location and member: its reads that are still to come */
    struct trail *trail;
    uint32_t n_trail;
    uint16_t *covered; /* members that the executed writes have overwritten */
    uint32_t n_covered;
    uint64_t *seen;
};

/* ---- the threads' items ---- */

static const struct run_event *run_event(const struct weave *w, uint16_t thread, uint16_t po)
{
    return &w->s->runs[thread]->events[po];
}

static const struct event *event_at(const struct weave *w, uint16_t thread, uint16_t po)
{
    return &w->g->events[graph_event(w->g, thread, po)];
}

static bool is_access(const struct event *e)
{
    return e->kind == GRAPH_READ || e->kind == GRAPH_WRITE || e->kind == GRAPH_UPDATE;
}

static void find_code(const struct weave *w, const struct ir_insn *insn, struct item *i)
{
    const struct kernel *k = w->x->program->kernel;
    for (uint32_t f = 0; f < k->functions.n; f++) {
        const struct ir_func *ir = k->functions.at[f]->ir;
        if (insn < ir->insns.at || insn >= ir->insns.at + ir->insns.n)
            continue;
        i->at = (uint32_t)(insn - ir->insns.at);
        for (uint32_t b = 0; b < ir->blocks.n; b++)
            if (i->at - ir->blocks.at[b].first < ir->blocks.at[b].n)
                i->code_block = (uint64_t)f << 32 | b;
        return;
    }
}

/* The item that begins with an event; n is 0 if only its own thread can observe the event. */
static struct item item_of(const struct weave *w, uint16_t t, uint16_t po)
{
    const struct run_event *r = run_event(w, t, po);
    const struct event *e = event_at(w, t, po);
    struct item i = {.po = po, .step = r->step, .reads_only = true};
    if (r->kind == RUN_BARRIER || r->kind == RUN_EXCHANGE) {
        i.n = 1;
        i.meets = true;
        i.met = e->met;
        i.waits = r->kind == RUN_BARRIER && r->mode == BAR_CLUSTER_WAIT;
    }
    while (po < w->g->n_by_po[t] && is_access(e = event_at(w, t, po)) && run_event(w, t, po)->step == i.step) {
        i.reads_only &= !e->writes;
        i.n++;
        po++;
    }
    if (i.n)
        find_code(w, r->insn, &i);
    return i;
}

static uint32_t skip_meetings(const struct weave *w, uint16_t t, uint32_t i)
{
    while (i < w->first[t + 1] && w->items[i].meets)
        i++;
    return i;
}

static void find_items(struct weave *w)
{
    uint32_t n = 0;
    for (uint16_t t = 0; t < w->s->n_threads; t++) {
        w->first[t] = n;
        for (uint16_t po = 0; po < w->g->n_by_po[t];) {
            struct item i = item_of(w, t, po);
            if (i.n)
                w->items[n++] = i;
            po += i.n ? i.n : 1;
        }
    }
    w->first[w->s->n_threads] = n;
    for (uint16_t t = 0; t < w->s->n_threads; t++)
        w->next[t] = skip_meetings(w, t, w->first[t]);
}

static void find_warps(struct weave *w)
{
    for (uint16_t t = 0; t < w->s->n_threads; t++) {
        const struct place_in_grid *at = &w->x->runners[t].at;
        w->warp[t] = t;
        for (uint16_t o = 0; o < t && w->warp[t] == t; o++)
            if (w->x->runners[o].at.block == at->block && w->x->runners[o].at.warp == at->warp)
                w->warp[t] = w->warp[o];
        w->shares |= w->warp[t] != t;
    }
}

static uint16_t *readers_of(const struct weave *w, uint16_t location, unsigned member)
{
    return &w->readers[(size_t)location * MAX_MEMBERS + member];
}

/* Returns false if some access is incomplete. */
static bool count_readers(struct weave *w)
{
    for (uint16_t e = 0; e < w->g->n_events; e++) {
        const struct event *v = &w->g->events[e];
        if (v->kind == GRAPH_PENDING || (is_access(v) && v->reads && v->rf == NO_MEMBER))
            return false;
        if (is_access(v) && v->reads)
            ++*readers_of(w, v->location, v->rf);
    }
    return true;
}

/* ---- an item comes, and is taken back ---- */

static bool has_come(const struct weave *w, const uint16_t *clock)
{
    for (uint16_t t = 0; t < w->s->n_threads; t++) {
        uint32_t next = w->next[t];
        if (next < w->first[t + 1] && w->items[next].po < clock[t])
            return false;
    }
    return true;
}

/* Are `a` and `b` in one execution of a block of code? */
static bool goes_on_in_block(const struct item *a, const struct item *b)
{
    return a->code_block == b->code_block && b->at > a->at && b->at - a->at == b->step - a->step;
}

/* Would the thread stop inside a block of code that it shares with other threads? */
static bool would_hold(const struct weave *w, uint16_t t)
{
    uint32_t after = skip_meetings(w, t, w->next[t] + 1);
    return w->in_blocks && after < w->first[t + 1] && after == w->next[t] + 1 &&
           goes_on_in_block(&w->items[w->next[t]], &w->items[after]);
}

static void cover(struct weave *w, const struct event *e)
{
    w->covered[w->n_covered++] = w->current[e->location];
    w->current[e->location] = e->member;
}

static bool access_comes(struct weave *w, const struct event *e)
{
    if (e->reads && w->current[e->location] != e->rf)
        return false;
    if (e->writes && *readers_of(w, e->location, w->current[e->location]) > e->reads)
        return false;
    if (e->reads)
        --*readers_of(w, e->location, e->rf);
    if (e->writes)
        cover(w, e);
    return true;
}

static void access_goes(struct weave *w, const struct event *e)
{
    if (e->writes)
        w->current[e->location] = w->covered[--w->n_covered];
    if (e->reads)
        ++*readers_of(w, e->location, e->rf);
}

static bool comes(struct weave *w, uint16_t t)
{
    const struct item *i = &w->items[w->next[t]];
    uint16_t *holder = &w->holder[w->warp[t]], n = 0;
    if (*holder && *holder != t + 1)
        return false;
    while (n < i->n && has_come(w, graph_clock(w->g, graph_event(w->g, t, i->po))) &&
           access_comes(w, event_at(w, t, (uint16_t)(i->po + n))))
        n++;
    if (n < i->n) {
        while (n)
            access_goes(w, event_at(w, t, (uint16_t)(i->po + --n)));
        return false;
    }
    w->trail[w->n_trail++] = (struct trail){t, *holder, w->next[t]};
    *holder = would_hold(w, t) ? (uint16_t)(t + 1) : 0;
    w->next[t] = skip_meetings(w, t, w->next[t] + 1);
    return true;
}

static void take_back(struct weave *w, uint32_t to)
{
    while (w->n_trail > to) {
        const struct trail *last = &w->trail[--w->n_trail];
        const struct item *i = &w->items[last->item];
        for (uint16_t n = i->n; n;)
            access_goes(w, event_at(w, last->thread, (uint16_t)(i->po + --n)));
        w->next[last->thread] = last->item;
        w->holder[w->warp[last->thread]] = last->holder;
    }
}

/* ---- the search ---- */

static bool has_next(const struct weave *w, uint16_t t)
{
    return w->next[t] < w->first[t + 1];
}

/* Can the thread's next item execute at once? A read does not affect other threads. */
static bool comes_at_once(const struct weave *w, uint16_t t)
{
    return has_next(w, t) && w->items[w->next[t]].reads_only && (!w->shares || !would_hold(w, t));
}

static bool values_are_last(const struct weave *w)
{
    const struct verdict *v = w->x->verdict;
    for (uint32_t i = 0; w->values && i < v->n_observed; i++) {
        uint16_t id = v->observed[i], l = id < w->g->location_of_room ? w->g->location_of[id] : 0;
        if (l && member_value(w->x, w->g, (uint16_t)(l - 1), w->current[l - 1]) != w->values[i])
            return false;
    }
    return true;
}

/* Would the next iteration of a spinning thread be the same again? */
static bool round_stays(const struct weave *w, uint16_t t)
{
    const struct run *run = w->s->runs[t];
    for (uint16_t po = run->round; run->end == RUN_SPINS && po < w->g->n_by_po[t]; po++) {
        const struct event *e = event_at(w, t, po);
        if (e->kind == GRAPH_READ && w->current[e->location] != e->rf)
            return false;
    }
    return true;
}

static bool is_as_wanted(const struct weave *w)
{
    for (uint16_t t = 0; w->rounds_stay && t < w->s->n_threads; t++)
        if (!round_stays(w, t))
            return false;
    return values_are_last(w);
}

static bool was_seen(struct weave *w)
{
    uint64_t h = 1;
    for (uint16_t t = 0; t < w->s->n_threads; t++)
        h = mix(h, (uint64_t)w->next[t] << 16 | w->holder[w->warp[t]]);
    for (uint16_t l = 0; l < w->g->n_locations; l++)
        h = mix(h, w->current[l]);
    h += !h;
    uint64_t at = h;
    while (w->seen[at % SEEN_ROOM] && w->seen[at % SEEN_ROOM] != h)
        at++;
    bool seen = w->seen[at % SEEN_ROOM] == h;
    w->seen[at % SEEN_ROOM] = h;
    return seen;
}

static bool weave_on(struct weave *w)
{
    uint32_t begun = w->n_trail;
    bool more = true, left = false;
    while (more) {
        more = false;
        for (uint16_t t = 0; t < w->s->n_threads; t++)
            while (comes_at_once(w, t) && comes(w, t))
                more = true;
    }
    for (uint16_t t = 0; t < w->s->n_threads; t++)
        left |= has_next(w, t);
    if (!left && is_as_wanted(w))
        return true;
    w->ended |= left && w->n_nodes++ >= MAX_NODES;
    bool open = left && !w->ended && !was_seen(w);
    for (uint16_t t = 0; open && t < w->s->n_threads && !w->ended; t++)
        if (has_next(w, t) && comes(w, t)) {
            if (weave_on(w))
                return true;
            take_back(w, w->n_trail - 1);
        }
    take_back(w, begun);
    return false;
}

/* ---- steps ---- */

struct steps {
    const struct weave *w;
    struct interleaved_step *at;
    uint32_t n;
    uint32_t *done; /* by thread: items before this one are in the list */
};

static void add_step(struct steps *s, uint16_t t)
{
    const struct item *i = &s->w->items[s->done[t]++];
    const struct place_in_grid *at = &s->w->x->runners[t].at;
    s->at[s->n++] =
        (struct interleaved_step){at->block, at->warp, at->lanes, run_event(s->w, t, i->po)->insn, i->meets};
}

/* Adds the thread's next item, a meeting, and the arrivals it needs: those are added first, so that
 * only this thread proceeds. */
static void add_meeting(struct steps *s, uint16_t t)
{
    const struct weave *w = s->w;
    uint16_t met = w->items[s->done[t]].met;
    for (uint16_t o = 0; o < w->s->n_threads && met != NO_EVENT; o++) {
        uint32_t i = s->done[o];
        while (i < w->first[o + 1] && w->items[i].meets && (w->items[i].met != met || w->items[i].waits))
            i++;
        if (o == t || i >= w->first[o + 1] || w->items[i].met != met || !w->items[i].meets)
            continue;
        while (s->done[o] < i)
            add_meeting(s, o);
        if (s->done[o] == i)
            add_step(s, o);
    }
    add_step(s, t);
}

/* Lists the accesses in order, each behind the meetings it needs, and
 * all other items at the end. */
static void find_steps(const struct weave *w, struct interleaving *to, struct arena *arena)
{
    uint32_t n = w->first[w->s->n_threads];
    struct steps s = {.w = w,
                      .at = ARENA_ARRAY(arena, struct interleaved_step, n + 1),
                      .done = memory_grow(NULL, w->s->n_threads, sizeof *s.done)};
    memcpy(s.done, w->first, w->s->n_threads * sizeof *s.done);
    for (uint32_t i = 0; i < w->n_trail; i++) {
        uint16_t t = w->trail[i].thread;
        while (s.done[t] < w->trail[i].item)
            add_meeting(&s, t);
        add_step(&s, t);
    }
    for (uint16_t t = 0; t < w->s->n_threads; t++)
        while (s.done[t] < w->first[t + 1])
            add_meeting(&s, t);
    free(s.done);
    to->steps = s.at;
    to->n = s.n;
}

/* ---- an execution ---- */

static void weave_begin(struct weave *w, const struct explorer *x, const struct state *s, const struct graph *g)
{
    uint16_t n = s->n_threads, locations = g->n_locations;
    *w = (struct weave){.x = x,
                        .s = s,
                        .g = g,
                        .items = memory_zeroed(g->n_events + 1u, sizeof *w->items),
                        .first = memory_zeroed(n + 1u, sizeof *w->first),
                        .next = memory_zeroed(n, sizeof *w->next),
                        .warp = memory_zeroed(n, sizeof *w->warp),
                        .holder = memory_zeroed(n, sizeof *w->holder),
                        .current = memory_zeroed(locations + 1u, sizeof *w->current),
                        .readers = memory_zeroed((locations + 1u) * (size_t)MAX_MEMBERS, sizeof *w->readers),
                        .trail = memory_zeroed(g->n_events + 1u, sizeof *w->trail),
                        .covered = memory_zeroed(g->n_events + 1u, sizeof *w->covered),
                        .seen = memory_zeroed(SEEN_ROOM, sizeof *w->seen)};
    find_items(w);
    find_warps(w);
}

static void weave_end(struct weave *w)
{
    free(w->items);
    free(w->first);
    free(w->next);
    free(w->warp);
    free(w->holder);
    free(w->current);
    free(w->readers);
    free(w->trail);
    free(w->covered);
    free(w->seen);
}

/* Searches again from the beginning. */
static bool weave_all(struct weave *w, bool in_blocks)
{
    w->in_blocks = in_blocks;
    w->ended = false;
    w->n_nodes = 0;
    memset(w->seen, 0, SEEN_ROOM * sizeof *w->seen);
    return weave_on(w);
}

static void look_for(struct interleaving *to, struct interleavings *all, const struct explorer *x,
                     const struct state *s, const struct graph *g)
{
    struct weave w;
    enum interleaved how = INTERLEAVED_NEVER;
    weave_begin(&w, x, s, g);
    w.values = to->values;
    w.rounds_stay = to->kind == NOTICE_LIVELOCK;
    if (!count_readers(&w)) {
        how = INTERLEAVED_UNKNOWN;
    } else if (weave_all(&w, w.shares)) {
        how = INTERLEAVED;
        find_steps(&w, to, all->arena);
    } else {
        bool ended = w.ended;
        if (w.shares && weave_all(&w, false))
            how = INTERLEAVED_IN_BLOCKS;
        else if (ended || w.ended)
            how = INTERLEAVED_UNKNOWN;
    }
    to->how = how > to->how ? how : to->how;
    weave_end(&w);
}

/* ---- all of them ---- */

static bool is_same(const struct interleavings *all, const struct interleaving *i, enum notice_kind kind,
                    const uint64_t *values, const struct ir_insn *a, const struct ir_insn *b)
{
    if (i->kind != kind)
        return false;
    if (kind == NOTICE_OUTCOME)
        return memcmp(i->values, values, all->n_observed * sizeof *values) == 0;
    return (i->a == a && i->b == b) || (i->a == b && i->b == a);
}

const struct interleaving *interleaving_of(const struct interleavings *all, enum notice_kind kind,
                                           const uint64_t *values, const struct ir_insn *a, const struct ir_insn *b)
{
    for (uint32_t i = 0; i < all->all.n; i++)
        if (is_same(all, &all->all.at[i], kind, values, a, b))
            return &all->all.at[i];
    return NULL;
}

static struct interleaving *new_interleaving(struct interleavings *all, const struct notice *n)
{
    if (all->all.n == MAX_SHOWN)
        return NULL;
    struct interleaving *i = VEC_PUSH(all->arena, &all->all);
    *i = (struct interleaving){.kind = n->kind, .a = n->a, .b = n->b};
    if (n->values) {
        uint64_t *kept = ARENA_ARRAY(all->arena, uint64_t, all->n_observed + 1);
        memcpy(kept, n->values, all->n_observed * sizeof *kept);
        i->values = kept;
    }
    return i;
}

void interleave(const struct explorer *x, const struct state *s, const struct graph *g, const struct notice *n)
{
    struct interleavings *all = x->interleavings;
    struct interleaving *i = (struct interleaving *)interleaving_of(all, n->kind, n->values, n->a, n->b);
    i = i ? i : new_interleaving(all, n);
    if (i && i->how != INTERLEAVED)
        look_for(i, all, x, s, g);
}
