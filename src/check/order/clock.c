/* Vector clocks that share structure; see clock.h.
 *
 * Nodes are a radix tree over threads, whose levels are those of CUDA: a node of level 0 is a warp, whose slots are the floors of its
 * lanes; of level 1 a block, whose slots are its warps; above it are groups of 16 blocks, of 16 such groups, and so on. A node that
 * would have one slot and no floor of its own is left out. The floor of a warp or a block holds of all its threads, and floors
 * below it are above it: so what says the same is built in the same way, and where two trees have the same node they say the same.
 */
#include "check/order/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WARP, BLOCK, LANE_BITS = 5, WARP_BITS = 5, INSTANCE_BITS = 4, MOST_SLOTS = 32 };

struct clock_node {
    _Atomic uint32_t refs;
    uint32_t level;
    uint64_t key; /* of its first thread */
    uint32_t floor;
    uint32_t mask; /* slots that there are */
    union {
        uint32_t lane[1];           /* level 0 */
        struct clock_node *part[1]; /* other levels */
    };
};

static uint64_t key_of(uint32_t instance, unsigned warp, unsigned lane)
{
    return ((uint64_t)instance << WARP_BITS | warp) << LANE_BITS | lane;
}

/* Bits of a key below those that choose a slot of a node of the level. */
static unsigned shift_of(uint32_t level)
{
    return level == WARP ? 0 : level == BLOCK ? LANE_BITS : LANE_BITS + WARP_BITS + INSTANCE_BITS * (level - 2);
}

static bool is_within(uint64_t key, const struct clock_node *n)
{
    return (key ^ n->key) >> shift_of(n->level + 1) == 0;
}

static unsigned slot_of(uint64_t key, uint32_t level)
{
    return (unsigned)(key >> shift_of(level)) & ((1u << (shift_of(level + 1) - shift_of(level))) - 1);
}

/* Where the slot is, which is there. */
static unsigned index_of(const struct clock_node *n, unsigned slot)
{
    return (unsigned)__builtin_popcount(n->mask & ((1u << slot) - 1));
}

/* ---- nodes ---- */

static struct clock_node *node_ref(struct clock_node *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

static void node_release(struct clock_node *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0, count = __builtin_popcount(n->mask); n->level != WARP && i < count; i++)
        node_release(n->part[i]);
    free(n);
}

static struct clock_node *node_new(uint32_t level, uint64_t key, uint32_t floor, uint32_t mask)
{
    size_t each = level == WARP ? sizeof(uint32_t) : sizeof(struct clock_node *);
    struct clock_node *n = malloc(offsetof(struct clock_node, lane) + (size_t)__builtin_popcount(mask) * each);
    if (!n)
        return NULL;
    atomic_init(&n->refs, 1);
    n->level = level;
    n->key = key >> shift_of(level + 1) << shift_of(level + 1);
    n->floor = floor;
    n->mask = mask;
    return n;
}

/* What a join gives: a node that was there, and is lent, or a fresh one, of which it has the only reference. */
struct joined {
    struct clock_node *node; /* or NULL: nothing is known */
    bool is_fresh;
};

static void drop(struct joined j)
{
    if (j.is_fresh)
        node_release(j.node);
}

/* The caller has a reference then. */
static struct clock_node *take(struct joined j)
{
    return j.is_fresh || !j.node ? j.node : node_ref(j.node);
}

/* A node in the making. */
struct slots {
    uint32_t floor, mask, n;
    uint32_t fresh; /* parts that are, by their places in `part` */
    union {
        uint32_t lane[MOST_SLOTS];
        struct clock_node *part[MOST_SLOTS];
    };
};

static bool is_same(const struct clock_node *n, const struct slots *s)
{
    return n->floor == s->floor && n->mask == s->mask &&
           (n->level == WARP ? memcmp(n->lane, s->lane, s->n * sizeof *s->lane) == 0
                             : memcmp((const void *)n->part, (const void *)s->part, s->n * sizeof *s->part) == 0);
}

static void drop_slots(const struct slots *s)
{
    for (uint32_t m = s->fresh; m; m &= m - 1)
        node_release(s->part[__builtin_ctz(m)]);
}

