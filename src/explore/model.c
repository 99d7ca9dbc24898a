/* The axioms of PTX's memory consistency model; see model.h. Names and sections are those of PTX
 * ISA 9.0, chapter 8. */
#include "explore/model.h"

#include <stdlib.h>

#include "explore/coherence.h"
#include "explore/memory.h"

/* ---- 8.5 Scopes, 8.7 Morally Strong Operations ---- */

static bool includes(const struct threads *t, enum scope scope, uint16_t a, uint16_t b)
{
    return t->level[a * t->n + b] <= scope;
}

/* "Two operations are morally strong relative to each other if ... related in program order, or
 * each is strong and specifies a scope that includes the thread that performs the other ... and if
 * both are memory operations, then they overlap completely." */
bool model_morally_strong(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b)
{
    const struct event *x = &g->events[a], *y = &g->events[b];
    if (x->location != NO_LOCATION && y->location != NO_LOCATION && x->location != y->location)
        return false;
    if (x->thread == y->thread)
        return true;
    return x->strong && y->strong && includes(t, (enum scope)x->scope, x->thread, y->thread) &&
           includes(t, (enum scope)y->scope, y->thread, x->thread);
}

/* ---- 8.8 Release and Acquire Patterns ---- */

static bool has_release(const struct event *e)
{
    return (e->kind == GRAPH_FENCE || e->writes) &&
           (e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL || e->order == ORDER_SC);
}

static bool has_acquire(const struct event *e)
{
    return (e->kind == GRAPH_FENCE || (e->reads && !e->red)) &&
           (e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL || e->order == ORDER_SC);
}

/* Do x and w form a release pattern on w's location, which begins at x and ends at w? */
static bool releases(const struct event *x, const struct event *w)
{
    if (!has_release(x))
        return false;
    return x == w || (w->strong && (x->kind == GRAPH_FENCE || x->location == w->location));
}

/* Do r and y form an acquire pattern on r's location, which begins at r and ends at y? */
static bool acquires(const struct event *r, const struct event *y)
{
    if (!has_acquire(y))
        return false;
    return r == y || y->kind == GRAPH_FENCE || y->location == r->location;
}

/* ---- 8.9.4 Memory synchronization ---- */

/* "A release pattern X synchronizes with an acquire pattern Y if a write in X precedes a read in Y
 * in observation order, and the first operation in X and the last operation in Y are morally
 * strong." w is in observation order before r. Program order covers later operations of r's thread
 * and earlier ones of w's. */
static void synchronize(struct graph *g, const struct threads *t, uint16_t w, uint16_t r)
{
    uint16_t to = g->events[r].thread, from = g->events[w].thread;
    if (!g->events[r].strong || g->events[r].red || to == from)
        return;
    for (uint16_t i = g->events[r].po; i < g->n_by_po[to]; i++) {
        uint16_t y = graph_event(g, to, i);
        if (!acquires(&g->events[r], &g->events[y]))
            continue;
        for (uint16_t k = g->events[w].po + 1; k-- > 0;) {
            uint16_t x = graph_event(g, from, k);
            if (graph_precedes(g, x, y))
                break;
            if (releases(&g->events[x], &g->events[w]) && model_morally_strong(g, t, x, y)) {
                graph_order(g, x, y);
                break;
            }
        }
    }
}

static void synchronize_observed(struct graph *g, const struct threads *t, uint16_t r)
{
    uint16_t l = g->events[r].location;
    FOR_MEMBERS(w, k, g->words, graph_event_set(g, r, OBSERVED)[k] & ~word_of(INITIAL, k))
    synchronize(g, t, graph_member(g, l, w), r);
}

/* A new end of acquire patterns: combines it with the reads before it. */
static void acquire_added(struct graph *g, const struct threads *t, uint16_t event)
{
    const struct event *y = &g->events[event];
    uint16_t thread = y->thread, po = y->po;
    for (uint16_t i = 0; i < po; i++) {
        uint16_t r = graph_event(g, thread, i);
        const struct event *e = &g->events[r];
        if (e->reads && e->rf != NO_MEMBER && (y->kind == GRAPH_FENCE || e->location == y->location))
            synchronize_observed(g, t, r);
    }
}

/* A new beginning of release patterns: combines it with the later writes that were read already. */
static void release_added(struct graph *g, const struct threads *t, uint16_t event)
{
    uint16_t l = g->events[event].location, thread = g->events[event].thread;
    uint64_t later[MAX_WORDS];
    clear_set(later, g->words);
    for (uint16_t i = g->events[event].po + 1; i < g->n_by_po[thread]; i++) {
        const struct event *w = &g->events[graph_event(g, thread, i)];
        if (w->location == l && w->writes && w->strong)
            add_member(later, w->member);
    }
    if (is_empty(later, g->words))
        return;
    FOR_MEMBERS(r, k, g->words, graph_location_set(g, l, READS)[k])
    {
        uint16_t read = graph_member(g, l, r);
        if (sets_meet(graph_event_set(g, read, OBSERVED), later, g->words))
            synchronize_observed(g, t, read);
    }
}

