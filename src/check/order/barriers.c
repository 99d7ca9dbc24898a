/* Barriers of blocks, clusters and warps, and threads that exit (PTX ISA 9.7.13); see order.h. */
#include "check/order/state.h"

/* ---- barriers (9.7.13.1) ---- */

/* All threads that have not exited: raising the block's frontier is enough. */
static void all_meet(struct block_order *b)
{
    struct clock *known = NULL;
    b->frontier = ++b->epoch;
    for (uint32_t w = 0; w < b->n_warps; w++)
        b->warps[w].epoch = b->epoch;
    if (!b->irregular)
        return;
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (b->warps[w].exists & ~b->warps[w].exited)
            order_join_own(b, w, b->warps[w].exists & ~b->warps[w].exited, &known);
    if (known)
        clock_replace(&b->known, known);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        clock_replace(&b->warps[w].known, NULL);
        for (unsigned l = 0; b->warps[w].lanes && l < WARP_LANES; l++)
            clock_replace(&b->warps[w].lanes->known[l], NULL);
    }
}

/* Joins the clocks of all threads at the barrier into those of the waiting threads; threads that
 * only arrive are joined, and learn nothing. */
static void some_meet(struct block_order *b, const struct sync_event *e)
{
    uint32_t id = e->id;
    struct clock *c = clock_ref(b->arrived[id]);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (e->waited[w])
            order_join_all(b, w, e->waited[w], &c);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (e->waited[w])
            order_learn(b, w, e->waited[w], c);
    clock_release(c);
    clock_replace(&b->arrived[id], NULL);
}

bool order_all_wait(const struct block_order *b, const struct sync_event *e)
{
    bool all = !b->arrived[e->id];
    for (uint32_t w = 0; w < b->n_warps; w++)
        all &= e->waited[w] == (b->warps[w].exists & ~b->warps[w].exited);
    return all;
}

void order_barrier_opens(struct block_order *b, const struct sync_event *e)
{
    if (order_all_wait(b, e))
        all_meet(b);
    else
        some_meet(b, e);
}

void order_barrier_arrive(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t id)
{
    order_join_all(b, warp, lanes, &b->arrived[id]);
    b->irregular = true;
    order_step(b, warp);
}

/* ---- clusters (9.7.13.4) ---- */

void order_cluster_arrive(struct block_order *b, unsigned warp, uint32_t lanes, bool releases)
{
    if (!order_cluster_of(b))
        return;
    if (releases)
        order_join_all(b, warp, lanes, &b->cluster->arriving);
    else
        order_join_fenced(b, warp, lanes, &b->cluster->arriving);
    order_arrive_behind_inits(b, warp, lanes);
    order_step(b, warp);
}

void order_cluster_opens(struct block_order *b)
{
    if (!b->cluster)
        return;
    b->cluster->opened_times++;
    clock_replace(&b->cluster->opened, b->cluster->arriving);
    b->cluster->arriving = NULL;
}

void order_cluster_wait(struct block_order *b, unsigned warp, uint32_t lanes)
{
    if (!b->cluster || !b->cluster->opened)
        return;
    if (!b->warps[warp].lanes && lanes == (b->warps[warp].exists & ~b->warps[warp].exited)) {
        struct clock *c = clock_ref(order_known(b, warp, 0));
        order_join(b, &c, b->cluster->opened);
        order_learn(b, warp, lanes, c);
        clock_release(c);
        return;
    }
    order_acquire(b, warp, lanes, b->cluster->opened);
}

/* ---- warps (9.7.13.2) ---- */

void order_warp_meets(struct block_order *b, unsigned warp, uint32_t lanes)
{
    struct warp_order *s = &b->warps[warp];
    struct clock *c = NULL;
    if (lanes != (s->exists & ~s->exited)) {
        order_join_all(b, warp, lanes, &c);
        order_learn(b, warp, lanes, c);
        clock_release(c);
        return;
    }
    s->epoch = s->frontier = ++b->epoch;
    if (!s->lanes)
        return;
    order_join_own(b, warp, lanes, &c);
    clock_replace(&s->known, c);
    for (unsigned l = 0; l < WARP_LANES; l++)
        clock_replace(&s->lanes->known[l], NULL);
}

static void set_lanes(uint32_t at[WARP_LANES], uint32_t lanes, uint32_t to)
{
    for (unsigned l = 0; lanes == UINT32_MAX && l < WARP_LANES; l++)
        at[l] = to;
    EACH_BIT(l, lanes == UINT32_MAX ? 0 : lanes)
        at[l] = to;
}

void order_exit(struct block_order *b, unsigned warp, uint32_t lanes, bool issues)
{
    struct warp_order *s = &b->warps[warp];
    uint32_t frontier = s->frontier > b->frontier ? s->frontier : b->frontier;
    if (order_incarnation(b->order, b->number)->has_peers)
        order_join_all(b, warp, lanes, &b->at_exit);
    s->exited |= lanes;
    if (!issues) /* a copy that they have issued may still arrive at an mbarrier for them */
        order_forget_exited(s, lanes);
    set_lanes(s->exit_frontier, lanes, b->frontier);
    set_lanes(s->exit_warp_frontier, lanes, frontier);
    if (b->frontier < b->least_exit_frontier)
        b->least_exit_frontier = b->frontier;
}
