/* Asynchronous work, from its issue until it is done; see async.h. */
#include "exec/access_plan.h"
#include "exec/async_work.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/schedule.h"
#include "exec/worker.h"

enum { MAX_PENDING = 1 << 12 }; /* pending pieces of a warp; beyond that, the oldest is performed */

/* ---- doing it ---- */

/* What is at a place in global memory has this address. */
static uint64_t global_address(const struct async_work *x, const void *at)
{
    return (uint64_t)(uintptr_t)at - x->shift;
}

/* Or may be used so no more. */
static bool was_freed(const struct async_work *x, const void *at, uint32_t bytes, bool writes)
{
    struct mem *m = &async_worker(x->warp)->machine->mem;
    struct mem_block b;
    bool in_tail;
    uint64_t address = global_address(x, at);
    if (!bytes || atomic_load_explicit(&m->version, memory_order_relaxed) == x->version)
        return false;
    return !mem_reach_bytes(m, address, bytes, &b, &in_tail) || mem_shift(m, &b) != x->shift ||
           (writes && b.kind == MEM_CONST);
}

static bool lost_global(const struct async_work *x, const struct async_part *p, unsigned lane)
{
    bool from = !x->reads && x->op->mode != ASYNC_STORE && !x->buffer && was_freed(x, p->from, p->taken, false);
    if (!from && (x->writes || !was_freed(x, p->to, p->bytes, true)))
        return false;
    const struct location at = {
        .space = SPACE_GLOBAL, .address = global_address(x, from ? p->from : p->to), .writes = !from};
    warp_fault_at(x->warp, FAULT_illegal_address, x->op, lane, &at, p->bytes);
    return true;
}

static void move(const struct async_work *x, const struct async_part *p)
{
    const struct op_access *a = x->op->access;
    if (a->mem.type) {
        for (uint32_t at = 0; at < p->bytes; at += isa_type_bits((enum isa_type)a->mem.type) / 8)
            atom_reduce(&a->mem, p->to + at, x->writes != NULL, p->from + at);
        return;
    }
    if (p->taken)
        memcpy(p->to, p->from, p->taken);
    if (p->taken < p->bytes)
        memset(p->to + p->taken, 0, p->bytes - p->taken);
}

/* The memory that a piece reads, before anything is moved. */
static void tell_read(const struct async_work *x, const struct async_part *p, unsigned lane)
{
    struct location from = {.space = x->reads ? SPACE_SHARED : SPACE_GLOBAL, .owner = x->reads};
    /* In a register, or in lines. */
    bool is_elsewhere = async_mode(x) == ASYNC_STORE || async_mode(x) == ASYNC_TENSOR_LOAD;
    if (!access_is_watched(x->warp) || is_elsewhere || !p->taken)
        return;
    from.address = async_is_bulk(x) && x->reads ? x->source : global_address(x, p->from);
    async_tell_read(x, lane, &from, p->taken);
}

static void tell(const struct async_work *x, const struct async_part *p, unsigned lane)
{
    if (!access_is_watched(x->warp))
        return;
    struct location to = {.space = x->writes ? SPACE_SHARED : SPACE_GLOBAL, .owner = x->writes};
    struct access_source from = {
        .space = x->reads ? SPACE_SHARED : SPACE_GLOBAL, .owner = tell_block(x->reads), .bytes = p->taken};
    to.address = x->writes ? (uint64_t)(p->to - x->writes->shared) : global_address(x, p->to);
    from.address = x->reads ? x->source : global_address(x, p->from);
    bool copies = !x->op->access->mem.type && async_mode(x) != ASYNC_STORE;
    async_tell_write(x, lane, &to, p->bytes, copies ? &from : NULL);
}

/* One lane's part; false after a fault. */
static bool finish_part(struct async_work *x, unsigned lane)
{
    struct warp *w = x->warp;
    const struct async_part part = async_part(x, lane), *p = &part;
    x->lanes &= ~(1u << lane);
    if (async_is_arrival(x))
        return mbarrier_signal(w, x->op, lane, x->signals, x->parts[lane].group,
                               &(struct mbarrier_signal){.arrives = true});
    uint32_t bytes = p->bytes;
    if (!x->writes || !x->reads)
        histogram_settle(async_worker(w));
    if (!x->buffer) /* else read_source() has */
        tell_read(x, p, lane);
    if (async_tensor(x)) {
        bytes = (uint32_t)tensor_copy_bytes(&async_tensor(x)->map);
        if (!async_finish_tensor(x, p, lane))
            return false;
    } else {
        if (lost_global(x, p, lane))
            return false;
        tell(x, p, lane);
        move(x, p);
    }
    w->block->launch->changed = true;
    return !x->signals ||
           mbarrier_signal(w, x->op, lane, x->signals, x->object, &(struct mbarrier_signal){.bytes = bytes});
}

