/* The axioms of PTX's memory consistency model for one location; see coherence.h. Names and
 * sections are those of PTX ISA 9.0, chapter 8.
 *
 * Everything is sets of members, word by word (graph.h). A set is almost always one word: then
 * WORDS is 1 at compile time. */
#include "explore/coherence.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

#ifdef COHERENCE_WIDE
#define coherence_narrow coherence_wide
#define WORDS(g)         ((g)->words)
enum { MOST_WORDS = MAX_WORDS };
static uint64_t one(unsigned member, unsigned k)
{
    return word_of(member, k);
}
#else
#define WORDS(g) 1u
enum { MOST_WORDS = 1 };
static uint64_t one(unsigned member, unsigned k)
{
    (void)k;
    return 1ull << member;
}
#endif
enum { WIDTH = 64 * MOST_WORDS };

/* A member's row in a table of one location. */
#define ROW(g, rows, member) ((rows) + (size_t)(member) * WORDS(g))

/* ---- 8.9.5 Causality Order ---- */

/* "An operation X precedes an operation Y in causality order if X precedes Y in base causality
 * order, or for some operation Z, X precedes Z in observation order and Z precedes Y in base
 * causality order." Computed for one location at a time, which is all that the axioms use. */
static void find_causality(struct graph *g, uint16_t location)
{
    uint64_t *before = graph_rows(g, g->before, location), *cause = graph_rows(g, g->cause, location);
    memcpy(cause, before, g->locations[location].n * WORDS(g) * sizeof *cause);
    FOR_MEMBERS(z, k, WORDS(g), graph_location_set(g, location, READS)[k])
    {
        const uint64_t *observed = graph_event_set(g, graph_member(g, location, z), OBSERVED);
        FOR_MEMBERS(x, i, WORDS(g), observed[i])
        join_set(ROW(g, cause, x), ROW(g, before, z), WORDS(g));
    }
}

/* ---- 8.9.6 Coherence Order, and the axioms (8.10) ---- */

/* The coherence order of a location while it is searched for. co is transitive; `never` has pairs
   that are ruled out. */
struct search_order {
    const uint64_t *cause, *strong; /* from the graph */
    const struct event *events;
    const uint16_t *members;
    uint64_t *found; /* receives the order that was found; NULL: only its existence is asked for */
    unsigned n, words;
    bool grew;
    uint64_t writes[MOST_WORDS], reads[MOST_WORDS];
    uint64_t co[WIDTH][MOST_WORDS], never[WIDTH][MOST_WORDS]; /* rows of these n members */
};

static const struct event *member_of(const struct search_order *s, unsigned m)
{
    return &s->events[s->members[m]];
}

static bool are_strong(const struct search_order *s, unsigned a, unsigned b)
{
    return has(ROW(s, s->strong, a), b);
}

/* Orders a before b with everything that follows by transitivity; false if that gives a cycle or a
   pair that is ruled out. */
static bool put(struct search_order *s, unsigned a, unsigned b)
{
    uint64_t after[MOST_WORDS];
    if (has(s->co[a], b))
        return true;
    copy_set(after, s->co[b], WORDS(s));
    add_member(after, b);
    FOR_MEMBERS(w, k, WORDS(s), s->writes[k])
    {
        if (w != a && !has(s->co[w], a))
            continue;
        for (unsigned i = 0; i < WORDS(s); i++) {
            s->grew |= (after[i] & ~s->co[w][i]) != 0;
            s->co[w][i] |= after[i];
            if (s->co[w][i] & (one(w, i) | s->never[w][i]))
                return false;
        }
    }
    return true;
}

/* Rules out a before b: if the two must be ordered, b is before a. */
static bool put_never(struct search_order *s, unsigned a, unsigned b)
{
    add_member(s->never[a], b);
    if (has(s->co[a], b))
        return false;
    return !are_strong(s, a, b) || put(s, b, a);
}

