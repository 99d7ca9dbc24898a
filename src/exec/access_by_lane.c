/* Loads and stores whose lanes are located one by one; see access_values.h. */
#include "exec/access_values.h"

#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "mem/local.h"

bool access_load_by_lane(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct mem_access *m = &o->access->mem;
    uint32_t bytes = (uint32_t)m->bytes * m->n;
    plan_fill(w, o, p);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at;
        uint8_t buffer[128] __attribute__((aligned(16)));
        enum fault_kind kind = access_locate_op(w, o, p->address[l], &at);
        if (kind)
            return warp_fault_at(w, kind, o, l, &at, bytes);
        if (at.at)
            access_move_lane(m, buffer, at.at, false);
        else
            local_read(w->local, at.address, l, buffer, bytes);
        access_load_lane(o->access, rows, l, buffer);
    }
    return true;
}

bool access_store_by_lane(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct mem_access *m = &o->access->mem;
    uint32_t bytes = (uint32_t)m->bytes * m->n, found = 0;
    struct location at[WARP_LANES];
    enum fault_kind kind = FAULT_none;
    unsigned l = 0;
    plan_fill(w, o, p);
    for (uint32_t left = mask; left && !kind; left &= left - 1) {
        l = (unsigned)__builtin_ctz(left);
        kind = access_locate_op(w, o, p->address[l], &at[l]);
        found |= (uint32_t)!kind << l;
    }
    unsigned order = mem_access_store_order(m);
    for (found = access_in_order(found, order); found; found &= found - 1) {
        unsigned k = (unsigned)__builtin_ctz(found) ^ order;
        uint8_t buffer[128] __attribute__((aligned(16)));
        access_gather_lane(o->access, rows, k, buffer);
        if (at[k].at)
            access_move_lane(m, at[k].at, buffer, true);
        else
            local_write(w->local, at[k].address, k, buffer, bytes);
    }
    return !kind || warp_fault_at(w, kind, o, l, &at[l], bytes);
}

void access_watch_store(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct mem_access *m = &o->access->mem;
    uint32_t bytes = (uint32_t)m->bytes * m->n;
    plan_fill(w, o, p);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at = {.at = (uint8_t *)(uintptr_t)(p->address[l] + p->base),
                              .address = p->address[l] - p->base};
        uint8_t new[128], old[128];
        bool faults = p->kind == PLAN_BY_LANE && access_locate_op(w, o, p->address[l], &at);
        access_gather_lane(o->access, rows, l, new);
        if (faults)
            memcpy(old, new, bytes);
        else if (p->kind == PLAN_LOCAL || !at.at)
            local_read(w->local, at.address, l, old, bytes);
        else
            memcpy(old, at.at, bytes);
        w->block->launch->changed |= faults || memcmp(old, new, bytes) != 0;
    }
}