/* Of so many bytes each, which the compiler knows. */
static inline __attribute__((always_inline)) void copy_lanes(const struct async_rows *r, uint32_t lanes, size_t bytes)
{
    for (unsigned l = 0; l < WARP_LANES && lanes == UINT32_MAX; l++)
        memcpy((void *)(uintptr_t)r->to[l], (const void *)(uintptr_t)r->from[l], bytes);
    for (uint32_t m = lanes == UINT32_MAX ? 0 : lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        memcpy((void *)(uintptr_t)r->to[l], (const void *)(uintptr_t)r->from[l], bytes);
    }
}

static void copy_rows(const struct async_rows *r, uint32_t lanes)
{
    switch (r->bytes) {
    case 4: copy_lanes(r, lanes, 4); break;
    case 8: copy_lanes(r, lanes, 8); break;
    default: copy_lanes(r, lanes, 16); break;
    }
}

static bool is_plain(const struct async_work *x)
{
    const struct mem *m = &async_worker(x->warp)->machine->mem;
    return !x->n && !access_is_watched(x->warp) &&
           atomic_load_explicit(&m->version, memory_order_relaxed) == x->version;
}

static bool finish_parts(struct async_work *x, uint32_t lanes)
{
    lanes &= x->lanes;
    if (!lanes)
        return true;
    if (is_plain(x)) {
        histogram_settle(async_worker(x->warp));
        copy_rows(async_rows(x), lanes);
        x->warp->block->launch->changed = true;
        x->lanes &= ~lanes;
        return true;
    }
    for (uint32_t m = lanes; m; m &= m - 1)
        if (!finish_part(x, (unsigned)__builtin_ctz(m)))
            return false;
    return true;
}

/* An arrival of cp.async.mbarrier.arrive comes once the lane's copies before it are done. */
static bool arrive_behind_copies(struct async_queue *q, uint32_t lanes)
{
    for (struct async_work *x = q->first; x && lanes; x = x->next) {
        if (async_mode(x) == ASYNC_COPY)
            lanes &= ~x->lanes;
        else if (async_is_arrival(x) && !finish_parts(x, lanes))
            return false;
    }
    return true;
}

/* The lanes' copies before `end`. */
static bool finish_copies(struct async_queue *q, uint32_t lanes, const struct async_work *end)
{
    for (struct async_work *x = q->first; x != end; x = x->next)
        if (async_mode(x) == ASYNC_COPY && !finish_parts(x, lanes))
            return false;
    return true;
}

/* All of a piece, and what has to be done before. */
static bool finish_work(struct async_work *x)
{
    struct async_queue *q = x->warp->async;
    if (async_is_arrival(x) && !finish_copies(q, x->lanes, x))
        return false;
    return finish_parts(x, x->lanes);
}

static bool finish_warp(struct warp *w)
{
    for (struct async_work *x = w->async ? w->async->first : NULL; x; x = x->next)
        if (!finish_work(x))
            return false;
    if (w->async)
        async_sweep(w);
    return true;
}

bool async_bound(struct warp *w)
{
    struct async_queue *q = w->async;
    if (!q || q->n < MAX_PENDING)
        return true;
    struct async_work *x = q->first;
    for (uint32_t n = q->n - MAX_PENDING / 2 + 1; n > 0; n--, x = x->next)
        if (!finish_work(x))
            return false;
    async_sweep(w);
    return true;
}

/* ---- groups ---- */

/* The lanes whose pending work must be performed now, because they wait for all but their `left`
 * newest groups. */
static uint32_t due_lanes(const struct async_work *x, const struct async_queue *q, bool bulk, uint32_t lanes,
                          uint64_t left)
{
    const uint32_t *groups = bulk ? q->bulk_groups : q->groups;
    uint32_t due = 0;
    lanes &= x->lanes;
    if (!x->n && !q->parted && lanes)
        return async_part(x, 0).group + left < groups[__builtin_ctz(lanes)] ? lanes : 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        due |= async_part(x, l).group + left < groups[l] ? 1u << l : 0;
    }
    return due;
}

static bool wait_copies(struct warp *w, uint32_t lanes, uint64_t left, bool all)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first; x; x = x->next)
        if (async_mode(x) == ASYNC_COPY && !finish_parts(x, all ? lanes : due_lanes(x, q, false, lanes, left)))
            return false;
    return arrive_behind_copies(q, lanes);
}