/* Adds the order that one read forces. Axiom Causality (8.10.6): if a write precedes a read in
 * causality order, the read does not read from a write that precedes it in coherence order; also,
 * whatever the order, a read does not read from a write that the read precedes in causality order.
 * Axiom Atomicity (8.10.3): no write that is morally strong with an atomic operation is between it
 * and the write it reads from. */
static bool force_read(struct search_order *s, unsigned r)
{
    const struct event *e = member_of(s, r);
    unsigned w = e->rf;
    FOR_MEMBERS(other, k, WORDS(s), s->writes[k] & ~s->never[w][k] & ~one(w, k) & ~one(INITIAL, k))
    if (has(ROW(s, s->cause, other), r) && !put_never(s, w, other))
        return false;
    if (e->kind != GRAPH_UPDATE)
        return true;
    /* By Sequential Consistency per Location, the update follows the write that it reads from. */
    if (are_strong(s, r, w) && !put(s, w, r))
        return false;
    FOR_MEMBERS(other, k, WORDS(s), s->writes[k] & ROW(s, s->strong, r)[k] & ~one(w, k) & ~one(r, k))
    {
        if (has(s->co[w], other) && !put_never(s, other, r))
            return false;
        if (has(s->co[other], r) && !put_never(s, w, other))
            return false;
    }
    return true;
}

static bool force(struct search_order *s)
{
    do {
        s->grew = false;
        FOR_MEMBERS(r, k, WORDS(s), s->reads[k])
        if (!force_read(s, r))
            return false;
    } while (s->grew);
    return true;
}

/* Axiom Sequential Consistency per Location (8.10.5): within any set of overlapping operations that
 * are pairwise morally strong, communication order cannot contradict program order. So program
 * order and the morally strong parts of coherence, reads-from and from-read have no cycle. */
static bool is_sequential(const struct search_order *s, const uint64_t *before)
{
    uint64_t follows[WIDTH][MOST_WORDS];
    for (unsigned i = 1; i < s->n; i++) {
        const struct event *e = member_of(s, i);
        const uint64_t *strong = ROW(s, s->strong, i);
        clear_set(follows[i], WORDS(s));
        FOR_MEMBERS(m, k, WORDS(s), ROW(s, before, i)[k])
        if (member_of(s, m)->thread == e->thread && member_of(s, m)->po > e->po)
            add_member(follows[i], m);
        for (unsigned k = 0; k < WORDS(s) && has(s->writes, i); k++)
            follows[i][k] |= s->co[i][k] & strong[k];
        for (unsigned k = 0; k < WORDS(s) && has(s->reads, i); k++)
            follows[i][k] |= s->co[e->rf][k] & strong[k] & ~one(i, k);
    }
    FOR_MEMBERS(r, k, WORDS(s), s->reads[k])
    {
        unsigned w = member_of(s, r)->rf;
        if (are_strong(s, r, w))
            add_member(follows[w], r);
    }
    for (unsigned k = 1; k < s->n; k++)
        for (unsigned i = 1; i < s->n; i++)
            if (has(follows[i], k))
                join_set(follows[i], follows[k], WORDS(s));
    for (unsigned i = 1; i < s->n; i++)
        if (has(follows[i], i))
            return false;
    return true;
}

/* If all accesses of different threads are morally strong, or none are,
 * the other axioms imply it. */
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

static bool has_order(const struct search_order *s, const uint64_t *before, bool sequential);

/* Is there an order with a before b, too? Allocates its copy, because the search recurses for many
 * pairs of writes. */
static bool has_order_with(const struct search_order *s, unsigned a, unsigned b, const uint64_t *before,
                           bool sequential)
{
    struct search_order *t = memory_grow(NULL, 1, sizeof *t);
    copy_order(t, s);
    bool has = put(t, a, b) && force(t) && has_order(t, before, sequential);
    free(t);
    return has;
}

/* Does a coherence order exist that extends `s`? It orders morally strong writes, and agrees with
 * causality. */
