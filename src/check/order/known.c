/* What threads know; see order.h and state.h. */
#include "check/order/state.h"

#include <stdlib.h>

void order_step(struct block_order *b, unsigned warp)
{
    b->warps[warp].epoch = ++b->epoch;
}

struct lane_order *order_lanes(struct block_order *b, unsigned warp)
{
    struct warp_order *w = &b->warps[warp];
    if (!w->lanes)
        order_note(b->order, (w->lanes = calloc(1, sizeof *w->lanes)));
    b->irregular = true;
    return w->lanes;
}

void order_join(const struct block_order *b, struct clock **c, struct clock *with)
{
    order_note(b->order, clock_join(c, with));
}

static struct clock *known_of_warp(const struct block_order *b, unsigned warp)
{
    return b->warps[warp].known ? b->warps[warp].known : b->known;
}

struct clock *order_known(const struct block_order *b, unsigned warp, unsigned lane)
{
    const struct warp_order *w = &b->warps[warp];
    return w->lanes && w->lanes->known[lane] ? w->lanes->known[lane] : known_of_warp(b, warp);
}

/* The clock of a lane, where it has one, includes that of its warp. */
void order_join_own(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    const struct warp_order *w = &b->warps[warp];
    struct clock *last = NULL;
    EACH_BIT(l, w->lanes ? lanes : 0) {
        struct clock *known = w->lanes->known[l];
        if (known && known != last)
            order_join(b, c, last = known);
    }
    if (!last)
        order_join(b, c, w->known);
}

/* All that lanes know in clocks. */
static void join_known(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    struct clock *own = NULL;
    order_join_own(b, warp, lanes, &own);
    order_join(b, c, own ? own : b->known);
    clock_release(own);
}

/* A frontier holds for all lanes of a warp but those that had exited before it was raised: theirs
 * is that of their exit. */
static void add_frontier(const struct block_order *b, unsigned warp, uint32_t frontier,
                         const uint32_t exit_frontier[WARP_LANES], struct clock **c)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t of_lane[WARP_LANES];
    if (!w->exited) {
        order_note(b->order, clock_add_warp(c, b->number, warp, frontier));
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        of_lane[l] = w->exited >> l & 1 && exit_frontier[l] < frontier ? exit_frontier[l] : frontier;
    order_note(b->order, clock_add_lanes(c, b->number, warp, w->exists, of_lane));
}

static void add_block_frontier(const struct block_order *b, uint32_t block_frontier, struct clock **c)
{
    if (block_frontier <= 1) /* there is no epoch below the first */
        return;
    if (block_frontier <= b->least_exit_frontier) {
        order_note(b->order, clock_add_block(c, b->number, block_frontier));
        return;
    }
    order_note(b->order, clock_add_block(c, b->number, b->least_exit_frontier));
    for (uint32_t i = 0; i < b->n_warps; i++)
        add_frontier(b, i, block_frontier, b->warps[i].exit_frontier, c);
}

/* What lanes had done, and knew by the frontiers of their block and warp, at the moment of a
 * snapshot. */
static struct clock *performed(const struct block_order *b, unsigned warp, uint32_t lanes, const struct snapshot *s)
{
    const struct warp_order *w = &b->warps[warp];
    struct clock *c = NULL;
    uint32_t frontier[WARP_LANES];
    add_block_frontier(b, s->frontier, &c);
    if (s->warp_frontier > s->frontier)
        add_frontier(b, warp, s->warp_frontier, w->exit_warp_frontier, &c);
    for (unsigned l = 0; l < WARP_LANES; l++)
        frontier[l] = s->epoch + 1;
    if (lanes == w->exists)
        order_note(b->order, clock_add_warp(&c, b->number, warp, s->epoch + 1));
    else
        order_note(b->order, clock_add_lanes(&c, b->number, warp, lanes, frontier));
    return c;
}

struct snapshot order_snapshot(const struct block_order *b, unsigned warp, struct clock *known)
{
    const struct warp_order *w = &b->warps[warp];
    return (struct snapshot){known, w->epoch, b->frontier, w->frontier};
}

