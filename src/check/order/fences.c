/* Fences (PTX ISA 8.8, 9.7.13.4); see order.h.
 *
 * A fence of the async proxy orders nothing between threads by itself: it takes effect in its own
 * thread, and composes with other synchronisation (8.9.5, base causality order). So an access by
 * the generic proxy is before one by the async proxy where a fence stands on the way, in whichever
 * thread: behind the write and before the barrier, or behind the barrier and before the copy.
 *
 * Which accesses are fenced is knowledge like any other, and travels in the same clocks, under
 * other numbers (CLOCK_MARKS): at a fence a thread adds all that it knows, marked. For shared
 * memory that is what it knows of its own block's threads, as only they write there.
 */
#include "check/order/state.h"

/* ---- release and acquire ---- */

/* The fence acquires what strong reads before it have observed. */
static void acquire_observed(struct block_order *b, unsigned warp, uint32_t lanes, enum scope scope)
{
    struct lane_order *s = b->warps[warp].lanes;
    for (unsigned r = 0; s && r <= scope; r++) {
        uint32_t left = lanes & s->have_observed[r];
        s->have_observed[r] &= ~lanes;
        s->have_latest[r] &= ~lanes;
        for (uint32_t same; left; left &= ~same) {
            same = order_same(s->observed[r], left);
            order_acquire(b, warp, same, s->observed[r][__builtin_ctz(left)]);
            order_replace_each(s->observed[r], same, NULL);
        }
    }
}

void order_keep_fence(struct block_order *b, unsigned warp, uint32_t lanes, struct lane_order *s, enum scope scope)
{
    s->have_fenced[scope] |= lanes;
    EACH_BIT(l, lanes) {
        clock_release(s->fence[scope][l].known);
        s->fence[scope][l] = order_snapshot(b, warp, clock_ref(order_known(b, warp, l)));
    }
}

void order_fence(struct block_order *b, unsigned warp, uint32_t lanes, bool acquires, bool releases, enum scope scope)
{
    struct lane_order *s = order_lanes(b, warp);
    if (acquires)
        acquire_observed(b, warp, lanes, scope);
    if (s && releases)
        order_keep_fence(b, warp, lanes, s, scope);
    if (s && releases && scope == SCOPE_CLUSTER)
        s->have_fenced_inits &= ~lanes;
    order_step(b, warp);
}

void order_join_fenced(struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    const struct lane_order *s = b->warps[warp].lanes;
    bool is_alone = !order_incarnation(b->order, b->number)->has_peers;
    for (unsigned r = is_alone ? SCOPE_CTA : SCOPE_CLUSTER; s && r < SCOPE_COUNT; r++) {
        uint32_t left = lanes & s->have_fenced[r] & (r == SCOPE_CLUSTER ? ~s->have_fenced_inits : UINT32_MAX);
        EACH_BIT(l, left)
            order_publish(b, warp, l, &s->fence[r][l], c);
    }
}

/* ---- the async proxy ---- */

/* Marks what a fencing thread knows of a warp's threads, and has done itself. `fences`: lanes of
 * that warp that fence. */
static void add_warp(const struct block_order *b, unsigned warp, const struct clock *known, uint32_t fences,
                     uint32_t own_frontier, struct clock **fenced)
{
    uint32_t frontier[WARP_LANES] = {0};
    clock_frontiers(known, b->number, warp, frontier);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        frontier[l] = frontier[l] > own_frontier ? frontier[l] : own_frontier;
        frontier[l] = fences >> l & 1 ? b->warps[warp].epoch + 1 : frontier[l];
        /* Else the block's frontier includes it. */
        frontier[l] = frontier[l] > b->frontier ? frontier[l] : 0;
    }
    order_note(b->order, clock_add_lanes(fenced, order_fenced_of(b->number), warp, b->warps[warp].exists, frontier));
}

static void fence_shared(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock *known,
                         struct clock **fenced)
{
    order_note(b->order, clock_add_block(fenced, order_fenced_of(b->number), b->frontier));
    for (unsigned w = 0; w < b->n_warps; w++)
        if (w == warp || known)
            add_warp(b, w, known, w == warp ? lanes : 0, w == warp ? b->warps[w].frontier : 0, fenced);
}

static void fence_global(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **fenced)
{
    struct clock *all = NULL;
    order_join_all(b, warp, lanes, &all);
    order_note(b->order, clock_add_marked(fenced, all, ORDER_FENCED_GLOBAL));
    clock_release(all);
}

static void fence_alike(struct block_order *b, unsigned warp, uint32_t lanes, bool shared, bool global)
{
    struct clock *known = order_known(b, warp, (unsigned)__builtin_ctz(lanes)), *c = clock_ref(known);
    if (shared)
        fence_shared(b, warp, lanes, known, &c);
    if (global)
        fence_global(b, warp, lanes, &c);
    order_learn(b, warp, lanes, c);
    clock_release(c);
}

void order_fence_proxy(struct block_order *b, unsigned warp, uint32_t lanes, bool shared, bool global)
{
    for (uint32_t alike; lanes; lanes &= ~alike) {
        const struct lane_order *l = b->warps[warp].lanes;
        alike = l ? order_same(l->known, lanes) : lanes;
        fence_alike(b, warp, alike, shared, global);
    }
}
