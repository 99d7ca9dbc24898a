/* See axioms.h. */
#include "explore/axioms.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

const char *axiom_text(enum axiom a)
{
    static const char *const texts[] = {[AXIOM_NONE] = "none",
                                        [AXIOM_SEVERAL] = "no coherence order is left, PTX ISA 8.10",
                                        [AXIOM_COHERENCE] = "Coherence, PTX ISA 8.10.1",
                                        [AXIOM_ATOMICITY] = "Atomicity, PTX ISA 8.10.3",
                                        [AXIOM_SEQUENTIAL] = "Sequential Consistency per Location, PTX ISA 8.10.5",
                                        [AXIOM_CAUSALITY] = "Causality, PTX ISA 8.10.6",
                                        [AXIOM_RACE] = "Conflict and Data-races, PTX ISA 8.7.1"};
    return texts[a];
}

const char *edge_name(enum edge_kind k)
{
    static const char *const names[EDGE_KINDS] = {"po",      "rf",       "co",        "fr",  "sync",
                                                  "barrier", "fence-sc", "causality", "race"};
    return names[k];
}

struct looking {
    struct arena *arena;
    const struct execution *e;
    struct why *w;
    struct graph g;    /* the graph with one Fence-SC order */
    uint16_t *at, *of; /* maps events of the execution to the graph's, and back */
    uint64_t **co;     /* by location of the graph: rows */
    /* By location: writes that precede the last one only because it is the last. */
    uint64_t **at_end;
    uint16_t n_edges; /* number of edges before fences were ordered */
};

/* ---- orders that the axioms allow ---- */

static bool keep_order(struct graph *g, void *data)
{
    struct looking *k = data;
    if (!execution_shows(k->e, g, k->at))
        return false;
    graph_copy(&k->g, g);
    model_causality(&k->g);
    return true;
}

/* Finds the writes that must be last for the finding to show. */
static void find_last_writes(const struct looking *k, uint16_t l, uint64_t *last)
{
    const struct execution *e = k->e;
    uint64_t may[MAX_WORDS];
    clear_set(last, k->g.words);
    for (uint32_t i = 0; i < e->n_observed && e->notice.kind == NOTICE_OUTCOME; i++)
        if (e->observed[i] == k->g.locations[l].id) {
            model_last(&k->g, l, may);
            FOR_MEMBERS(w, n, k->g.words, may[n])
            {
                uint64_t value =
                    w == INITIAL ? e->locations[e->observed[i]].initial : k->g.events[graph_member(&k->g, l, w)].wrote;
                if (value == e->notice.values[i] && is_empty(last, k->g.words))
                    add_member(last, w);
            }
        }
    for (uint16_t i = 0; i < e->n_events && e->notice.kind == NOTICE_LIVELOCK; i++)
        if (e->events[i].for_ever && k->g.events[k->at[i]].location == l)
            add_member(last, k->g.events[k->at[i]].rf);
}

static bool find_orders(struct looking *k)
{
    struct graph g;
    bool found;
    execution_graph(k->e, NULL, &g, k->at);
    k->n_edges = g.n_edges;
    graph_begin(&k->g, k->e->threads.n);
    found = !g.exceeds && execution_fence_orders(k->e, &g, keep_order, k) && k->g.n_events;
    graph_free(&g);
    k->co = ARENA_ARRAY(k->arena, uint64_t *, k->g.n_locations + 1u);
    k->at_end = ARENA_ARRAY(k->arena, uint64_t *, k->g.n_locations + 1u);
    for (uint16_t l = 0; l < k->g.n_locations && found; l++) {
        uint64_t last[MAX_WORDS];
        k->co[l] = ARENA_ARRAY(k->arena, uint64_t, k->g.members_room * k->g.words);
        k->at_end[l] = ARENA_ARRAY(k->arena, uint64_t, k->g.words);
        find_last_writes(k, l, last);
        found = model_order(&k->g, l, last, k->co[l]);
    }
    k->of = ARENA_ARRAY(k->arena, uint16_t, k->g.n_events + 1u);
    memset(k->of, 0xff, (k->g.n_events + 1u) * sizeof *k->of);
    for (uint16_t i = 0; i < k->e->n_events && found; i++)
        k->of[k->at[i]] = i;
    return found;
}

/* ---- edges ---- */

