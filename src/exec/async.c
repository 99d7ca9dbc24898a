/* Asynchronous work, from its issue until it is done; see async.h. */
#include "exec/async.h"

#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/hooks.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/schedule.h"
#include "exec/worker.h"

enum { MAX_PENDING = 1 << 12 }; /* pieces of a warp's: more have the oldest done */

static struct worker *worker_of(const struct warp *w)
{
    return w->block->worker;
}

static uint8_t mode_of(const struct async_work *x)
{
    return x->op->mode;
}

static bool is_bulk(const struct async_work *x)
{
    return mode_of(x) >= ASYNC_STORE;
}

static bool is_arrival(const struct async_work *x)
{
    return mode_of(x) == ASYNC_ARRIVE || mode_of(x) == ASYNC_ARRIVE_NOINC;
}

/* ---- the queue ---- */

static struct async_queue *queue_of(struct warp *w)
{
    if (w->async)
        return w->async;
    w->async = pool_take(worker_of(w), sizeof *w->async);
    if (w->async)
        *w->async = (struct async_queue){0};
    else
        warp_fault(w, FAULT_out_of_memory, NULL, 0);
    return w->async;
}

/* A record that is not queued yet; NULL after a fault. */
static struct async_work *new_work(struct warp *w, const struct op *o, uint32_t lanes, uint32_t n)
{
    size_t parts = n ? n * sizeof(struct async_part) : sizeof(struct async_rows);
    uint32_t room = (uint32_t)(sizeof(struct async_work) + parts);
    struct async_work *x = queue_of(w) ? pool_take(worker_of(w), room) : NULL;
    if (!x) {
        warp_fault(w, FAULT_out_of_memory, o, (unsigned)__builtin_ctz(lanes));
        return NULL;
    }
    *x =
        (struct async_work){.warp = w,
                            .op = o,
                            .lanes = lanes,
                            .n = n,
                            .room = room,
                            .version = atomic_load_explicit(&worker_of(w)->machine->mem.version, memory_order_relaxed)};
    return x;
}

static struct async_rows *rows_of(struct async_work *x)
{
    return (struct async_rows *)x->parts;
}

static struct async_part part_of(const struct async_work *x, unsigned lane)
{
    const struct async_rows *r = (const struct async_rows *)x->parts;
    if (x->n)
        return x->parts[x->n == 1 ? 0 : lane];
    return (struct async_part){(uint8_t *)(uintptr_t)r->to[lane], (const uint8_t *)(uintptr_t)r->from[lane], r->bytes,
                               r->bytes, r->group};
}

static uint32_t buffer_bytes(const struct async_work *x)
{
    return x->parts[0].taken;
}

static void free_work(struct async_work *x)
{
    struct worker *k = worker_of(x->warp);
    if (x->buffer)
        pool_give(k, x->buffer, buffer_bytes(x));
    pool_give(k, x, x->room);
}

static void enqueue(struct async_work *x)
{
    struct warp *w = x->warp;
    struct async_queue *q = w->async;
    if (q->last)
        q->last->next = x;
    else
        q->first = x;
    q->last = x;
    q->n++;
    w->block->n_async++;
}

/* Frees what is done. */
static void sweep(struct warp *w)
{
    struct async_queue *q = w->async;
    struct async_work **link = &q->first, *x;
    q->last = NULL;
    while ((x = *link)) {
        if (x->lanes) {
            q->last = x;
            link = &x->next;
            continue;
        }
        *link = x->next;
        q->n--;
        w->block->n_async--;
        free_work(x);
    }
}

/* ---- doing it ---- */

/* What is at a place in global memory has this address. */
static uint64_t global_address(const struct async_work *x, const void *at)
{
    return (uint64_t)(uintptr_t)at - x->shift;
}

static bool was_freed(const struct async_work *x, const void *at, uint32_t bytes)
{
    struct mem *m = &worker_of(x->warp)->machine->mem;
    struct mem_block b;
    uint64_t address = global_address(x, at);
    if (!bytes || atomic_load_explicit(&m->version, memory_order_relaxed) == x->version)
        return false;
    return !mem_reach(m, address, &b) || bytes > b.size - (address - b.start) || mem_shift(m, &b) != x->shift;
}