static bool has_order(const struct search_order *s, const uint64_t *before, bool sequential)
{
    FOR_MEMBERS(a, k, WORDS(s), s->writes[k] & ~one(INITIAL, k))
    FOR_MEMBERS(b, i, WORDS(s), s->writes[i] & ROW(s, s->strong, a)[i] & ~s->co[a][i])
    if (b > a && !has(s->co[b], a))
        return has_order_with(s, a, b, before, sequential) || has_order_with(s, b, a, before, sequential);
    if (sequential && !is_sequential(s, before))
        return false;
    for (unsigned m = 0; s->found && m < s->n; m++)
        copy_set(ROW(s, s->found, m), s->co[m], WORDS(s));
    return true;
}

/* Adds what follows by transitivity; false if there is a cycle. */
static bool close_order(struct search_order *s)
{
    FOR_MEMBERS(via, k, WORDS(s), s->writes[k])
    FOR_MEMBERS(w, i, WORDS(s), s->writes[i])
    if (has(s->co[w], via))
        join_set(s->co[w], s->co[via], WORDS(s));
    FOR_MEMBERS(w, k, WORDS(s), s->writes[k])
    if (has(s->co[w], w))
        return false;
    return true;
}

/* Starts from what was forced when the location was last checked, which remains valid because all
 * axioms are monotone, and adds what causality now implies. */
static bool begin_order(const struct graph *g, uint16_t location, struct search_order *s)
{
    const uint64_t *co = graph_rows(g, g->co, location), *writes = graph_location_set(g, location, WRITES),
                   *unvalued = graph_location_set(g, location, UNVALUED);
    bool more = false;
    s->cause = graph_rows(g, g->cause, location);
    s->strong = graph_rows(g, g->strong, location);
    s->events = g->events;
    s->members = g->members + (size_t)location * g->members_room;
    s->n = g->locations[location].n;
    s->words = g->words;
    s->found = NULL;
    s->grew = false;
    copy_set(s->reads, graph_location_set(g, location, READS), WORDS(g));
    for (unsigned k = 0; k < WORDS(g); k++)
        s->writes[k] = writes[k] | unvalued[k];
    for (unsigned i = 0; i < s->n; i++) {
        clear_set(s->co[i], WORDS(g));
        clear_set(s->never[i], WORDS(g));
    }
    FOR_MEMBERS(w, k, WORDS(g), s->writes[k])
    for (unsigned i = 0; i < WORDS(g); i++) {
        uint64_t follow = w == INITIAL ? s->writes[i] & ~one(INITIAL, i) : ROW(g, s->cause, w)[i] & s->writes[i];
        s->co[w][i] = ROW(g, co, w)[i] | follow;
        more |= s->co[w][i] != ROW(g, co, w)[i];
    }
    return (!more || close_order(s)) && force(s);
}