static struct why_edge *add_edge(struct looking *k, enum edge_kind kind, uint16_t from, uint16_t to)
{
    struct why_edge *edge = VEC_PUSH(k->arena, &k->w->edges);
    *edge = (struct why_edge){.kind = (uint8_t)kind, .from = from, .to = to};
    return edge;
}

static uint16_t member_event(const struct looking *k, uint16_t l, unsigned m)
{
    return m == INITIAL ? NO_EVENT : k->of[graph_member(&k->g, l, m)];
}

/* Adds an edge between two members of a location; `from` INITIAL is the initial value. */
static void add_members(struct looking *k, enum edge_kind kind, uint16_t l, unsigned from, unsigned to)
{
    const struct graph *g = &k->g;
    struct why_edge *edge = add_edge(k, kind, member_event(k, l, from), member_event(k, l, to));
    edge->strong = from == INITIAL || has(graph_row(g, g->strong, l, from), to);
    edge->ordered = has(graph_row(g, g->cause, l, from), to);
}

/* A row of a location's coherence order. */
static const uint64_t *co_of(const struct looking *k, uint16_t l, unsigned member)
{
    return k->co[l] + member * k->g.words;
}

/* The members of `all` that no other member of it precedes. */
static void find_first(const struct graph *g, const uint64_t *rows, const uint64_t *all, uint64_t *first)
{
    copy_set(first, all, g->words);
    FOR_MEMBERS(m, k, g->words, all[k])
    take_from_set(first, rows + m * g->words, g->words);
}

/* Writes without followers, which a coherence order need not order, precede the one with the final
 * value. */
static void add_at_end(struct looking *k, uint16_t l)
{
    const uint64_t *writes = graph_location_set(&k->g, l, WRITES);
    uint64_t last[MAX_WORDS];
    find_last_writes(k, l, last);
    if (count_members(last, k->g.words) != 1 || has(last, INITIAL))
        return;
    FOR_MEMBERS(w, n, k->g.words, writes[n] & ~last[n] & ~word_of(INITIAL, n))
    if (!sets_meet(co_of(k, l, w), writes, k->g.words)) {
        add_members(k, EDGE_CO, l, w, first_member(last));
        k->w->edges.at[k->w->edges.n - 1].at_end = true;
        add_member(k->at_end[l], w);
    }
}

/* Adds an edge to the first of the writes that follow one in coherence order, leaving out
   `without`. */
static void add_next(struct looking *k, enum edge_kind kind, uint16_t l, unsigned from, unsigned write,
                     unsigned without)
{
    const uint64_t *writes = graph_location_set(&k->g, l, WRITES);
    uint64_t behind[MAX_WORDS] = {0}, next[MAX_WORDS];
    for (unsigned n = 0; n < k->g.words; n++)
        behind[n] = co_of(k, l, write)[n] & writes[n] & ~word_of(without, n);
    find_first(&k->g, k->co[l], behind, next);
    FOR_MEMBERS(m, n, k->g.words, next[n])
    add_members(k, kind, l, from, m);
}

static void add_coherence(struct looking *k, uint16_t l)
{
    FOR_MEMBERS(w, n, k->g.words, graph_location_set(&k->g, l, WRITES)[n] & ~word_of(INITIAL, n))
    add_next(k, EDGE_CO, l, w, w, w);
    FOR_MEMBERS(r, n, k->g.words, graph_location_set(&k->g, l, READS)[n])
    {
        unsigned w = k->g.events[graph_member(&k->g, l, r)].rf;
        add_members(k, EDGE_RF, l, w, r);
        add_next(k, EDGE_FR, l, r, w, r);
    }
}

static void add_causality(struct looking *k, uint16_t l)
{
    const struct graph *g = &k->g;
    const uint64_t *reads = graph_location_set(g, l, READS), *writes = graph_location_set(g, l, WRITES);
    FOR_MEMBERS(a, n, g->words, (writes[n] | reads[n]) & ~word_of(INITIAL, n))
    {
        uint64_t behind[MAX_WORDS] = {0}, next[MAX_WORDS];
        for (unsigned i = 0; i < g->words; i++)
            behind[i] = graph_row(g, g->cause, l, a)[i] & (writes[i] | reads[i]) & ~word_of(INITIAL, i);
        find_first(g, graph_rows(g, g->cause, l), behind, next);
        FOR_MEMBERS(b, i, g->words, next[i])
        if (g->events[graph_member(g, l, a)].thread != g->events[graph_member(g, l, b)].thread &&
            (has(writes, a) || has(writes, b)))
            add_members(k, EDGE_CAUSE, l, a, b);
    }
}

