/* Vector clocks. An entry belongs to a block, a warp or one thread, and has a frontier: their
 * accesses in epochs below it happen before whatever has the clock.
 *
 * Clocks are immutable. Their entries are in a tree whose nodes clocks share (clock_tree.h): a
 * clock with one entry more than another has a few nodes of its own, and a join costs as much as
 * the two differ. So a lock that N threads hand on costs O(log N) each time. The entries of a few
 * threads stand beside the tree, so that most hand-overs make no nodes.
 *
 * Some clocks have a *lineage*: a sequence of clocks each of which includes the ones before it,
 * like the releases at a lock. Two clocks of one lineage are compared and joined in O(1).
 *
 * Thread-safe: a clock does not change, and references are counted atomically.
 */
#ifndef HEDDLE_CHECK_CLOCK_H
#define HEDDLE_CHECK_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Frontiers of single threads, in the order of their keys, each above what the tree has for it. */
enum { CLOCK_FEW = 16 };
struct clock_few {
    uint32_t n, frontier[CLOCK_FEW];
    uint64_t key[CLOCK_FEW];
};

/* Threads are named by their CTA incarnation (order.h), numbered from 1 in 28 bits, their warp and
 * their lane. */
struct clock {
    _Atomic uint32_t refs;
    _Atomic bool extended;   /* its lineage has a later one */
    uint64_t lineage;        /* or 0 */
    uint64_t place;          /* in the lineage */
    struct clock_node *root; /* or NULL */
    struct clock_few few;
};

/* NULL is the empty clock, here and below. */
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
/* Consumes the reference to `with`. */
static inline void clock_replace(struct clock **to, struct clock *with)
{
    clock_release(*to);
    *to = with;
}

/* Does a clock include another one of its lineage? False where they have none in common. */
static inline bool clock_goes_on(const struct clock *earlier, const struct clock *c)
{
    return c && earlier &&
           (c == earlier || (c->lineage && c->lineage == earlier->lineage && c->place >= earlier->place));
}

/* These replace *c by its join with another clock. False without memory: then *c includes less than
 * it should. */
bool clock_join(struct clock **c, struct clock *with);
/* The same where *c includes `old` (or NULL): costs as much as `with` differs from `old`. */
bool clock_join_since(struct clock **c, struct clock *with, const struct clock *old);
/* The same; the result is the next of the lineage of *c. */
bool clock_extend(struct clock **c, struct clock *with);
/* By one lane. */
bool clock_extend_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
/* Add an entry: for all threads of a block; of a warp; for some lanes of a warp, each with its own
 * frontier. */
bool clock_add_block(struct clock **c, uint32_t incarnation, uint32_t frontier);
bool clock_add_warp(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t frontier);
bool clock_add_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
bool clock_add_lanes(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t lanes, const uint32_t *frontier);

/* Adds the entries of another clock under other numbers: of incarnations with a mark, a bit of
 * CLOCK_MARKS. Entries that have one are left out. */
enum { CLOCK_MARKS_BIT = 26, CLOCK_MARKS = 7 << CLOCK_MARKS_BIT };
bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark);

/* Raises frontiers, by lane, to those that the clock has for a warp. */
void clock_frontiers(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t frontier[]);

/* Of lanes of a warp, those whose accesses in this epoch happen before. */
uint32_t clock_before(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t lanes, uint32_t epoch);

#endif
