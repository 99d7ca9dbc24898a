/* The axioms of PTX's memory consistency model that are of one location; see coherence.h. Names and sections are those of PTX ISA 9.0,
 * chapter 8.
 *
 * `set` is a set of members, wide enough for the location: all is done with sets, of which one word is much less work than two. */
#include "explore/coherence.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

#ifdef COHERENCE_WIDE
#define coherence_narrow coherence_wide
typedef members set;
enum { WIDTH = MAX_MEMBERS };
static unsigned first(set s)
{
    return first_member(s);
}
#else
typedef uint64_t set;
enum { WIDTH = NARROW_MEMBERS };
static unsigned first(set s)
{
    return (unsigned)__builtin_ctzll(s);
}
#endif

static set one(unsigned member)
{
    return (set)1 << member;
}

static set row(const members *rows, unsigned member)
{
    return (set)rows[member];
}

static void copy_rows(members *to, const set *rows, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = rows[i];
}

/* ---- 8.9.5 Causality Order ---- */

/* An operation X precedes an operation Y in causality order if X precedes Y in base causality order, or for some operation Z, X
 * precedes Z in observation order and Z precedes Y in base causality order; of one location alone, as all axioms ask for that. */
static void find_causality(struct graph *g, uint16_t location)
{
    const struct graph_location *l = &g->locations[location];
    members *before = graph_rows(g, g->before, location), *cause = graph_rows(g, g->cause, location);
    memcpy(cause, before, l->n * sizeof *cause);
    for (set m = (set)l->reads; m; m &= m - 1) {
        unsigned z = first(m);
        for (set o = (set)g->events[graph_member(g, location, z)].observed; o; o &= o - 1)
            cause[first(o)] |= before[z];
    }
}

/* ---- 8.9.6 Coherence Order, and the axioms (8.10) ---- */

/* A location's order while it is looked for: co is transitive; never: pairs that it may not have. */
struct search_order {
    const members *cause, *strong; /* of the graph */
    const struct event *events;
    const uint16_t *members;
    set writes, reads;
    members *found; /* gets the order that is found; NULL: nobody asks for it */
    unsigned n;
    bool grew;
    set co[WIDTH], never[WIDTH]; /* of these n */
};

static const struct event *member_of(const struct search_order *s, unsigned m)
{
    return &s->events[s->members[m]];
}

/* a is before b, with all that follows of it; false where that is a circle or forbidden. */
static bool put(struct search_order *s, unsigned a, unsigned b)
{
    set after = s->co[b] | one(b);
    if (s->co[a] & one(b))
        return true;
    for (set m = s->writes; m; m &= m - 1) {
        unsigned w = first(m);
        if (w != a && !(s->co[w] & one(a)))
            continue;
        s->grew |= (after & ~s->co[w]) != 0;
        s->co[w] |= after;
        if (s->co[w] & (one(w) | s->never[w]))
            return false;
    }
    return true;
}

/* a is not before b: where they have to be ordered, b is before a. */
static bool put_never(struct search_order *s, unsigned a, unsigned b)
{
    s->never[a] |= one(b);
    if (s->co[a] & one(b))
        return false;
    return !(row(s->strong, a) & one(b)) || put(s, b, a);
}

/* What one read forces.
 * Axiom Causality (8.10.6): if a write precedes a read in causality order, the read does not read from a write that precedes it in coherence
 * order - and, before any order is looked for, a read does not read from a write that it precedes.
 * Axiom Atomicity (8.10.3): no write that is morally strong with an atomic operation comes between it and the write that it reads from. */
static bool force_read(struct search_order *s, unsigned r)
{
    const struct event *e = member_of(s, r);
    unsigned w = e->rf;
    for (set m = s->writes & ~s->never[w] & ~one(w) & ~one(INITIAL); m; m &= m - 1) {
        unsigned other = first(m);
        if (row(s->cause, other) & one(r) && !put_never(s, w, other))
            return false;
    }
    if (e->kind != GRAPH_UPDATE)
        return true;
    /* By Sequential Consistency per Location: it follows what it reads from. */
    if (row(s->strong, r) & one(w) && !put(s, w, r))
        return false;
    for (set m = s->writes & row(s->strong, r) & ~one(w) & ~one(r); m; m &= m - 1) {
        unsigned other = first(m);
        if (s->co[w] & one(other) && !put_never(s, other, r))
            return false;
        if (s->co[other] & one(r) && !put_never(s, w, other))
            return false;
    }
    return true;
}

