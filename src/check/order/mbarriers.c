/* mbarriers (PTX ISA 9.7.13.15): arrivals, phases, completion of asynchronous copies, the fence
 * after their initialisation; see order.h. */
#include "check/order/state.h"

#include <stdlib.h>

static struct mbarrier_order *mbarrier_at(struct block_order *b, uint64_t address)
{
    for (uint32_t i = 0; i < b->mbarriers.n; i++)
        if (b->mbarriers.at[i].address == address)
            return &b->mbarriers.at[i];
    struct mbarrier_order *new = VEC_ADD(&b->mbarriers);
    if (order_note(b->order, new))
        *new = (struct mbarrier_order){.address = address};
    return new;
}

/* Arrivals are read-modify-writes of the object: a phase passes on what earlier phases have
 * released. */
void order_mbarrier_arrive(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                           const struct sync_event *e)
{
    struct mbarrier_order *m = mbarrier_at(owner, e->address);
    if (!m)
        return;
    if (e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL) {
        struct snapshot now = order_snapshot(b, warp, order_known(b, warp, lane));
        order_publish(b, warp, lane, &now, &m->phase[e->parity]);
        b->irregular = true;
        order_step(b, warp);
    }
    if (e->completes)
        clock_replace(&m->phase[!e->parity], clock_ref(m->phase[e->parity]));
}

void order_issued_done(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner, uint64_t address,
                       bool parity)
{
    struct mbarrier_order *m = mbarrier_at(owner, address);
    if (m)
        order_note(b->order,
                   clock_add_lane(&m->phase[parity], order_issued_by(b->number), warp, lane, b->warps[warp].epoch + 1));
    b->irregular = true;
    order_step(b, warp);
}

void order_mbarrier_wait(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                         const struct sync_event *e)
{
    const struct mbarrier_order *m = mbarrier_at(owner, e->address);
    if (!m || !m->phase[e->parity])
        return;
    if (e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL)
        order_acquire(b, warp, 1u << lane, m->phase[e->parity]);
    else
        order_keep_observed(b, warp, 1u << lane, owner->number, m->phase[e->parity]);
}

/* ---- fence.mbarrier_init (9.7.13.4) ---- */

static void add_init_fence(struct block_order *b, unsigned warp, unsigned lane)
{
    uint32_t frontier = b->warps[warp].epoch + 1;
    for (uint32_t i = 0; i < b->init_fences.n; i++)
        if (b->init_fences.at[i].warp == warp && b->init_fences.at[i].lane == lane &&
            !b->init_fences.at[i].has_arrived) {
            b->init_fences.at[i].frontier = frontier;
            return;
        }
    struct init_fence *new = VEC_ADD(&b->init_fences);
    if (order_note(b->order, new))
        *new = (struct init_fence){.warp = warp, .lane = lane, .frontier = frontier};
}

/* A later strong write counts as if the fence released all that the thread had done; no program
 * depends on the difference. */
void order_fence_inits(struct block_order *b, unsigned warp, uint32_t lanes)
{
    struct lane_order *s = order_lanes(b, warp);
    uint32_t others = s ? lanes & (~s->have_fenced[SCOPE_CLUSTER] | s->have_fenced_inits) : 0;
    EACH_BIT(l, lanes)
        add_init_fence(b, warp, l);
    if (others) {
        order_keep_fence(b, warp, others, s, SCOPE_CLUSTER);
        s->have_fenced_inits |= others;
    }
    order_step(b, warp);
}

void order_arrive_behind_inits(struct block_order *b, unsigned warp, uint32_t lanes)
{
    for (uint32_t i = 0; i < b->init_fences.n; i++) {
        struct init_fence *f = &b->init_fences.at[i];
        if (f->warp != warp || !(lanes >> f->lane & 1) || f->has_arrived)
            continue;
        f->has_arrived = true;
        f->times = b->cluster->opened_times;
        order_note(b->order,
                   clock_add_block(&b->cluster->arriving, order_meetings_of(b->cluster->first), f->times + 1));
    }
}
