/* The plan of an access by a warp's lanes: the locations of all their bytes, before any is read
 * or written. For access.c, atom.c, watched.c, matrix.c and asynchronous work (async*.c). */
#ifndef HEDDLE_EXEC_ACCESS_PLAN_H
#define HEDDLE_EXEC_ACCESS_PLAN_H

#include "exec/access.h"
#include "exec/emit_events.h"
#include "exec/rows.h"

/* The lanes' bytes: all at base + address[l] on the host, or in local memory, or each lane on
 * its own. */
struct plan {
    enum { PLAN_HOST, PLAN_LOCAL, PLAN_BY_LANE } kind;
    enum ptx_space space; /* GLOBAL, SHARED, LOCAL or PARAM; not known where PLAN_BY_LANE */
    uint64_t base;        /* PLAN_HOST: to be added to addresses; PLAN_LOCAL: to be subtracted */
    struct scan scan;
    /* Of addresses that are neither equal nor linear, if they have a common pattern. */
    enum pattern pattern;
    uint64_t address[WARP_LANES] __attribute__((aligned(64))); /* not filled where scan.linear */
};

/* How all lanes can be served together; PLAN_BY_LANE if they cannot: several places, misaligned,
 * out of bounds. */
void plan_access(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                 struct plan *p);
/* The same, for the plan's addresses in the lanes of mask. */
void plan_addresses(struct warp *w, const struct op *o, uint32_t mask, struct plan *p);
/* Does one allocation contain [min, max + bytes), and may kernels access it so? The answer is
 * cached by operation; *shift is the result of mem_shift(). */
bool access_in_one_allocation(struct warp *w, const struct op *o, uint64_t min, uint64_t max, uint32_t bytes,
                              bool write, uint64_t *shift);
/* For bytes that all lie between those at `first` and those at `last`; the plan has no addresses
 * of lanes then. */
void plan_span(struct warp *w, const struct op *o, uint32_t mask, uint64_t first, uint64_t last, struct plan *p);
static inline unsigned access_log2(uint32_t power_of_two)
{
    return (unsigned)__builtin_ctz(power_of_two);
}

/* Fills in the addresses that a linear scan did not write. */
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

/* Performs the plan, for lanes that take part in it; false after a fault. */
typedef bool perform_fn(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p);

/* While a stall is investigated: memory that others may change has been read (stall.c). */
void access_note_load(struct launch *l, const struct plan *p);

static inline bool access_is_watched(const struct warp *w)
{
    return events_want(w->events, EVENTS_OF_MEMORY);
}

/* An event, and its addresses if they are not those of the plan. */
struct told {
    struct access_event e;
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
};

/* Reports a plan for all lanes to clients: `bytes` bytes of each lane. */
void access_tell(const struct warp *w, const struct op *o, uint32_t mask, uint32_t bytes, const struct plan *p,
                 struct told *t);
/* Reports that it has been performed. Most plans are weak reads, whose values no client asks
 * for. */
void access_tell_outcome(const struct warp *w, const struct op *o, struct told *t);
static inline void access_tell_performed(const struct warp *w, const struct op *o, struct told *t)
{
    if (t->e.strong || t->e.writes || event_is_wanted(w->events, EVENT_READ))
        access_tell_outcome(w, o, t);
}
/* The same for lanes at known addresses of global memory: before they are performed; and for
 * weak reads that have been performed. */
void access_begin_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                        uint32_t bytes, struct told *t);
void access_tell_lanes(const struct warp *w, const struct op *o, uint32_t lanes, const uint64_t *address,
                       uint32_t bytes);
/* Locates the lanes, reports them by space, and performs each part. Clients may skip lanes that
 * would fault. */
bool access_watched_by_lane(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p,
                            perform_fn *perform);

/* Performs the plan and reports it. */
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
