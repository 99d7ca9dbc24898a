/* Asynchronous work as lanes issue it: addresses are checked here; see async.h. */
#include "exec/access_plan.h"
#include "exec/async_work.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"

static bool predicate(uint8_t *const base[4], const struct op *o, enum async_operand k, unsigned lane)
{
    uint32_t bits = 0;
    if (o->access->has_operand[k])
        memcpy(&bits, row_at(base, o->access->operands[k]), 4);
    return bits >> lane & 1;
}

/* cp.async: 4, 8 or 16. */
static uint32_t copied_bytes(const struct op *o)
{
    return (uint32_t)o->access->mem.bytes * o->access->mem.n;
}

/* The usual case of cp.async: whole copies, all from one allocation and within the block's memory.
 * In other cases, or if memory is exhausted, returns false and does nothing. */
static bool issue_rows(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    const struct op_access *c = o->access;
    uint32_t bytes = copied_bytes(o);
    unsigned log2_bytes = (unsigned)__builtin_ctz(bytes);
    const struct row_fns *fn = w->block->launch->rows;
    struct plan p;
    struct scan from;
    uint64_t source[WARP_LANES] __attribute__((aligned(64))), shift;
    if (access_is_watched(w) || c->has_operand[ASYNC_SIZE] || c->has_operand[ASYNC_IGNORE] || !async_queue_of(w) ||
        w->async->parted)
        return false;
    plan_access(w, a, base, o, mask, &p);
    fn->scan64((const uint64_t *)row_at(base, c->operands[ASYNC_SOURCE]), 0, mask, log2_bytes, source, &from);
    if (p.kind != PLAN_HOST || p.space != SPACE_SHARED || from.all_bits & (bytes - 1) ||
        !access_in_one_allocation(w, o, from.min, from.max, bytes, false, &shift))
        return false;
    struct async_work *x = async_new_work(w, o, mask, 0);
    if (!x)
        return false;
    plan_fill(w, o, &p);
    if (from.linear)
        fn->fill(source, from.min, log2_bytes);
    struct async_rows *r = async_rows(x);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        r->to[l] = p.address[l] + p.base;
        r->from[l] = source[l] + shift;
    }
    r->bytes = bytes;
    r->group = w->async->groups[__builtin_ctz(mask)];
    x->writes = w->block;
    x->shift = shift;
    async_enqueue(x);
    return true;
}

static void tell_copies(const struct async_work *x, uint32_t bytes)
{
    uint64_t to[WARP_LANES], from[WARP_LANES];
    uint32_t taken[WARP_LANES];
    const struct warp *w = x->warp;
    for (uint32_t m = x->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        to[l] = (uint64_t)(x->parts[l].to - w->block->shared);
        from[l] = (uint64_t)(uintptr_t)x->parts[l].from - x->shift;
        taken[l] = x->parts[l].taken;
    }
    const struct issue_event e = {.site = tell_site(w->block, x->op),
                                  .block = w->block->told,
                                  .warp = w->index,
                                  .lanes = x->lanes,
                                  .bytes = bytes,
                                  .to = to,
                                  .from = from,
                                  .taken = taken};
    EVENT_TELL(w->events, EVENT_ISSUE, issue, &e);
}

/* What is left of it, where nothing has failed. */
static bool enqueue_good(struct async_work *x)
{
    bool good = !async_has_failed(x->warp);
    if (good && x->lanes)
        async_enqueue(x);
    else
        async_free_work(x);
    return good;
}

/* cp.async: lanes whose addresses are bad are left out. */
static bool issue_copies(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask,
                         const uint64_t *address)
{
    uint32_t bytes = copied_bytes(o);
    struct async_work *x = async_new_work(w, o, mask, WARP_LANES);
    if (!x)
        return false;
    x->writes = w->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t taken = o->access->has_operand[ASYNC_SIZE] ? async_operand(base, o, ASYNC_SIZE, 32, l) : bytes;
        uint64_t source = async_operand(base, o, ASYNC_SOURCE, 64, l);
        struct location to, from = {0};
        taken = predicate(base, o, ASYNC_IGNORE, l) ? 0 : taken;
        bool good = taken <= bytes || warp_fault_value(w, FAULT_async_size, o, l, taken);
        good = good && async_locate(w, o, l, SPACE_SHARED, address[l], bytes, bytes, true, &to) &&
               (!taken || async_locate(w, o, l, SPACE_GLOBAL, source, (uint32_t)taken, bytes, false, &from));
        if (good && to.owner != w->block)
            good = warp_fault_at(w, FAULT_address_space, o, l, &to, bytes);
        if (good)
            x->parts[l] = (struct async_part){to.at, from.at, bytes, (uint32_t)taken, w->async->groups[l]};
        else
            x->lanes &= ~(1u << l);
        if (good && taken)
            x->shift = async_shift(&from);
    }
    if (access_is_watched(w) && !async_has_failed(w) && x->lanes)
        tell_copies(x, bytes);
    return enqueue_good(x);
}

/* Finds the mbarrier of the lane's arrival. Without .noinc, the mbarrier then expects one more
 * arrival. */
static bool announce_arrival(struct warp *w, const struct op *o, unsigned lane, uint64_t address, struct location *at)
{
    if (!async_locate_object(w, o, lane, o->access->mem.space, address, at))
        return false;
    if (at->owner != w->block)
        return warp_fault_at(w, FAULT_address_space, o, lane, at, 8);
    return o->mode != ASYNC_ARRIVE ||
           mbarrier_signal(w, o, lane, at->owner, at->address, &(struct mbarrier_signal){.announces = true});
}