void order_join_all(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    struct snapshot s = order_snapshot(b, warp, NULL);
    struct clock *done = performed(b, warp, lanes, &s);
    join_known(b, warp, lanes, c);
    order_join(b, c, done);
    clock_release(done);
}

struct clock *order_publish_all(struct block_order *b, unsigned warp, unsigned lane)
{
    struct clock *all = NULL;
    order_join_all(b, warp, 1u << lane, &all);
    order_step(b, warp);
    return all;
}

void order_inherit(struct block_order *b, struct clock *c)
{
    if (!c)
        return;
    order_join(b, &b->known, c);
    b->irregular = true;
}

/* An empty place begins a lineage of its own. Most lanes have met no others of their block: then
 * one entry is all that is to be added. */
void order_publish(const struct block_order *b, unsigned warp, unsigned lane, const struct snapshot *s,
                   struct clock **at)
{
    bool (*add)(struct clock **, struct clock *) = *at ? clock_extend : clock_join;
    bool begins = !*at,
         alone = s->frontier <= 1 && s->warp_frontier <= s->frontier && b->warps[warp].exists != 1u << lane;
    order_note(b->order, add(at, s->known));
    if (alone) {
        order_note(b->order, (begins ? clock_add_lane : clock_extend_lane)(at, b->number, warp, lane, s->epoch + 1));
        return;
    }
    struct clock *done = performed(b, warp, 1u << lane, s);
    order_note(b->order, add(at, done));
    clock_release(done);
}

uint32_t order_same(struct clock *const at[WARP_LANES], uint32_t lanes)
{
    const struct clock *first = at[__builtin_ctz(lanes)];
    uint32_t same = 0;
    EACH_BIT(l, lanes)
        same |= at[l] == first ? 1u << l : 0;
    return same;
}

void order_replace_each(struct clock *at[WARP_LANES], uint32_t lanes, struct clock *with)
{
    uint32_t count = (uint32_t)__builtin_popcount(lanes);
    struct clock *old = at[__builtin_ctz(lanes)];
    clock_ref_times(with, count);
    EACH_BIT(l, lanes)
        at[l] = with;
    clock_release_times(old, count);
}

uint32_t order_join_each(const struct block_order *b, struct clock *at[WARP_LANES], struct clock *instead,
                         uint32_t lanes, struct clock *with, const struct clock *since)
{
    uint32_t changed = 0;
    for (uint32_t same; lanes; lanes &= ~same) {
        struct clock *first = at[__builtin_ctz(lanes)], *old = first ? first : instead, *joined = clock_ref(old);
        same = order_same(at, lanes);
        order_note(b->order, clock_join_since(&joined, with, since));
        if (joined != old) {
            order_replace_each(at, same, joined);
            changed |= same;
        }
        clock_release(joined);
    }
    return changed;
}

void order_learn(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c)
{
    struct warp_order *w = &b->warps[warp];
    if (!c)
        return;
    b->irregular = true;
    if (lanes == (w->exists & ~w->exited)) {
        for (unsigned l = 0; w->lanes && l < WARP_LANES; l++)
            clock_replace(&w->lanes->known[l], NULL);
        clock_replace(&w->known, clock_ref(c));
    } else if (order_lanes(b, warp)) {
        EACH_BIT(l, lanes)
            clock_replace(&w->lanes->known[l], clock_ref(c));
    }
    order_step(b, warp);
}

void order_acquire(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c)
{
    struct lane_order *s = order_lanes(b, warp);
    uint32_t learnt = 0;
    for (uint32_t m = s ? lanes : 0, same; m; m &= ~same) {
        struct clock *before = clock_ref(s->acquired[__builtin_ctz(m)]);
        same = order_same(s->acquired, m);
        if (before != c) { /* else they poll */
            learnt |= order_join_each(b, s->known, known_of_warp(b, warp), same, c, before);
            order_replace_each(s->acquired, same, c);
        }
        clock_release(before);
    }
    if (learnt)
        order_step(b, warp);
}
