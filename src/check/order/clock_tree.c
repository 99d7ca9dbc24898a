/* The tree of a vector clock; see clock_tree.h. */
#include "check/order/clock_tree.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "check/order/clock.h"

enum { GROUP_BITS = 4, MOST_SLOTS = 32 };

/* Bits of a key below those that choose a slot of a node of the level. */
static unsigned shift_of(uint32_t level)
{
    return level == CLOCK_WARP    ? 0
           : level == CLOCK_BLOCK ? CLOCK_LANE_BITS
                                  : CLOCK_LANE_BITS + CLOCK_WARP_BITS + GROUP_BITS * (level - 2);
}

static bool is_within(uint64_t key, const struct clock_node *n)
{
    return (key ^ n->key) >> shift_of(n->level + 1) == 0;
}

static unsigned slot_of(uint64_t key, uint32_t level)
{
    return (unsigned)(key >> shift_of(level)) & ((1u << (shift_of(level + 1) - shift_of(level))) - 1);
}

/* The index of a slot that is in the mask. */
static unsigned index_of(const struct clock_node *n, unsigned slot)
{
    return (unsigned)__builtin_popcount(n->mask & ((1u << slot) - 1));
}

/* ---- nodes ---- */

void clock_node_release(struct clock_node *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0, count = __builtin_popcount(n->mask); n->level != CLOCK_WARP && i < count; i++)
        clock_node_release(n->part[i]);
    free(n);
}

struct clock_node *clock_node_new(uint32_t level, uint64_t key, uint32_t frontier, uint32_t mask)
{
    size_t each = level == CLOCK_WARP ? sizeof(uint32_t) : sizeof(struct clock_node *);
    struct clock_node *n = malloc(offsetof(struct clock_node, lane) + (size_t)__builtin_popcount(mask) * each);
    if (!n)
        return NULL;
    atomic_init(&n->refs, 1);
    n->level = level;
    n->key = key >> shift_of(level + 1) << shift_of(level + 1);
    n->frontier = frontier;
    n->mask = mask;
    return n;
}

/* A node in the making. */
struct slots {
    uint32_t frontier, mask, n;
    uint32_t fresh; /* which parts are fresh, by index */
    union {
        uint32_t lane[MOST_SLOTS];
        struct clock_node *part[MOST_SLOTS];
    };
};

static bool is_same(const struct clock_node *n, const struct slots *s)
{
    return n->frontier == s->frontier && n->mask == s->mask &&
           (n->level == CLOCK_WARP ? memcmp(n->lane, s->lane, s->n * sizeof *s->lane) == 0
                                   : memcmp((const void *)n->part, (const void *)s->part, s->n * sizeof *s->part) == 0);
}

static void drop_parts(const struct slots *s)
{
    EACH_BIT(slot, s->fresh)
        clock_node_release(s->part[slot]);
}

/* The node with these slots: `like` or `other` (or NULL) where one is equal, else a fresh one.
 * False without memory. */
static bool finish(const struct slots *s, struct clock_node *like, struct clock_node *other, struct clock_subtree *out)
{
    struct clock_node *same = is_same(like, s)                                            ? like
                              : other && other->level == like->level && is_same(other, s) ? other
                                                                                          : NULL;
    *out = (struct clock_subtree){same, false};
    if (same)
        return true;
    *out = (struct clock_subtree){clock_node_new(like->level, like->key, s->frontier, s->mask), true};
    if (!out->node) {
        drop_parts(s);
        return false;
    }
    if (like->level == CLOCK_WARP) {
        memcpy(out->node->lane, s->lane, s->n * sizeof *s->lane);
        return true;
    }
    for (uint32_t i = 0; i < s->n; i++)
        out->node->part[i] = s->fresh >> i & 1 ? s->part[i] : clock_node_ref(s->part[i]);
    return true;
}

/* ---- joining ---- */

/* The part of a warp that is above a frontier. */
static bool above(struct clock_node *warp, uint32_t frontier, struct clock_subtree *out)
{
    struct slots s = {0};
    *out = (struct clock_subtree){NULL, false};
    if (warp->frontier > frontier) {
        out->node = warp;
        return true;
    }
    for (uint32_t m = warp->mask, i = 0; m; m &= m - 1, i++)
        if (warp->lane[i] > frontier) {
            s.lane[s.n++] = warp->lane[i];
            s.mask |= m & (0 - m);
        }
    return !s.n || finish(&s, warp, NULL, out);
}

