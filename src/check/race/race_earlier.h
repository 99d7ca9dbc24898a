/* Is an earlier access, of those that a cell's history has, ordered before the one that is under way, and do the two race? Asked for each
 * entry of each history that an access meets. */
#ifndef HEDDLE_CHECK_RACE_EARLIER_H
#define HEDDLE_CHECK_RACE_EARLIER_H

#include "check/race/race_now.h"

/* Whose it is, and when, as the order knows them. */
static inline uint32_t race_incarnation_of(const struct now *n, const struct record *r)
{
    return n->shared ? n->b->order->number : r->incarnation;
}
static inline uint32_t race_epoch_of(const struct now *n, const struct record *r)
{
    return n->shared ? n->b->shared_from + r->epoch : r->epoch;
}
static inline uint32_t race_task_of(const struct now *n, const struct record *r)
{
    return n->shared ? n->b->task : order_incarnation(n->r->order, r->incarnation)->task;
}

/* An entry of the cell's history, as the access meets it. */
struct earlier {
    struct history_entry entry;
    const struct record *record;
    uint32_t incarnation;
    const struct access_class *class;
    uint32_t lanes;
    bool same_incarnation, same_task;
};

static inline struct earlier race_meet(const struct now *n, struct history_entry entry, unsigned lane)
{
    struct earlier e = {.entry = entry, .record = history_record(n->h, entry.record)};
    e.class = race_class_at(n->r, e.record->class);
    e.incarnation = race_incarnation_of(n, e.record);
    e.lanes = rotate_left(entry.lanes, e.class->site ? lane : 0); /* a task's are nobody's */
    e.same_incarnation = e.incarnation == n->b->order->number;
    e.same_task = e.same_incarnation || order_incarnation(n->r->order, e.incarnation)->task == n->b->task;
    return e;
}

static inline bool race_overlaps(const struct now *n, const struct earlier *e)
{
    return timelines_overlap(n->r->timelines, order_incarnation(n->r->order, e->incarnation)->task, n->b->task);
}

static inline bool race_is_task_before(const struct now *n, const struct earlier *e, unsigned lane)
{
    uint32_t task = order_incarnation(n->r->order, e->incarnation)->task;
    return task <= n->b->frontier || timelines_before(n->r->timelines, task, n->b->task) ||
           (race_overlaps(n, e) && order_knows_grids_ended(n->b->order, n->warp, lane, n->b->task));
}

/* Those of its lanes whose accesses happen before what `lane` does now; its own are, in program order. */
static inline uint32_t race_before(const struct now *n, const struct earlier *e, unsigned lane)
{
    unsigned warp = n->warp;
    if (!e->same_task && race_is_task_before(n, e, lane))
        return e->lanes;
    uint32_t own = e->same_incarnation && e->record->warp == warp ? e->lanes & 1u << lane : 0,
             epoch = race_epoch_of(n, e->record);
    if (e->class->issued)
        return order_issued_before(n->b->order, warp, lane, e->incarnation, e->record->warp, e->lanes, epoch);
    if (own == e->lanes)
        return own;
    uint32_t first =
        own | order_before(n->b->order, warp, lane, e->incarnation, e->record->warp, e->lanes & ~own, epoch);
    const struct race_block *owner = e->class->is_init ? race_block_of(n->owner) : NULL;
    if (owner && owner->order->number == e->incarnation)
        first |= order_init_before(owner->order, n->b->order, warp, lane, e->record->warp, e->lanes & ~first, epoch);
    return first;
}

/* Does each of its accesses happen before one of these lanes'? */
static inline bool race_is_before_any(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    uint32_t left = e->lanes;
    for (; lanes && left; lanes &= lanes - 1)
        left &= ~race_before(n, e, (unsigned)__builtin_ctz(lanes));
    return left == 0;
}

static inline bool race_are_morally_strong(const struct now *n, const struct earlier *e)
{
    const struct order *o = n->r->order;
    return e->class->strong && n->class->strong && e->class->bytes == n->class->bytes &&
           order_scope_includes(o, e->class->scope, e->incarnation, n->b->order->number) &&
           order_scope_includes(o, n->class->scope, n->b->order->number, e->incarnation);
}

/* The one observes the other (8.8) if it comes upon what that has written. */
static inline bool race_can_observe(const struct now *n, const struct earlier *z, const struct earlier *w)
{
    const struct order *o = n->r->order;
    return z->class->reads && z->class->strong && !z->class->torn && w->class->strong &&
           z->class->bytes == w->class->bytes &&
           order_scope_includes(o, z->class->scope, z->incarnation, w->incarnation) &&
           order_scope_includes(o, w->class->scope, w->incarnation, z->incarnation);
}

/* Causality order, 2: what a strong operation has observed happens before what that one happens before (8.9.4), and it observes through
 * read-modify-writes, each of which has observed the one before it (8.9.2). So a strong write is ordered where a strong read behind it
 * is, unless a write came between that has not observed it. */
static inline bool race_was_observed(const struct now *n, const struct past *p, uint32_t i, const struct earlier *e,
                                     unsigned lane)
{
    struct earlier last = *e;
    for (uint32_t k = i + 1; e->class->strong && e->class->writes && k < p->history->n; k++) {
        struct earlier z = race_meet(n, p->history->at[k], p->lane);
        bool observes = race_can_observe(n, &z, &last);
        if (observes && race_before(n, &z, lane))
            return true;
        if (z.class->writes && !observes)
            return false;
        if (z.class->writes)
            last = z;
    }
    return false;
}

/* race_tell.c: reports that the access races with what lane `of` of the earlier one's warp has done; that lanes of it race with each
 * other. */
void race_tell(struct now *n, const struct earlier *e, unsigned of, unsigned lane, uint64_t address);
void race_check_lanes(struct now *n, uint32_t lanes, uint64_t address);

/* Of entry i: the first of these lanes that it races with is told. */
static inline void race_check_entry(struct now *n, const struct past *p, uint32_t i, const struct earlier *e,
                                    uint32_t lanes, uint64_t address)
{
    if (!(e->class->writes || n->class->writes) || race_are_morally_strong(n, e) ||
        (e->class->is_mbarrier && n->class->is_mbarrier))
        return;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint32_t unordered = e->lanes & ~race_before(n, e, lane);
        if (unordered && !race_was_observed(n, p, i, e, lane)) {
            race_tell(n, e, (unsigned)__builtin_ctz(unordered), lane, address);
            return;
        }
    }
}

#endif