static bool has_fence_edge(const struct looking *k, uint16_t from, uint16_t to)
{
    for (uint16_t i = k->g.events[from].edges; i; i = k->g.edges[i - 1].next)
        if (i > k->n_edges && k->g.edges[i - 1].to == to)
            return true;
    return false;
}

/* Returns false if another fence is between them. */
static bool is_next_fence(const struct looking *k, uint16_t from, uint16_t to)
{
    for (uint16_t i = 0; i < k->g.n_fences; i++)
        if (has_fence_edge(k, from, k->g.fences[i]) && has_fence_edge(k, k->g.fences[i], to))
            return false;
    return true;
}

static void add_order_edges(struct looking *k)
{
    for (uint16_t x = 0; x < k->g.n_events; x++)
        for (uint16_t i = k->g.events[x].edges; i && k->of[x] != NO_EVENT; i = k->g.edges[i - 1].next) {
            uint16_t y = k->g.edges[i - 1].to;
            if (k->of[y] == NO_EVENT)
                continue;
            if (i <= k->n_edges)
                add_edge(k, EDGE_SYNC, k->of[x], k->of[y]);
            else if (is_next_fence(k, x, y))
                add_edge(k, EDGE_FENCE, k->of[x], k->of[y]);
        }
}

static void add_meetings(struct looking *k)
{
    for (uint16_t m = 0; m < k->e->n_meetings; m++) {
        uint16_t last = NO_EVENT;
        for (uint16_t i = 0; i < k->e->n_events; i++) {
            if (k->e->events[i].meeting != m)
                continue;
            if (last != NO_EVENT)
                add_edge(k, EDGE_BARRIER, last, i);
            last = i;
        }
    }
}

static void add_edges(struct looking *k)
{
    const struct execution *e = k->e;
    for (uint16_t i = 0; i + 1 < e->n_events; i++)
        if (e->events[i].thread == e->events[i + 1].thread)
            add_edge(k, EDGE_PO, i, i + 1);
    for (uint16_t l = 0; l < k->g.n_locations; l++) {
        add_coherence(k, l);
        if (e->notice.kind == NOTICE_OUTCOME)
            add_at_end(k, l);
    }
    add_order_edges(k);
    add_meetings(k);
    for (uint16_t l = 0; l < k->g.n_locations; l++)
        add_causality(k, l);
    if (e->notice.kind == NOTICE_RACE)
        add_edge(k, EDGE_RACE, e->notice.event_a, e->notice.event_b);
    for (uint32_t i = 0; i < k->w->edges.n; i++) {
        struct why_edge *rf = &k->w->edges.at[i];
        for (uint32_t j = 0; rf->kind == EDGE_RF && rf->from != NO_EVENT && j < k->w->edges.n; j++) {
            const struct why_edge *s = &k->w->edges.at[j];
            rf->synchronizes |= s->kind == EDGE_SYNC && e->events[s->from].thread == e->events[rf->from].thread &&
                                s->from <= rf->from && e->events[s->to].thread == e->events[rf->to].thread &&
                                s->to >= rf->to;
        }
    }
}

/* ---- what the axioms say of single edges, with this coherence order ---- */

struct breach {
    uint8_t *axiom; /* by edge: the axiom that it breaks in some Fence-SC order; AXIOM_NONE: none */
    bool any;       /* an axiom is broken in this order */
    bool allowed;   /* some order breaks none */
};

struct trial {
    const struct looking *k;
    const uint16_t *at;
    struct breach *b;
    unsigned left;
};

static void breaks(struct breach *b, uint32_t edge, enum axiom a)
{
    b->any = true;
    if (!b->axiom[edge])
        b->axiom[edge] = (uint8_t)a;
}

static bool causes(const struct graph *g, uint16_t x, uint16_t y)
{
    const struct event *a = &g->events[x], *b = &g->events[y];
    return has(graph_row(g, g->cause, a->location, a->member), b->member);
}

/* Does a write that precedes the read in causality order follow the read's write in coherence
 * order? For an update: is a write between the two? */
