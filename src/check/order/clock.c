/* Vector clocks that share structure; see clock.h and clock_tree.h. */
#include "check/order/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "check/order/clock_tree.h"

/* ---- threads beside the tree ---- */

/* The result of a join in the making. Threads that there is no room for are moved into the tree. */
struct sum {
    struct clock_subtree root;
    uint32_t n, frontier[2 * CLOCK_FEW];
    uint64_t key[2 * CLOCK_FEW];
};

/* Threads come in the order of their keys. One that the tree includes already is left out. */
static void put_thread(struct sum *s, uint64_t key, uint32_t frontier, bool is_above)
{
    if (!is_above && (!frontier || clock_nodes_before(s->root.node, key, 1u << clock_lane(key), frontier - 1)))
        return;
    s->key[s->n] = key;
    s->frontier[s->n++] = frontier;
}

/* The tree of the sum is the join of those of `a` and `b`. */
static void join_few(struct sum *s, const struct clock *a, const struct clock *b)
{
    const struct clock_few *x = &a->few, *y = &b->few;
    bool above_a = s->root.node == a->root, above_b = s->root.node == b->root;
    for (uint32_t i = 0, k = 0; i < x->n || k < y->n;) {
        bool from_x = i < x->n && (k == y->n || x->key[i] <= y->key[k]);
        bool from_y = k < y->n && (i == x->n || y->key[k] <= x->key[i]);
        uint32_t p = from_x ? x->frontier[i] : 0, q = from_y ? y->frontier[k] : 0;
        put_thread(s, from_x ? x->key[i] : y->key[k], clock_max(p, q), p >= q ? above_a : above_b);
        i += from_x;
        k += from_y;
    }
}

/* Moves all threads into the tree, those of a warp together. */
static bool move_into_tree(struct sum *s)
{
    for (uint32_t i = 0, k; i < s->n; i = k) {
        uint32_t mask = 0;
        for (k = i; k < s->n && s->key[k] >> CLOCK_LANE_BITS == s->key[i] >> CLOCK_LANE_BITS; k++)
            mask |= 1u << clock_lane(s->key[k]);
        struct clock_node *n = clock_node_new(CLOCK_WARP, s->key[i], 0, mask);
        if (!n)
            return false;
        memcpy(n->lane, s->frontier + i, (k - i) * sizeof *n->lane);
        bool ok = clock_subtree_add(&s->root, n);
        clock_node_release(n);
        if (!ok)
            return false;
    }
    s->n = 0;
    return true;
}

/* The join of two clocks, of which the first includes `old` (or NULL). False without memory. */
static bool join_clocks(const struct clock *a, const struct clock *b, const struct clock *old, struct sum *s)
{
    s->n = 0;
    s->root = (struct clock_subtree){a->root ? a->root : b->root, false};
    if (a->root && b->root && !clock_nodes_join(a->root, b->root, old ? old->root : NULL, &s->root))
        return false;
    join_few(s, a, b);
    if (s->n <= CLOCK_FEW || move_into_tree(s))
        return true;
    clock_subtree_drop(s->root);
    return false;
}

static bool clock_equals(const struct clock *c, const struct sum *s)
{
    return c->root == s->root.node && c->few.n == s->n && memcmp(c->few.key, s->key, s->n * sizeof *s->key) == 0 &&
           memcmp(c->few.frontier, s->frontier, s->n * sizeof *s->frontier) == 0;
}

/* ---- clocks ---- */

void clock_release_times(struct clock *c, uint32_t times)
{
    if (c && times && atomic_fetch_sub_explicit(&c->refs, times, memory_order_acq_rel) == times) {
        clock_node_release(c->root);
        free(c);
    }
}

static void set_sum(struct clock *c, const struct sum *s)
{
    c->root = clock_subtree_take(s->root);
    c->few.n = s->n;
    memcpy(c->few.key, s->key, s->n * sizeof *s->key);
    memcpy(c->few.frontier, s->frontier, s->n * sizeof *s->frontier);
}

/* Replaces *c by a clock that is equal to a sum, and consumes the sum. */
static bool put(struct clock **c, const struct sum *s, uint64_t lineage, uint64_t place)
{
    struct clock *fresh = malloc(sizeof *fresh);
    if (!fresh) {
        clock_subtree_drop(s->root);
        return false;
    }
    atomic_init(&fresh->refs, 1);
    atomic_init(&fresh->extended, false);
    fresh->lineage = lineage;
    fresh->place = place;
    set_sum(fresh, s);
    clock_replace(c, fresh);
    return true;
}

/* May it be changed in place, because it has no other reference? */
static bool is_own(const struct clock *c)
{
    return atomic_load_explicit(&c->refs, memory_order_acquire) == 1 && !c->lineage;
}

static bool put_joined(struct clock **c, const struct sum *s)
{
    if (!is_own(*c))
        return put(c, s, 0, 0);
    struct clock_node *old = (*c)->root;
    set_sum(*c, s);
    clock_node_release(old);
    return true;
}

