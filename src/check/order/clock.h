/* Vector clocks: what is known of other threads at a moment. An entry says of a set of threads, a block, a warp or one thread, that all
 * of their accesses with an epoch below a frontier happen before that moment.
 *
 * A clock never changes once it is made. Its entries are in a tree of nodes that clocks share: a clock that says one thing more
 * than another one has a few nodes of its own, and to join two costs as much as they differ. Handing a lock on through N threads
 * costs log N a time in this way, where N of them are told apart. What few threads have said last stands beside the tree, so that most
 * turns make no nodes.
 *
 * Some clocks have a *lineage*: a line of clocks each of which says all that those before it say, as the releases at a lock do. Two
 * clocks of one lineage are compared, and joined, at once.
 *
 * Thread-safe: what is in a clock does not change, and references are counted atomically.
 */
#ifndef HEDDLE_CHECK_CLOCK_H
#define HEDDLE_CHECK_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Floors of single threads, sorted by thread, each above what a tree says of it. */
enum { CLOCK_FEW = 16 };
struct clock_few {
    uint32_t n, frontier[CLOCK_FEW];
    uint64_t key[CLOCK_FEW];
};

/* A block's run is an incarnation, numbered from 1 (clocks have room for 28 bits); an epoch is a moment of it (order.h). */
struct clock {
    _Atomic uint32_t refs;
    _Atomic bool extended;   /* its lineage has a later one */
    uint64_t lineage;        /* or 0 */
    uint64_t place;          /* in the lineage */
    struct clock_node *root; /* or NULL */
    struct clock_few few;
};

/* NULL, which knows nothing, is allowed here and below. */
static inline struct clock *clock_ref_times(struct clock *c, uint32_t times)
{
    if (c)
        atomic_fetch_add_explicit(&c->refs, times, memory_order_relaxed);
    return c;
}
static inline struct clock *clock_ref(struct clock *c)
{
    return clock_ref_times(c, 1);
}
void clock_release_times(struct clock *c, uint32_t times);
static inline void clock_release(struct clock *c)
{
    clock_release_times(c, 1);
}
/* Its reference goes to *to. */
static inline void clock_replace(struct clock **to, struct clock *with)
{
    clock_release(*to);
    *to = with;
}

/* Does a clock say all that an earlier one of its lineage does? False where they are of none, too. */
static inline bool clock_goes_on(const struct clock *earlier, const struct clock *c)
{
    return c && earlier &&
           (c == earlier || (c->lineage && c->lineage == earlier->lineage && c->place >= earlier->place));
}

/* These put another clock in the place of *c, to which the caller's reference goes. False where memory ran out: then *c knows less
 * than it should. */
bool clock_join(struct clock **c, struct clock *with);
/* The same where *c has all in it that `old` says (or NULL): it costs as much as `with` differs from that. */
bool clock_join_since(struct clock **c, struct clock *with, const struct clock *old);
/* The same; it goes on with the lineage of *c, and is the one that does. */
bool clock_extend(struct clock **c, struct clock *with);
/* By the frontier of one lane. */
bool clock_extend_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
/* All threads of a block; those of a warp; some lanes of a warp, each its own frontier. */
bool clock_add_block(struct clock **c, uint32_t incarnation, uint32_t frontier);
bool clock_add_warp(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t frontier);
bool clock_add_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
bool clock_add_lanes(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t lanes, const uint32_t *frontier);

/* What another clock says of incarnations, as of those that have a mark besides: a bit of CLOCK_MARKS. Of incarnations that have one, nothing. */
enum { CLOCK_MARKS_BIT = 26, CLOCK_MARKS = 7 << CLOCK_MARKS_BIT };
bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark);

/* Raises frontiers, by lane, to what it says of a warp's lanes. */
void clock_frontiers(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t frontier[]);

/* Of lanes of a warp, with accesses of this epoch: those that happen before. */
uint32_t clock_before(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t lanes, uint32_t epoch);

#endif
