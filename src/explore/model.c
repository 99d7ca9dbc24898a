/* The axioms of PTX's memory consistency model; see model.h. Names and sections are those of PTX ISA 9.0, chapter 8. */
#include "explore/model.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

/* ---- 8.5 Scopes, 8.7 Morally Strong Operations ---- */

static bool includes(const struct threads *t, enum scope scope, uint16_t a, uint16_t b)
{
    return t->level[a * t->n + b] <= scope;
}

/* Two operations are morally strong relative to each other if ... related in program order, or each is strong and specifies a scope
 * that includes the thread that performs the other ... and if both are memory operations, then they overlap completely. */
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

/* Does a release pattern on w's location begin at x and end at w? */
static bool releases(const struct event *x, const struct event *w)
{
    if (!has_release(x))
        return false;
    return x == w || (w->strong && (x->kind == GRAPH_FENCE || x->location == w->location));
}

/* Does an acquire pattern on r's location begin at r and end at y? */
static bool acquires(const struct event *r, const struct event *y)
{
    if (!has_acquire(y))
        return false;
    return r == y || y->kind == GRAPH_FENCE || y->location == r->location;
}

/* ---- 8.9.4 Memory synchronization ---- */

/* A release pattern X synchronizes with an acquire pattern Y if a write in X precedes a read in Y in observation order, and the first
 * operation in X and the last operation in Y are morally strong. w is in observation order before r. Later operations of r's thread
 * and earlier ones of w's follow by program order. */
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
    for (uint64_t m = g->events[r].observed & ~bit(INITIAL); m; m &= m - 1)
        synchronize(g, t, graph_member(g, l, (unsigned)__builtin_ctzll(m)), r);
}

/* A new end of acquire patterns: of the reads before it. */
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