/* No pending work precedes the arrival, so it happens now. */
static bool arrive_now(struct warp *w, const struct op *o, uint32_t mask, const uint64_t *address)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct location at;
        bool good = announce_arrival(w, o, l, address[l], &at) &&
                    mbarrier_signal(w, o, l, at.owner, at.address, &(struct mbarrier_signal){.arrives = true});
        if (!good && async_has_failed(w))
            return false;
    }
    return true;
}

static bool issue_arrivals(struct warp *w, const struct op *o, uint32_t mask, const uint64_t *address)
{
    if (!access_is_watched(w) && (!w->async || !w->async->n))
        return arrive_now(w, o, mask, address);
    struct async_work *x = async_new_work(w, o, mask, WARP_LANES);
    if (!x)
        return false;
    x->signals = w->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct location at;
        if (announce_arrival(w, o, l, address[l], &at))
            x->parts[l] = (struct async_part){.group = (uint32_t)at.address};
        else
            x->lanes &= ~(1u << l);
    }
    return enqueue_good(x);
}

/* False after a fault that nobody has left out. */
static bool issue_bulk(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address)
{
    enum { ALIGN = 16 };
    bool to_global = o->mode == ASYNC_BULK_TO_GLOBAL;
    uint64_t size = async_operand(base, o, ASYNC_SIZE, 32, lane);
    struct location to, from, object;
    if (size % ALIGN)
        return warp_fault_value(w, FAULT_async_size, o, lane, size);
    if (!async_locate(w, o, lane, o->access->mem.space, address, (uint32_t)size, ALIGN, true, &to) ||
        !async_locate(w, o, lane, o->mode == ASYNC_BULK_FROM_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED,
                      async_operand(base, o, ASYNC_SOURCE, 64, lane), (uint32_t)size, ALIGN, false, &from))
        return !async_has_failed(w);
    if (from.space == SPACE_SHARED && from.owner != w->block)
        return warp_fault_at(w, FAULT_address_space, o, lane, &from, (uint32_t)size);
    if (!to_global &&
        !async_locate_object(w, o, lane, SPACE_SHARED, async_operand(base, o, ASYNC_MBARRIER, 64, lane), &object))
        return !async_has_failed(w);
    if (!to_global && object.owner != to.owner)
        return warp_fault_at(w, FAULT_other_block, o, lane, &object, 8);
    if (to.owner && to.owner == from.owner && from.space == SPACE_SHARED && to.address < from.address + size &&
        from.address < to.address + size)
        return warp_fault_value(w, FAULT_async_overlap, o, lane, size);
    if (access_is_watched(w))
        access_tell_bulk(w, o, lane, to.address, from.address,
                         &(struct issue_event){.bytes = (uint32_t)size,
                                               .ranks = (uint32_t)async_operand(base, o, ASYNC_MASK, 16, lane),
                                               .signals = to_global ? NULL : tell_block(object.owner),
                                               .object = to_global ? 0 : object.address});
    return async_enqueue_bulk(w, base, o, lane,
                              &(struct async_bulk){.to = to,
                                                   .from = from,
                                                   .object = to_global ? NULL : &object,
                                                   .source = from.address,
                                                   .bytes = (uint32_t)size});
}

/* st.async, red.async (9.7.9.12, 9.7.13.7) */
static bool issue_store(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address)
{
    const struct op_access *a = o->access;
    uint32_t bytes = (uint32_t)a->mem.bytes * a->mem.n;
    struct location to, object;
    if (!async_locate(w, o, lane, a->mem.space, address, bytes, bytes, true, &to) ||
        !async_locate_object(w, o, lane, a->mem.space, async_operand(base, o, ASYNC_MBARRIER, 64, lane), &object))
        return !async_has_failed(w);
    if (object.owner != to.owner)
        return warp_fault_at(w, FAULT_other_block, o, lane, &object, 8);
    if (!async_enqueue_piece(w, o, lane, &(struct async_bulk){.to = to, .object = &object, .bytes = bytes}))
        return false;
    struct async_work *x = w->async->last;
    for (unsigned k = 0; k < a->mem.n; k++) {
        uint64_t v = async_operand(base, o, ASYNC_VALUE + k, 8u * a->mem.bytes, lane);
        memcpy((uint8_t *)x->value + k * a->mem.bytes, &v, a->mem.bytes);
    }
    x->parts[0].from = (const uint8_t *)x->value;
    x->parts[0].taken = bytes;
    return true;
}

bool async_issue(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
    if (!mask)
        return true;
    if (!async_bound(w))
        return false;
    if (o->mode == ASYNC_COPY && issue_rows(w, a, base, o, mask))
        return true;
    if (async_has_failed(w))
        return false;
    access_addresses(w, a, base, o, mask, address);
    if (o->mode == ASYNC_COPY)
        return issue_copies(w, base, o, mask, address);
    if (o->mode == ASYNC_ARRIVE || o->mode == ASYNC_ARRIVE_NOINC)
        return issue_arrivals(w, o, mask, address);
    if (o->mode == ASYNC_STORE && access_is_watched(w)) {
        const struct issue_event e = {.site = tell_site(w->block, o),
                                      .block = w->block->told,
                                      .warp = w->index,
                                      .lanes = mask,
                                      .bytes = (uint32_t)o->access->mem.bytes * o->access->mem.n,
                                      .to = address};
        EVENT_TELL(w->events, EVENT_ISSUE, issue, &e);
    }
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        bool good = o->mode >= ASYNC_TENSOR_LOAD ? async_issue_tensor(w, base, o, l, address[l])
                    : o->mode == ASYNC_STORE     ? issue_store(w, base, o, l, address[l])
                                                 : issue_bulk(w, base, o, l, address[l]);
        if (!good)
            return false;
    }
    return true;
}