/* The node of these slots: one of two that it may be (`other`: or NULL), else a fresh one; false where memory ran out. */
static bool settle(const struct slots *s, struct clock_node *like, struct clock_node *other, struct joined *out)
{
    struct clock_node *same = is_same(like, s)                                            ? like
                              : other && other->level == like->level && is_same(other, s) ? other
                                                                                          : NULL;
    *out = (struct joined){same, false};
    if (same)
        return true;
    *out = (struct joined){node_new(like->level, like->key, s->floor, s->mask), true};
    if (!out->node) {
        drop_slots(s);
        return false;
    }
    if (like->level == WARP) {
        memcpy(out->node->lane, s->lane, s->n * sizeof *s->lane);
        return true;
    }
    for (uint32_t i = 0; i < s->n; i++)
        out->node->part[i] = s->fresh >> i & 1 ? s->part[i] : node_ref(s->part[i]);
    return true;
}

/* ---- joining ---- */

/* `b` joins `a`, which has all in it that `old` says (or NULL): parts that `b` and `old` share are left out. */
static bool join_nodes(struct clock_node *a, struct clock_node *b, const struct clock_node *old, struct joined *out);

static uint32_t max_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* What of a warp is above a floor. */
static bool above(struct clock_node *warp, uint32_t floor, struct joined *out)
{
    struct slots s = {0};
    *out = (struct joined){NULL, false};
    if (warp->floor > floor) {
        out->node = warp;
        return true;
    }
    for (uint32_t m = warp->mask, i = 0; m; m &= m - 1, i++)
        if (warp->lane[i] > floor) {
            s.lane[s.n++] = warp->lane[i];
            s.mask |= m & (0 - m);
        }
    return !s.n || settle(&s, warp, NULL, out);
}

static bool join_warps(struct clock_node *a, struct clock_node *b, struct joined *out)
{
    struct slots s;
    s.floor = max_of(a->floor, b->floor);
    s.mask = s.n = s.fresh = 0;
    for (uint32_t m = a->mask | b->mask; m; m &= m - 1) {
        unsigned slot = (unsigned)__builtin_ctz(m);
        uint32_t x = a->mask >> slot & 1 ? a->lane[index_of(a, slot)] : 0;
        uint32_t y = b->mask >> slot & 1 ? b->lane[index_of(b, slot)] : 0;
        if (max_of(x, y) > s.floor) {
            s.lane[s.n++] = max_of(x, y);
            s.mask |= 1u << slot;
        }
    }
    return settle(&s, a, b, out);
}

/* One of the two may be missing. Those that are not yet above `floor` are cut. */
static bool join_parts(struct clock_node *x, bool cut_x, struct clock_node *y, bool cut_y, uint32_t floor,
                       const struct clock_node *old, struct joined *out)
{
    struct joined p = {x, false}, q = {y, false};
    bool ok = (!x || !cut_x || above(x, floor, &p)) && (!y || !cut_y || above(y, floor, &q));
    *out = p.node ? p : q;
    if (ok && !(p.node && q.node))
        return true;
    ok = ok && join_nodes(p.node, q.node, old, out);
    struct joined *same = !ok ? NULL : out->node == p.node ? &p : out->node == q.node ? &q : NULL;
    if (same) {
        *out = *same;
        same->is_fresh = false;
    }
    drop(p);
    drop(q);
    return ok;
}

/* `b` is the same group of threads as `a`, or is within; `old`, or NULL, the same group as `b`. */
static bool join_within(struct clock_node *a, struct clock_node *b, const struct clock_node *old, struct joined *out)
{
    bool peers = a->level == b->level;
    uint32_t b_floor = peers ? b->floor : 0, b_mask = peers ? b->mask : 1u << slot_of(b->key, a->level);
    struct slots s;
    s.floor = max_of(a->floor, b_floor);
    s.mask = s.n = s.fresh = 0;
    for (uint32_t m = a->mask | b_mask; m; m &= m - 1) {
        unsigned slot = (unsigned)__builtin_ctz(m);
        struct clock_node *x = a->mask >> slot & 1 ? a->part[index_of(a, slot)] : NULL;
        struct clock_node *y = !(b_mask >> slot & 1) ? NULL : peers ? b->part[index_of(b, slot)] : b;
        const struct clock_node *was = !peers                         ? old
                                       : old && old->mask >> slot & 1 ? old->part[index_of(old, slot)]
                                                                      : NULL;
        struct joined part;
        if (!join_parts(x, a->floor < s.floor, y == was ? NULL : y, b_floor < s.floor, s.floor, was, &part)) {
            drop_slots(&s);
            return false;
        }
        if (part.node) {
            s.fresh |= (uint32_t)part.is_fresh << s.n;
            s.part[s.n++] = part.node;
            s.mask |= 1u << slot;
        }
    }
    return settle(&s, a, b, out);
}

