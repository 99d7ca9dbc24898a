/* Accesses of launches that have clients: events (events.h), and lanes that are skipped instead of
 * failing the launch.
 *
 * If one plan serves all lanes, it is one event, and no lane is examined by itself. Otherwise the
 * lanes are located one by one, with one event for each state space that they access.
 */
#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/async.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/rows.h"
#include "exec/worker.h"

void access_tell_write(struct warp *w, const struct op *o, uint32_t lanes, uint64_t address, uint32_t bytes)
{
    struct access_event e = {.site = tell_site(w->block, o),
                             .block = w->block->told,
                             .warp = w->index,
                             .space = SPACE_LOCAL,
                             .pattern = ACCESS_UNIFORM,
                             .lanes = lanes,
                             .bytes = bytes,
                             .writes = true,
                             .base = address,
                             .low = address,
                             .high = address + bytes};
    EVENT_TELL(w->events, EVENT_ACCESS, access, &e);
}

void access_tell_bulk(const struct warp *w, const struct op *o, unsigned lane, uint64_t to, uint64_t from,
                      const struct issue_event *more)
{
    uint64_t at[2][WARP_LANES];
    struct issue_event e = *more;
    at[0][lane] = to;
    at[1][lane] = from;
    e.site = tell_site(w->block, o);
    e.block = w->block->told;
    e.warp = w->index;
    e.lanes = 1u << lane;
    e.to = at[0];
    e.from = at[1];
    EVENT_TELL(w->events, EVENT_ISSUE, issue, &e);
}

/* Field by field, in its place: a copy of a record that was just written waits for the writes. */
static inline void begin_event(struct access_event *e, const struct warp *w, const struct op *o, enum ptx_space space,
                               uint32_t lanes, uint32_t bytes)
{
    e->site = tell_site(w->block, o);
    e->block = w->block->told;
    e->warp = w->index;
    e->space = space;
    e->owner = space == SPACE_SHARED ? e->block : NULL;
    e->is_async = false;
    e->source = NULL;
    e->signals = NULL;
    e->pattern = ACCESS_ANY;
    e->lanes = lanes;
    e->bytes = bytes;
    e->reads = e->site->reads;
    e->writes = e->site->writes;
    e->strong = site_is_strong(e->site);
    e->wrote = 0;
    e->base = 0;
    e->address = NULL;
}

/* Copies of its cluster that a lane comes before. */
static void tell_overtakes(const struct warp *w, const struct access_event *e)
{
    const struct block *b = w->block, *owner = e->owner ? told_block(e->owner) : NULL;
    bool written;
    if (e->space == SPACE_LOCAL || e->site->kind == SITE_MBARRIER || !async_is_pending(b) ||
        !async_find(b, owner, e->low, e->high - e->low, e->writes, &written))
        return;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        const struct async_work *x = async_find(b, owner, access_address(e, lane), e->bytes, e->writes, &written);
        const struct overtake_event o = {e, lane, x ? tell_site(x->warp->block, x->op) : NULL, written};
        if (x)
            EVENT_TELL(w->events, EVENT_OVERTAKE, overtake, &o);
    }
}

static inline __attribute__((always_inline)) void tell_access(const struct warp *w, const struct access_event *e)
{
    EVENT_TELL(w->events, EVENT_ACCESS, access, e);
    if (event_is_wanted(w->events, EVENT_OVERTAKE))
        tell_overtakes(w, e);
}

void access_tell_outcome(const struct warp *w, const struct op *o, struct told *t)
{
    struct access_event *e = &t->e;
    if (!e->strong && !e->writes) {
        if (event_is_wanted(w->events, EVENT_READ))
            EVENT_TELL(w->events, EVENT_READ, performed, e);
        return;
    }
    e->wrote = o->kind == OP_ATOM ? w->block->worker->wrote & e->lanes : e->writes ? e->lanes : 0;
    EVENT_TELL(w->events, EVENT_PERFORMED, performed, e);
}

/* ---- a plan for all lanes ---- */

/* What a generic address is in its space: less the start of the window. */
static uint64_t window_of(const struct warp *w, const struct plan *p)
{
    return p->space == SPACE_SHARED  ? (uint64_t)(uintptr_t)w->block->shared - p->base
           : p->space == SPACE_LOCAL ? p->base
                                     : 0;
}

/* Lanes that are neither all at one address nor all consecutive. */
static void tell_scattered(const struct plan *p, uint64_t window, struct told *t)
{
    static const enum access_pattern patterns[] = {[PATTERN_NONE] = ACCESS_ANY,
                                                   [PATTERN_LINEAR] = ACCESS_LINEAR,
                                                   [PATTERN_LINEAR_HALVES] = ACCESS_LINEAR_HALVES,
                                                   [PATTERN_EQUAL_HALVES] = ACCESS_UNIFORM_HALVES};
    unsigned lane = (unsigned)__builtin_ctz(t->e.lanes);
    t->e.pattern = patterns[p->pattern];
    t->e.base = p->address[lane] - window - (uint64_t)lane * t->e.bytes;
    if (p->pattern == PATTERN_LINEAR)
        return;
    t->e.address = window ? t->address : p->address;
    for (unsigned l = 0; window && l < WARP_LANES; l++)
        t->address[l] = p->address[l] - window;
}