static bool lost_global(const struct async_work *x, const struct async_part *p, unsigned lane)
{
    bool from = !x->reads && x->op->mode != ASYNC_STORE && !x->buffer && was_freed(x, p->from, p->taken);
    if (!from && (x->writes || !was_freed(x, p->to, p->bytes)))
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

static void tell(const struct async_work *x, const struct async_part *p, unsigned lane)
{
    if (!access_is_watched(x->warp))
        return;
    struct location to = {.space = x->writes ? SPACE_SHARED : SPACE_GLOBAL, .owner = x->writes};
    struct access_source from = {.space = x->reads ? SPACE_SHARED : SPACE_GLOBAL, .owner = x->reads, .bytes = p->taken};
    to.address = x->writes ? (uint64_t)(p->to - x->writes->shared) : global_address(x, p->to);
    from.address = x->reads ? x->source : global_address(x, p->from);
    bool copies = !x->op->access->mem.type && mode_of(x) != ASYNC_STORE;
    access_tell_async(x->warp, x->op, lane, &to, p->bytes, copies ? &from : NULL);
}

/* One lane's part; false after a fault. */
static bool finish_part(struct async_work *x, unsigned lane)
{
    struct warp *w = x->warp;
    const struct async_part part = part_of(x, lane), *p = &part;
    x->lanes &= ~(1u << lane);
    if (is_arrival(x))
        return mbarrier_signal(w, x->op, lane, x->signals, x->parts[lane].group,
                               &(struct mbarrier_signal){.arrives = true});
    if (lost_global(x, p, lane))
        return false;
    if (!x->writes || !x->reads)
        histogram_settle(worker_of(w));
    tell(x, p, lane);
    move(x, p);
    w->block->launch->changed = true;
    return !x->signals ||
           mbarrier_signal(w, x->op, lane, x->signals, x->object, &(struct mbarrier_signal){.bytes = p->bytes});
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
    const struct mem *m = &worker_of(x->warp)->machine->mem;
    return !x->n && !access_is_watched(x->warp) &&
           atomic_load_explicit(&m->version, memory_order_relaxed) == x->version;
}

static bool finish_parts(struct async_work *x, uint32_t lanes)
{
    if (is_plain(x)) {
        histogram_settle(worker_of(x->warp));
        copy_rows(rows_of(x), lanes & x->lanes);
        x->warp->block->launch->changed = true;
        x->lanes &= ~lanes;
        return true;
    }
    for (uint32_t m = lanes & x->lanes; m; m &= m - 1)
        if (!finish_part(x, (unsigned)__builtin_ctz(m)))
            return false;
    return true;
}

/* An arrival of cp.async.mbarrier.arrive comes once the lane's copies before it are done. */
static bool arrive_behind_copies(struct async_queue *q, uint32_t lanes)
{
    for (struct async_work *x = q->first; x && lanes; x = x->next) {
        if (mode_of(x) == ASYNC_COPY)
            lanes &= ~x->lanes;
        else if (is_arrival(x) && !finish_parts(x, lanes))
            return false;
    }
    return true;
}

/* The lanes' copies before `end`. */
static bool finish_copies(struct async_queue *q, uint32_t lanes, const struct async_work *end)
{
    for (struct async_work *x = q->first; x != end; x = x->next)
        if (mode_of(x) == ASYNC_COPY && !finish_parts(x, lanes))
            return false;
    return true;
}

/* All of a piece, and what has to be done before. */
static bool finish_work(struct async_work *x)
{
    struct async_queue *q = x->warp->async;
    if (is_arrival(x) && !finish_copies(q, x->lanes, x))
        return false;
    return finish_parts(x, x->lanes);
}

static bool finish_warp(struct warp *w)
{
    for (struct async_work *x = w->async ? w->async->first : NULL; x; x = x->next)
        if (!finish_work(x))
            return false;
    if (w->async)
        sweep(w);
    return true;
}

/* ---- issue ---- */

/* Where an operand's bytes are: of an address in a space. A fault is told to those that watch: they may have it left out. */
static bool locate(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                   uint32_t bytes, uint32_t align, bool writes, struct location *p)
{
    enum fault_kind kind = FAULT_misaligned;
    *p = (struct location){.space = space, .address = address, .writes = writes};
    if (!(address & (align - 1)))
        kind = access_locate(w, space, address, bytes, writes, p);
    if (!kind && space != SPACE_GLOBAL && p->space != SPACE_SHARED)
        kind = FAULT_address_space;
    p->writes = writes;
    if (!kind)
        return true;
    if (!access_is_watched(w) || !access_leave_out(w, o, lane, kind, p, bytes))
        warp_fault_at(w, kind, o, lane, p, kind == FAULT_misaligned ? align : bytes);
    return false;
}

static uint64_t operand(uint8_t *const base[4], const struct op *o, enum async_operand k, unsigned width, unsigned lane)
{
    return o->access->has_operand[k] ? row_lane(row_at(base, o->access->operands[k]), width, lane) : 0;
}

static bool predicate(uint8_t *const base[4], const struct op *o, enum async_operand k, unsigned lane)
{
    uint32_t bits = 0;
    if (o->access->has_operand[k])
        memcpy(&bits, row_at(base, o->access->operands[k]), 4);
    return bits >> lane & 1;
}

static bool has_failed(const struct warp *w)
{
    return launch_has_failed(w->block->launch);
}

/* In global memory: from addresses to where the machine accesses them. One instruction's lanes have one, but for copies from both
 * memory that the host shares and other, while somebody watches the host. */
static uint64_t shift_of(const struct location *p)
{
    return p->space == SPACE_GLOBAL && p->at ? (uint64_t)(uintptr_t)p->at - p->address : 0;
}

/* The usual case of cp.async: whole copies, all from one allocation and within the block's memory. False where it is another, or memory has
 * run out, and nothing has been done. */
static bool issue_rows(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    const struct op_access *c = o->access;
    uint32_t bytes = c->mem.bytes;
    unsigned log2_bytes = (unsigned)__builtin_ctz(bytes);
    const struct row_fns *fn = w->block->launch->rows;
    struct plan p;
    struct scan from;
    uint64_t source[WARP_LANES] __attribute__((aligned(64))), shift;
    if (access_is_watched(w) || c->has_operand[ASYNC_SIZE] || c->has_operand[ASYNC_IGNORE] || !queue_of(w) ||
        w->async->parted)
        return false;
    plan_access(w, a, base, o, mask, &p);
    fn->scan64((const uint64_t *)row_at(base, c->operands[ASYNC_SOURCE]), 0, mask, log2_bytes, source, &from);
    if (p.kind != PLAN_HOST || p.space != SPACE_SHARED || from.all_bits & (bytes - 1) ||
        !access_in_one_allocation(w, o, from.min, from.max, bytes, false, &shift))
        return false;
    struct async_work *x = new_work(w, o, mask, 0);
    if (!x)
        return false;
    plan_fill(w, o, &p);
    if (from.linear)
        fn->fill(source, from.min, log2_bytes);
    struct async_rows *r = rows_of(x);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        r->to[l] = p.address[l] + p.base;
        r->from[l] = source[l] + shift;
    }
    r->bytes = bytes;
    r->group = w->async->groups[__builtin_ctz(mask)];
    x->writes = w->block;
    x->shift = shift;
    enqueue(x);
    return true;
}