static bool check_location(struct graph *g, uint16_t location)
{
    struct search_order s;
    find_causality(g, location);
    const uint64_t *cause = graph_rows(g, g->cause, location);
    /* Axiom Causality, its first part. */
    FOR_MEMBERS(r, k, WORDS(g), graph_location_set(g, location, READS)[k])
    if (has(ROW(g, cause, r), g->events[graph_member(g, location, r)].rf))
        return false;
    if (!begin_order(g, location, &s))
        return false;
    uint64_t *co = graph_rows(g, g->co, location);
    for (unsigned m = 0; m < s.n; m++)
        copy_set(ROW(g, co, m), s.co[m], WORDS(g));
    return has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

static void find_choices(const struct graph *g, uint16_t event, uint64_t *may)
{
    const struct event *r = &g->events[event];
    const uint64_t *cause = graph_rows(g, g->cause, r->location), *co = graph_rows(g, g->co, r->location);
    const uint64_t *writes = graph_location_set(g, r->location, WRITES),
                   *unvalued = graph_location_set(g, r->location, UNVALUED);
    uint64_t before[MOST_WORDS] = {0}, hidden[MOST_WORDS] = {0};
    for (unsigned k = 0; k < WORDS(g); k++)
        may[k] = writes[k] & ~graph_event_set(g, event, EXCLUDED)[k] & ~ROW(g, cause, r->member)[k];
    FOR_MEMBERS(w, k, WORDS(g), writes[k] | unvalued[k])
    if (w != INITIAL && has(ROW(g, cause, w), r->member))
        add_member(before, w);
    FOR_MEMBERS(w, k, WORDS(g), may[k])
    if (sets_meet(ROW(g, co, w), before, WORDS(g)))
        add_member(hidden, w);
    take_from_set(may, hidden, WORDS(g));
}

static void find_taken(const struct graph *g, uint16_t event, uint64_t *taken)
{
    const struct event *r = &g->events[event];
    const uint64_t *co = graph_rows(g, g->co, r->location), *strong = graph_rows(g, g->strong, r->location);
    const uint64_t *reads = graph_location_set(g, r->location, READS),
                   *writes = graph_location_set(g, r->location, WRITES);
    clear_set(taken, WORDS(g));
    FOR_MEMBERS(other, k, WORDS(g), reads[k] & writes[k] & ROW(g, strong, r->member)[k])
    {
        unsigned from = g->events[graph_member(g, r->location, other)].rf;
        if (has(ROW(g, co, from), other) && (from == INITIAL || has(ROW(g, strong, from), r->member)))
            add_member(taken, from);
    }
}

/* ---- 8.2 final values ---- */

static void find_may_be_last(const struct graph *g, uint16_t location, uint64_t *last)
{
    const uint64_t *co = graph_rows(g, g->co, location);
    clear_set(last, WORDS(g));
    FOR_MEMBERS(w, k, WORDS(g), graph_location_set(g, location, WRITES)[k])
    if (is_empty(ROW(g, co, w), WORDS(g)))
        add_member(last, w);
}

/* Does an order exist in which no other write follows any of these? */
static bool is_order_with_last(const struct graph *g, uint16_t location, const struct search_order *from,
                               const uint64_t *writes)
{
    struct search_order s;
    copy_order(&s, from);
    FOR_MEMBERS(w, k, WORDS(g), writes[k])
    memset(s.never[w], 0xff, sizeof s.never[w]);
    FOR_MEMBERS(w, k, WORDS(g), writes[k])
    FOR_MEMBERS(other, i, WORDS(g), s.writes[i] & ROW(g, s.strong, w)[i] & ~one(w, i))
    if (!put(&s, other, w))
        return false;
    return force(&s) && has_order(&s, graph_rows(g, g->before, location), needs_sequential(&g->locations[location]));
}

static void find_last(const struct graph *g, uint16_t location, uint64_t *last)
{
    struct search_order s;
    uint64_t may[MOST_WORDS];
    find_may_be_last(g, location, may);
    copy_set(last, may, WORDS(g));
    if (count_members(may, WORDS(g)) < 2)
        return;
    clear_set(last, WORDS(g));
    if (!begin_order(g, location, &s))
        return;
    FOR_MEMBERS(w, k, WORDS(g), may[k])
    {
        uint64_t alone[MOST_WORDS] = {0};
        add_member(alone, w);
        if (is_order_with_last(g, location, &s, alone))
            add_member(last, w);
    }
}

static bool are_last(const struct graph *g, uint16_t location, const uint64_t *writes)
{
    struct search_order s;
    uint64_t may[MOST_WORDS];
    find_may_be_last(g, location, may);
    for (unsigned k = 0; k < WORDS(g); k++)
        if (writes[k] & ~may[k])
            return false;
    return is_empty(writes, WORDS(g)) || (begin_order(g, location, &s) && is_order_with_last(g, location, &s, writes));
}

static bool find_order(const struct graph *g, uint16_t location, const uint64_t *last, uint64_t *co)
{
    struct search_order s;
    if (!begin_order(g, location, &s))
        return false;
    s.found = co;
    return is_order_with_last(g, location, &s, last);
}

const struct coherence coherence_narrow = {check_location,   find_causality, find_choices, find_taken,
                                           find_may_be_last, find_last,      are_last,     find_order};
