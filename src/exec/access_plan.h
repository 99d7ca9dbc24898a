/* An access of a warp's lanes, planned: where the bytes of all of them lie, before any is read or
 * written. For access.c, atom.c, watched.c, matrix.c and what is asynchronous (async*.c).
 */
#ifndef HEDDLE_EXEC_ACCESS_PLAN_H
#define HEDDLE_EXEC_ACCESS_PLAN_H

#include "exec/access.h"
#include "exec/tell.h"
#include "exec/rows.h"

/* Where the lanes' bytes are: all at base + address[l] on the host, or in local memory, or each for
 * itself. */
struct plan {
    enum { PLAN_HOST, PLAN_LOCAL, PLAN_BY_LANE } kind;
    enum ptx_space space; /* GLOBAL, SHARED, LOCAL or PARAM; not known where PLAN_BY_LANE */
    uint64_t base;        /* PLAN_HOST: to be added to addresses; PLAN_LOCAL: to be subtracted */
    struct scan scan;
    enum pattern pattern; /* of addresses that are neither all the same nor linear, where there is one for all */
    uint64_t address[WARP_LANES] __attribute__((aligned(64))); /* not filled where scan.linear */
};

/* How all lanes can be served at once; PLAN_BY_LANE where they cannot: in several places,
 * misaligned, out of bounds. */
void plan_access(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                 struct plan *p);
/* The same for addresses that are in the plan, of the lanes of mask. */
void plan_addresses(struct warp *w, const struct op *o, uint32_t mask, struct plan *p);
/* Is there an allocation that holds [min, max + bytes), with kernels allowed to do that? It is
 * remembered by operation; *shift is what mem_shift() says of it. */
bool access_in_one_allocation(struct warp *w, const struct op *o, uint64_t min, uint64_t max, uint32_t bytes,
                              bool write, uint64_t *shift);
/* For bytes that all lie between those at `first` and those at `last`; there are no addresses of
 * lanes then. */
void plan_span(struct warp *w, const struct op *o, uint32_t mask, uint64_t first, uint64_t last, struct plan *p);
static inline unsigned access_log2(uint32_t power_of_two)
{
    return (unsigned)__builtin_ctz(power_of_two);
}

/* What a linear scan did not write. */
static inline void access_fill(const struct warp *w, const struct op *o, uint64_t *address, const struct scan *scan)
{
    if (scan->linear)
        w->block->launch->rows->fill(address, scan->min,
                                     access_log2((uint32_t)o->access->mem.bytes * o->access->mem.n));
}

static inline void plan_fill(const struct warp *w, const struct op *o, struct plan *p)
{
    access_fill(w, o, p->address, &p->scan);
}

/* Performs what has been planned, for lanes that take part in the plan; false after a fault. */
typedef bool perform_fn(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p);

/* While a stall is looked into: what others may change has been read (stall.c). */
void access_note_load(struct launch *l, const struct plan *p);

static inline bool access_is_watched(const struct warp *w)
{
    return events_want(w->events, EVENTS_OF_MEMORY);
}

/* An event, and its addresses where they are not the plan's. */
struct told {
    struct access_event e;
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
};

/* Tells clients of what has been planned for all lanes: so many bytes of each. */
void access_tell(const struct warp *w, const struct op *o, uint32_t mask, uint32_t bytes, const struct plan *p,
                 struct told *t);
/* And that it has been performed: most are weak reads, whose values nobody asks for. */
void access_tell_outcome(const struct warp *w, const struct op *o, struct told *t);
static inline void access_tell_performed(const struct warp *w, const struct op *o, struct told *t)
{
    if (t->e.strong || t->e.writes || event_is_wanted(w->events, EVENT_READ))
        access_tell_outcome(w, o, t);
}
/* The same of lanes at addresses of global memory that have been found: before they are performed;
 * and of weak reads, which have been. */
void access_begin_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                        uint32_t bytes, struct told *t);
void access_tell_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                       uint32_t bytes);
/* Locates the lanes, tells of them by space, and performs that part. Clients may have lanes left
 * out that would fault. */
bool access_watched_by_lane(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                            perform_fn *perform);

/* Performs what has been planned, and tells of it. */
static inline __attribute__((always_inline)) bool access_watched(struct warp *w, uint8_t *const base[4],
                                                                 const struct op *o, uint32_t mask, struct plan *p,
                                                                 perform_fn *perform)
{
    struct told t;
    if (p->kind == PLAN_BY_LANE)
        return access_watched_by_lane(w, base, o, mask, p, perform);
    if (p->space == SPACE_PARAM)
        return perform(w, base, o, mask, p);
    access_tell(w, o, mask, op_bytes(o), p, &t);
    bool ok = perform(w, base, o, mask, p);
    access_tell_performed(w, o, &t);
    return ok;
}

#endif