static enum axiom breaks_from_read(const struct trial *t, const struct graph *g, uint16_t r)
{
    const struct looking *k = t->k;
    const struct event *now = &k->g.events[k->at[r]];
    uint16_t l = now->location, mine = t->at[r];
    const uint64_t *writes = graph_location_set(&k->g, l, WRITES);
    FOR_MEMBERS(other, n, k->g.words, writes[n] & ~word_of(INITIAL, n) & ~word_of(now->member, n))
    {
        uint16_t event = t->at[member_event(k, l, other)];
        bool behind = has(co_of(k, l, now->rf), other), strong = model_morally_strong(g, &k->e->threads, mine, event);
        if (behind && causes(g, event, mine))
            return AXIOM_CAUSALITY;
        if (now->kind == GRAPH_UPDATE && strong &&
            ((behind && (has(co_of(k, l, other), now->member) ||
                         (has(k->at_end[l], other) && is_empty(co_of(k, l, now->member), k->g.words)))) ||
             (g->events[event].kind == GRAPH_UPDATE && k->g.events[graph_member(&k->g, l, other)].rf == now->rf)))
            return AXIOM_ATOMICITY;
    }
    return AXIOM_NONE;
}

/* Does an update read from the write, and follow it for that reason? */
static bool follows_its_source(const struct trial *t, const struct graph *g, uint16_t update, uint16_t write)
{
    const struct event *u = &g->events[update];
    return u->kind == GRAPH_UPDATE && u->rf == g->events[write].member &&
           model_morally_strong(g, &t->k->e->threads, update, write);
}

static void find_breaches(struct trial *t, struct graph *g)
{
    const struct why *w = t->k->w;
    t->b->any = g->cyclic;
    model_causality(g);
    for (uint32_t i = 0; i < w->edges.n; i++) {
        const struct why_edge *e = &w->edges.at[i];
        uint16_t from = e->from == NO_EVENT ? NO_EVENT : t->at[e->from], to = t->at[e->to];
        enum axiom broken;
        if (e->kind == EDGE_RF && from != NO_EVENT && causes(g, to, from))
            breaks(t->b, i, AXIOM_CAUSALITY);
        else if (e->kind == EDGE_CO && causes(g, to, from))
            breaks(t->b, i, AXIOM_COHERENCE);
        else if (e->kind == EDGE_CO && e->at_end && follows_its_source(t, g, from, to))
            breaks(t->b, i, AXIOM_SEQUENTIAL);
        else if (e->kind == EDGE_FR && (broken = breaks_from_read(t, g, e->from)))
            breaks(t->b, i, broken);
        else if (e->kind == EDGE_RACE && !model_races(g, from, to))
            breaks(t->b, i, AXIOM_RACE);
    }
}

enum { MAX_TRIED = 300 };

/* Examines the Fence-SC orders for broken axioms; does not continue an order whose beginning breaks
 * one. */
static void try_orders(struct trial *t, struct graph *g)
{
    if (!t->left) {
        t->b->allowed = true;
        return;
    }
    t->left--;
    find_breaches(t, g);
    if (t->b->any)
        return;
    for (uint16_t i = 0; i < g->n_fences; i++)
        for (uint16_t k = 0; k < i; k++) {
            if (!model_open_fences(g, &t->k->e->threads, g->fences[k], g->fences[i]))
                continue;
            for (int way = 0; way < 2 && !t->b->allowed; way++) {
                struct graph next;
                graph_begin(&next, g->n_threads);
                graph_copy(&next, g);
                graph_order(&next, next.fences[way ? i : k], next.fences[way ? k : i]);
                try_orders(t, &next);
                graph_free(&next);
            }
            return;
        }
    t->b->allowed = true;
}

/* Finds what the changes break, by edge; false if some order breaks nothing. */
static bool find_broken(struct looking *k, const struct changes *c, uint8_t *axiom)
{
    struct graph g;
    uint16_t *at = memory_zeroed(k->e->n_events + 1u, sizeof *at);
    struct breach b = {.axiom = axiom};
    struct trial t = {k, at, &b, MAX_TRIED};
    memset(axiom, AXIOM_NONE, k->w->edges.n);
    execution_graph(k->e, c, &g, at);
    b.allowed = g.exceeds;
    if (!b.allowed)
        try_orders(&t, &g);
    graph_free(&g);
    free(at);
    return !b.allowed;
}