static bool force(struct search_order *s)
{
    do {
        s->grew = false;
        for (set m = s->reads; m; m &= m - 1)
            if (!force_read(s, first(m)))
                return false;
    } while (s->grew);
    return true;
}

/* Axiom Sequential Consistency per Location (8.10.5): within any set of overlapping operations that are pairwise morally strong,
 * communication order cannot contradict program order: no circle of program order and of morally strong coherence, reads-from and
 * from-read. */
static bool is_sequential(const struct search_order *s, const members *before)
{
    set follows[WIDTH];
    for (unsigned i = 1; i < s->n; i++) {
        const struct event *e = member_of(s, i);
        follows[i] = 0;
        for (set m = row(before, i); m; m &= m - 1) {
            unsigned k = first(m);
            follows[i] |= member_of(s, k)->thread == e->thread && member_of(s, k)->po > e->po ? one(k) : 0;
        }
        follows[i] |= s->writes & one(i) ? s->co[i] & row(s->strong, i) : 0;
        follows[i] |= s->reads & one(i) ? s->co[e->rf] & row(s->strong, i) & ~one(i) : 0;
    }
    for (set m = s->reads; m; m &= m - 1) {
        unsigned r = first(m), w = member_of(s, r)->rf;
        if (row(s->strong, r) & one(w))
            follows[w] |= one(r);
    }
    for (unsigned k = 1; k < s->n; k++)
        for (unsigned i = 1; i < s->n; i++)
            if (follows[i] & one(k))
                follows[i] |= follows[k];
    for (unsigned i = 1; i < s->n; i++)
        if (follows[i] & one(i))
            return false;
    return true;
}

/* Where all accesses of different threads are morally strong, or none are, the other axioms imply it. */
static bool needs_sequential(const struct graph_location *l)
{
    return l->some_strong && l->some_weak;
}

static void copy_order(struct search_order *to, const struct search_order *from)
{
    memcpy(to, from, offsetof(struct search_order, co));
    memcpy(to->co, from->co, from->n * sizeof *to->co);
    memcpy(to->never, from->never, from->n * sizeof *to->never);
}

static bool has_order(const struct search_order *s, const members *before, bool sequential);

/* One in which a is before b, too. Pairs of many writes are many: what is tried for each is not on the stack. */
static bool has_order_with(const struct search_order *s, unsigned a, unsigned b, const members *before, bool sequential)
{
    struct search_order *t = memory_grow(NULL, 1, sizeof *t);
    copy_order(t, s);
    bool has = put(t, a, b) && force(t) && has_order(t, before, sequential);
    free(t);
    return has;
}

/* Is there a coherence order that has what `s` has? Two morally strong writes are ordered; those that causality orders are, as it
 * does. */
static bool has_order(const struct search_order *s, const members *before, bool sequential)
{
    for (set m = s->writes & ~one(INITIAL); m; m &= m - 1) {
        unsigned a = first(m);
        for (set o = m & (m - 1) & row(s->strong, a) & ~s->co[a]; o; o &= o - 1) {
            unsigned b = first(o);
            if (!(s->co[b] & one(a)))
                return has_order_with(s, a, b, before, sequential) || has_order_with(s, b, a, before, sequential);
        }
    }
    if (sequential && !is_sequential(s, before))
        return false;
    if (s->found)
        copy_rows(s->found, s->co, s->n);
    return true;
}

/* Lets the order have what follows of it; false where that is a circle. */
static bool close_order(struct search_order *s)
{
    for (set k = s->writes; k; k &= k - 1) {
        unsigned via = first(k);
        for (set m = s->writes; m; m &= m - 1) {
            unsigned w = first(m);
            s->co[w] |= s->co[w] & one(via) ? s->co[via] : 0;
        }
    }
    for (set m = s->writes; m; m &= m - 1)
        if (s->co[first(m)] & m & -m)
            return false;
    return true;
}