static bool join_warps(struct clock_node *a, struct clock_node *b, struct clock_subtree *out)
{
    struct slots s;
    s.frontier = clock_max(a->frontier, b->frontier);
    s.mask = s.n = s.fresh = 0;
    EACH_BIT(slot, a->mask | b->mask) {
        uint32_t x = a->mask >> slot & 1 ? a->lane[index_of(a, slot)] : 0;
        uint32_t y = b->mask >> slot & 1 ? b->lane[index_of(b, slot)] : 0;
        if (clock_max(x, y) > s.frontier) {
            s.lane[s.n++] = clock_max(x, y);
            s.mask |= 1u << slot;
        }
    }
    return finish(&s, a, b, out);
}

/* One of the two may be NULL. `cut`: it may have parts that are not above `frontier`, which are
 * dropped. */
static bool join_parts(struct clock_node *x, bool cut_x, struct clock_node *y, bool cut_y, uint32_t frontier,
                       const struct clock_node *old, struct clock_subtree *out)
{
    struct clock_subtree p = {x, false}, q = {y, false};
    bool ok = (!x || !cut_x || above(x, frontier, &p)) && (!y || !cut_y || above(y, frontier, &q));
    *out = p.node ? p : q;
    if (ok && !(p.node && q.node))
        return true;
    ok = ok && clock_nodes_join(p.node, q.node, old, out);
    struct clock_subtree *same = !ok ? NULL : out->node == p.node ? &p : out->node == q.node ? &q : NULL;
    if (same) {
        *out = *same;
        same->is_fresh = false;
    }
    clock_subtree_drop(p);
    clock_subtree_drop(q);
    return ok;
}

/* `b` is the same group of threads as `a`, or lies within it. `old`, or NULL, is the same group as
 * `b`. */
static bool join_within(struct clock_node *a, struct clock_node *b, const struct clock_node *old,
                        struct clock_subtree *out)
{
    bool peers = a->level == b->level;
    uint32_t b_frontier = peers ? b->frontier : 0, b_mask = peers ? b->mask : 1u << slot_of(b->key, a->level);
    struct slots s;
    s.frontier = clock_max(a->frontier, b_frontier);
    s.mask = s.n = s.fresh = 0;
    EACH_BIT(slot, a->mask | b_mask) {
        struct clock_node *x = a->mask >> slot & 1 ? a->part[index_of(a, slot)] : NULL;
        struct clock_node *y = !(b_mask >> slot & 1) ? NULL : peers ? b->part[index_of(b, slot)] : b;
        const struct clock_node *was = !peers                         ? old
                                       : old && old->mask >> slot & 1 ? old->part[index_of(old, slot)]
                                                                      : NULL;
        struct clock_subtree part;
        if (!join_parts(x, a->frontier < s.frontier, y == was ? NULL : y, b_frontier < s.frontier, s.frontier, was,
                        &part)) {
            drop_parts(&s);
            return false;
        }
        if (part.node) {
            s.fresh |= (uint32_t)part.is_fresh << s.n;
            s.part[s.n++] = part.node;
            s.mask |= 1u << slot;
        }
    }
    return finish(&s, a, b, out);
}

/* Neither lies within the other: a new node for the least group that has both. */
static bool join_apart(struct clock_node *a, struct clock_node *b, struct clock_subtree *out)
{
    uint32_t level = a->level + 1;
    while ((a->key ^ b->key) >> shift_of(level + 1))
        level++;
    unsigned slot_a = slot_of(a->key, level), slot_b = slot_of(b->key, level);
    *out = (struct clock_subtree){clock_node_new(level, a->key, 0, 1u << slot_a | 1u << slot_b), true};
    if (!out->node)
        return false;
    out->node->part[slot_a > slot_b] = clock_node_ref(a);
    out->node->part[slot_a < slot_b] = clock_node_ref(b);
    return true;
}

