/* Vector clocks that share structure; see clock.h and clock_tree.h. */
#include "check/order/clock.h"

#include <stdlib.h>

#include "base/bits.h"
#include "check/order/clock_tree.h"

void clock_release_times(struct clock *c, uint32_t times)
{
    if (c && times && atomic_fetch_sub_explicit(&c->refs, times, memory_order_acq_rel) == times) {
        clock_node_release(c->root);
        free(c);
    }
}

/* The root of the join of two clocks, of which the first includes `old` (or NULL). False without memory. */
static bool join_roots(const struct clock *a, const struct clock *b, const struct clock *old,
                       struct clock_subtree *root)
{
    *root = (struct clock_subtree){a->root ? a->root : b->root, false};
    return !a->root || !b->root || clock_nodes_join(a->root, b->root, old ? old->root : NULL, root);
}

/* Replaces *c by a clock with this root, which it consumes. */
static bool put(struct clock **c, struct clock_subtree root, uint64_t lineage, uint64_t place)
{
    struct clock *fresh = malloc(sizeof *fresh);
    if (!fresh) {
        clock_subtree_drop(root);
        return false;
    }
    *fresh = (struct clock){.refs = 1, .lineage = lineage, .place = place, .root = clock_subtree_take(root)};
    clock_replace(c, fresh);
    return true;
}

/* May it be changed in place, as nobody else refers to it? */
static bool is_own(const struct clock *c)
{
    return atomic_load_explicit(&c->refs, memory_order_acquire) == 1 && !c->lineage;
}

static bool put_joined(struct clock **c, struct clock_subtree root)
{
    if (!is_own(*c))
        return put(c, root, 0, 0);
    struct clock_node *old = (*c)->root;
    (*c)->root = clock_subtree_take(root);
    clock_node_release(old);
    return true;
}

static bool put_extended(struct clock **c, struct clock_subtree root)
{
    static _Atomic uint64_t lineages;
    struct clock *old = *c;
    if (old->lineage && !atomic_exchange_explicit(&old->extended, true, memory_order_relaxed))
        return put(c, root, old->lineage, old->place + 1);
    return put(c, root, 1 + atomic_fetch_add_explicit(&lineages, 1, memory_order_relaxed), 0);
}

/* Joins without looking at entries; true where that is enough. */
static bool join_at_once(struct clock **c, struct clock *with)
{
    if (!with || clock_goes_on(with, *c))
        return true;
    if (*c && !clock_goes_on(*c, with))
        return false;
    clock_replace(c, clock_ref(with));
    return true;
}

bool clock_join(struct clock **c, struct clock *with)
{
    return clock_join_since(c, with, NULL);
}

bool clock_join_since(struct clock **c, struct clock *with, const struct clock *old)
{
    struct clock_subtree root;
    if (join_at_once(c, with))
        return true;
    if (!join_roots(*c, with, old, &root))
        return false;
    if (root.node == (*c)->root)
        return true;
    if (root.node != with->root)
        return put_joined(c, root);
    clock_replace(c, clock_ref(with));
    return true;
}

bool clock_extend(struct clock **c, struct clock *with)
{
    struct clock_subtree root;
    return join_at_once(c, with) ||
           (join_roots(*c, with, NULL, &root) && (root.node == (*c)->root || put_extended(c, root)));
}

/* Adds a tree, whose reference it consumes. */
static bool add_node(struct clock **c, struct clock_node *n)
{
    static const struct clock nothing = {0};
    struct clock_subtree root;
    bool ok = n && join_roots(*c ? *c : &nothing, &(struct clock){.root = n}, NULL, &root);
    if (ok && !*c)
        ok = put(c, root, 0, 0);
    else if (ok && root.node != (*c)->root)
        ok = put_joined(c, root);
    clock_node_release(n);
    return ok;
}

bool clock_add_block(struct clock **c, uint32_t incarnation, uint32_t frontier)
{
    return frontier == 0 || add_node(c, clock_node_new(CLOCK_BLOCK, clock_key(incarnation, 0, 0), frontier, 0));
}

bool clock_add_warp(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t frontier)
{
    return frontier == 0 || add_node(c, clock_node_new(CLOCK_WARP, clock_key(incarnation, warp, 0), frontier, 0));
}

bool clock_add_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier)
{
    struct clock_node *n = clock_node_new(CLOCK_WARP, clock_key(incarnation, warp, 0), 0, 1u << lane);
    if (n)
        n->lane[0] = frontier;
    return add_node(c, n);
}

bool clock_add_lanes(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t lanes, const uint32_t *frontier)
{
    uint32_t count = 0;
    EACH_BIT(l, lanes)
        lanes = frontier[l] ? lanes : lanes & ~(1u << l);
    if (!lanes)
        return true;
    struct clock_node *n = clock_node_new(CLOCK_WARP, clock_key(incarnation, warp, 0), 0, lanes);
    EACH_BIT(l, n ? lanes : 0)
        n->lane[count++] = frontier[l];
    return add_node(c, n);
}

bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark)
{
    struct clock_node *marked = NULL;
    if (!what || !what->root)
        return true;
    if (!clock_nodes_mark(what->root, clock_key(mark, 0, 0), &marked))
        return false;
    return !marked || add_node(c, marked);
}

/* ---- asking ---- */

uint32_t clock_before(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t lanes, uint32_t epoch)
{
    return c ? clock_nodes_before(c->root, clock_key(incarnation, warp, 0), lanes, epoch) : 0;
}

void clock_frontiers(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t frontier[])
{
    if (c)
        clock_nodes_frontiers(c->root, clock_key(incarnation, warp, 0), frontier);
}