static bool put_extended(struct clock **c, const struct sum *s)
{
    static _Atomic uint64_t lineages;
    struct clock *old = *c;
    if (old->lineage && !atomic_exchange_explicit(&old->extended, true, memory_order_relaxed))
        return put(c, s, old->lineage, old->place + 1);
    return put(c, s, 1 + atomic_fetch_add_explicit(&lineages, 1, memory_order_relaxed), 0);
}

/* Tries to join without looking at entries; true if that was enough. */
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
    struct sum s;
    if (join_at_once(c, with))
        return true;
    if (!join_clocks(*c, with, old, &s))
        return false;
    if (clock_equals(*c, &s))
        return true;
    if (!clock_equals(with, &s))
        return put_joined(c, &s);
    clock_replace(c, clock_ref(with));
    return true;
}

/* `with` has no lineage, and may be on the stack. */
static bool extend(struct clock **c, const struct clock *with)
{
    struct sum s;
    return join_clocks(*c, with, NULL, &s) && (clock_equals(*c, &s) || put_extended(c, &s));
}

bool clock_extend(struct clock **c, struct clock *with)
{
    return join_at_once(c, with) || extend(c, with);
}

static struct clock clock_of_lane(uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier)
{
    struct clock one = {.few.n = 1};
    one.few.key[0] = clock_key(incarnation, warp, lane);
    one.few.frontier[0] = frontier;
    return one;
}

bool clock_extend_lane(struct clock **c, uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier)
{
    struct clock one = clock_of_lane(incarnation, warp, lane, frontier);
    return extend(c, &one);
}

/* `what` is on the stack, and has no references. */
static bool add(struct clock **c, const struct clock *what)
{
    static const struct clock nothing = {0};
    struct sum s;
    if (!join_clocks(*c ? *c : &nothing, what, NULL, &s))
        return false;
    if (!*c)
        return put(c, &s, 0, 0);
    return clock_equals(*c, &s) || put_joined(c, &s);
}

/* Consumes the reference. */
static bool add_node(struct clock **c, struct clock_node *n)
{
    bool ok = n && add(c, &(struct clock){.root = n});
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
    struct clock one = clock_of_lane(incarnation, warp, lane, frontier);
    return add(c, &one);
}

bool clock_add_lanes(struct clock **c, uint32_t incarnation, unsigned warp, uint32_t lanes, const uint32_t *frontier)
{
    uint32_t count = 0;
    EACH_BIT(l, lanes)
        if (frontier[l] == 0)
            lanes &= ~(1u << l);
    if (!lanes)
        return true;
    unsigned first = (unsigned)__builtin_ctz(lanes);
    if (lanes == 1u << first)
        return clock_add_lane(c, incarnation, warp, first, frontier[first]);
    struct clock_node *n = clock_node_new(CLOCK_WARP, clock_key(incarnation, warp, 0), 0, lanes);
    EACH_BIT(l, n ? lanes : 0)
        n->lane[count++] = frontier[l];
    return add_node(c, n);
}

bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark)
{
    struct clock marked = {0};
    uint64_t bit = clock_key(mark, 0, 0);
    if (!what || (what->root && !clock_nodes_mark(what->root, bit, &marked.root)))
        return !what;
    for (uint32_t i = 0; i < what->few.n; i++)
        if (!clock_key_is_marked(what->few.key[i])) {
            marked.few.key[marked.few.n] = what->few.key[i] | bit;
            marked.few.frontier[marked.few.n++] = what->few.frontier[i];
        }
    bool ok = add(c, &marked);
    clock_node_release(marked.root);
    return ok;
}

/* ---- asking ---- */

uint32_t clock_before(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t lanes, uint32_t epoch)
{
    uint64_t key = clock_key(incarnation, warp, 0);
    uint32_t before = c ? clock_nodes_before(c->root, key, lanes, epoch) : 0;
    for (uint32_t i = 0; c && i < c->few.n; i++)
        if (c->few.key[i] >> CLOCK_LANE_BITS == key >> CLOCK_LANE_BITS && epoch < c->few.frontier[i])
            before |= 1u << clock_lane(c->few.key[i]);
    return before & lanes;
}

void clock_frontiers(const struct clock *c, uint32_t incarnation, unsigned warp, uint32_t frontier[])
{
    uint64_t key = clock_key(incarnation, warp, 0);
    if (c)
        clock_nodes_frontiers(c->root, key, frontier);
    for (uint32_t i = 0; c && i < c->few.n; i++)
        if (c->few.key[i] >> CLOCK_LANE_BITS == key >> CLOCK_LANE_BITS) {
            unsigned lane = clock_lane(c->few.key[i]);
            frontier[lane] = clock_max(frontier[lane], c->few.frontier[i]);
        }
}
