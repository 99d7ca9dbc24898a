/* See execution.h. */
#include "explore/execution.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"
#include "explore/verdict.h"

/* ---- out of a search ---- */

/* A fence that a change added to an access is not in the text. */
static bool is_put_in(const struct run_event *e)
{
    return e->kind == RUN_FENCE && e->insn->kind != IR_FENCE;
}

static bool has_happened(const struct event *e, const struct run_event *run)
{
    return e->kind != GRAPH_PENDING && e->kind != GRAPH_NOTHING && !is_put_in(run) &&
           (e->kind != GRAPH_WRITE || e->valued) && (!e->reads || e->rf != NO_MEMBER);
}

static bool has_edge(const struct graph *g, uint16_t from, uint16_t to)
{
    for (uint16_t i = g->events[from].edges; i; i = g->edges[i - 1].next)
        if (g->edges[i - 1].to == to)
            return true;
    return false;
}

/* Assigns numbers in the order of first requests. */
static uint16_t number_of(uint16_t *numbers, uint16_t *n, uint16_t of)
{
    if (numbers[of] == NO_EVENT)
        numbers[of] = (*n)++;
    return numbers[of];
}

static uint16_t *no_numbers(struct arena *arena, size_t n)
{
    uint16_t *all = ARENA_ARRAY(arena, uint16_t, n + 1);
    memset(all, 0xff, (n + 1) * sizeof *all);
    return all;
}

struct capture {
    struct arena *arena;
    const struct explorer *x;
    const struct state *s;
    const struct graph *g;
    struct execution *e;
    uint16_t *number;             /* by event of the graph: the execution's event */
    uint16_t *location, *meeting; /* by the program's number; by the meeting's event */
};

static uint16_t capture_location(struct capture *c, uint16_t id)
{
    uint16_t l = number_of(c->location, &c->e->n_locations, id);
    c->e->locations[l] = c->x->program->locations.at[id];
    return l;
}

static void capture_event(struct capture *c, uint16_t event, const struct run *run, uint16_t po)
{
    const struct event *from = &c->g->events[event];
    struct execution_event *to = &c->e->events[c->e->n_events];
    c->number[event] = c->e->n_events++;
    *to =
        (struct execution_event){.run = run->events[po], .thread = from->thread, .from = NO_EVENT, .meeting = NO_EVENT};
    if (to->run.location != NO_LOCATION)
        to->run.location = capture_location(c, to->run.location);
    to->for_ever = run->end == RUN_SPINS && po >= run->round && from->kind == GRAPH_READ;
    if (from->met != NO_EVENT) {
        to->meeting = number_of(c->meeting, &c->e->n_meetings, from->met);
        to->arrives = has_edge(c->g, event, from->met);
        to->departs = has_edge(c->g, from->met, event);
    }
}

static void capture_thread(struct capture *c, uint16_t t, struct execution_thread *to)
{
    const struct run *run = c->s->runs[t];
    const struct place_in_grid *at = &c->x->runners[t].at;
    *to = (struct execution_thread){.block = at->block,
                                    .number = at->warp * WARP_LANES + at->lane,
                                    .first = c->e->n_events,
                                    .stopped = run->stopped,
                                    .end = run->end};
    for (uint16_t po = 0; po < c->g->n_by_po[t]; po++) {
        uint16_t event = graph_event(c->g, t, po);
        if (has_happened(&c->g->events[event], &run->events[po]))
            capture_event(c, event, run, po);
    }
    to->n = c->e->n_events - to->first;
}

static void capture_reads_from(struct capture *c)
{
    for (uint16_t event = 0; event < c->g->n_events; event++) {
        const struct event *r = &c->g->events[event];
        if (c->number[event] != NO_EVENT && r->rf != NO_MEMBER && r->rf != INITIAL)
            c->e->events[c->number[event]].from = c->number[graph_member(c->g, r->location, r->rf)];
    }
}

struct execution *execution_of(struct arena *arena, const struct explorer *x, const struct state *s,
                               const struct graph *g, const struct notice *notice)
{
    const struct verdict *v = x->verdict;
    struct execution *e = ARENA_NEW(arena, struct execution);
    struct execution_thread *threads = ARENA_ARRAY(arena, struct execution_thread, s->n_threads);
    uint8_t *level = ARENA_ARRAY(arena, uint8_t, (size_t)s->n_threads * s->n_threads);
    struct capture c = {arena,
                        x,
                        s,
                        g,
                        e,
                        no_numbers(arena, g->n_events),
                        no_numbers(arena, x->program->locations.n),
                        no_numbers(arena, g->n_events)};
    memcpy(level, x->threads.level, (size_t)s->n_threads * s->n_threads);
    *e = (struct execution){
        .notice = *notice, .threads = {s->n_threads, level}, .thread = threads, .n_observed = v->n_observed};
    e->events = ARENA_ARRAY(arena, struct execution_event, g->n_events);
    e->locations = ARENA_ARRAY(arena, struct location, x->program->locations.n);
    e->observed = ARENA_ARRAY(arena, uint16_t, v->n_observed);
    for (uint16_t t = 0; t < s->n_threads; t++)
        capture_thread(&c, t, &threads[t]);
    capture_reads_from(&c);
    for (uint32_t i = 0; i < v->n_observed; i++)
        e->observed[i] = capture_location(&c, v->observed[i]);
    if (notice->kind == NOTICE_RACE) {
        e->notice.event_a = c.number[notice->event_a];
        e->notice.event_b = c.number[notice->event_b];
    }
    return execution_copy(arena, e);
}