/* Neither is within the other: below the least group that has both. */
static bool join_apart(struct clock_node *a, struct clock_node *b, struct joined *out)
{
    uint32_t level = a->level + 1;
    while ((a->key ^ b->key) >> shift_of(level + 1))
        level++;
    unsigned slot_a = slot_of(a->key, level), slot_b = slot_of(b->key, level);
    *out = (struct joined){node_new(level, a->key, 0, 1u << slot_a | 1u << slot_b), true};
    if (!out->node)
        return false;
    out->node->part[slot_a > slot_b] = node_ref(a);
    out->node->part[slot_a < slot_b] = node_ref(b);
    return true;
}

/* What is there of the group of `n`, or NULL. */
static const struct clock_node *counterpart(const struct clock_node *in, const struct clock_node *n)
{
    while (in && in->level > n->level && is_within(n->key, in)) {
        unsigned slot = slot_of(n->key, in->level);
        in = in->mask >> slot & 1 ? in->part[index_of(in, slot)] : NULL;
    }
    return in && in->level == n->level && in->key == n->key ? in : NULL;
}

static bool join_nodes(struct clock_node *a, struct clock_node *b, const struct clock_node *old, struct joined *out)
{
    *out = (struct joined){a, false};
    if (a == b || b == old)
        return true;
    if (a->level < b->level)
        return join_nodes(b, a, NULL, out);
    if (!is_within(b->key, a))
        return join_apart(a, b, out);
    return a->level == WARP ? join_warps(a, b, out) : join_within(a, b, counterpart(old, b), out);
}

/* The node joins another one, or nothing. Its reference stays the caller's. */
static bool join_into(struct joined *to, struct clock_node *n)
{
    struct joined was = *to;
    *to = (struct joined){n, false};
    if (was.node && !join_nodes(was.node, n, NULL, to)) {
        *to = was;
        return false;
    }
    if (to->node == was.node) {
        *to = was;
        return true;
    }
    *to = (struct joined){take(*to), true};
    drop(was);
    return true;
}

/* What a tree says of lanes of a warp: those whose accesses of this stamp are before. */
static uint32_t tree_before(const struct clock_node *n, uint64_t key, uint32_t lanes, uint32_t stamp)
{
    uint32_t before = 0;
    for (; n && is_within(key, n); n = n->part[index_of(n, slot_of(key, n->level))]) {
        if (stamp < n->floor)
            return lanes;
        if (n->level == WARP) {
            for (uint32_t m = n->mask & lanes; m; m &= m - 1)
                before |= stamp < n->lane[index_of(n, (unsigned)__builtin_ctz(m))] ? m & (0 - m) : 0;
            return before;
        }
        if (!(n->mask >> slot_of(key, n->level) & 1))
            return 0;
    }
    return 0;
}

/* ---- threads beside the tree ---- */

/* What a join of clocks gives: more threads than there is room for are yet to go into the tree. */
struct sum {
    struct joined root;
    uint32_t n, floor[2 * CLOCK_FEW];
    uint64_t key[2 * CLOCK_FEW];
};

/* In their order; those that the tree says already are left out. */
static void put_thread(struct sum *s, uint64_t key, uint32_t floor, bool is_above)
{
    if (!is_above && (!floor || tree_before(s->root.node, key, 1u << slot_of(key, WARP), floor - 1)))
        return;
    s->key[s->n] = key;
    s->floor[s->n++] = floor;
}

/* `a` and `b` have trees of which the sum's is the join. */
static void join_few(struct sum *s, const struct clock *a, const struct clock *b)
{
    const struct clock_few *x = &a->few, *y = &b->few;
    bool above_a = s->root.node == a->root, above_b = s->root.node == b->root;
    uint32_t i = 0, k = 0;
    while (i < x->n || k < y->n) {
        if (k == y->n || (i < x->n && x->key[i] < y->key[k])) {
            put_thread(s, x->key[i], x->floor[i], above_a);
            i++;
        } else if (i == x->n || y->key[k] < x->key[i]) {
            put_thread(s, y->key[k], y->floor[k], above_b);
            k++;
        } else {
            bool is_x = x->floor[i] >= y->floor[k];
            put_thread(s, x->key[i], max_of(x->floor[i], y->floor[k]), is_x ? above_a : above_b);
            i++;
            k++;
        }
    }
}

/* All of its threads go into the tree, those of a warp together. */
static bool plant(struct sum *s)
{
    for (uint32_t i = 0, k; i < s->n; i = k) {
        uint32_t mask = 0;
        for (k = i; k < s->n && s->key[k] >> LANE_BITS == s->key[i] >> LANE_BITS; k++)
            mask |= 1u << slot_of(s->key[k], WARP);
        struct clock_node *n = node_new(WARP, s->key[i], 0, mask);
        if (!n)
            return false;
        memcpy(n->lane, s->floor + i, (k - i) * sizeof *n->lane);
        bool ok = join_into(&s->root, n);
        node_release(n);
        if (!ok)
            return false;
    }
    s->n = 0;
    return true;
}

