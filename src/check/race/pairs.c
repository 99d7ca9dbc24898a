/* From a race between two accesses to a finding: who they are, and why they race; see earlier.h. */
#include "check/race/earlier.h"

#include <string.h>

static enum race_reason reason_of(const struct current_access *cur, const struct earlier *e)
{
    if (e->kind->strong && cur->kind->strong)
        return e->kind->bytes != cur->kind->bytes ? RACE_PARTLY : RACE_SCOPE;
    if (e->kind->strong != cur->kind->strong && e->kind->site && cur->kind->site)
        return RACE_MIXED;
    if (!e->kind->site || !cur->kind->site)
        return RACE_HOST;
    return !e->same_task                      ? race_overlaps(cur, e) ? RACE_OVERLAP : RACE_LAUNCHES
           : !e->same_incarnation             ? RACE_BLOCKS
           : e->site_epoch->warp != cur->warp ? RACE_BLOCK
                                              : RACE_WARP;
}

static struct race_side side(const struct current_access *cur, const struct access_kind *c, uint32_t incarnation,
                             unsigned thread)
{
    const struct incarnation *i = order_incarnation(cur->r->order, incarnation);
    struct race_side s = {.kind = c, .incarnation = {.task = i->task}, .thread = thread};
    /* Findings name it, and it never changes. */
    memcpy(s.incarnation.ctaid, i->ctaid, sizeof i->ctaid);
    memcpy(s.incarnation.block, i->block, sizeof i->block);
    return s;
}

static struct race_datum datum_at(const struct current_access *cur, uint64_t address)
{
    return (struct race_datum){cur->kernel, cur->owner, cur->owner && cur->b->is_clustered, address - cur->base};
}

void race_report_pair(struct current_access *cur, const struct earlier *e, unsigned of, unsigned lane, uint64_t address)
{
    struct race_side earlier = side(cur, e->kind, e->incarnation, e->site_epoch->warp * WARP_LANES + of);
    struct race_side later = side(cur, cur->kind, cur->b->order->number, cur->warp * WARP_LANES + lane);
    cur->reported = cur->b->phases.reported = true;
    struct race_datum datum = datum_at(cur, address);
    race_add_finding(cur->r, &datum, reason_of(cur, e), &earlier, &later);
}

/* Has a thread of the block observed the strong access by a strong one of its own? Then it was made
 * before the block's end. */
static bool is_seen(const struct current_access *cur, const struct history_view *p, uint32_t i, const struct earlier *e)
{
    bool seen = false;
    for (uint32_t k = i + 1; e->kind->strong && e->kind->writes && k < p->history->n && !seen; k++) {
        struct earlier z = race_meet(cur, p->history->at[k], p->lane);
        seen = z.same_incarnation && race_can_observe(cur, &z, e);
    }
    return seen;
}

void race_check_end(struct current_access *cur, cell at, uint64_t address)
{
    struct history_view p = {at ? history_at(cur->h, cell_history(at)) : NULL, cell_lane(at)};
    for (uint32_t i = 0; p.history && i < p.history->n; i++) {
        struct earlier e = race_meet(cur, p.history->at[i], p.lane);
        uint32_t left = e.lanes & ~order_before_end(cur->b->order, race_accesses(cur, &e), e.kind->issued);
        if (e.same_incarnation || !e.same_task || !left || is_seen(cur, &p, i, &e))
            continue;
        struct race_side by =
            side(cur, e.kind, e.incarnation, e.site_epoch->warp * WARP_LANES + (unsigned)__builtin_ctz(left));
        struct race_datum datum = datum_at(cur, address);
        race_add_finding(cur->r, &datum, RACE_END, &by, &by);
    }
}

/* Nothing orders lanes that write one place by one instruction. Where they write the same value it
 * makes no difference which was the last, and nothing is reported: compilers do so, such as
 * Triton's to store what a whole warp has. */
void race_check_lanes(struct current_access *cur, uint32_t lanes, uint64_t address)
{
    if (!cur->kind->writes || cur->kind->strong || cur->alike || !(lanes & (lanes - 1)))
        return;
    unsigned a = (unsigned)__builtin_ctz(lanes), b = (unsigned)__builtin_ctz(lanes & (lanes - 1));
    struct race_side x = side(cur, cur->kind, cur->b->order->number, cur->warp * WARP_LANES + a), y = x;
    y.thread = cur->warp * WARP_LANES + b;
    cur->reported = cur->b->phases.reported = true;
    struct race_datum datum = datum_at(cur, address);
    race_add_finding(cur->r, &datum, RACE_ONE_INSTRUCTION, &x, &y);
}