/* cp.async: lanes whose addresses are bad are left out. */
static bool issue_copies(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask,
                         const uint64_t *address)
{
    uint32_t bytes = o->access->mem.bytes;
    struct async_work *x = new_work(w, o, mask, WARP_LANES);
    if (!x)
        return false;
    x->writes = w->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t taken = o->access->has_operand[ASYNC_SIZE] ? operand(base, o, ASYNC_SIZE, 32, l) : bytes;
        uint64_t source = operand(base, o, ASYNC_SOURCE, 64, l);
        struct location to, from = {0};
        taken = predicate(base, o, ASYNC_IGNORE, l) ? 0 : taken;
        bool good = taken <= bytes || warp_fault_value(w, FAULT_async_size, o, l, taken);
        good = good && locate(w, o, l, SPACE_SHARED, address[l], bytes, bytes, true, &to) &&
               (!taken || locate(w, o, l, SPACE_GLOBAL, source, (uint32_t)taken, bytes, false, &from));
        if (good && to.owner != w->block)
            good = warp_fault_at(w, FAULT_address_space, o, l, &to, bytes);
        if (good)
            x->parts[l] = (struct async_part){to.at, from.at, bytes, (uint32_t)taken, w->async->groups[l]};
        else
            x->lanes &= ~(1u << l);
        if (good && taken)
            x->shift = shift_of(&from);
    }
    if (has_failed(w) || !x->lanes) {
        free_work(x);
        return !has_failed(w);
    }
    enqueue(x);
    return true;
}

/* The mbarrier that an operand names. */
static bool locate_object(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                          struct location *p)
{
    uint64_t object;
    if (!locate(w, o, lane, space, address, 8, 8, true, p))
        return false;
    memcpy(&object, p->at, 8);
    return object >> 62 & 1 || warp_fault_value(w, FAULT_mbarrier_invalid, o, lane, 0);
}

