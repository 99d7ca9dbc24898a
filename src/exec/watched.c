/* Accesses of launches that somebody watches: events for hooks.h, and lanes that are left out instead of failing the launch.
 *
 * A plan that serves all lanes at once is one event, with no look at single lanes. Where there is none the lanes are located one
 * by one, and make an event for each state space that they are in.
 */
#include "exec/access.h"

void access_tell_write(struct warp *w, const struct op *o, uint32_t lanes, uint64_t address, uint32_t bytes)
{
    struct access_event e = {.warp = w,
                             .op = o,
                             .space = SPACE_LOCAL,
                             .pattern = ACCESS_UNIFORM,
                             .lanes = lanes,
                             .bytes = bytes,
                             .writes = true,
                             .base = address};
    HOOKS_CALL(w->hooks, access, &e);
}

static struct access_event event_of(const struct warp *w, const struct op *o, enum ptx_space space, uint32_t lanes)
{
    return (struct access_event){.warp = w,
                                 .op = o,
                                 .space = space,
                                 .lanes = lanes,
                                 .bytes = (uint32_t)o->access->bytes * o->access->n,
                                 .reads = op_reads(o),
                                 .writes = op_writes(o),
                                 .strong = o->kind == OP_ATOM || op_access_is_strong(o->access)};
}

static bool tell_and_perform(struct warp *w, uint8_t *const base[4], const struct op *o, struct plan *p,
                             const struct access_event *e, perform_fn *perform)
{
    HOOKS_CALL(w->hooks, access, e);
    bool ok = perform(w, base, o, e->lanes, p);
    if (e->strong) {
        struct access_event done = *e;
        done.wrote = o->kind == OP_ATOM ? w->block->worker->wrote & e->lanes : e->writes ? e->lanes : 0;
        HOOKS_CALL(w->hooks, performed, &done);
    }
    return ok;
}

/* ---- a plan for all lanes ---- */

/* What a generic address is in its space: less the start of the window. */
static uint64_t window_of(const struct warp *w, const struct plan *p)
{
    return p->space == SPACE_SHARED  ? (uint64_t)(uintptr_t)w->block->shared - p->base
           : p->space == SPACE_LOCAL ? p->base
                                     : 0;
}

/* `in_space` holds the addresses where they have to be others than the plan's. */
static void find_pattern(const struct warp *w, const struct plan *p, struct access_event *e, uint64_t *in_space)
{
    static const enum access_pattern patterns[] = {[PATTERN_NONE] = ACCESS_ANY,
                                                   [PATTERN_LINEAR] = ACCESS_LINEAR,
                                                   [PATTERN_LINEAR_HALVES] = ACCESS_LINEAR_HALVES,
                                                   [PATTERN_EQUAL_HALVES] = ACCESS_UNIFORM_HALVES};
    uint64_t window = window_of(w, p);
    e->base = p->scan.min - window;
    if (p->scan.linear || p->scan.min == p->scan.max) {
        e->pattern = p->scan.linear ? ACCESS_LINEAR : ACCESS_UNIFORM;
        return;
    }
    unsigned lane = (unsigned)__builtin_ctz(e->lanes);
    e->pattern = patterns[p->pattern];
    e->base = p->address[lane] - window - (uint64_t)lane * e->bytes;
    if (p->pattern == PATTERN_LINEAR)
        return;
    e->address = window ? in_space : p->address;
    for (unsigned l = 0; window && l < WARP_LANES; l++)
        in_space[l] = p->address[l] - window;
}

static bool watched_together(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                             perform_fn *perform)
{
    uint64_t in_space[WARP_LANES] __attribute__((aligned(64)));
    struct access_event e = event_of(w, o, p->space, mask);
    find_pattern(w, p, &e, in_space);
    return tell_and_perform(w, base, o, p, &e, perform);
}

/* ---- lanes one by one ---- */

/* A client may have the lane's access left out. */
static bool leave_out(const struct warp *w, const struct op *o, unsigned lane, enum fault_kind kind,
                      const struct location *p)
{
    struct fault_event e = {.warp = w,
                            .op = o,
                            .lane = lane,
                            .kind = kind,
                            .space = p->space,
                            .address = p->address,
                            .bytes = (uint32_t)o->access->bytes * o->access->n,
                            .window = p->window};
    for (unsigned i = 0; i < w->hooks->n; i++)
        if (w->hooks->at[i]->fault && w->hooks->at[i]->fault(w->hooks->at[i]->data, &e))
            return true;
    return false;
}

static void zero_lane(uint8_t *const base[4], const struct op_access *x, unsigned lane)
{
    for (unsigned k = 0; k < x->n; k++)
        if (x->has_reg[k])
            memset(row_at(base, x->regs[k]) + lane * x->width[k] / 8, 0, x->width[k] / 8);
}

/* Lanes by the space that they are in, and their addresses there. */
struct located {
    uint32_t global, shared, local;
    uint64_t address[WARP_LANES];
};

/* False after a fault that no client wants left out. */
static bool locate_lanes(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask,
                         const struct plan *p, struct located *found)
{
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at;
        enum fault_kind kind = locate_access(w, o, p->address[l], &at);
        if (kind && !leave_out(w, o, l, kind, &at))
            return warp_fault_at(w, kind, o, l, &at, (uint32_t)o->access->bytes * o->access->n);
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
    }
    return true;
}

static bool watched_by_lane(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                            perform_fn *perform)
{
    struct located found = {0};
    plan_fill(w, o, p);
    p->scan.linear = false;
    if (!locate_lanes(w, base, o, mask, p, &found))
        return false;
    const struct {
        enum ptx_space space;
        uint32_t lanes;
    } parts[] = {{SPACE_GLOBAL, found.global}, {SPACE_SHARED, found.shared}, {SPACE_LOCAL, found.local}};
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct access_event e = event_of(w, o, parts[i].space, parts[i].lanes);
        e.address = found.address;
        if (e.lanes && !tell_and_perform(w, base, o, p, &e, perform))
            return false;
    }
    return true;
}

bool access_watched(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                    perform_fn *perform)
{
    if (p->kind == PLAN_BY_LANE)
        return watched_by_lane(w, base, o, mask, p, perform);
    if (p->space == SPACE_PARAM)
        return perform(w, base, o, mask, p);
    return watched_together(w, base, o, mask, p, perform);
}
