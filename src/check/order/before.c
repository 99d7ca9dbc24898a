/* Which accesses happen before what a thread does now; see order.h. */
#include "check/order/state.h"

/* What frontiers show of all lanes at once. Of a thread that has exited only what its exit frontier
 * shows happens before. */
static uint32_t frontiers_show(const struct block_order *b, unsigned warp, struct accesses of)
{
    const struct warp_order *w = &b->warps[of.warp];
    uint32_t frontier = of.warp == warp && w->frontier > b->frontier ? w->frontier : b->frontier;
    if (of.epoch >= frontier)
        return 0;
    const uint32_t *exit_frontier = of.warp == warp ? w->exit_warp_frontier : w->exit_frontier;
    EACH_BIT(l, of.lanes & w->exited)
        if (of.epoch >= exit_frontier[l])
            of.lanes &= ~(1u << l);
    return of.lanes;
}

uint32_t order_before(const struct block_order *b, unsigned warp, unsigned lane, struct accesses of)
{
    uint32_t before = of.incarnation == b->number ? frontiers_show(b, warp, of) : 0;
    of.lanes &= ~before;
    if (!b->irregular || !of.lanes)
        return before;
    return before | order_clock_before(order_known(b, warp, lane), of);
}

uint32_t order_issued_before(const struct block_order *b, unsigned warp, unsigned lane, struct accesses of)
{
    of.incarnation = order_issued_by(of.incarnation);
    return order_clock_before(order_known(b, warp, lane), of);
}

uint32_t order_fenced(const struct block_order *b, unsigned warp, unsigned lane, bool global, struct accesses of)
{
    of.incarnation = global ? of.incarnation | ORDER_FENCED_GLOBAL : order_fenced_of(of.incarnation);
    return b->irregular ? order_clock_before(order_known(b, warp, lane), of) : 0;
}

uint32_t order_init_before(const struct block_order *owner, const struct block_order *b, unsigned warp, unsigned lane,
                           struct accesses of)
{
    struct accesses meeting = {owner->cluster ? order_meetings_of(owner->cluster->first) : 0, 0, 1, 0};
    uint32_t before = 0;
    for (uint32_t i = 0; i < owner->init_fences.n; i++) {
        const struct init_fence *f = &owner->init_fences.at[i];
        meeting.epoch = f->times;
        if (f->warp == of.warp && of.lanes >> f->lane & 1 && of.epoch < f->frontier && f->has_arrived &&
            order_clock_before(order_known(b, warp, lane), meeting))
            before |= 1u << f->lane;
    }
    return before;
}

uint32_t order_before_end(const struct block_order *b, struct accesses of, bool issued)
{
    if (issued)
        of.incarnation = order_issued_by(of.incarnation);
    return order_clock_before(b->at_exit, of);
}

bool order_all_have_exited(const struct block_order *b)
{
    bool all = true;
    for (uint32_t w = 0; w < b->n_warps; w++)
        all &= b->warps[w].exited == b->warps[w].exists;
    return all;
}

bool order_lanes_know_alike(const struct block_order *b, unsigned warp)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t running = w->exists & ~w->exited;
    return !w->lanes || !running || order_same(w->lanes->known, running) == running;
}

bool order_knows_lanes_alike(const struct block_order *b, unsigned warp, struct accesses of)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t running = w->exists & ~w->exited;
    struct clock *known = order_known(b, warp, running ? (unsigned)__builtin_ctz(running) : 0);
    uint32_t before = order_clock_before(known, of);
    return before == 0 || before == of.lanes;
}

/* ---- grids that overlap ---- */

/* A number that no block has. Its epochs stand for launches whose completion threads have learnt by
 * griddepcontrol.wait. */
enum { GRIDS = 0 };

void order_grids_ended(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t task)
{
    struct clock *c = NULL;
    if (clock_add_block(&c, GRIDS, task + 1))
        order_acquire(b, warp, lanes, c);
    clock_release(c);
}

bool order_knows_grids_ended(const struct block_order *b, unsigned warp, unsigned lane, uint32_t task)
{
    return order_before(b, warp, lane, (struct accesses){GRIDS, 0, 1, task}) != 0;
}