static bool issue_arrivals(struct warp *w, const struct op *o, uint32_t mask, const uint64_t *address)
{
    struct async_work *x = new_work(w, o, mask, WARP_LANES);
    if (!x)
        return false;
    x->signals = w->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct location at;
        bool good = locate_object(w, o, l, o->access->mem.space, address[l], &at);
        if (good && at.owner != w->block)
            good = warp_fault_at(w, FAULT_address_space, o, l, &at, 8);
        if (good && o->mode == ASYNC_ARRIVE)
            good = mbarrier_signal(w, o, l, at.owner, at.address, &(struct mbarrier_signal){.announces = true});
        if (good)
            x->parts[l] = (struct async_part){.group = (uint32_t)at.address};
        else
            x->lanes &= ~(1u << l);
    }
    if (has_failed(w) || !x->lanes) {
        free_work(x);
        return !has_failed(w);
    }
    enqueue(x);
    return true;
}

/* The block of the cluster with a rank. */
static struct block *block_of_rank(struct block *b, uint32_t rank)
{
    struct block *peer = b;
    do {
        if (peer->index % b->launch->blocks_per_cluster == rank)
            return peer;
        peer = peer->peer;
    } while (peer != b);
    return NULL;
}

/* A piece for one lane and one destination. */
static bool enqueue_bulk(struct warp *w, const struct op *o, unsigned lane, const struct location *to,
                         const struct location *from, uint32_t bytes, const struct location *object)
{
    struct async_work *x = new_work(w, o, 1u << lane, 1);
    if (!x)
        return false;
    x->writes = to->space == SPACE_SHARED ? to->owner : NULL;
    x->reads = from->space == SPACE_SHARED ? from->owner : NULL;
    x->shift = shift_of(to) | shift_of(from);
    x->source = from->address;
    x->signals = object ? object->owner : NULL;
    x->object = object ? object->address : 0;
    x->parts[0] = (struct async_part){to->at, from->at, bytes, bytes, w->async->bulk_groups[lane]};
    enqueue(x);
    return true;
}

/* To the same place in each block of a mask, whose mbarriers are at the same place, too (9.7.9.25.4.1). */
static bool issue_multicast(struct warp *w, const struct op *o, unsigned lane, const struct location *to,
                            const struct location *from, uint32_t bytes, const struct location *object, uint32_t ranks)
{
    for (; ranks; ranks &= ranks - 1) {
        struct location there = *to, signalled = *object;
        struct block *b = block_of_rank(w->block, (uint32_t)__builtin_ctz(ranks));
        if (!b)
            return warp_fault_value(w, FAULT_block_ended, o, lane, (uint32_t)__builtin_ctz(ranks));
        there.owner = signalled.owner = b;
        there.at = b->shared + to->address;
        signalled.at = b->shared + object->address;
        if (!enqueue_bulk(w, o, lane, &there, from, bytes, &signalled))
            return false;
    }
    return true;
}

/* False after a fault that nobody has left out. */
static bool issue_bulk(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address)
{
    enum { ALIGN = 16 };
    bool to_global = o->mode == ASYNC_BULK_TO_GLOBAL, has_mask = o->access->has_operand[ASYNC_MASK];
    uint64_t size = operand(base, o, ASYNC_SIZE, 32, lane);
    struct location to, from, object;
    if (size % ALIGN)
        return warp_fault_value(w, FAULT_async_size, o, lane, size);
    if (!locate(w, o, lane, o->access->mem.space, address, (uint32_t)size, ALIGN, true, &to) ||
        !locate(w, o, lane, o->mode == ASYNC_BULK_FROM_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED,
                operand(base, o, ASYNC_SOURCE, 64, lane), (uint32_t)size, ALIGN, false, &from))
        return !has_failed(w);
    if (from.space == SPACE_SHARED && from.owner != w->block)
        return warp_fault_at(w, FAULT_address_space, o, lane, &from, (uint32_t)size);
    if (!to_global && !locate_object(w, o, lane, SPACE_SHARED, operand(base, o, ASYNC_MBARRIER, 64, lane), &object))
        return !has_failed(w);
    if (!to_global && object.owner != to.owner)
        return warp_fault_at(w, FAULT_other_block, o, lane, &object, 8);
    if (!to_global && has_mask)
        return issue_multicast(w, o, lane, &to, &from, (uint32_t)size, &object,
                               (uint32_t)operand(base, o, ASYNC_MASK, 16, lane));
    return enqueue_bulk(w, o, lane, &to, &from, (uint32_t)size, to_global ? NULL : &object);
}

