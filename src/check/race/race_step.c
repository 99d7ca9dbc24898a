/* What an access makes of a cell is found once for all that are alike, and then looked up: struct step. */
#include "check/race/race_earlier.h"

#include <string.h>

/* A step that tells something is made, and tells it, in each phase of shared memory. */
static void advance(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint64_t address,
                    struct step *s)
{
    n->told = false;
    s->next = race_find_next(n, p, lanes, lane, address);
    s->told_in = n->told && n->shared ? n->b->phase : 0;
}

/* Have all lanes of the warp done alike? */
static bool exits_differ(const struct warp_order *w)
{
    size_t rest = sizeof w->exit_frontier - sizeof w->exit_frontier[0];
    return w->exited && (w->exited != UINT32_MAX || memcmp(w->exit_frontier, w->exit_frontier + 1, rest) != 0 ||
                         memcmp(w->exit_warp_frontier, w->exit_warp_frontier + 1, rest) != 0);
}

/* Does it matter which lanes they are? Lanes of a warp may know different things, or of other lanes different things; and others
 * differ by when they have exited. */
static bool lanes_differ(const struct now *n, const struct history *h)
{
    const struct block_order *o = n->b->order;
    if (!order_lanes_know_alike(o, n->warp))
        return true;
    for (uint32_t i = 0; (o->irregular || o->least_exit_frontier != UINT32_MAX) && i < h->n; i++) {
        const struct record *r = history_record(n->h, h->at[i].record);
        uint32_t incarnation = race_incarnation_of(n, r);
        const struct access_class *c = race_class_at(n->r, r->class);
        if (c->issued || c->is_init)
            return true;
        if (!order_knows_lanes_alike(o, n->warp, incarnation, r->warp, race_epoch_of(n, r)) ||
            (incarnation == o->number && exits_differ(&o->warps[r->warp])))
            return true;
    }
    return false;
}

/* A lane that has acquired by itself, and does so again and again: it is asked about alone. */
static bool knows_apart(const struct now *n, unsigned lane)
{
    const struct lane_order *l = n->b->order->warps[n->warp].lanes;
    return n->class->strong && l && l->known[lane];
}

/* An update where threads release and acquire is of an epoch that is new, or meets a history that is. */
static bool comes_once(const struct now *n)
{
    return n->b->traits.releases && race_is_update(n->class) && n->class->bytes <= 4;
}

static uint32_t hash_step(const struct step *s)
{
    uint64_t x = s->old * 0x9e3779b97f4a7c15ull ^ s->record * 0xc2b2ae3d27d4eb4full ^ s->lanes * 0x165667b19e3779f9ull ^
                 s->place;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 40);
}

static bool same_step(const struct step *a, const struct step *b)
{
    return !((a->old ^ b->old) | (a->record ^ b->record) | (a->lanes ^ b->lanes) | (a->place ^ b->place) |
             (a->generation ^ b->generation));
}

static bool is_known(const struct now *n, const struct step *known, const struct step *s)
{
    return same_step(known, s) && (!known->told_in || known->told_in == n->b->phase);
}

static cell apply(const struct step *s, cell old, unsigned lane)
{
    return s->next & STEP_STAYS ? old : cell_of(s->next, lane);
}

/* Those that have the place in the table where it is to be. */
static struct step *find_steps(const struct now *n, const struct step *s)
{
    struct race_worker *k = n->b->worker;
    uint32_t hash = hash_step(s), count = n->class->strong && n->b->traits.releases ? STEPS_FEW : STEPS;
    return n->shared ? &k->steps_shared[hash % (STEPS_SHARED / STEP_WAYS) * STEP_WAYS]
                     : &k->steps[hash % (count / STEP_WAYS) * STEP_WAYS];
}

/* NULL where it has not been made yet. */
static const struct step *find_step(const struct now *n, const struct step *s)
{
    const struct step *at = find_steps(n, s);
    return is_known(n, &at[0], s) ? &at[0] : is_known(n, &at[1], s) ? &at[1] : NULL;
}

static void keep_step(const struct now *n, const struct step *s)
{
    struct step *at = find_steps(n, s);
    at[1] = at[0];
    at[0] = *s;
}

/* `lanes` are the warp's. */
static void make_step(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint64_t address,
                      struct step *s)
{
    n->told = false;
    bool joins = race_join_reads(n, p, lanes, lane, &s->next);
    if (!joins && p->history && lanes_differ(n, p->history))
        s->next = STEP_BY_LANE;
    else if (!joins)
        advance(n, p, lanes, lane, address, s);
    if (!p->history && !n->told && n->spread == SPREAD_NONE) {
        n->recent->some_lanes = s->lanes;
        n->recent->some = s->next;
    }
    keep_step(n, s);
}

/* Of a task, which has no lanes, it does not matter which lane the cell names: what has been made of consecutive cells stays one
 * history. */
cell race_look_up(struct now *n, cell old, struct lanes l, uint64_t address)
{
    uint32_t history = cell_history(old), lanes = rotate_left(l.lanes, l.lane);
    if (!n->class->site && history)
        l.lane = cell_lane(old);
    bool has_lanes = history && !history_at(n->h, history)->only_tasks;
    unsigned further = has_lanes ? (l.lane - cell_lane(old)) & 31 : 0;
    struct step s = {history, n->record, l.lanes, step_place(further, 0, n->spread, n->alike),
                     .generation = n->h->generation};
    struct past past = {history ? history_at(n->h, history) : NULL, cell_lane(old)};
    if (same_step(&n->last, &s))
        return apply(&n->last, old, l.lane);
    if (history && race_is_left_out(n, history))
        return old;
    if (comes_once(n)) {
        n->one_for_all = false;
        advance(n, &past, lanes, l.lane, address, &s);
        return apply(&s, old, l.lane);
    }
    if (!history || !knows_apart(n, l.lane)) {
        const struct step *known = find_step(n, &s);
        if (known)
            s.next = known->next;
        else
            make_step(n, &past, lanes, l.lane, address, &s);
        if (s.next != STEP_BY_LANE) {
            n->last = s;
            return apply(&s, old, l.lane);
        }
    }
    n->one_for_all = false;
    s.place = step_place(further, 1 + l.lane, n->spread, n->alike);
    const struct step *known = find_step(n, &s);
    if (known)
        return apply(known, old, l.lane);
    advance(n, &past, lanes, l.lane, address, &s);
    keep_step(n, &s);
    return apply(&s, old, l.lane);
}