/* What two clocks say, the first of which has all in it that `old` says (or NULL). False where memory ran out. */
static bool sum_of(const struct clock *a, const struct clock *b, const struct clock *old, struct sum *s)
{
    s->n = 0;
    s->root = (struct joined){a->root ? a->root : b->root, false};
    if (a->root && b->root && !join_nodes(a->root, b->root, old ? old->root : NULL, &s->root))
        return false;
    join_few(s, a, b);
    if (s->n <= CLOCK_FEW || plant(s))
        return true;
    drop(s->root);
    return false;
}

static bool says(const struct clock *c, const struct sum *s)
{
    return c->root == s->root.node && c->few.n == s->n && memcmp(c->few.key, s->key, s->n * sizeof *s->key) == 0 &&
           memcmp(c->few.floor, s->floor, s->n * sizeof *s->floor) == 0;
}

/* ---- clocks ---- */

void clock_release_times(struct clock *c, uint32_t times)
{
    if (c && times && atomic_fetch_sub_explicit(&c->refs, times, memory_order_acq_rel) == times) {
        node_release(c->root);
        free(c);
    }
}

static void set_sum(struct clock *c, const struct sum *s)
{
    c->root = take(s->root);
    c->few.n = s->n;
    memcpy(c->few.key, s->key, s->n * sizeof *s->key);
    memcpy(c->few.floor, s->floor, s->n * sizeof *s->floor);
}

