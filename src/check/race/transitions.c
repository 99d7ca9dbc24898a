/* Memoised transitions: the effect of an access on a cell is computed once for all equal cases, and
 * then looked up (struct transition). */
#include "check/race/earlier.h"

#include <string.h>

/* A transition that reports a race is computed again in each phase of shared memory, and reports it
 * again. */
static void advance(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane,
                    uint64_t address, struct transition *s)
{
    cur->reported = false;
    s->next = race_compute_transition(cur, p, lanes, lane, address);
    s->reported_in = cur->reported && cur->shared ? cur->b->phase : 0;
}

/* Have lanes of the warp exited at different times? */
static bool exits_differ(const struct warp_order *w)
{
    size_t rest = sizeof w->exit_frontier - sizeof w->exit_frontier[0];
    return w->exited && (w->exited != UINT32_MAX || memcmp(w->exit_frontier, w->exit_frontier + 1, rest) != 0 ||
                         memcmp(w->exit_warp_frontier, w->exit_warp_frontier + 1, rest) != 0);
}

/* Does the transition depend on which lanes access? Lanes of the warp may know different things, or
 * know different things of the lanes of an entry, and these may have exited at different times. */
static bool lanes_differ(const struct current_access *cur, const struct access_history *h)
{
    const struct block_order *o = cur->b->order;
    if (!order_lanes_know_alike(o, cur->warp))
        return true;
    for (uint32_t i = 0; (o->irregular || o->least_exit_frontier != UINT32_MAX) && i < h->n; i++) {
        const struct site_epoch *r = history_site_epoch(cur->h, h->at[i].site_epoch);
        uint32_t incarnation = race_incarnation_of(cur, r);
        const struct access_kind *c = race_kind_at(cur->r, r->kind);
        if (c->issued || c->is_init)
            return true;
        struct accesses of = {incarnation, r->warp, UINT32_MAX, race_epoch_of(cur, r)};
        if (!order_knows_lanes_alike(o, cur->warp, of) ||
            (incarnation == o->number && exits_differ(&o->warps[r->warp])))
            return true;
    }
    return false;
}

/* Has the lane acquired something by itself? It will probably do so again, and gets its own
 * transitions. */
static bool knows_apart(const struct current_access *cur, unsigned lane)
{
    const struct lane_order *l = cur->b->order->warps[cur->warp].lanes;
    return cur->kind->strong && l && l->known[lane];
}

/* A read-modify-write by which threads release and acquire: its epoch, or the history that it
 * meets, is new each time, so memoising does not pay. */
static bool comes_once(const struct current_access *cur)
{
    return cur->b->traits.releases && race_is_rmw(cur->kind) && cur->kind->bytes <= 4;
}

static uint32_t hash_transition(const struct transition *s)
{
    uint64_t x = s->old * 0x9e3779b97f4a7c15ull ^ s->site_epoch * 0xc2b2ae3d27d4eb4full ^
                 s->lanes * 0x165667b19e3779f9ull ^ s->place;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 40);
}

static bool same_transition(const struct transition *a, const struct transition *b)
{
    return !((a->old ^ b->old) | (a->site_epoch ^ b->site_epoch) | (a->lanes ^ b->lanes) | (a->place ^ b->place) |
             (a->generation ^ b->generation));
}

static bool is_known(const struct current_access *cur, const struct transition *known, const struct transition *s)
{
    return same_transition(known, s) && (!known->reported_in || known->reported_in == cur->b->phase);
}

static cell apply(const struct transition *s, cell old, unsigned lane)
{
    return s->next & TRANSITION_STAYS ? old : cell_of(s->next, lane);
}

/* The set of the cache that it belongs to. */
static struct transition *find_transitions(const struct current_access *cur, const struct transition *s)
{
    struct race_worker *k = cur->b->worker;
    uint32_t hash = hash_transition(s),
             count = cur->kind->strong && cur->b->traits.releases ? TRANSITIONS_FEW : TRANSITIONS;
    return cur->shared ? &k->transitions_shared[hash % (TRANSITIONS_SHARED / TRANSITION_WAYS) * TRANSITION_WAYS]
                       : &k->transitions[hash % (count / TRANSITION_WAYS) * TRANSITION_WAYS];
}

/* NULL where it is not cached. */
static const struct transition *find_transition(const struct current_access *cur, const struct transition *s)
{
    const struct transition *at = find_transitions(cur, s);
    return is_known(cur, &at[0], s) ? &at[0] : is_known(cur, &at[1], s) ? &at[1] : NULL;
}

static void keep_transition(const struct current_access *cur, const struct transition *s)
{
    struct transition *at = find_transitions(cur, s);
    at[1] = at[0];
    at[0] = *s;
}

/* `lanes` are the warp's. */
static void make_transition(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane,
                            uint64_t address, struct transition *s)
{
    cur->reported = false;
    bool joins = race_join_reads(cur, p, lanes, lane, &s->next);
    if (!joins && p->history && lanes_differ(cur, p->history))
        s->next = TRANSITION_BY_LANE;
    else if (!joins)
        advance(cur, p, lanes, lane, address, s);
    if (!p->history && !cur->reported && cur->mapping == LANES_SAME) {
        cur->recent->some_lanes = s->lanes;
        cur->recent->some = s->next;
    }
    keep_transition(cur, s);
}

/* A task that is no launch has no lanes: it keeps the lane that the cell names, so that consecutive
 * cells keep one history. */
cell race_transition(struct current_access *cur, cell old, struct lanes l, uint64_t address)
{
    uint32_t history = cell_history(old), lanes = rotate_left(l.lanes, l.lane);
    if (!cur->kind->site && history)
        l.lane = cell_lane(old);
    bool has_lanes = history && !history_at(cur->h, history)->only_tasks;
    unsigned further = has_lanes ? (l.lane - cell_lane(old)) & 31 : 0;
    struct transition s = {history, cur->site_epoch, l.lanes, transition_place(further, 0, cur->mapping, cur->alike),
                           .generation = cur->h->generation};
    struct history_view view = {history ? history_at(cur->h, history) : NULL, cell_lane(old)};
    if (same_transition(&cur->last, &s))
        return apply(&cur->last, old, l.lane);
    if (history && race_is_left_out(cur, history))
        return old;
    if (comes_once(cur)) {
        cur->one_for_all = false;
        advance(cur, &view, lanes, l.lane, address, &s);
        return apply(&s, old, l.lane);
    }
    if (!history || !knows_apart(cur, l.lane)) {
        const struct transition *known = find_transition(cur, &s);
        if (known)
            s.next = known->next;
        else
            make_transition(cur, &view, lanes, l.lane, address, &s);
        if (s.next != TRANSITION_BY_LANE) {
            cur->last = s;
            return apply(&s, old, l.lane);
        }
    }
    cur->one_for_all = false;
    s.place = transition_place(further, 1 + l.lane, cur->mapping, cur->alike);
    const struct transition *known = find_transition(cur, &s);
    if (known)
        return apply(known, old, l.lane);
    advance(cur, &view, lanes, l.lane, address, &s);
    keep_transition(cur, &s);
    return apply(&s, old, l.lane);
}
