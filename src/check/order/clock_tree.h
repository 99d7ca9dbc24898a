/* The tree of a vector clock (clock.h): a persistent radix tree over threads, whose nodes clocks
 * share. Private to check/order/clock*.c.
 *
 * Its levels are CUDA's. A node of level 0 is a warp, whose slots are the frontiers of its
 * lanes. A node of level 1 is a block, whose slots are its warps. Above are groups of 16 blocks,
 * groups of 16 such groups, and so on. A node with only one slot and no frontier of its own is
 * omitted. The frontier of a warp or a block holds for all its threads; below it are only higher
 * frontiers. So the form is canonical: trees with equal entries have equal nodes, and a shared
 * node needs no comparison.
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
    uint64_t key; /* the key of its first thread */
    uint32_t frontier;
    uint32_t mask; /* the slots that exist */
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

/* A node with room for the slots of a mask, with one reference for the caller; NULL without
 * memory. */
struct clock_node *clock_node_new(uint32_t level, uint64_t key, uint32_t frontier, uint32_t mask);
void clock_node_release(struct clock_node *n); /* NULL is allowed */
static inline struct clock_node *clock_node_ref(struct clock_node *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

/* The result of a join: an existing node, which is borrowed, or a fresh one with a single
 * reference. */
struct clock_subtree {
    struct clock_node *node; /* or NULL: no entries */
    bool is_fresh;
};
static inline void clock_subtree_drop(struct clock_subtree t)
{
    if (t.is_fresh)
        clock_node_release(t.node);
}
/* The node, with a reference for the caller. */
static inline struct clock_node *clock_subtree_take(struct clock_subtree t)
{
    return t.is_fresh || !t.node ? t.node : clock_node_ref(t.node);
}

/* These return false without memory. This one joins `b` to `a`, which includes `old` (or NULL);
 * subtrees that `b` and `old` share are skipped. */
bool clock_nodes_join(struct clock_node *a, struct clock_node *b, const struct clock_node *old,
                      struct clock_subtree *out);
/* Joins a node to a subtree, which may be empty. The caller keeps its reference to the node. */
bool clock_subtree_add(struct clock_subtree *to, struct clock_node *n);
/* A copy of the unmarked entries, with the mark added. *node is NULL if there are none. */
bool clock_nodes_mark(const struct clock_node *n, uint64_t mark, struct clock_node **node);
bool clock_key_is_marked(uint64_t key);

/* Returns which lanes of the key's warp made their accesses in this epoch before. */
uint32_t clock_nodes_before(const struct clock_node *n, uint64_t key, uint32_t lanes, uint32_t epoch);
/* Raises each lane's frontier to the tree's frontier for that lane of the warp. */
void clock_nodes_frontiers(const struct clock_node *n, uint64_t key, uint32_t frontier[]);
/* The lane of a key. */
static inline unsigned clock_lane(uint64_t key)
{
    return key & ((1u << CLOCK_LANE_BITS) - 1);
}

#endif