void access_tell(const struct warp *w, const struct op *o, uint32_t mask, uint32_t bytes, const struct plan *p,
                 struct told *t)
{
    uint64_t window = window_of(w, p);
    begin_event(&t->e, w, o, p->space, mask, bytes);
    t->e.low = p->scan.min - window;
    t->e.high = p->scan.max - window + t->e.bytes;
    if (p->scan.linear || p->scan.min == p->scan.max) {
        t->e.base = t->e.low;
        t->e.pattern = p->scan.linear ? ACCESS_LINEAR : ACCESS_UNIFORM;
    } else {
        tell_scattered(p, window, t);
    }
    tell_access(w, &t->e);
}

/* ---- lanes one by one ---- */

bool access_leave_out(const struct warp *w, const struct op *o, unsigned lane, enum fault_kind kind,
                      const struct location *p, uint32_t bytes)
{
    struct fault_event e = {.site = tell_site(w->block, o),
                            .block = w->block->told,
                            .warp = w->index,
                            .lane = lane,
                            .kind = kind,
                            .space = p->space,
                            .address = p->address,
                            .bytes = bytes,
                            .window = p->window,
                            .writes = o->kind == OP_ASYNC ? p->writes : op_writes(o)};
    return events_tell_fault(w->events, &e);
}

static void zero_lane(uint8_t *const base[4], const struct op_access *x, unsigned lane)
{
    for (unsigned k = 0; k < x->mem.n; k++)
        if (x->has_reg[k])
            memset(row_at(base, x->regs[k]) + lane * x->width[k] / 8, 0, x->width[k] / 8);
}

/* Lanes by the space that they are in, and their addresses there. */
struct located {
    uint32_t global, shared, local;
    uint64_t address[WARP_LANES];
    const struct block *owner[WARP_LANES]; /* of shared memory */
};

/* False after a fault that no client wants left out. */
static bool locate_lanes(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask,
                         const struct plan *p, struct located *found)
{
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at;
        enum fault_kind kind = access_locate_op(w, o, p->address[l], &at);
        uint32_t bytes = op_bytes(o);
        if (kind && !access_leave_out(w, o, l, kind, &at, bytes))
            return warp_fault_at(w, kind, o, l, &at, bytes);
        if (kind) {
            if (o->kind != OP_ST)
                zero_lane(base, o->access, l);
            continue;
        }
        uint32_t *lanes = at.space == SPACE_SHARED  ? &found->shared
                          : at.space == SPACE_LOCAL ? &found->local
                                                    : &found->global;
        *lanes |= 1u << l;
        found->address[l] = at.address;
        found->owner[l] = at.owner;
    }
    return true;
}

/* Those of the lanes in shared memory that are in one block's. */
static uint32_t lanes_of_owner(const struct located *found, const struct block *owner)
{
    uint32_t same = 0;
    for (uint32_t m = found->shared; m; m &= m - 1)
        same |= found->owner[__builtin_ctz(m)] == owner ? 1u << __builtin_ctz(m) : 0;
    return same;
}

/* From the least address to the end of the largest one's bytes. */
static void find_span(struct access_event *e)
{
    e->low = UINT64_MAX;
    e->high = 0;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = e->address[__builtin_ctz(m)];
        e->low = at < e->low ? at : e->low;
        e->high = at + e->bytes > e->high ? at + e->bytes : e->high;
    }
}

/* Lanes in one space, of one block where it is shared: told of, and performed. */
static bool perform_part(struct warp *w, uint8_t *const base[4], const struct op *o, enum ptx_space space,
                         uint32_t lanes, const struct located *found, struct plan *p, perform_fn *perform)
{
    struct told t;
    begin_event(&t.e, w, o, space, lanes, op_bytes(o));
    t.e.owner = space == SPACE_SHARED ? found->owner[__builtin_ctz(lanes)]->told : NULL;
    t.e.address = found->address;
    find_span(&t.e);
    tell_access(w, &t.e);
    bool ok = perform(w, base, o, lanes, p);
    access_tell_performed(w, o, &t);
    return ok;
}

void access_begin_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                        uint32_t bytes, struct told *t)
{
    begin_event(&t->e, w, o, SPACE_GLOBAL, lanes, bytes);
    t->e.address = address;
    find_span(&t->e);
    tell_access(w, &t->e);
}

void access_tell_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                       uint32_t bytes)
{
    struct told t;
    access_begin_lanes(w, o, lanes, address, bytes, &t);
    access_tell_performed(w, o, &t);
}

bool access_watched_by_lane(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                            perform_fn *perform)
{
    struct located found = {0};
    plan_fill(w, o, p);
    p->scan.linear = false;
    bool ok = locate_lanes(w, base, o, mask, p, &found);
    if (ok && found.global)
        ok = perform_part(w, base, o, SPACE_GLOBAL, found.global, &found, p, perform);
    for (uint32_t same; ok && found.shared; found.shared &= ~same) {
        same = lanes_of_owner(&found, found.owner[__builtin_ctz(found.shared)]);
        ok = perform_part(w, base, o, SPACE_SHARED, same, &found, p, perform);
    }
    if (ok && found.local)
        ok = perform_part(w, base, o, SPACE_LOCAL, found.local, &found, p, perform);
    return ok;
}