static void *copied(struct arena *arena, const void *from, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(arena, bytes), from, bytes) : NULL;
}

struct execution *execution_copy(struct arena *arena, const struct execution *from)
{
    struct execution *e = copied(arena, from, sizeof *from);
    e->threads.level = copied(arena, from->threads.level, (size_t)from->threads.n * from->threads.n);
    e->thread = copied(arena, from->thread, from->threads.n * sizeof *from->thread);
    e->events = copied(arena, from->events, from->n_events * sizeof *from->events);
    e->locations = copied(arena, from->locations, from->n_locations * sizeof *from->locations);
    e->observed = copied(arena, from->observed, from->n_observed * sizeof *from->observed);
    if (from->notice.values)
        e->notice.values = copied(arena, from->notice.values, from->n_observed * sizeof *from->notice.values);
    return e;
}

/* ---- its sites ---- */

enum scope execution_scope(const struct execution *e)
{
    uint8_t scope = SCOPE_CTA;
    for (uint32_t i = 0; i < (uint32_t)e->threads.n * e->threads.n; i++)
        scope = e->threads.level[i] > scope ? e->threads.level[i] : scope;
    return (enum scope)scope;
}

uint32_t execution_sites(struct arena *arena, const struct execution *e, const struct ir_insn ***sites)
{
    const struct ir_insn **all = *sites = ARENA_ARRAY(arena, const struct ir_insn *, e->n_events + 1);
    uint32_t n = 0;
    for (uint16_t i = 0; i < e->n_events; i++) {
        const struct ir_insn *insn = e->events[i].run.insn;
        bool known = !site_is(insn);
        for (uint32_t k = 0; k < n && !known; k++)
            known = site_same(all[k], insn);
        if (!known)
            all[n++] = insn;
    }
    return n;
}

/* ---- the graph again ---- */

static uint16_t add_event(const struct execution *e, struct graph *g, uint16_t thread, const struct run_event *run)
{
    uint16_t event = graph_add(g, thread);
    advance_place(g, &e->threads, event, run);
    if (run->kind == RUN_WRITE)
        advance_value(g, &e->threads, event, run);
    return event;
}

static void add_fence(const struct execution *e, struct graph *g, uint16_t thread, uint8_t order, uint8_t scope)
{
    struct run_event fence = {
        .kind = RUN_FENCE, .flags = RUN_STRONG, .order = order, .scope = scope, .location = NO_LOCATION};
    if (order != ORDER_WEAK)
        add_event(e, g, thread, &fence);
}

/* Elements of one vector access are events of one step. */
static bool is_one_step(const struct execution *e, uint16_t a, uint16_t b)
{
    return b < e->n_events && e->events[a].thread == e->events[b].thread &&
           e->events[a].run.step == e->events[b].run.step && e->events[a].run.insn == e->events[b].run.insn;
}

static void add_events(const struct execution *e, const struct changes *c, struct graph *g, uint16_t *at)
{
    for (uint16_t i = 0; i < e->n_events; i++) {
        struct run_event run = e->events[i].run;
        uint16_t thread = e->events[i].thread;
        struct strength s = strength_with(c, run.insn);
        if (run.kind != RUN_EXCHANGE && run.kind != RUN_BARRIER) {
            run.order = s.order;
            run.scope = s.scope;
            run.flags = (run.flags & ~RUN_STRONG) | (s.order != ORDER_WEAK ? RUN_STRONG : 0);
        }
        if (!i || !is_one_step(e, i - 1, i))
            add_fence(e, g, thread, s.before, s.fence_scope);
        at[i] = add_event(e, g, thread, &run);
        if (!is_one_step(e, i, i + 1))
            add_fence(e, g, thread, s.after, s.fence_scope);
    }
}

static void add_meetings(const struct execution *e, const struct changes *c, struct graph *g, const uint16_t *at)
{
    for (uint16_t m = 0; m < e->n_meetings; m++) {
        uint16_t node = graph_meet(g);
        for (uint16_t i = 0; i < e->n_events; i++) {
            const struct execution_event *v = &e->events[i];
            bool arrives = v->run.kind == RUN_BARRIER && v->run.mode == BAR_CLUSTER_ARRIVE
                               ? strength_with(c, v->run.insn).order != ORDER_RELAXED
                               : v->arrives;
            if (v->meeting != m)
                continue;
            g->events[at[i]].met = node;
            if (arrives)
                graph_order(g, at[i], node);
        }
        for (uint16_t i = 0; i < e->n_events; i++)
            if (e->events[i].meeting == m && e->events[i].departs)
                graph_order(g, node, at[i]);
    }
}

/* Adds reads in dependency order: a read comes behind what it reads from, and an update is known
   only once it has read. */