/* What was forced when the location was checked before, which stays as all axioms are monotone, and what follows of causality now. */
static bool begin_order(const struct graph *g, uint16_t location, struct search_order *s)
{
    const struct graph_location *l = &g->locations[location];
    const members *co = graph_rows(g, g->co, location);
    bool more = false;
    s->cause = graph_rows(g, g->cause, location);
    s->strong = graph_rows(g, g->strong, location);
    s->events = g->events;
    s->members = g->members + (size_t)location * g->members_room;
    s->writes = (set)(l->writes | l->unvalued);
    s->reads = (set)l->reads;
    s->n = l->n;
    s->found = NULL;
    s->grew = false;
    for (unsigned i = 0; i < s->n; i++)
        s->co[i] = s->never[i] = 0;
    for (set m = s->writes; m; m &= m - 1) {
        unsigned w = first(m);
        s->co[w] = row(co, w) | (w == INITIAL ? s->writes & ~one(INITIAL) : row(s->cause, w) & s->writes);
        more |= s->co[w] != row(co, w);
    }
    return (!more || close_order(s)) && force(s);
}

static bool check_location(struct graph *g, uint16_t location)
{
    struct search_order s;
    find_causality(g, location);
    const members *cause = graph_rows(g, g->cause, location);
    for (set m = (set)g->locations[location].reads; m; m &= m - 1) {
        unsigned r = first(m);
        if (row(cause, r) & one(g->events[graph_member(g, location, r)].rf)) /* axiom Causality, its first part */
            return false;
    }
    if (!begin_order(g, location, &s))
        return false;
    copy_rows(graph_rows(g, g->co, location), s.co, s.n);
    return has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

static members choices(const struct graph *g, uint16_t event)
{
    const struct event *r = &g->events[event];
    const struct graph_location *l = &g->locations[r->location];
    const members *cause = graph_rows(g, g->cause, r->location), *co = graph_rows(g, g->co, r->location);
    set hidden = 0, before = 0, may = (set)(l->writes & ~r->excluded) & ~row(cause, r->member);
    for (set m = (set)(l->writes | l->unvalued); m; m &= m - 1)
        before |= row(cause, first(m)) & one(r->member) ? m & -m : 0;
    for (set m = may; m; m &= m - 1)
        hidden |= row(co, first(m)) & before & ~one(INITIAL) ? m & -m : 0;
    return may & ~hidden;
}

static members taken_by_others(const struct graph *g, uint16_t event)
{
    const struct event *r = &g->events[event];
    const struct graph_location *l = &g->locations[r->location];
    const members *co = graph_rows(g, g->co, r->location), *strong = graph_rows(g, g->strong, r->location);
    set taken = 0;
    for (set m = (set)(l->reads & l->writes) & row(strong, r->member); m; m &= m - 1) {
        unsigned other = first(m), from = g->events[graph_member(g, r->location, other)].rf;
        if (row(co, from) & one(other) && (from == INITIAL || row(strong, from) & one(r->member)))
            taken |= one(from);
    }
    return taken;
}

/* ---- 8.2 final values ---- */

static members may_be_last(const struct graph *g, uint16_t location)
{
    const members *co = graph_rows(g, g->co, location);
    set last = 0;
    for (set m = (set)g->locations[location].writes; m; m &= m - 1)
        last |= row(co, first(m)) ? 0 : m & -m;
    return last;
}

/* Is there an order in which nothing follows any of the writes? */
static bool is_order_with_last(const struct graph *g, uint16_t location, const struct search_order *from, set writes)
{
    struct search_order s;
    copy_order(&s, from);
    for (set m = writes; m; m &= m - 1)
        s.never[first(m)] = ~(set)0;
    for (set m = writes; m; m &= m - 1) {
        unsigned w = first(m);
        for (set o = s.writes & row(s.strong, w) & ~one(w); o; o &= o - 1)
            if (!put(&s, first(o), w))
                return false;
    }
    return force(&s) && has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

static members last(const struct graph *g, uint16_t location)
{
    struct search_order s;
    set all = 0, may = (set)may_be_last(g, location);
    if (!(may & (may - 1)))
        return may;
    if (!begin_order(g, location, &s))
        return 0;
    for (set m = may; m; m &= m - 1)
        all |= is_order_with_last(g, location, &s, m & -m) ? m & -m : 0;
    return all;
}

static bool are_last(const struct graph *g, uint16_t location, members writes)
{
    struct search_order s;
    return !(writes & ~may_be_last(g, location)) &&
           (!writes || (begin_order(g, location, &s) && is_order_with_last(g, location, &s, (set)writes)));
}

static bool find_order(const struct graph *g, uint16_t location, members last, members *co)
{
    struct search_order s;
    if (!begin_order(g, location, &s))
        return false;
    s.found = co;
    return is_order_with_last(g, location, &s, (set)last);
}

const struct coherence coherence_narrow = {check_location, find_causality, choices,  taken_by_others,
                                           may_be_last,    last,           are_last, find_order};