void model_added(struct graph *g, const struct threads *t, uint16_t event)
{
    if (has_acquire(&g->events[event]))
        acquire_added(g, t, event);
    if (has_release(&g->events[event]) && g->events[event].kind != GRAPH_FENCE)
        release_added(g, t, event);
}

/* ---- 8.9.2 Observation Order ---- */

/* "A write W precedes a read R in observation order if R and W are morally strong and R reads the
 * value written by W, or for some atomic operation Z, W precedes Z and Z precedes R in observation
 * order." What Z observes is final: Z has read before it is read. */
void model_read(struct graph *g, const struct threads *t, uint16_t event, unsigned from, enum graph_kind kind,
                uint64_t wrote)
{
    struct event *r = &g->events[event];
    uint16_t l = r->location, w = graph_member(g, l, from);
    r->kind = (uint8_t)kind;
    r->rf = (uint16_t)from;
    r->writes = kind == GRAPH_UPDATE;
    r->valued = r->writes;
    r->wrote = wrote;
    if (has(graph_row(g, g->strong, l, r->member), from)) {
        add_member(graph_event_set(g, event, OBSERVED), from);
        if (g->events[w].kind == GRAPH_UPDATE)
            join_set(graph_event_set(g, event, OBSERVED), graph_event_set(g, w, OBSERVED), g->words);
    }
    drop_member(graph_location_set(g, l, PENDING), r->member);
    add_member(graph_location_set(g, l, READS), r->member);
    if (r->writes)
        add_member(graph_location_set(g, l, WRITES), r->member);
    g->locations[l].dirty = true;
    synchronize_observed(g, t, event);
    if (r->writes && has_release(r))
        release_added(g, t, event);
}

/* ---- 8.9.5 Causality Order, 8.9.6 Coherence Order, 8.10 Axioms: of each location, coherence.c
 * ---- */

void model_causality(struct graph *g)
{
    for (uint16_t l = 0; l < g->n_locations; l++)
        coherence_of(g)->causality(g, l);
}

bool model_check(struct graph *g)
{
    /* By axiom Fence-SC (8.10.2); without fences, a cycle breaks another axiom, too. */
    if (g->cyclic)
        return false;
    for (uint16_t l = 0; l < g->n_locations; l++) {
        if (!g->locations[l].dirty)
            continue;
        g->locations[l].dirty = false;
        if (!coherence_of(g)->check(g, l))
            return false;
    }
    return true;
}

void model_choices(const struct graph *g, uint16_t event, uint64_t *choices)
{
    coherence_of(g)->choices(g, event, choices);
}

void model_taken(const struct graph *g, uint16_t event, uint64_t *taken)
{
    coherence_of(g)->taken(g, event, taken);
}

void model_may_be_last(const struct graph *g, uint16_t location, uint64_t *last)
{
    coherence_of(g)->may_be_last(g, location, last);
}

void model_last(const struct graph *g, uint16_t location, uint64_t *last)
{
    coherence_of(g)->last(g, location, last);
}

bool model_are_last(const struct graph *g, uint16_t location, const uint64_t *writes)
{
    return coherence_of(g)->are_last(g, location, writes);
}

bool model_order(const struct graph *g, uint16_t location, const uint64_t *last, uint64_t *co)
{
    return coherence_of(g)->order(g, location, last, co);
}

/* ---- 8.7.1 Conflict and Data-races ---- */

bool model_races(const struct graph *g, uint16_t a, uint16_t b)
{
    const struct event *x = &g->events[a], *y = &g->events[b];
    uint16_t l = x->location;
    if (x->thread == y->thread || (!x->writes && !y->writes) || has(graph_row(g, g->strong, l, x->member), y->member))
        return false;
    return !has(graph_row(g, g->cause, l, x->member), y->member) &&
           !has(graph_row(g, g->cause, l, y->member), x->member);
}

/* ---- 8.9.3 Fence-SC Order ---- */

bool model_open_fences(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b)
{
    return g->events[a].thread != g->events[b].thread && !graph_precedes(g, a, b) && !graph_precedes(g, b, a) &&
           model_morally_strong(g, t, a, b);
}

/* The neighbourhood of a fence at a location: the members that precede and that follow it in base
 * causality. Two sets of locations, numbered modulo 64: those with members before it, and behind
 * it. */
struct surroundings {
    uint64_t *before, *after;
};
struct sides {
    uint64_t before, after;
};

static void around(const struct graph *g, uint16_t location, uint16_t fence, struct surroundings *s)
{
    const uint16_t *clock = graph_clock(g, fence);
    const struct event *f = &g->events[fence];
    unsigned n = g->locations[location].n;
    for (unsigned k = 0; k < g->words; k++) {
        uint64_t before = 0, after = 0;
        for (unsigned m = k ? 64 * k : 1; m < n && m < 64 * k + 64; m++) {
            uint16_t event = graph_member(g, location, m);
            const struct event *e = &g->events[event];
            before |= (uint64_t)(clock[e->thread] > e->po) << m % 64;
            after |= (uint64_t)(graph_clock(g, event)[f->thread] > f->po) << m % 64;
        }
        s->before[k] = before;
        s->after[k] = after;
    }
}