static void add_reads(const struct execution *e, struct graph *g, const uint16_t *at)
{
    bool grew;
    do {
        grew = false;
        for (uint16_t i = 0; i < e->n_events; i++) {
            const struct execution_event *r = &e->events[i];
            struct event *to = &g->events[at[i]];
            const struct event *w = r->from == NO_EVENT ? NULL : &g->events[at[r->from]];
            if (!to->reads || to->rf != NO_MEMBER || (w && w->reads && w->rf == NO_MEMBER))
                continue;
            to->read = r->run.read;
            model_read(g, &e->threads, at[i], w ? w->member : INITIAL,
                       r->run.kind == RUN_UPDATE ? GRAPH_UPDATE : GRAPH_READ, r->run.wrote);
            grew = true;
        }
    } while (grew);
}

void execution_graph(const struct execution *e, const struct changes *c, struct graph *g, uint16_t *at)
{
    graph_begin(g, e->threads.n);
    add_events(e, c, g, at);
    /* The changes may add more fences than a graph holds: the answer is not known then. */
    if (g->exceeds)
        return;
    add_meetings(e, c, g, at);
    add_reads(e, g, at);
}

/* ---- is it allowed? ---- */

enum { MAX_FENCE_ORDERS = 2000 };

struct fence_orders {
    const struct execution *e;
    bool (*visit)(struct graph *g, void *data);
    void *data;
    unsigned left;
    bool enough;
};

static bool next_open(const struct fence_orders *o, const struct graph *g, uint16_t *a, uint16_t *b)
{
    for (uint16_t i = 0; i < g->n_fences; i++)
        for (uint16_t k = 0; k < i; k++)
            if (model_open_fences(g, &o->e->threads, g->fences[k], g->fences[i])) {
                *a = g->fences[k];
                *b = g->fences[i];
                return true;
            }
    return false;
}

static void order_fences(struct fence_orders *o, struct graph *g)
{
    uint16_t a, b;
    if (!o->left || !model_settle(g, &o->e->threads))
        return;
    o->left--;
    if (!next_open(o, g, &a, &b)) {
        o->enough = o->visit(g, o->data);
        return;
    }
    for (int way = 0; way < 2 && !o->enough && o->left; way++) {
        struct graph t;
        graph_begin(&t, g->n_threads);
        graph_copy(&t, g);
        graph_order(&t, way ? b : a, way ? a : b);
        order_fences(o, &t);
        graph_free(&t);
    }
}

bool execution_fence_orders(const struct execution *e, struct graph *g, bool (*visit)(struct graph *g, void *data),
                            void *data)
{
    struct fence_orders o = {.e = e, .visit = visit, .data = data, .left = MAX_FENCE_ORDERS};
    order_fences(&o, g);
    return o.left > 0;
}

/* Can the final value of an observed place be the last write of a coherence order? */
static bool may_end_with(const struct execution *e, const struct graph *g, uint16_t location, uint64_t value)
{
    uint16_t l = location < g->location_of_room ? g->location_of[location] : 0;
    if (!l)
        return e->locations[location].initial == value;
    uint64_t last[MAX_WORDS];
    model_last(g, l - 1, last);
    FOR_MEMBERS(w, k, g->words, last[k])
    if ((w == INITIAL ? e->locations[location].initial : g->events[graph_member(g, l - 1, w)].wrote) == value)
        return true;
    return false;
}

static bool may_stay(const struct execution *e, const struct graph *g, const uint16_t *at)
{
    for (uint16_t l = 0; l < g->n_locations; l++) {
        uint64_t all[MAX_WORDS];
        clear_set(all, g->words);
        for (uint16_t i = 0; i < e->n_events; i++)
            if (e->events[i].for_ever && g->events[at[i]].location == l)
                add_member(all, g->events[at[i]].rf);
        if (!model_are_last(g, l, all))
            return false;
    }
    return true;
}

bool execution_shows(const struct execution *e, const struct graph *g, const uint16_t *at)
{
    switch (e->notice.kind) {
    case NOTICE_OUTCOME:
        for (uint32_t i = 0; i < e->n_observed; i++)
            if (!may_end_with(e, g, e->observed[i], e->notice.values[i]))
                return false;
        return true;
    case NOTICE_RACE: return model_races(g, at[e->notice.event_a], at[e->notice.event_b]);
    case NOTICE_LIVELOCK: return may_stay(e, g, at);
    default: return true;
    }
}

struct showing {
    const struct execution *e;
    const uint16_t *at;
    bool shows;
};

static bool look(struct graph *g, void *data)
{
    struct showing *s = data;
    s->shows = execution_shows(s->e, g, s->at);
    return s->shows;
}

enum judgement execution_judge(const struct execution *e, const struct changes *c)
{
    struct graph g;
    uint16_t *at = memory_zeroed(e->n_events + 1u, sizeof *at);
    struct showing s = {e, at, false};
    execution_graph(e, c, &g, at);
    bool tried = !g.exceeds && execution_fence_orders(e, &g, look, &s);
    graph_free(&g);
    free(at);
    return s.shows ? ALLOWED : tried ? FORBIDDEN : NOT_KNOWN;
}
