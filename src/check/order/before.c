/* Which accesses happen before what a thread does now; see order.h. */
#include "check/order/state.h"

/* What frontiers show of all lanes at once. Of a thread that has exited only what its exit frontier shows happens before. */
static uint32_t frontiers_say(const struct block_order *b, unsigned warp, unsigned of_warp, uint32_t of, uint32_t epoch)
{
    const struct warp_order *w = &b->warps[of_warp];
    uint32_t frontier = of_warp == warp && w->frontier > b->frontier ? w->frontier : b->frontier;
    if (epoch >= frontier)
        return 0;
    const uint32_t *exit_frontier = of_warp == warp ? w->exit_warp_frontier : w->exit_frontier;
    for (uint32_t m = of & w->exited; m; m &= m - 1)
        if (epoch >= exit_frontier[__builtin_ctz(m)])
            of &= ~(m & (0 - m));
    return of;
}

uint32_t order_before(const struct block_order *b, unsigned warp, unsigned lane, uint32_t incarnation, unsigned of_warp,
                      uint32_t of, uint32_t epoch)
{
    uint32_t before = incarnation == b->number ? frontiers_say(b, warp, of_warp, of, epoch) : 0;
    if (!b->irregular || !(of & ~before))
        return before;
    return before | clock_before(order_known(b, warp, lane), incarnation, of_warp, of & ~before, epoch);
}

uint32_t order_before_end(const struct block_order *b, uint32_t incarnation, unsigned of_warp, uint32_t of,
                          uint32_t epoch, bool issued)
{
    return clock_before(b->at_exit, issued ? order_issued_by(incarnation) : incarnation, of_warp, of, epoch);
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

bool order_knows_lanes_alike(const struct block_order *b, unsigned warp, uint32_t incarnation, unsigned of_warp,
                             uint32_t epoch)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t running = w->exists & ~w->exited;
    struct clock *known = order_known(b, warp, running ? (unsigned)__builtin_ctz(running) : 0);
    uint32_t before = clock_before(known, incarnation, of_warp, UINT32_MAX, epoch);
    return before == 0 || before == UINT32_MAX;
}

/* ---- grids that overlap ---- */

/* No block has this number. Its epochs are launches whose threads have waited by griddepcontrol.wait: who knows of one knows by them. */
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
    return order_before(b, warp, lane, GRIDS, 0, 1, task) != 0;
}