/* A new beginning of release patterns: of the writes behind it that have been read already. */
static void release_added(struct graph *g, const struct threads *t, uint16_t event)
{
    uint16_t l = g->events[event].location, thread = g->events[event].thread;
    uint64_t later = 0;
    for (uint16_t i = g->events[event].po + 1; i < g->n_by_po[thread]; i++) {
        const struct event *w = &g->events[graph_event(g, thread, i)];
        if (w->location == l && w->writes && w->strong)
            later |= bit(w->member);
    }
    for (uint64_t r = later ? g->locations[l].reads : 0; r; r &= r - 1) {
        uint16_t read = graph_member(g, l, (unsigned)__builtin_ctzll(r));
        if (g->events[read].observed & later)
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

/* A write W precedes a read R in observation order if R and W are morally strong and R reads the value written by W, or for some
 * atomic operation Z, W precedes Z and Z precedes R in observation order. What Z observes is final: it has read before it is read. */
void model_read(struct graph *g, const struct threads *t, uint16_t event, unsigned from, enum graph_kind kind,
                uint64_t wrote)
{
    struct event *r = &g->events[event];
    struct graph_location *l = &g->locations[r->location];
    uint16_t w = graph_member(g, r->location, from);
    r->kind = (uint8_t)kind;
    r->rf = (uint8_t)from;
    r->writes = kind == GRAPH_UPDATE;
    r->valued = r->writes;
    r->wrote = wrote;
    if (graph_rows(g, g->strong, r->location)[r->member] & bit(from)) {
        r->observed = bit(from);
        if (g->events[w].kind == GRAPH_UPDATE)
            r->observed |= g->events[w].observed;
    }
    l->pending &= ~bit(r->member);
    l->reads |= bit(r->member);
    l->writes |= r->writes ? bit(r->member) : 0;
    l->dirty = true;
    synchronize_observed(g, t, event);
    if (r->writes && has_release(r))
        release_added(g, t, event);
}

/* ---- 8.9.5 Causality Order ---- */

/* An operation X precedes an operation Y in causality order if X precedes Y in base causality order, or for some operation Z, X
 * precedes Z in observation order and Z precedes Y in base causality order; of one location alone, as all axioms ask for that. */
static void find_causality(struct graph *g, uint16_t location)
{
    const struct graph_location *l = &g->locations[location];
    uint64_t *before = graph_rows(g, g->before, location), *cause = graph_rows(g, g->cause, location);
    memcpy(cause, before, l->n * sizeof *cause);
    for (uint64_t m = l->reads; m; m &= m - 1) {
        unsigned z = (unsigned)__builtin_ctzll(m);
        for (uint64_t o = g->events[graph_member(g, location, z)].observed; o; o &= o - 1)
            cause[__builtin_ctzll(o)] |= before[z];
    }
}

/* ---- 8.9.6 Coherence Order, and the axioms (8.10) ---- */

/* A location's order while it is looked for: co is transitive; never: pairs that it may not have. */
struct search_order {
    const uint64_t *cause, *strong;
    const struct event *events;
    const uint16_t *members;
    uint64_t writes, reads;
    uint64_t co[MAX_MEMBERS], never[MAX_MEMBERS];
    uint64_t *found; /* gets the order that is found; NULL: nobody asks for it */
    unsigned n;
    bool grew;
};

static const struct event *member_of(const struct search_order *s, unsigned m)
{
    return &s->events[s->members[m]];
}

/* a is before b, with all that follows of it; false where that is a circle or forbidden. */
static bool put(struct search_order *s, unsigned a, unsigned b)
{
    uint64_t after = s->co[b] | bit(b);
    if (s->co[a] & bit(b))
        return true;
    for (uint64_t m = s->writes; m; m &= m - 1) {
        unsigned w = (unsigned)__builtin_ctzll(m);
        if (w != a && !(s->co[w] & bit(a)))
            continue;
        s->grew |= (after & ~s->co[w]) != 0;
        s->co[w] |= after;
        if (s->co[w] & (bit(w) | s->never[w]))
            return false;
    }
    return true;
}

/* a is not before b: where they have to be ordered, b is before a. */
static bool put_never(struct search_order *s, unsigned a, unsigned b)
{
    s->never[a] |= bit(b);
    if (s->co[a] & bit(b))
        return false;
    return !(s->strong[a] & bit(b)) || put(s, b, a);
}

/* What one read forces.
 * Axiom Causality (8.10.6): if a write precedes a read in causality order, the read does not read from a write that precedes it in coherence
 * order - and, before any order is looked for, a read does not read from a write that it precedes.
 * Axiom Atomicity (8.10.3): no write that is morally strong with an atomic operation comes between it and the write that it reads from. */
static bool force_read(struct search_order *s, unsigned r)
{
    const struct event *e = member_of(s, r);
    unsigned w = e->rf;
    for (uint64_t m = s->writes & ~s->never[w] & ~bit(w) & ~bit(INITIAL); m; m &= m - 1) {
        unsigned other = (unsigned)__builtin_ctzll(m);
        if (s->cause[other] & bit(r) && !put_never(s, w, other))
            return false;
    }
    if (e->kind != GRAPH_UPDATE)
        return true;
    /* By Sequential Consistency per Location: it follows what it reads from. */
    if (s->strong[r] & bit(w) && !put(s, w, r))
        return false;
    for (uint64_t m = s->writes & s->strong[r] & ~bit(w) & ~bit(r); m; m &= m - 1) {
        unsigned other = (unsigned)__builtin_ctzll(m);
        if (s->co[w] & bit(other) && !put_never(s, other, r))
            return false;
        if (s->co[other] & bit(r) && !put_never(s, w, other))
            return false;
    }
    return true;
}

static bool force(struct search_order *s)
{
    do {
        s->grew = false;
        for (uint64_t m = s->reads; m; m &= m - 1)
            if (!force_read(s, (unsigned)__builtin_ctzll(m)))
                return false;
    } while (s->grew);
    return true;
}

/* Axiom Sequential Consistency per Location (8.10.5): within any set of overlapping operations that are pairwise morally strong,
 * communication order cannot contradict program order: no circle of program order and of morally strong coherence, reads-from and
 * from-read. */
static bool is_sequential(const struct search_order *s, const uint64_t *before)
{
    uint64_t row[MAX_MEMBERS];
    for (unsigned i = 1; i < s->n; i++) {
        const struct event *e = member_of(s, i);
        row[i] = 0;
        for (uint64_t m = before[i]; m; m &= m - 1) {
            unsigned k = (unsigned)__builtin_ctzll(m);
            row[i] |= member_of(s, k)->thread == e->thread && member_of(s, k)->po > e->po ? bit(k) : 0;
        }
        row[i] |= s->writes & bit(i) ? s->co[i] & s->strong[i] : 0;
        row[i] |= s->reads & bit(i) ? s->co[e->rf] & s->strong[i] & ~bit(i) : 0;
    }
    for (uint64_t m = s->reads; m; m &= m - 1) {
        unsigned r = (unsigned)__builtin_ctzll(m), w = member_of(s, r)->rf;
        if (s->strong[r] & bit(w))
            row[w] |= bit(r);
    }
    for (unsigned k = 1; k < s->n; k++)
        for (unsigned i = 1; i < s->n; i++)
            if (row[i] & bit(k))
                row[i] |= row[k];
    for (unsigned i = 1; i < s->n; i++)
        if (row[i] & bit(i))
            return false;
    return true;
}

/* Where all accesses of different threads are morally strong, or none are, the other axioms imply it. */
static bool needs_sequential(const struct graph_location *l)
{
    return l->some_strong && l->some_weak;
}

/* Is there a coherence order that has what `s` has? Two morally strong writes are ordered; those that causality orders are, as it
 * does. */
static bool has_order(const struct search_order *s, const uint64_t *before, bool sequential)
{
    for (uint64_t m = s->writes & ~bit(INITIAL); m; m &= m - 1) {
        unsigned a = (unsigned)__builtin_ctzll(m);
        for (uint64_t o = m & (m - 1) & s->strong[a] & ~s->co[a]; o; o &= o - 1) {
            unsigned b = (unsigned)__builtin_ctzll(o);
            if (s->co[b] & bit(a))
                continue;
            struct search_order t = *s;
            if (put(&t, a, b) && force(&t) && has_order(&t, before, sequential))
                return true;
            t = *s;
            return put(&t, b, a) && force(&t) && has_order(&t, before, sequential);
        }
    }
    if (sequential && !is_sequential(s, before))
        return false;
    if (s->found)
        memcpy(s->found, s->co, s->n * sizeof *s->co);
    return true;
}

/* Lets the order have what follows of it; false where that is a circle. */
static bool close_order(struct search_order *s)
{
    for (uint64_t k = s->writes; k; k &= k - 1) {
        unsigned via = (unsigned)__builtin_ctzll(k);
        for (uint64_t m = s->writes; m; m &= m - 1) {
            unsigned w = (unsigned)__builtin_ctzll(m);
            s->co[w] |= s->co[w] & bit(via) ? s->co[via] : 0;
        }
    }
    for (uint64_t m = s->writes; m; m &= m - 1)
        if (s->co[__builtin_ctzll(m)] & m & -m)
            return false;
    return true;
}

/* What was forced when the location was checked before, which stays as all axioms are monotone, and what follows of causality now. */
static bool begin_order(const struct graph *g, uint16_t location, struct search_order *s)
{
    const struct graph_location *l = &g->locations[location];
    const uint64_t *co = graph_rows(g, g->co, location);
    bool more = false;
    s->cause = graph_rows(g, g->cause, location);
    s->strong = graph_rows(g, g->strong, location);
    s->events = g->events;
    s->members = g->members + (size_t)location * g->members_room;
    s->writes = l->writes | l->unvalued;
    s->reads = l->reads;
    s->n = l->n;
    s->found = NULL;
    s->grew = false;
    for (unsigned i = 0; i < s->n; i++)
        s->co[i] = s->never[i] = 0;
    for (uint64_t m = s->writes; m; m &= m - 1) {
        unsigned w = (unsigned)__builtin_ctzll(m);
        s->co[w] = co[w] | (w == INITIAL ? s->writes & ~bit(INITIAL) : s->cause[w] & s->writes);
        more |= s->co[w] != co[w];
    }
    return (!more || close_order(s)) && force(s);
}

static bool check_location(struct graph *g, uint16_t location)
{
    struct search_order s;
    find_causality(g, location);
    const uint64_t *cause = graph_rows(g, g->cause, location);
    for (uint64_t m = g->locations[location].reads; m; m &= m - 1) {
        unsigned r = (unsigned)__builtin_ctzll(m);
        if (cause[r] & bit(g->events[graph_member(g, location, r)].rf)) /* axiom Causality, its first part */
            return false;
    }
    if (!begin_order(g, location, &s))
        return false;
    memcpy(graph_rows(g, g->co, location), s.co, s.n * sizeof *s.co);
    return has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

bool model_check(struct graph *g)
{
    if (g->cyclic) /* by axiom Fence-SC (8.10.2): else one of the other axioms is broken, too */
        return false;
    for (uint16_t l = 0; l < g->n_locations; l++) {
        if (!g->locations[l].dirty)
            continue;
        g->locations[l].dirty = false;
        if (!check_location(g, l))
            return false;
    }
    return true;
}

uint64_t model_choices(const struct graph *g, uint16_t event)
{
    const struct event *r = &g->events[event];
    const struct graph_location *l = &g->locations[r->location];
    const uint64_t *cause = graph_rows(g, g->cause, r->location), *co = graph_rows(g, g->co, r->location);
    uint64_t hidden = 0, before = 0, may = l->writes & ~r->excluded & ~cause[r->member];
    for (uint64_t m = l->writes | l->unvalued; m; m &= m - 1)
        before |= cause[__builtin_ctzll(m)] & bit(r->member) ? m & -m : 0;
    for (uint64_t m = may; m; m &= m - 1)
        hidden |= co[__builtin_ctzll(m)] & before & ~bit(INITIAL) ? m & -m : 0;
    return may & ~hidden;
}

uint64_t model_taken(const struct graph *g, uint16_t event)
{
    const struct event *r = &g->events[event];
    const struct graph_location *l = &g->locations[r->location];
    const uint64_t *co = graph_rows(g, g->co, r->location), *strong = graph_rows(g, g->strong, r->location);
    uint64_t taken = 0;
    for (uint64_t m = l->reads & l->writes & strong[r->member]; m; m &= m - 1) {
        unsigned other = (unsigned)__builtin_ctzll(m), from = g->events[graph_member(g, r->location, other)].rf;
        if (co[from] & bit(other) && (from == INITIAL || strong[from] & bit(r->member)))
            taken |= bit(from);
    }
    return taken;
}

/* ---- 8.2 final values ---- */

uint64_t model_may_be_last(const struct graph *g, uint16_t location)
{
    const uint64_t *co = graph_rows(g, g->co, location);
    uint64_t last = 0;
    for (uint64_t m = g->locations[location].writes; m; m &= m - 1)
        last |= co[__builtin_ctzll(m)] ? 0 : m & -m;
    return last;
}

/* Is there an order in which nothing follows any of the writes? */
static bool are_last(const struct graph *g, uint16_t location, struct search_order s, uint64_t writes)
{
    for (uint64_t m = writes; m; m &= m - 1)
        s.never[__builtin_ctzll(m)] = ~0ull;
    for (uint64_t m = writes; m; m &= m - 1) {
        unsigned w = (unsigned)__builtin_ctzll(m);
        for (uint64_t o = s.writes & s.strong[w] & ~bit(w); o; o &= o - 1)
            if (!put(&s, (unsigned)__builtin_ctzll(o), w))
                return false;
    }
    return force(&s) && has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

uint64_t model_last(const struct graph *g, uint16_t location)
{
    struct search_order s;
    uint64_t last = 0, may = model_may_be_last(g, location);
    if (!(may & (may - 1)))
        return may;
    if (!begin_order(g, location, &s))
        return 0;
    for (uint64_t m = may; m; m &= m - 1)
        last |= are_last(g, location, s, m & -m) ? m & -m : 0;
    return last;
}

bool model_are_last(const struct graph *g, uint16_t location, uint64_t writes)
{
    struct search_order s;
    return !(writes & ~model_may_be_last(g, location)) &&
           (!writes || (begin_order(g, location, &s) && are_last(g, location, s, writes)));
}

bool model_order(const struct graph *g, uint16_t location, uint64_t last, uint64_t *co)
{
    struct search_order s;
    if (!begin_order(g, location, &s))
        return false;
    s.found = co;
    return are_last(g, location, s, last);
}

void model_causality(struct graph *g)
{
    for (uint16_t l = 0; l < g->n_locations; l++)
        find_causality(g, l);
}

/* ---- 8.7.1 Conflict and Data-races ---- */

bool model_races(const struct graph *g, uint16_t a, uint16_t b)
{
    const struct event *x = &g->events[a], *y = &g->events[b];
    const uint64_t *cause = graph_rows(g, g->cause, x->location), *strong = graph_rows(g, g->strong, x->location);
    if (x->thread == y->thread || (!x->writes && !y->writes) || strong[x->member] & bit(y->member))
        return false;
    return !(cause[x->member] & bit(y->member)) && !(cause[y->member] & bit(x->member));
}

/* ---- 8.9.3 Fence-SC Order ---- */

bool model_open_fences(const struct graph *g, const struct threads *t, uint16_t a, uint16_t b)
{
    return g->events[a].thread != g->events[b].thread && !graph_precedes(g, a, b) && !graph_precedes(g, b, a) &&
           model_morally_strong(g, t, a, b);
}

/* The members of a location that precede the fence, and those that follow it, in base causality. */
static void around(const struct graph *g, uint16_t location, uint16_t fence, uint64_t *before, uint64_t *after)
{
    *before = *after = 0;
    for (unsigned m = 1; m < g->locations[location].n; m++) {
        uint16_t e = graph_member(g, location, m);
        *before |= graph_precedes(g, e, fence) ? bit(m) : 0;
        *after |= graph_precedes(g, fence, e) ? bit(m) : 0;
    }
}

/* Would an axiom be broken at the location if all of `before` preceded all of `after`? */
static bool breaks(const struct graph *g, uint16_t location, uint64_t before, uint64_t after)
{
    const struct graph_location *l = &g->locations[location];
    const uint64_t *co = graph_rows(g, g->co, location);
    uint64_t sources = before & (l->writes | l->unvalued), writes = after & (l->writes | l->unvalued);
    for (uint64_t m = before & l->reads; m; m &= m - 1) {
        const struct event *r = &g->events[graph_member(g, location, (unsigned)__builtin_ctzll(m))];
        if (after & bit(r->rf)) /* axiom Causality, its first part */
            return true;
        sources |= r->observed & ~bit(INITIAL);
    }
    for (uint64_t m = writes; m; m &= m - 1) /* coherence is as causality is */
        if (co[__builtin_ctzll(m)] & sources)
            return true;
    for (uint64_t m = after & l->reads; m; m &= m - 1) { /* axiom Causality, its second part */
        unsigned r = (unsigned)__builtin_ctzll(m), from = g->events[graph_member(g, location, r)].rf;
        if (co[from] & sources & ~bit(r))
            return true;
    }
    return false;
}

/* What is around a fence at a location; of all locations, numbered by 64, those with something before it, and behind it. */
struct surroundings {
    uint64_t before, after;
};
struct sides {
    uint64_t before, after;
};

/* Of each fence. */
static struct surroundings *look_around(const struct graph *g, struct sides *sides)
{
    struct surroundings *all = memory_grow(NULL, (size_t)g->n_fences * g->n_locations, sizeof *all);
    for (uint16_t f = 0; f < g->n_fences; f++) {
        sides[f] = (struct sides){0, 0};
        for (uint16_t l = 0; l < g->n_locations; l++) {
            struct surroundings *s = &all[(size_t)f * g->n_locations + l];
            around(g, l, g->fences[f], &s->before, &s->after);
            sides[f].before |= s->before ? 1ull << l % 64 : 0;
            sides[f].after |= s->after ? 1ull << l % 64 : 0;
        }
    }
    return all;
}

/* Can a be before b in Fence-SC order, as far as the locations `at` show it, numbered by 64? */
static bool may_precede(const struct graph *g, const struct surroundings *a, const struct surroundings *b, uint64_t at)
{
    for (; at; at &= at - 1)
        for (unsigned l = (unsigned)__builtin_ctzll(at); l < g->n_locations; l += 64)
            if (a[l].before && b[l].after && breaks(g, (uint16_t)l, a[l].before, b[l].after))
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

/* Orders fences where single locations leave one way only; false where they leave none. */
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
