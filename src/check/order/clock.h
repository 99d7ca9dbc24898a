/* Vector clocks. An entry belongs to a block, a warp or a thread, and is a frontier: its accesses
 * in lower epochs happen before whatever has the clock.
 *
 * Clocks are immutable. Their entries are in a tree, and clocks share its nodes (clock_tree.h): a
 * clock with one more entry than another has a few nodes of its own, and a join costs as much as
 * the two differ. So handing a lock on among N threads costs O(log N) each time. The entries of a
 * few threads are stored beside the tree, so that most hand-overs make no nodes.
 *
 * Some clocks have a *lineage*: a sequence of clocks that each include the one before, like the
 * releases at a lock. Two clocks of one lineage are compared and joined in O(1).
 *
 * Thread-safe: a clock does not change, and references are counted atomically.
 */
#ifndef HEDDLE_CHECK_CLOCK_H
#define HEDDLE_CHECK_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Frontiers of single threads, sorted by key, each above the tree's frontier for that thread. */
enum { CLOCK_FEW = 16 };
struct clock_few {
    uint32_t n, frontier[CLOCK_FEW];
    uint64_t key[CLOCK_FEW];
};

/* A thread's key: its CTA incarnation (order.h; 28 bits, from 1), its warp and its lane. */
struct clock {
    _Atomic uint32_t refs;
    _Atomic bool extended;   /* a later clock of its lineage exists */
    uint64_t lineage;        /* or 0 */
    uint64_t place;          /* its position in the lineage */
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
/* Takes over the caller's reference to `with`. */
static inline void clock_replace(struct clock **to, struct clock *with)
{
    clock_release(*to);
    *to = with;
}

/* Does `c` include `earlier`, by their lineage? False if they have none in common. */
static inline bool clock_goes_on(const struct clock *earlier, const struct clock *c)
{
    return c && earlier &&
           (c == earlier || (c->lineage && c->lineage == earlier->lineage && c->place >= earlier->place));
}

/* These replace *c by its join with another clock. False without memory: *c then lacks entries. */
bool clock_join(struct clock **c, struct clock *with);
/* The same if *c already includes `old` (or NULL): costs as much as `with` differs from `old`. */
bool clock_join_since(struct clock **c, struct clock *with, const struct clock *old);
/* The same; the result continues the lineage of *c. */
bool clock_extend(struct clock **c, struct clock *with);
/* Adds one lane, and continues the lineage. */
bool clock_extend_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
/* Add an entry: for all threads of a block; of a warp; for some lanes of a warp, each with its own
 * frontier. */
bool clock_add_block(struct clock **c, uint32_t incarnation, uint32_t frontier);
bool clock_add_warp(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t frontier);
bool clock_add_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier);
bool clock_add_lanes(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t lanes, const uint32_t *frontier);

/* Adds the entries of another clock under marked incarnation numbers: with one of the bits
 * CLOCK_MARKS. Entries that are marked already are left out. */
enum { CLOCK_MARKS_BIT = 26, CLOCK_MARKS = 7 << CLOCK_MARKS_BIT };
bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark);

/* Raises each lane's frontier to the clock's frontier for that lane of the warp. */
void clock_frontiers(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t frontier[]);

/* Returns which of the warp's lanes made their accesses in this epoch before whatever has the
 * clock. */
uint32_t clock_before(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t lanes, uint32_t epoch);

#endif
