/* The tree of a vector clock (clock.h): a persistent radix tree over threads, whose nodes clocks share. Private to clock.c and clock_tree.c.
 *
 * Its levels are CUDA's: a node of level 0 is a warp, whose slots are the frontiers of its lanes; of level 1 a block, whose slots are its
 * warps; above it are groups of 16 blocks, of 16 such groups, and so on. A node that would have one slot and no frontier of its own is left
 * out. The frontier of a warp or a block holds of all its threads, and frontiers below it are above it: so what says the same is built in
 * the same way, and where two trees have the same node they say the same.
 */
#ifndef HEDDLE_CHECK_CLOCK_TREE_H
#define HEDDLE_CHECK_CLOCK_TREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_WARP, CLOCK_BLOCK, CLOCK_LANE_BITS = 5, CLOCK_WARP_BITS = 5 };

struct clock_node {
    _Atomic uint32_t refs;
    uint32_t level;
    uint64_t key; /* of its first thread */
    uint32_t frontier;
    uint32_t mask; /* slots that there are */
    union {
        uint32_t lane[1];           /* level 0 */
        struct clock_node *part[1]; /* other levels */
    };
};

static inline uint64_t clock_key(uint32_t incarnation, unsigned warp, unsigned lane)
{
    return ((uint64_t)incarnation << CLOCK_WARP_BITS | warp) << CLOCK_LANE_BITS | lane;
}

static inline uint32_t clock_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* One with room for the slots of a mask; NULL without memory. The caller has its reference. */
struct clock_node *clock_node_new(uint32_t level, uint64_t key, uint32_t frontier, uint32_t mask);
void clock_node_release(struct clock_node *n); /* NULL is allowed */
static inline struct clock_node *clock_node_ref(struct clock_node *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

/* What a join gives: a node that was there, and is lent, or a fresh one, of which it has the only reference. */
struct clock_subtree {
    struct clock_node *node; /* or NULL: nothing is known */
    bool is_fresh;
};
static inline void clock_subtree_drop(struct clock_subtree t)
{
    if (t.is_fresh)
        clock_node_release(t.node);
}
/* The caller has a reference then. */
static inline struct clock_node *clock_subtree_take(struct clock_subtree t)
{
    return t.is_fresh || !t.node ? t.node : clock_node_ref(t.node);
}

/* All of these are false where memory ran out. `b` joins `a`, which has all in it that `old` says (or NULL): parts that `b` and `old`
 * share are left out. */
bool clock_nodes_join(struct clock_node *a, struct clock_node *b, const struct clock_node *old,
                      struct clock_subtree *out);
/* A node, whose reference stays the caller's, joins a tree, or nothing. */
bool clock_subtree_add(struct clock_subtree *to, struct clock_node *n);
/* A copy of what a tree says of threads that have no mark, where they have one. *node: NULL, where it says nothing of them. */
bool clock_nodes_mark(const struct clock_node *n, uint64_t mark, struct clock_node **node);
bool clock_key_is_marked(uint64_t key);

/* Of lanes of the warp of a key: those whose accesses of this epoch are before. */
uint32_t clock_nodes_before(const struct clock_node *n, uint64_t key, uint32_t lanes, uint32_t epoch);
/* Raises frontiers, by lane, to what the tree says of the warp. */
void clock_nodes_frontiers(const struct clock_node *n, uint64_t key, uint32_t frontier[]);
/* The lane of a key. */
static inline unsigned clock_lane(uint64_t key)
{
    return key & ((1u << CLOCK_LANE_BITS) - 1);
}

#endif