/* Reads the source of a piece that is done later. */
static bool read_source(struct async_work *x)
{
    struct async_part *p = &x->parts[0];
    if (x->buffer || !p->taken)
        return true;
    x->buffer = pool_take(async_worker(x->warp), p->taken);
    if (!x->buffer)
        return finish_work(x);
    tell_read(x, p, (unsigned)__builtin_ctz(x->lanes));
    memcpy(x->buffer, p->from, p->taken);
    p->from = x->buffer;
    return true;
}

static bool wait_bulk(struct warp *w, uint32_t lanes, uint64_t left, bool only_read)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first; x; x = x->next) {
        bool due = async_is_bulk(x) && !x->signals && due_lanes(x, q, true, lanes, left);
        if (due && !(only_read ? read_source(x) : finish_work(x)))
            return false;
    }
    return true;
}

bool async_group(struct warp *w, const struct op *o, uint32_t mask)
{
    enum group_mode mode = (enum group_mode)o->mode;
    bool commits = mode == GROUP_COMMIT || mode == GROUP_BULK_COMMIT, good = true;
    const struct sync_event e = {.kind = EVENT_GROUP,
                                 .block = w->block->told,
                                 .site = w->events ? tell_site(w->block, o) : NULL,
                                 .warp = w->index,
                                 .lanes = mask};
    if (w->events)
        EVENT_TELL(w->events, EVENT_GROUP, sync, &e);
    if (mode >= GROUP_WGMMA_FENCE || !w->async || (!commits && !w->async->n))
        return true;
    uint32_t *groups = mode == GROUP_COMMIT ? w->async->groups : w->async->bulk_groups;
    for (unsigned l = 0; l < WARP_LANES && commits; l++)
        groups[l] += mask >> l & 1;
    w->async->parted |= mode == GROUP_COMMIT && mask != (w->exists & ~w->exited);
    if (mode == GROUP_WAIT || mode == GROUP_WAIT_ALL)
        good = wait_copies(w, mask, o->imm, mode == GROUP_WAIT_ALL);
    else if (!commits)
        good = wait_bulk(w, mask, o->imm, mode == GROUP_BULK_WAIT_READ);
    if (!commits && good)
        async_sweep(w);
    return good;
}

/* ---- who else has it done ---- */

static bool tells(const struct async_work *x, const struct block *owner, uint64_t address)
{
    if (x->signals != owner || !x->lanes)
        return false;
    if (!async_is_arrival(x))
        return x->object == address;
    for (uint32_t m = x->lanes; m; m &= m - 1)
        if (x->parts[__builtin_ctz(m)].group == address)
            return true;
    return false;
}

bool async_finish_for(struct block *owner, uint64_t address)
{
    for (struct warp *w = &owner->warps[0]; w; w = async_next_warp(w, owner)) {
        if (!w->async)
            continue;
        for (struct async_work *x = w->async->first; x; x = x->next)
            if (tells(x, owner, address) && !finish_work(x))
                return false;
        async_sweep(w);
    }
    return true;
}

bool async_finish_all(struct worker *k)
{
    bool some = false;
    for (struct block *b = k->resident; b; b = b->next) {
        some |= b->n_async > 0;
        for (uint32_t i = 0; i < b->n_warps && b->n_async; i++)
            if (!finish_warp(&b->warps[i]))
                return true;
    }
    return some;
}

void async_finish_some(struct block *b)
{
    enum { ONE_IN = 4 };
    struct schedule *s = b->launch->schedule;
    if (!async_is_pending(b) || schedule_choose(s, ONE_IN))
        return;
    uint32_t n = 0;
    for (struct warp *w = &b->warps[0]; w; w = async_next_warp(w, b))
        n += w->async ? w->async->n : 0;
    n = schedule_choose(s, n);
    for (struct warp *w = &b->warps[0]; w; w = async_next_warp(w, b)) {
        uint32_t here = w->async ? w->async->n : 0;
        if (n >= here) {
            n -= here;
            continue;
        }
        struct async_work *x = w->async->first;
        while (n-- > 0)
            x = x->next;
        if (finish_work(x) && async_mode(x) == ASYNC_COPY)
            arrive_behind_copies(w->async, UINT32_MAX);
        async_sweep(w);
        return;
    }
}

void async_end_block(struct block *b)
{
    if (!b->launch->kernel->has_async)
        return;
    for (struct warp *w = &b->warps[0]; w; w = async_next_warp(w, b)) {
        if (!w->async)
            continue;
        for (struct async_work *x = w->async->first; x && !launch_has_failed(b->launch); x = x->next)
            if (w->block == b || x->writes == b || x->reads == b || x->signals == b)
                finish_work(x);
        if (w->block == b)
            async_free_queue(w);
        else
            async_sweep(w);
    }
}
