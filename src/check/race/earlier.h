/* Decides whether an entry of a history races with the current access, or happens before it.
 * Called for each entry of each history that an access meets, unless the transition is memoised. */
#ifndef HEDDLE_CHECK_RACE_EARLIER_H
#define HEDDLE_CHECK_RACE_EARLIER_H

#include "check/race/current.h"

/* A site epoch in the terms of order.h. */
static inline uint32_t race_incarnation_of(const struct current_access *cur, const struct site_epoch *r)
{
    return cur->shared ? cur->b->order->number : r->incarnation;
}
static inline uint32_t race_epoch_of(const struct current_access *cur, const struct site_epoch *r)
{
    return cur->shared ? cur->b->shared_from + r->epoch : r->epoch;
}
static inline uint32_t race_task_of(const struct current_access *cur, const struct site_epoch *r)
{
    return cur->shared ? cur->b->task : order_incarnation(cur->r->order, r->incarnation)->task;
}

/* An entry, and its relation to the current access. */
struct earlier {
    struct history_entry entry;
    const struct site_epoch *site_epoch;
    uint32_t incarnation;
    const struct access_kind *kind;
    uint32_t lanes;
    bool same_incarnation, same_task;
};

static inline struct earlier race_meet(const struct current_access *cur, struct history_entry entry, unsigned lane)
{
    struct earlier e = {.entry = entry, .site_epoch = history_site_epoch(cur->h, entry.site_epoch)};
    e.kind = race_kind_at(cur->r, e.site_epoch->kind);
    e.incarnation = race_incarnation_of(cur, e.site_epoch);
    /* A task that is not a launch has no lanes. */
    e.lanes = rotate_left(entry.lanes, e.kind->site ? lane : 0);
    e.same_incarnation = e.incarnation == cur->b->order->number;
    e.same_task = e.same_incarnation || order_incarnation(cur->r->order, e.incarnation)->task == cur->b->task;
    return e;
}

static inline struct accesses race_accesses(const struct current_access *cur, const struct earlier *e)
{
    return (struct accesses){e->incarnation, e->site_epoch->warp, e->lanes, race_epoch_of(cur, e->site_epoch)};
}

static inline bool race_overlaps(const struct current_access *cur, const struct earlier *e)
{
    return timelines_overlap(cur->r->timelines, order_incarnation(cur->r->order, e->incarnation)->task, cur->b->task);
}

static inline bool race_is_task_before(const struct current_access *cur, const struct earlier *e, unsigned lane)
{
    uint32_t task = order_incarnation(cur->r->order, e->incarnation)->task;
    return task <= cur->b->frontier || timelines_before(cur->r->timelines, task, cur->b->task) ||
           (race_overlaps(cur, e) && order_knows_grids_ended(cur->b->order, cur->warp, lane, cur->b->task));
}

/* The lanes of an entry whose accesses happen before the current access of `lane`. The entry's
 * own accesses by `lane` do, by program order. */
static inline uint32_t race_before(const struct current_access *cur, const struct earlier *e, unsigned lane)
{
    unsigned warp = cur->warp;
    if (!e->same_task && race_is_task_before(cur, e, lane))
        return e->lanes;
    struct accesses of = race_accesses(cur, e);
    if (e->kind->issued)
        return order_issued_before(cur->b->order, warp, lane, of);
    uint32_t before = e->same_incarnation && e->site_epoch->warp == warp ? e->lanes & 1u << lane : 0;
    of.lanes &= ~before;
    if (!of.lanes)
        return before;
    before |= order_before(cur->b->order, warp, lane, of);
    const struct race_block *owner = e->kind->is_init ? race_block_of(cur->owner) : NULL;
    of.lanes = e->lanes & ~before;
    if (owner && owner->order->number == e->incarnation)
        before |= order_init_before(owner->order, cur->b->order, warp, lane, of);
    return before;
}

/* Does each access of an entry happen before the access of at least one of these lanes? */
static inline bool race_is_before_any(const struct current_access *cur, const struct earlier *e, uint32_t lanes)
{
    uint32_t left = e->lanes;
    EACH_BIT(lane, lanes)
        left = left ? left & ~race_before(cur, e, lane) : 0;
    return left == 0;
}

static inline bool race_are_morally_strong(const struct current_access *cur, const struct earlier *e)
{
    const struct order *o = cur->r->order;
    return e->kind->strong && cur->kind->strong && e->kind->bytes == cur->kind->bytes &&
           order_scope_includes(o, e->kind->scope, e->incarnation, cur->b->order->number) &&
           order_scope_includes(o, cur->kind->scope, cur->b->order->number, e->incarnation);
}

/* If the strong read `z` returned the value that `w` wrote, would it observe `w` (8.9.2)? */
static inline bool race_can_observe(const struct current_access *cur, const struct earlier *z, const struct earlier *w)
{
    const struct order *o = cur->r->order;
    return z->kind->reads && z->kind->strong && !z->kind->torn && w->kind->strong && z->kind->bytes == w->kind->bytes &&
           order_scope_includes(o, z->kind->scope, z->incarnation, w->incarnation) &&
           order_scope_includes(o, w->kind->scope, w->incarnation, z->incarnation);
}

/* Causality order, second rule (8.9.5): a write that a strong operation has observed happens
 * before everything that the operation happens before. Observation passes through
 * read-modify-writes, as each has observed the one before it (8.9.2). So a strong write is
 * ordered if a later strong read is, unless another write came between that has not observed it. */
static inline bool race_was_observed(const struct current_access *cur, const struct history_view *p, uint32_t i,
                                     const struct earlier *e, unsigned lane)
{
    struct earlier last = *e;
    for (uint32_t k = i + 1; e->kind->strong && e->kind->writes && k < p->history->n; k++) {
        struct earlier z = race_meet(cur, p->history->at[k], p->lane);
        bool observes = race_can_observe(cur, &z, &last);
        if (observes && race_before(cur, &z, lane))
            return true;
        if (z.kind->writes && !observes)
            return false;
        if (z.kind->writes)
            last = z;
    }
    return false;
}

/* pairs.c: reports that the access races with the access of lane `of` of an entry; that its own
 * lanes race with each other. */
void race_report_pair(struct current_access *cur, const struct earlier *e, unsigned of, unsigned lane,
                      uint64_t address);
void race_check_lanes(struct current_access *cur, uint32_t lanes, uint64_t address);

/* Checks the access by these lanes against entry i, and reports the first race. */
static inline void race_check_entry(struct current_access *cur, const struct history_view *p, uint32_t i,
                                    const struct earlier *e, uint32_t lanes, uint64_t address)
{
    if (!(e->kind->writes || cur->kind->writes) || race_are_morally_strong(cur, e) ||
        (e->kind->is_mbarrier && cur->kind->is_mbarrier))
        return;
    EACH_BIT(lane, lanes) {
        uint32_t unordered = e->lanes & ~race_before(cur, e, lane);
        if (unordered && !race_was_observed(cur, p, i, e, lane)) {
            race_report_pair(cur, e, (unsigned)__builtin_ctz(unordered), lane, address);
            return;
        }
    }
}

#endif