/* A clock that says a sum, which ends, in the place of *c. */
static bool put(struct clock **c, const struct sum *s, uint64_t lineage, uint64_t place)
{
    struct clock *fresh = malloc(sizeof *fresh);
    if (!fresh) {
        drop(s->root);
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

/* Is nobody else to see that it changes? */
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
    node_release(old);
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

/* Without a look at their entries: true where that will do. */
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
    if (!sum_of(*c, with, old, &s))
        return false;
    if (says(*c, &s))
        return true;
    if (!says(with, &s))
        return put_joined(c, &s);
    clock_replace(c, clock_ref(with));
    return true;
}

/* By what is no lineage of its own, and may be on the stack. */
static bool extend(struct clock **c, const struct clock *with)
{
    struct sum s;
    return sum_of(*c, with, NULL, &s) && (says(*c, &s) || put_extended(c, &s));
}

bool clock_extend(struct clock **c, struct clock *with)
{
    return join_at_once(c, with) || extend(c, with);
}

static struct clock clock_of_lane(uint32_t instance, unsigned warp, unsigned lane, uint32_t floor)
{
    struct clock one = {.few.n = 1};
    one.few.key[0] = key_of(instance, warp, lane);
    one.few.floor[0] = floor;
    return one;
}

bool clock_extend_lane(struct clock **c, uint32_t instance, unsigned warp, unsigned lane, uint32_t floor)
{
    struct clock one = clock_of_lane(instance, warp, lane, floor);
    return extend(c, &one);
}

/* What a clock says that is on the stack, and has no references. */
static bool add(struct clock **c, const struct clock *what)
{
    static const struct clock nothing = {0};
    struct sum s;
    if (!sum_of(*c ? *c : &nothing, what, NULL, &s))
        return false;
    if (!*c)
        return put(c, &s, 0, 0);
    return says(*c, &s) || put_joined(c, &s);
}

/* Takes the reference. */
static bool add_node(struct clock **c, struct clock_node *n)
{
    bool ok = n && add(c, &(struct clock){.root = n});
    node_release(n);
    return ok;
}

bool clock_add_block(struct clock **c, uint32_t instance, uint32_t floor)
{
    return floor == 0 || add_node(c, node_new(BLOCK, key_of(instance, 0, 0), floor, 0));
}

bool clock_add_warp(struct clock **c, uint32_t instance, unsigned warp, uint32_t floor)
{
    return floor == 0 || add_node(c, node_new(WARP, key_of(instance, warp, 0), floor, 0));
}

bool clock_add_lane(struct clock **c, uint32_t instance, unsigned warp, unsigned lane, uint32_t floor)
{
    struct clock one = clock_of_lane(instance, warp, lane, floor);
    return add(c, &one);
}

bool clock_add_lanes(struct clock **c, uint32_t instance, unsigned warp, uint32_t lanes, const uint32_t *floor)
{
    uint32_t count = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        if (floor[__builtin_ctz(m)] == 0)
            lanes &= ~(m & (0 - m));
    if (!lanes)
        return true;
    unsigned first = (unsigned)__builtin_ctz(lanes);
    if (lanes == 1u << first)
        return clock_add_lane(c, instance, warp, first, floor[first]);
    struct clock_node *n = node_new(WARP, key_of(instance, warp, 0), 0, lanes);
    for (uint32_t m = n ? lanes : 0; m; m &= m - 1)
        n->lane[count++] = floor[__builtin_ctz(m)];
    return add_node(c, n);
}

/* ---- asking ---- */

/* ---- marks ---- */

static bool is_marked(uint64_t key)
{
    return key & key_of(CLOCK_MARKS, 0, 0);
}

/* A copy of what a tree says of threads that have no mark, where they have one. *node: NULL, where it says nothing of them. False where
 * memory ran out. */
static bool mark_nodes(const struct clock_node *n, uint64_t mark, struct clock_node **node)
{
    bool is_above = shift_of(n->level + 1) > shift_of(BLOCK + 1) + CLOCK_MARKS_BIT, ok = true;
    struct slots s = {0};
    *node = NULL;
    if (!is_above && is_marked(n->key))
        return true;
    for (uint32_t m = n->mask, i = 0; n->level != WARP && m && ok; m &= m - 1, i++) {
        ok = mark_nodes(n->part[i], mark, &s.part[s.n]);
        if (ok && s.part[s.n]) {
            s.fresh |= 1u << s.n++;
            s.mask |= m & (0 - m);
        }
    }
    if (is_above && s.n <= 1 && ok) {
        *node = s.n ? s.part[0] : NULL;
        return true;
    }
    if (ok && (*node = node_new(n->level, n->key | mark, n->floor, n->level == WARP ? n->mask : s.mask))) {
        if (n->level == WARP)
            memcpy((*node)->lane, n->lane, (size_t)__builtin_popcount(n->mask) * sizeof *n->lane);
        else
            memcpy((void *)(*node)->part, (void *)s.part, s.n * sizeof *s.part);
        return true;
    }
    drop_slots(&s);
    return false;
}

bool clock_add_marked(struct clock **c, const struct clock *what, uint32_t mark)
{
    struct clock marked = {0};
    uint64_t bit = key_of(mark, 0, 0);
    if (!what || (what->root && !mark_nodes(what->root, bit, &marked.root)))
        return !what;
    for (uint32_t i = 0; i < what->few.n; i++)
        if (!is_marked(what->few.key[i])) {
            marked.few.key[marked.few.n] = what->few.key[i] | bit;
            marked.few.floor[marked.few.n++] = what->few.floor[i];
        }
    bool ok = add(c, &marked);
    node_release(marked.root);
    return ok;
}

uint32_t clock_before(const struct clock *c, uint32_t instance, unsigned warp, uint32_t lanes, uint32_t stamp)
{
    uint64_t key = key_of(instance, warp, 0);
    uint32_t before = c ? tree_before(c->root, key, lanes, stamp) : 0;
    for (uint32_t i = 0; c && i < c->few.n; i++)
        if (c->few.key[i] >> LANE_BITS == key >> LANE_BITS && stamp < c->few.floor[i])
            before |= 1u << slot_of(c->few.key[i], WARP);
    return before & lanes;
}

static void raise_all(uint32_t floor[], uint32_t to)
{
    for (unsigned l = 0; l < 1u << LANE_BITS; l++)
        floor[l] = max_of(floor[l], to);
}

void clock_floors(const struct clock *c, uint32_t instance, unsigned warp, uint32_t floor[])
{
    uint64_t key = key_of(instance, warp, 0);
    const struct clock_node *n = c ? c->root : NULL;
    while (n && is_within(key, n)) {
        raise_all(floor, n->floor);
        if (n->level == WARP) {
            for (uint32_t m = n->mask, i = 0; m; m &= m - 1, i++)
                floor[__builtin_ctz(m)] = max_of(floor[__builtin_ctz(m)], n->lane[i]);
            break;
        }
        n = n->mask >> slot_of(key, n->level) & 1 ? n->part[index_of(n, slot_of(key, n->level))] : NULL;
    }
    for (uint32_t i = 0; c && i < c->few.n; i++)
        if (c->few.key[i] >> LANE_BITS == key >> LANE_BITS) {
            unsigned lane = slot_of(c->few.key[i], WARP);
            floor[lane] = max_of(floor[lane], c->few.floor[i]);
        }
}