/* Would ordering all of `before` before all of `after` break an axiom at the location? */
static bool breaks(const struct graph *g, uint16_t location, const uint64_t *before, const uint64_t *after)
{
    const uint64_t *reads = graph_location_set(g, location, READS), *writes = graph_location_set(g, location, WRITES),
                   *unvalued = graph_location_set(g, location, UNVALUED);
    unsigned words = g->words;
    uint64_t sources[MAX_WORDS];
    for (unsigned k = 0; k < words; k++)
        sources[k] = before[k] & (writes[k] | unvalued[k]);
    FOR_MEMBERS(r, k, words, before[k] & reads[k])
    {
        uint16_t read = graph_member(g, location, r);
        if (has(after, g->events[read].rf)) /* axiom Causality, its first part */
            return true;
        for (unsigned i = 0; i < words; i++)
            sources[i] |= graph_event_set(g, read, OBSERVED)[i] & ~word_of(INITIAL, i);
    }
    /* Coherence agrees with causality. */
    FOR_MEMBERS(w, k, words, after[k] & (writes[k] | unvalued[k]))
    if (sets_meet(graph_row(g, g->co, location, w), sources, words))
        return true;
    FOR_MEMBERS(r, k, words, after[k] & reads[k])
    { /* axiom Causality, its second part */
        const uint64_t *behind = graph_row(g, g->co, location, g->events[graph_member(g, location, r)].rf);
        for (unsigned i = 0; i < words; i++)
            if (behind[i] & sources[i] & ~word_of(r, i))
                return true;
    }
    return false;
}

/* Computes it for each fence; the caller frees it. */
static struct surroundings *look_around(const struct graph *g, struct sides *sides)
{
    size_t n = (size_t)g->n_fences * g->n_locations, sets = 2 * n * g->words;
    struct surroundings *all = memory_grow(NULL, n * sizeof *all + sets * sizeof(uint64_t), 1);
    uint64_t *set = (uint64_t *)(all + n);
    for (uint16_t f = 0; f < g->n_fences; f++) {
        sides[f] = (struct sides){0, 0};
        for (uint16_t l = 0; l < g->n_locations; l++) {
            struct surroundings *s = &all[(size_t)f * g->n_locations + l];
            *s = (struct surroundings){set, set + g->words};
            set += 2 * g->words;
            around(g, l, g->fences[f], s);
            sides[f].before |= is_empty(s->before, g->words) ? 0 : 1ull << l % 64;
            sides[f].after |= is_empty(s->after, g->words) ? 0 : 1ull << l % 64;
        }
    }
    return all;
}

/* Can a be before b in Fence-SC order, by the locations `at`, numbered modulo 64? */
static bool may_precede(const struct graph *g, const struct surroundings *a, const struct surroundings *b, uint64_t at)
{
    for (; at; at &= at - 1)
        for (unsigned l = (unsigned)__builtin_ctzll(at); l < g->n_locations; l += 64)
            if (!is_empty(a[l].before, g->words) && !is_empty(b[l].after, g->words) &&
                breaks(g, (uint16_t)l, a[l].before, b[l].after))
                return false;
    return true;
}

static bool has_open_fences(const struct graph *g, const struct threads *t)
{
    for (uint16_t i = 0; i < g->n_fences; i++)
        for (uint16_t k = 0; k < i; k++)
            if (model_open_fences(g, t, g->fences[i], g->fences[k]))
                return true;
    return false;
}

/* Orders fences for which single locations leave only one way; false if they leave none. */
static bool order_fences(struct graph *g, const struct threads *t, bool *grew)
{
    if (!has_open_fences(g, t))
        return true;
    struct sides sides[MAX_FENCES];
    struct surroundings *all = look_around(g, sides);
    bool possible = true;
    for (uint16_t i = 0; i < g->n_fences && possible; i++)
        for (uint16_t k = 0; k < i && possible; k++) {
            uint16_t a = g->fences[k], b = g->fences[i];
            if (!model_open_fences(g, t, a, b))
                continue;
            const struct surroundings *x = all + (size_t)k * g->n_locations, *y = all + (size_t)i * g->n_locations;
            bool first = may_precede(g, x, y, sides[k].before & sides[i].after);
            bool second = may_precede(g, y, x, sides[i].before & sides[k].after);
            possible = first || second;
            if (first != second) {
                graph_order(g, first ? a : b, first ? b : a);
                *grew = true;
            }
        }
    free(all);
    return possible;
}

bool model_settle(struct graph *g, const struct threads *t)
{
    bool grew;
    do {
        grew = false;
        if (!model_check(g) || (g->n_fences > 1 && !order_fences(g, t, &grew)))
            return false;
    } while (grew);
    return true;
}