/* ---- what would have forbidden an edge ---- */

static void note(struct why_edge *e, const struct changes *c, enum axiom a)
{
    for (unsigned i = 0; i < e->n_not; i++)
        if (changes_equal(&e->not[i].changes, c))
            return;
    if (e->n_not < MAX_REASONS)
        e->not[e->n_not++] = (struct why_not){*c, a};
}

struct aim {
    struct looking *k;
    uint8_t *axiom;
    uint32_t edge;
};

static bool breaks_edge(void *data, const struct changes *c)
{
    struct aim *a = data;
    return find_broken(a->k, c, a->axiom) && a->axiom[a->edge];
}

/* The strongest changes, without fences and with them, and what they break, by edge; NULL: nothing,
 * or not known. */
struct tops {
    struct changes changes[2];
    uint8_t *axiom[2];
};

static struct tops find_tops(struct looking *k)
{
    struct tops t;
    for (int fences = 0; fences < 2; fences++) {
        t.changes[fences] = forbid_top(k->arena, k->e, fences);
        t.axiom[fences] = ARENA_ARRAY(k->arena, uint8_t, k->w->edges.n + 1);
        if (!find_broken(k, &t.changes[fences], t.axiom[fences]))
            t.axiom[fences] = NULL;
    }
    return t;
}

/* For an edge that no minimal set breaks: finds a set of its own. */
static void find_own(struct looking *k, struct aim *a, const struct tops *tops)
{
    struct why_edge *e = &k->w->edges.at[a->edge];
    for (int fences = 0; fences < 2; fences++) {
        if (!tops->axiom[fences] || !tops->axiom[fences][a->edge])
            continue;
        struct changes least = forbid_least(k->arena, tops->changes[fences], NULL, breaks_edge, a);
        if (breaks_edge(a, &least))
            note(e, &least, (enum axiom)a->axiom[a->edge]);
        return;
    }
}

/* If no single edge violates an axiom: accesses have become morally strong, and their writes cannot
 * all be ordered. */
static void note_strengthened(struct looking *k, const struct changes *c)
{
    struct graph g;
    uint16_t *at = memory_zeroed(k->e->n_events + 1u, sizeof *at);
    execution_graph(k->e, c, &g, at);
    for (uint32_t i = 0; i < k->w->edges.n && !g.exceeds; i++) {
        struct why_edge *e = &k->w->edges.at[i];
        bool ordering = e->kind == EDGE_RF || e->kind == EDGE_CO || e->kind == EDGE_FR;
        if (ordering && e->from != NO_EVENT && !e->strong &&
            model_morally_strong(&g, &k->e->threads, at[e->from], at[e->to]))
            note(e, c, AXIOM_SEVERAL);
    }
    graph_free(&g);
    free(at);
}

enum { MAX_SETS = 24 };

static void find_reasons(struct looking *k)
{
    struct why *w = k->w;
    struct aim a = {k, ARENA_ARRAY(k->arena, uint8_t, w->edges.n + 1), 0};
    struct changes top = forbid_top(k->arena, k->e, true);
    w->at_top = execution_judge(k->e, &top);
    if (w->at_top == ALLOWED)
        return;
    w->all = forbid(k->arena, k->e, NULL);
    for (uint32_t i = 0; i < w->all.n && i < MAX_SETS; i++) {
        const struct changes *c = &w->all.at[i].changes;
        bool broken = find_broken(k, c, a.axiom), any = false;
        for (uint32_t j = 0; j < w->edges.n && broken; j++)
            if (a.axiom[j]) {
                note(&w->edges.at[j], c, (enum axiom)a.axiom[j]);
                any = true;
            }
        if (!any)
            note_strengthened(k, c);
    }
    struct tops tops = find_tops(k);
    for (a.edge = 0; a.edge < w->edges.n; a.edge++)
        if (edge_can_break(&w->edges.at[a.edge]) && !w->edges.at[a.edge].n_not)
            find_own(k, &a, &tops);
}

bool why(struct arena *arena, const struct execution *e, struct why *w)
{
    struct looking k = {.arena = arena, .e = e, .w = w, .at = ARENA_ARRAY(arena, uint16_t, e->n_events + 1u)};
    bool found = find_orders(&k);
    if (found) {
        add_edges(&k);
        find_reasons(&k);
    }
    graph_free(&k.g);
    return found;
}
