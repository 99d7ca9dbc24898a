/* An execution, or a prefix of one, as a graph: events by thread in program order, the write that
 * each read reads from, and the derived orders: base causality as a vector clock for each event,
 * and, for each location, which members precede which.
 *
 * A graph consists of plain arrays of numbers, so that the search branches by copying it. It knows
 * no instructions: events come from runs (thread.h), axioms from model.h. */
#ifndef HEDDLE_EXPLORE_GRAPH_H
#define HEDDLE_EXPLORE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/program.h"
#include "ir/mem_access.h"

enum graph_kind {
    GRAPH_PENDING, /* its place or value is not known yet */
    GRAPH_READ,
    GRAPH_WRITE,
    GRAPH_UPDATE, /* an atomic read-modify-write: one operation (PTX ISA 9.0, 8.3) */
    GRAPH_FENCE,
    GRAPH_MEET,    /* a barrier, or an event that stands for a meeting: see graph_meet() */
    GRAPH_NOTHING, /* no operation */
};

enum { NO_MEMBER = 65535, INITIAL = 0, MAX_MEMBERS = 1024, MAX_FENCES = 256 };

/* A set of a location's members has g->words words, enough for the graph's fullest location; almost
 * always one. Operations work word by word: FOR_MEMBERS visits the members of the set whose word
 * `k` the expression gives. It consists of two loops, so do not use break in it. */