/* st.async, red.async (9.7.9.12, 9.7.13.7) */
static bool issue_store(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address)
{
    const struct op_access *a = o->access;
    uint32_t bytes = (uint32_t)a->mem.bytes * a->mem.n;
    struct location to, object, from = {.space = SPACE_GLOBAL};
    if (!locate(w, o, lane, a->mem.space, address, bytes, bytes, true, &to) ||
        !locate_object(w, o, lane, a->mem.space, operand(base, o, ASYNC_MBARRIER, 64, lane), &object))
        return !has_failed(w);
    if (object.owner != to.owner)
        return warp_fault_at(w, FAULT_other_block, o, lane, &object, 8);
    if (!enqueue_bulk(w, o, lane, &to, &from, bytes, &object))
        return false;
    struct async_work *x = w->async->last;
    for (unsigned k = 0; k < a->mem.n; k++) {
        uint64_t v = operand(base, o, ASYNC_VALUE + k, 8u * a->mem.bytes, lane);
        memcpy((uint8_t *)x->value + k * a->mem.bytes, &v, a->mem.bytes);
    }
    x->parts[0].from = (const uint8_t *)x->value;
    return true;
}

/* What nobody waits for does not take more and more memory. */
static bool bound(struct warp *w)
{
    struct async_queue *q = w->async;
    if (!q || q->n < MAX_PENDING)
        return true;
    for (struct async_work *x = q->first; x && q->n >= MAX_PENDING / 2; x = x->next, q->n--)
        if (!finish_work(x))
            return false;
    q->n = 0;
    for (const struct async_work *x = q->first; x; x = x->next)
        q->n++;
    sweep(w);
    return true;
}

bool async_issue(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
    if (!mask)
        return true;
    if (!bound(w))
        return false;
    if (o->mode == ASYNC_COPY && issue_rows(w, a, base, o, mask))
        return true;
    if (has_failed(w))
        return false;
    access_addresses(w, a, base, o, mask, address);
    if (o->mode == ASYNC_COPY)
        return issue_copies(w, base, o, mask, address);
    if (o->mode == ASYNC_ARRIVE || o->mode == ASYNC_ARRIVE_NOINC)
        return issue_arrivals(w, o, mask, address);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        bool good =
            o->mode == ASYNC_STORE ? issue_store(w, base, o, l, address[l]) : issue_bulk(w, base, o, l, address[l]);
        if (!good)
            return false;
    }
    return true;
}

/* ---- groups ---- */

/* Lanes whose part has to be done for them to go on that wait for all but their `left` newest groups. */
static uint32_t due_lanes(const struct async_work *x, const struct async_queue *q, bool bulk, uint32_t lanes,
                          uint64_t left)
{
    const uint32_t *groups = bulk ? q->bulk_groups : q->groups;
    uint32_t due = 0;
    lanes &= x->lanes;
    if (!x->n && !q->parted && lanes)
        return part_of(x, 0).group + left < groups[__builtin_ctz(lanes)] ? lanes : 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        due |= part_of(x, l).group + left < groups[l] ? 1u << l : 0;
    }
    return due;
}

static bool wait_copies(struct warp *w, uint32_t lanes, uint64_t left, bool all)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first; x; x = x->next)
        if (mode_of(x) == ASYNC_COPY && !finish_parts(x, all ? lanes : due_lanes(x, q, false, lanes, left)))
            return false;
    return arrive_behind_copies(q, lanes);
}

/* Reads the source of a piece that is done later. */
static bool read_source(struct async_work *x)
{
    struct async_part *p = &x->parts[0];
    if (x->buffer || !p->taken)
        return true;
    x->buffer = pool_take(worker_of(x->warp), p->taken);
    if (!x->buffer)
        return finish_work(x);
    memcpy(x->buffer, p->from, p->taken);
    p->from = x->buffer;
    return true;
}

static bool wait_bulk(struct warp *w, uint32_t lanes, uint64_t left, bool only_read)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first; x; x = x->next) {
        bool due = is_bulk(x) && !x->signals && due_lanes(x, q, true, lanes, left);
        if (due && !(only_read ? read_source(x) : finish_work(x)))
            return false;
    }
    return true;
}

bool async_group(struct warp *w, const struct op *o, uint32_t mask)
{
    enum group_mode mode = (enum group_mode)o->mode;
    bool commits = mode == GROUP_COMMIT || mode == GROUP_BULK_COMMIT, good = true;
    if (!w->async || (!commits && !w->async->n))
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
        sweep(w);
    return good;
}

