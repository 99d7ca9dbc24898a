/* Races as they are told: between what, and why; see race_earlier.h. */
#include "check/race/race_earlier.h"

#include <string.h>

static enum race_reason reason_of(const struct now *n, const struct earlier *e)
{
    if (e->class->strong && n->class->strong)
        return e->class->bytes != n->class->bytes ? RACE_PARTLY : RACE_SCOPE;
    if (e->class->strong != n->class->strong && e->class->site && n->class->site)
        return RACE_MIXED;
    if (!e->class->site || !n->class->site)
        return RACE_HOST;
    return !e->same_task                ? race_overlaps(n, e) ? RACE_OVERLAP : RACE_LAUNCHES
           : !e->same_incarnation       ? RACE_BLOCKS
           : e->record->warp != n->warp ? RACE_BLOCK
                                        : RACE_WARP;
}

static struct race_side side(const struct now *n, const struct access_class *c, uint32_t incarnation, unsigned thread)
{
    const struct incarnation *i = order_incarnation(n->r->order, incarnation);
    struct race_side s = {.class = c, .incarnation = {.task = i->task}, .thread = thread};
    memcpy(s.incarnation.ctaid, i->ctaid, sizeof i->ctaid); /* what is told of it, and never changes */
    memcpy(s.incarnation.block, i->block, sizeof i->block);
    return s;
}

static struct race_datum datum_at(const struct now *n, uint64_t address)
{
    return (struct race_datum){n->kernel, n->owner, n->owner && n->b->is_clustered, address - n->base};
}

void race_tell(struct now *n, const struct earlier *e, unsigned of, unsigned lane, uint64_t address)
{
    struct race_side earlier = side(n, e->class, e->incarnation, e->record->warp * WARP_LANES + of);
    struct race_side later = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + lane);
    n->told = true;
    struct race_datum datum = datum_at(n, address);
    race_found(n->r, &datum, reason_of(n, e), &earlier, &later);
}

/* A strong access that a thread of the block has come upon by a strong one of its own has been made. */
static bool is_seen(const struct now *n, const struct past *p, uint32_t i, const struct earlier *e)
{
    bool seen = false;
    for (uint32_t k = i + 1; e->class->strong && e->class->writes && k < p->history->n && !seen; k++) {
        struct earlier z = race_meet(n, p->history->at[k], p->lane);
        seen = z.same_incarnation && race_can_observe(n, &z, e);
    }
    return seen;
}

void race_check_end(struct now *n, cell at, uint64_t address)
{
    struct past p = {at ? history_at(n->h, cell_history(at)) : NULL, cell_lane(at)};
    for (uint32_t i = 0; p.history && i < p.history->n; i++) {
        struct earlier e = race_meet(n, p.history->at[i], p.lane);
        uint32_t left = e.lanes & ~order_before_end(n->b->order, e.incarnation, e.record->warp, e.lanes,
                                                    e.record->epoch, e.class->issued);
        if (e.same_incarnation || !e.same_task || !left || is_seen(n, &p, i, &e))
            continue;
        struct race_side by =
            side(n, e.class, e.incarnation, e.record->warp * WARP_LANES + (unsigned)__builtin_ctz(left));
        struct race_datum datum = datum_at(n, address);
        race_found(n->r, &datum, RACE_END, &by, &by);
    }
}

/* Lanes of one instruction that write one place: nothing orders them. Where they write the same, which of them was the last makes no
 * difference to anybody, and it is left out: compilers do so, Triton's to store what a whole warp has. */
void race_check_lanes(struct now *n, uint32_t lanes, uint64_t address)
{
    if (!n->class->writes || n->class->strong || n->alike || !(lanes & (lanes - 1)))
        return;
    unsigned a = (unsigned)__builtin_ctz(lanes), b = (unsigned)__builtin_ctz(lanes & (lanes - 1));
    struct race_side x = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + a), y = x;
    y.thread = n->warp * WARP_LANES + b;
    n->told = true;
    struct race_datum datum = datum_at(n, address);
    race_found(n->r, &datum, RACE_ONE_INSTRUCTION, &x, &y);
}