enum { MAX_WORDS = MAX_MEMBERS / 64 };
#define FOR_MEMBERS(m, k, n_words, word)                                                                               \
    for (unsigned k = 0, m = 0; k < (n_words); k++)                                                                    \
        for (uint64_t m##_left = (word); m##_left && (m = 64 * k + (unsigned)__builtin_ctzll(m##_left), true);         \
             m##_left &= m##_left - 1)

struct event {
    /* po: its position in the thread; thread NO_EVENT: it stands for a meeting. */
    uint16_t thread, po;
    uint16_t location;
    uint16_t member;            /* its number within the location; 0 is the initial value */
    uint16_t rf;                /* the member that it reads from; NO_MEMBER: not decided */
    uint8_t kind, order, scope; /* enum ir_order, enum scope */
    bool strong, red;
    bool reads, writes; /* it will read; it writes, as far as is known */
    bool valued;        /* the value that it writes is known */
    uint16_t edges;     /* 1 + its newest synchronizes-with edge */
    uint16_t met;       /* barriers: the meeting that it belongs to; NO_EVENT: none yet */
    /* barriers: an arrival that was passed over does not meet only events up to this one. */
    uint16_t passed;
    uint64_t read, wrote;
};

/* Sets of a location's members, for each event. */
enum graph_event_set {
    OBSERVED, /* those that precede it in observation order */
    EXCLUDED, /* those that it does not read from, because it waits for others */
    EVENT_SETS
};

struct edge {
    uint16_t to, next;
};

/* Sets of a location's members, for each location. */
enum graph_location_set {
    READS, /* complete reads */
    WRITES,
    PENDING,  /* reads that are not decided */
    UNVALUED, /* writes whose value is not known */
    LOCATION_SETS
};

struct graph_location {
    uint16_t id, n;
    bool dirty;
    /* Iterations with atomic operations on it were left out (skipped_atomics.c). */
    bool left_out;
    /* Pairs of accesses by different threads: some are morally strong; some are not. */
    bool some_strong, some_weak;
};

struct graph {
    uint16_t n_events, n_threads, n_locations, n_edges;
    uint16_t events_room, po_room, locations_room, edges_room, members_room;
    struct event *events;
    /* event e's clock has n_threads numbers; x is before e if clock[e][thread of x] > po of x */
    uint16_t *clocks;
    uint16_t *by_po;   /* events of thread t, from t * po_room on */
    uint16_t *n_by_po; /* number of events by thread */
    struct edge *edges;
    uint16_t *location_of; /* by the program's number: 1 + the number here */
    uint16_t location_of_room;
    struct graph_location *locations;
    /* events of location l, from l * members_room on; [0] is the initial value */
    uint16_t *members;
    uint16_t words;          /* length of a set */
    uint64_t *event_sets;    /* sets of event e, from e * EVENT_SETS on */
    uint64_t *location_sets; /* the same for locations */
    /* a row for each member, indexed like `members`: those that it is morally strong with */
    uint64_t *strong;
    /* rows of followers: base causality; causality; coherence as far as it is forced */
    uint64_t *before, *cause, *co;
    uint16_t fences[MAX_FENCES]; /* fences of order .sc */
    uint16_t n_fences;
    bool meets;          /* there are events of kind GRAPH_MEET */
    bool cyclic;         /* base causality has a circle */
    const char *exceeds; /* which limit of the tables was exceeded; NULL: none */
};

/* The positions of threads in the grid, by which model.c compares scopes. level[a * n + b]: the
 * smallest scope that includes both. */
struct threads {
    uint16_t n;
    const uint8_t *level;
};

void graph_begin(struct graph *g, uint16_t n_threads);
void graph_free(struct graph *g);
void graph_copy(struct graph *to, const struct graph *from);

/* Adds the next event of a thread, GRAPH_PENDING. */
uint16_t graph_add(struct graph *g, uint16_t thread);
/* Adds an event that stands for a meeting, and belongs to no thread. */
uint16_t graph_meet(struct graph *g);
/* Gives an event its location, and makes it a member there. */
void graph_place(struct graph *g, const struct threads *t, uint16_t event, uint16_t location);
/* Orders x, and everything that it follows, before y. */
void graph_order(struct graph *g, uint16_t x, uint16_t y);

static inline uint16_t *graph_clock(const struct graph *g, uint16_t event)
{
    return g->clocks + (size_t)event * g->n_threads;
}
static inline uint16_t graph_event(const struct graph *g, uint16_t thread, uint16_t po)
{
    return g->by_po[(size_t)thread * g->po_room + po];
}
/* Base causality: is x before y? */
static inline bool graph_precedes(const struct graph *g, uint16_t x, uint16_t y)
{
    const struct event *e = &g->events[x];
    return x != y && graph_clock(g, y)[e->thread] > e->po;
}
/* Base causality: is x before everything that a thread does after its events so far? */
static inline bool graph_precedes_rest(const struct graph *g, uint16_t x, uint16_t thread)
{
    const struct event *e = &g->events[x];
    uint16_t n = g->n_by_po[thread];
    return n && graph_clock(g, graph_event(g, thread, n - 1))[e->thread] > e->po;
}
static inline uint16_t graph_member(const struct graph *g, uint16_t location, unsigned member)
{
    return g->members[(size_t)location * g->members_room + member];
}
static inline uint64_t *graph_rows(const struct graph *g, uint64_t *rows, uint16_t location)
{
    return rows + (size_t)location * g->members_room * g->words;
}
static inline uint64_t *graph_row(const struct graph *g, uint64_t *rows, uint16_t location, unsigned member)
{
    return rows + ((size_t)location * g->members_room + member) * g->words;
}
static inline uint64_t *graph_location_set(const struct graph *g, uint16_t location, enum graph_location_set which)
{
    return g->location_sets + ((size_t)location * LOCATION_SETS + which) * g->words;
}
static inline uint64_t *graph_event_set(const struct graph *g, uint16_t event, enum graph_event_set which)
{
    return g->event_sets + ((size_t)event * EVENT_SETS + which) * g->words;
}

/* ---- sets ---- */

static inline bool has(const uint64_t *set, unsigned member)
{
    return set[member / 64] >> member % 64 & 1;
}
static inline void add_member(uint64_t *set, unsigned member)
{
    set[member / 64] |= 1ull << member % 64;
}
static inline void drop_member(uint64_t *set, unsigned member)
{
    set[member / 64] &= ~(1ull << member % 64);
}
/* Word k of a set with one member. */
static inline uint64_t word_of(unsigned member, unsigned k)
{
    return member / 64 == k ? 1ull << member % 64 : 0;
}
static inline void clear_set(uint64_t *set, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        set[k] = 0;
}
static inline void copy_set(uint64_t *to, const uint64_t *from, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        to[k] = from[k];
}
static inline void join_set(uint64_t *to, const uint64_t *more, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        to[k] |= more[k];
}
static inline void take_from_set(uint64_t *from, const uint64_t *less, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        from[k] &= ~less[k];
}
static inline bool sets_meet(const uint64_t *a, const uint64_t *b, unsigned words)
{
    uint64_t both = 0;
    for (unsigned k = 0; k < words; k++)
        both |= a[k] & b[k];
    return both;
}
static inline unsigned count_members(const uint64_t *set, unsigned words)
{
    unsigned n = 0;
    for (unsigned k = 0; k < words; k++)
        n += (unsigned)__builtin_popcountll(set[k]);
    return n;
}
static inline bool is_empty(const uint64_t *set, unsigned words)
{
    return !sets_meet(set, set, words);
}
/* The first member of a set that is not empty. */
static inline unsigned first_member(const uint64_t *set)
{
    unsigned k = 0;
    while (!set[k])
        k++;
    return 64 * k + (unsigned)__builtin_ctzll(set[k]);
}

#endif