/* The node of the same group of threads as `n`, or NULL. */
static const struct clock_node *counterpart(const struct clock_node *in, const struct clock_node *n)
{
    while (in && in->level > n->level && is_within(n->key, in)) {
        unsigned slot = slot_of(n->key, in->level);
        in = in->mask >> slot & 1 ? in->part[index_of(in, slot)] : NULL;
    }
    return in && in->level == n->level && in->key == n->key ? in : NULL;
}

bool clock_nodes_join(struct clock_node *a, struct clock_node *b, const struct clock_node *old,
                      struct clock_subtree *out)
{
    *out = (struct clock_subtree){a, false};
    if (a == b || b == old)
        return true;
    if (a->level < b->level)
        return clock_nodes_join(b, a, NULL, out);
    if (!is_within(b->key, a))
        return join_apart(a, b, out);
    return a->level == CLOCK_WARP ? join_warps(a, b, out) : join_within(a, b, counterpart(old, b), out);
}

bool clock_subtree_add(struct clock_subtree *to, struct clock_node *n)
{
    struct clock_subtree was = *to;
    *to = (struct clock_subtree){n, false};
    if (was.node && !clock_nodes_join(was.node, n, NULL, to)) {
        *to = was;
        return false;
    }
    if (to->node == was.node) {
        *to = was;
        return true;
    }
    *to = (struct clock_subtree){clock_subtree_take(*to), true};
    clock_subtree_drop(was);
    return true;
}

/* ---- asking ---- */

uint32_t clock_nodes_before(const struct clock_node *n, uint64_t key, uint32_t lanes, uint32_t epoch)
{
    uint32_t before = 0;
    for (; n && is_within(key, n); n = n->part[index_of(n, slot_of(key, n->level))]) {
        if (epoch < n->frontier)
            return lanes;
        if (n->level == CLOCK_WARP) {
            EACH_BIT(l, n->mask & lanes)
                before |= epoch < n->lane[index_of(n, l)] ? 1u << l : 0;
            return before;
        }
        if (!(n->mask >> slot_of(key, n->level) & 1))
            return 0;
    }
    return 0;
}

static void raise_all(uint32_t frontier[], uint32_t to)
{
    for (unsigned l = 0; l < 1u << CLOCK_LANE_BITS; l++)
        frontier[l] = clock_max(frontier[l], to);
}

void clock_nodes_frontiers(const struct clock_node *n, uint64_t key, uint32_t frontier[])
{
    while (n && is_within(key, n)) {
        raise_all(frontier, n->frontier);
        if (n->level == CLOCK_WARP) {
            for (uint32_t m = n->mask, i = 0; m; m &= m - 1, i++)
                frontier[__builtin_ctz(m)] = clock_max(frontier[__builtin_ctz(m)], n->lane[i]);
            break;
        }
        n = n->mask >> slot_of(key, n->level) & 1 ? n->part[index_of(n, slot_of(key, n->level))] : NULL;
    }
}

/* ---- marks ---- */

bool clock_key_is_marked(uint64_t key)
{
    return key & clock_key(CLOCK_MARKS, 0, 0);
}

bool clock_nodes_mark(const struct clock_node *n, uint64_t mark, struct clock_node **node)
{
    bool is_above = shift_of(n->level + 1) > shift_of(CLOCK_BLOCK + 1) + CLOCK_MARKS_BIT, ok = true;
    struct slots s = {0};
    *node = NULL;
    if (!is_above && clock_key_is_marked(n->key))
        return true;
    for (uint32_t m = n->mask, i = 0; n->level != CLOCK_WARP && m && ok; m &= m - 1, i++) {
        ok = clock_nodes_mark(n->part[i], mark, &s.part[s.n]);
        if (ok && s.part[s.n]) {
            s.fresh |= 1u << s.n++;
            s.mask |= m & (0 - m);
        }
    }
    if (is_above && s.n <= 1 && ok) {
        *node = s.n ? s.part[0] : NULL;
        return true;
    }
    if (ok &&
        (*node = clock_node_new(n->level, n->key | mark, n->frontier, n->level == CLOCK_WARP ? n->mask : s.mask))) {
        if (n->level == CLOCK_WARP)
            memcpy((*node)->lane, n->lane, (size_t)__builtin_popcount(n->mask) * sizeof *n->lane);
        else
            memcpy((void *)(*node)->part, (void *)s.part, s.n * sizeof *s.part);
        return true;
    }
    drop_parts(&s);
    return false;
}
