/* Fences of the async proxy (PTX ISA 9.7.13.4, fence.proxy.async); see order.h.
 *
 * Such a fence orders by itself nothing between threads: it takes effect in its own, and composes with other synchronisation (8.9.5,
 * base causality order). So an access by the generic proxy is before one by the async proxy where a fence stands on the way, in
 * whichever thread: behind the write and before the barrier, or behind the barrier and before the copy.
 *
 * What a thread knows to be fenced travels with all that it knows, as clocks do: with numbers of its own in them. At a fence a thread
 * knows to be fenced what it knows. For shared memory that is of its own block's threads alone, as they are who write there.
 */
#include "check/order/order_state.h"

static void note(const struct block_order *b, bool ok)
{
    if (!ok)
        atomic_store(&b->order->incomplete, true);
}

/* What a lane that fences knows, and has done, of a warp's threads; `fences`: lanes of that warp. */
static void add_warp(const struct block_order *b, unsigned warp, const struct clock *known, uint32_t fences,
                     uint32_t own_floor, struct clock **fenced)
{
    uint32_t floor[WARP_LANES] = {0};
    clock_floors(known, b->number, warp, floor);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        floor[l] = floor[l] > own_floor ? floor[l] : own_floor;
        floor[l] = fences >> l & 1 ? b->warps[warp].now + 1 : floor[l];
        floor[l] = floor[l] > b->floor ? floor[l] : 0; /* the block's floor says it */
    }
    note(b, clock_add_lanes(fenced, order_fenced_of(b->number), warp, b->warps[warp].exists, floor));
}

static void fence_shared(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock *known,
                         struct clock **fenced)
{
    note(b, clock_add_block(fenced, order_fenced_of(b->number), b->floor));
    for (unsigned w = 0; w < b->n_warps; w++)
        if (w == warp || known)
            add_warp(b, w, known, w == warp ? lanes : 0, w == warp ? b->warps[w].floor : 0, fenced);
}

static void fence_global(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **fenced)
{
    struct clock *all = NULL;
    order_join_all(b, warp, lanes, &all);
    note(b, clock_add_marked(fenced, all, ORDER_FENCED_GLOBAL));
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

uint32_t order_fenced(const struct block_order *b, unsigned warp, unsigned lane, bool global, uint32_t instance,
                      unsigned of_warp, uint32_t of, uint32_t stamp)
{
    uint32_t number = global ? instance | ORDER_FENCED_GLOBAL : order_fenced_of(instance);
    return b->irregular ? clock_before(order_known(b, warp, lane), number, of_warp, of, stamp) : 0;
}