/* ---- who else has it done ---- */

/* Each warp of the cluster, from the first of a block on. */
static struct warp *next_warp(struct warp *w, const struct block *start)
{
    struct block *b = w->block;
    if (w->index + 1 < b->n_warps)
        return w + 1;
    return b->peer == start ? NULL : &b->peer->warps[0];
}

static bool tells(const struct async_work *x, const struct block *owner, uint64_t address)
{
    if (x->signals != owner || !x->lanes)
        return false;
    if (!is_arrival(x))
        return x->object == address;
    for (uint32_t m = x->lanes; m; m &= m - 1)
        if (x->parts[__builtin_ctz(m)].group == address)
            return true;
    return false;
}

bool async_is_pending(const struct block *b)
{
    const struct block *peer = b;
    do {
        if (peer->n_async)
            return true;
        peer = peer->peer;
    } while (peer != b);
    return false;
}

bool async_finish_for(struct block *owner, uint64_t address)
{
    for (struct warp *w = &owner->warps[0]; w; w = next_warp(w, owner)) {
        if (!w->async)
            continue;
        for (struct async_work *x = w->async->first; x; x = x->next)
            if (tells(x, owner, address) && !finish_work(x))
                return false;
        sweep(w);
    }
    return true;
}

uint64_t async_bytes_for(const struct block *owner, uint64_t address)
{
    uint64_t bytes = 0;
    for (struct warp *w = (struct warp *)&owner->warps[0]; w; w = next_warp(w, owner))
        for (struct async_work *x = w->async ? w->async->first : NULL; x; x = x->next)
            bytes += tells(x, owner, address) ? x->parts[0].bytes : 0;
    return bytes;
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
    for (struct warp *w = &b->warps[0]; w; w = next_warp(w, b))
        n += w->async ? w->async->n : 0;
    n = schedule_choose(s, n);
    for (struct warp *w = &b->warps[0]; w; w = next_warp(w, b)) {
        uint32_t here = w->async ? w->async->n : 0;
        if (n >= here) {
            n -= here;
            continue;
        }
        struct async_work *x = w->async->first;
        while (n-- > 0)
            x = x->next;
        if (finish_work(x) && mode_of(x) == ASYNC_COPY)
            arrive_behind_copies(w->async, UINT32_MAX);
        sweep(w);
        return;
    }
}

static void free_queue(struct warp *w)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first, *next; x; x = next) {
        next = x->next;
        free_work(x);
    }
    w->block->n_async -= q->n;
    pool_give(worker_of(w), q, sizeof *q);
    w->async = NULL;
}

void async_end_block(struct block *b)
{
    for (struct warp *w = &b->warps[0]; w; w = next_warp(w, b)) {
        if (!w->async)
            continue;
        for (struct async_work *x = w->async->first; x && !launch_has_failed(b->launch); x = x->next)
            if (w->block == b || x->writes == b || x->reads == b || x->signals == b)
                finish_work(x);
        if (w->block == b)
            free_queue(w);
        else
            sweep(w);
    }
}

static bool overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Is a piece of which these lanes are not done to write the bytes (*written), or to read them? */
static bool touches(const struct async_work *x, const struct block *owner, const uint8_t *at, uint64_t bytes,
                    bool *written)
{
    bool reads = x->reads == owner && !x->buffer && mode_of(x) != ASYNC_STORE;
    at += owner ? 0 : x->shift;
    for (uint32_t m = is_arrival(x) ? 0 : x->lanes; m; m &= m - 1) {
        const struct async_part part = part_of(x, (unsigned)__builtin_ctz(m)), *p = &part;
        *written = x->writes == owner && overlap(p->to, p->bytes, at, bytes);
        if (*written || (reads && overlap(p->from, p->taken, at, bytes)))
            return true;
    }
    return false;
}

const struct async_work *async_find(const struct block *cluster, const struct block *owner, uint64_t address,
                                    uint64_t bytes, bool *written)
{
    const uint8_t *at = owner ? owner->shared + address : (const uint8_t *)(uintptr_t)address;
    for (struct warp *w = (struct warp *)&cluster->warps[0]; w; w = next_warp(w, cluster))
        for (struct async_work *x = w->async ? w->async->first : NULL; x; x = x->next)
            if (touches(x, owner, at, bytes, written))
                return x;
    return NULL;
}
