/* Loads and stores: addresses are checked against the allocation, block or thread that they belong
 * to (PTX ISA 6.4, 9.7.9.8).
 *
 * The addresses of all lanes are summarised first (least, greatest, or of all bits: rows.h). If
 * they lie in one allocation and are aligned, as nearly always, no lane is examined by itself. If
 * they are also consecutive or equal, one copy or broadcast serves all lanes. All other accesses
 * go lane by lane, which finds the lane that faults.
 */
#include "base/checked.h"
#include "exec/access_values.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/rows.h"
#include "exec/worker.h"
#include "mem/local.h"

static struct worker *worker_of(const struct warp *w)
{
    return w->block->worker;
}

static bool in_window(uint64_t address, uint64_t start, uint64_t bytes)
{
    return address - start < bytes;
}

/* Are the bytes of all lanes, from the least address to the largest, in what a window shows of a
 * block's or a thread's memory? */
static bool window_holds(uint64_t window, uint64_t window_bytes, uint64_t limit, const struct scan *s, uint32_t bytes)
{
    return range_holds(window, window + (limit < window_bytes ? limit : window_bytes), s->min, s->max, bytes);
}

/* ---- the addresses of an instruction ---- */

/* Of an access whose address is in no register. */
static uint64_t fixed_address(const struct warp *w, const struct activation *a, const struct op_access *x)
{
    uint64_t at = (uint64_t)x->disp + (x->mem.frame ? a->frame : 0);
    return x->mem.space == SPACE_PARAM ? at + (uint64_t)(uintptr_t)w->block->launch->params : at;
}

static void scan_addresses(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o,
                           uint32_t mask, uint64_t *address, struct scan *scan)
{
    const struct op_access *x = o->access;
    const struct row_fns *rows = w->block->launch->rows;
    unsigned log2_stride = access_log2((uint32_t)x->mem.bytes * x->mem.n);
    if (x->base_width == 64) {
        rows->scan64((const uint64_t *)row_at(base, o->a), x->disp, mask, log2_stride, address, scan);
    } else if (x->base_width == 32) {
        rows->scan32((const uint32_t *)row_at(base, o->a), x->disp, mask, log2_stride, address, scan);
    } else {
        uint64_t at = fixed_address(w, a, x);
        rows->splat64(address, at);
        *scan = (struct scan){at, at, at, false};
    }
}

void access_addresses(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                      uint64_t *address)
{
    struct scan scan;
    scan_addresses(w, a, base, o, mask, address, &scan);
    access_fill(w, o, address, &scan);
}

uint64_t access_address_of_lane(const struct warp *w, const struct activation *a, uint8_t *const base[4],
                                const struct op *o, unsigned lane)
{
    const struct op_access *x = o->access;
    const uint8_t *row = x->base_width ? row_at(base, o->a) : NULL;
    switch (x->base_width) {
    case 64: return ((const uint64_t *)row)[lane] + (uint64_t)x->disp;
    case 32: return ((const uint32_t *)row)[lane] + (uint32_t)x->disp;
    default: return fixed_address(w, a, x);
    }
}

bool access_in_one_allocation(struct warp *w, const struct op *o, uint64_t min, uint64_t max, uint32_t bytes,
                              bool write, uint64_t *shift)
{
    struct machine *m = w->block->launch->machine;
    struct worker *k = worker_of(w);
    struct allocation_cache *s =
        &k->allocation_cache[((uintptr_t)o / sizeof *o) % (sizeof k->allocation_cache / sizeof k->allocation_cache[0])];
    uint64_t version = atomic_load_explicit(&m->mem.version, memory_order_relaxed);
    *shift = s->shift;
    if (s->key == o && s->version == version && range_holds(s->lo, s->hi, min, max, bytes))
        return true;
    struct mem_block b;
    if (!mem_reach(&m->mem, min, &b) || !range_holds(b.start, b.start + b.size, min, max, bytes))
        return false;
    if (write && (b.kind == MEM_CONST || b.kind == MEM_PARAM))
        return false;
    *shift = mem_shift(&m->mem, &b);
    *s = (struct allocation_cache){b.start, b.start + b.size, version, *shift, o};
    return true;
}

static void plan_scanned(struct warp *w, const struct op *o, uint32_t mask, struct plan *p)
{
    const struct mem_access *x = &o->access->mem;
    const struct mem *m = &w->block->launch->machine->mem;
    uint32_t bytes = (uint32_t)x->bytes * x->n;
    enum ptx_space space = x->space;
    uint64_t window = 0, min = p->scan.min, max = p->scan.max;
    p->kind = PLAN_BY_LANE;
    if (p->scan.all_bits & (bytes - 1))
        return;
    if (space == SPACE_GENERIC) {
        if (in_window(min, mem_shared_window(m), MEM_CLUSTER_WINDOW_BYTES)) {
            space = SPACE_SHARED;
            window = mem_shared_window(m) + w->block->shared_start;
        } else if (in_window(min, mem_local_window(m), MEM_LOCAL_WINDOW_BYTES)) {
            space = SPACE_LOCAL;
            window = mem_local_window(m);
        }
    }
    if (space == SPACE_SHARED) {
        if (window_holds(window, MEM_SHARED_WINDOW_BYTES, w->block->launch->asked_shared_bytes, &p->scan, bytes)) {
            p->kind = PLAN_HOST;
            p->base = (uint64_t)(uintptr_t)w->block->shared - window;
        }
    } else if (space == SPACE_LOCAL) {
        if (window_holds(window, MEM_LOCAL_WINDOW_BYTES, w->block->launch->kernel->local_bytes, &p->scan, bytes)) {
            warp_need_local(w, max - window + bytes);
            p->kind = PLAN_LOCAL;
            p->base = window;
        }
    } else if (space != SPACE_PARAM && access_in_one_allocation(w, o, min, max, bytes, op_writes(o), &p->base)) {
        p->kind = PLAN_HOST;
    } else if (space == SPACE_PARAM && !access_locate(w, space, min, bytes, false, &(struct location){0})) {
        p->kind = PLAN_HOST; /* one address for all lanes */
        p->base = 0;
    }
    p->space = space == SPACE_SHARED || space == SPACE_LOCAL || space == SPACE_PARAM ? space : SPACE_GLOBAL;
    bool scattered = p->kind != PLAN_BY_LANE && !p->scan.linear && min != max;
    p->pattern = scattered ? w->block->launch->rows->pattern(p->address, mask, access_log2(bytes)) : PATTERN_NONE;
}

void plan_access(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                 struct plan *p)
{
    scan_addresses(w, a, base, o, mask, p->address, &p->scan);
    plan_scanned(w, o, mask, p);
}

void plan_span(struct warp *w, const struct op *o, uint32_t mask, uint64_t first, uint64_t last, struct plan *p)
{
    p->scan = (struct scan){first, last, first | last, true};
    plan_scanned(w, o, mask, p);
}

void plan_addresses(struct warp *w, const struct op *o, uint32_t mask, struct plan *p)
{
    uint64_t first = p->address[__builtin_ctz(mask)];
    p->scan = (struct scan){.min = first, .max = first};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t at = mask >> l & 1 ? p->address[l] : first;
        p->address[l] = at;
        p->scan.min = at < p->scan.min ? at : p->scan.min;
        p->scan.max = at > p->scan.max ? at : p->scan.max;
        p->scan.all_bits |= at;
    }
    plan_scanned(w, o, mask, p);
}

/* ---- order ---- */

/* Strong accesses, where that matters, go to global memory lane by lane. */
static void part_plan(const struct warp *w, const struct op *o, struct plan *p)
{
    if (HOST_HAS_WHOLE_ELEMENTS || !mem_access_is_strong(&o->access->mem) || p->space == SPACE_SHARED)
        return;
    plan_fill(w, o, p);
    p->scan.linear = false;
    p->pattern = PATTERN_NONE;
}

/* The fence that makes a weak or relaxed access an ordered one (PTX ISA 8.8, release and acquire
 * patterns): acquire after a load, release before a store. */
static void fence_before(const struct mem_access *m)
{
    if (m->order == ORDER_RELEASE || m->order == ORDER_ACQ_REL)
        atomic_thread_fence(memory_order_release);
}

static void fence_after(const struct mem_access *m)
{
    if (m->order == ORDER_ACQUIRE || m->order == ORDER_ACQ_REL)
        atomic_thread_fence(memory_order_acquire);
}

/* ---- loads ---- */

static void load_local(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct op_access *x = o->access;
    bool words = x->mem.bytes == 4 && x->mem.n == 1 && x->width[0] == 32 && p->scan.min == p->scan.max;
    if (words) { /* one address: one line holds all lanes */
        w->block->launch->rows->blend32(rows[0], local_word(w->local, p->scan.min - p->base, 0), mask);
        return;
    }
    plan_fill(w, o, p);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        uint8_t buffer[128] __attribute__((aligned(16)));
        local_read(w->local, p->address[l] - p->base, l, buffer, (uint32_t)x->mem.bytes * x->mem.n);
        access_load_lane(x, rows, l, buffer);
    }
}

/* One address: one load, broadcast. */
static void load_uniform(struct warp *w, const struct mem_access *m, uint8_t *row, uint32_t mask, const uint8_t *from)
{
    const struct row_fns *fn = w->block->launch->rows;
    uint8_t *splat = worker_of(w)->scratch[0];
    if (m->bytes == 4) {
        fn->splat32((uint32_t *)splat, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED));
        fn->blend32(row, splat, mask);
    } else {
        fn->splat64((uint64_t *)splat, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED));
        fn->blend64(row, splat, mask);
    }
}

/* Vectors of consecutive lanes, whose elements fill their registers: 2 or 4 of 32 bits, 2 of 64. */
static bool is_plain_vector(const struct op_access *x, const struct plan *p)
{
    bool plain = p->scan.linear &&
                 ((x->mem.bytes == 4 && (x->mem.n == 2 || x->mem.n == 4)) || (x->mem.bytes == 8 && x->mem.n == 2));
    for (unsigned k = 0; k < x->mem.n; k++)
        plain &= x->width[k] == 8 * x->mem.bytes;
    return plain;
}

/* Bytes or halves of consecutive lanes, in registers of 16 or 32 bits. */
static bool is_plain_narrow(const struct op_access *x, const struct plan *p)
{
    return p->scan.linear && x->mem.n == 1 && x->mem.bytes <= 2 && (x->width[0] == 16 || x->width[0] == 32);
}

static bool are_distinct(uint8_t *const rows[8], unsigned n)
{
    for (unsigned k = 1; k < n; k++)
        for (unsigned j = 0; j < k; j++)
            if (rows[j] == rows[k])
                return false;
    return true;
}

static void load_host(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct op_access *x = o->access;
    const struct row_fns *fn = w->block->launch->rows;
    bool whole = mem_access_is_whole(&x->mem) && p->space != SPACE_SHARED;
    part_plan(w, o, p);
    if (x->mem.n == 1 && x->width[0] == 8 * x->mem.bytes && x->mem.bytes >= 4 && x->mem.bytes <= 8) {
        const uint8_t *from = (const uint8_t *)(uintptr_t)(p->scan.min + p->base);
        if (p->scan.linear && x->mem.bytes == 4)
            fn->copy32((uint32_t *)rows[0], (const uint32_t *)from);
        else if (p->scan.linear)
            fn->copy64((uint64_t *)rows[0], (const uint64_t *)from);
        else if (p->scan.min == p->scan.max)
            load_uniform(w, &x->mem, rows[0], mask, from);
        else if (x->mem.bytes == 4 && mask == UINT32_MAX && p->pattern != PATTERN_NONE)
            fn->gather_halves32((uint32_t *)rows[0], p->address, p->base, p->pattern == PATTERN_LINEAR_HALVES);
        else if (x->mem.bytes == 4)
            fn->gather32((uint32_t *)rows[0], p->address, p->base, mask);
        else
            fn->gather64((uint64_t *)rows[0], p->address, p->base, mask);
        return;
    }
    if (is_plain_narrow(x, p)) {
        fn->load_narrow(rows[0], (const void *)(uintptr_t)(p->scan.min + p->base), x->mem.bytes, x->width[0],
                        x->mem.sign);
        return;
    }
    if (is_plain_vector(x, p) && are_distinct(rows, x->mem.n)) {
        uint8_t copy[32 * WARP_LANES] __attribute__((aligned(64)));
        const void *from = (const void *)(uintptr_t)(p->scan.min + p->base);
        if (whole)
            access_move_whole_lanes(&x->mem, copy, from, false);
        from = whole ? copy : from;
        x->mem.bytes == 4 ? fn->load_vectors32(rows, from, x->mem.n) : fn->load_vectors64(rows, from);
        return;
    }
    plan_fill(w, o, p);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        const uint8_t *from = (const uint8_t *)(uintptr_t)(p->address[l] + p->base);
        uint8_t buffer[32] __attribute__((aligned(16)));
        if (whole) {
            access_move_whole(buffer, from, (unsigned)x->mem.bytes * x->mem.n, false);
            from = buffer;
        }
        access_load_lane(x, rows, l, from);
    }
}

static void rows_of(uint8_t *const base[4], const struct op_access *x, uint8_t *rows[8])
{
    for (unsigned k = 0; k < x->mem.n; k++)
        rows[k] = row_at(base, x->regs[k]);
}

void access_note_load(struct launch *l, const struct plan *p)
{
    if (atomic_load_explicit(&l->watching, memory_order_relaxed) && p->kind != PLAN_LOCAL &&
        (p->kind == PLAN_BY_LANE || p->space != SPACE_SHARED))
        l->read_global = true;
}

static inline __attribute__((always_inline)) bool load(struct warp *w, uint8_t *const base[4], const struct op *o,
                                                       uint32_t mask, struct plan *p)
{
    uint8_t *rows[8];
    bool ok = true;
    rows_of(base, o->access, rows);
    access_note_load(w->block->launch, p);
    if (p->kind == PLAN_HOST)
        load_host(w, o, rows, mask, p);
    else if (p->kind == PLAN_LOCAL)
        load_local(w, o, rows, mask, p);
    else
        ok = access_load_by_lane(w, o, rows, mask, p);
    fence_after(&o->access->mem);
    return ok;
}

static bool perform_load(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    return load(w, base, o, mask, p);
}

bool access_load(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    struct plan p;
    plan_access(w, a, base, o, mask, &p);
    if (access_is_watched(w))
        return access_watched(w, base, o, mask, &p, perform_load);
    return load(w, base, o, mask, &p);
}

/* ---- stores ---- */

static void store_host(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct op_access *x = o->access;
    const struct row_fns *fn = w->block->launch->rows;
    bool whole = mem_access_is_whole(&x->mem) && p->space != SPACE_SHARED;
    part_plan(w, o, p);
    if (p->scan.linear && x->mem.n == 1 && x->width[0] == 8 * x->mem.bytes && x->mem.bytes >= 4 && x->mem.bytes <= 8) {
        uint8_t *to = (uint8_t *)(uintptr_t)(p->scan.min + p->base);
        if (x->mem.bytes == 4)
            fn->copy32((uint32_t *)to, (const uint32_t *)rows[0]);
        else
            fn->copy64((uint64_t *)to, (const uint64_t *)rows[0]);
        return;
    }
    if (is_plain_narrow(x, p)) {
        fn->store_narrow((void *)(uintptr_t)(p->scan.min + p->base), rows[0], x->mem.bytes, x->width[0]);
        return;
    }
    if (is_plain_vector(x, p)) {
        uint8_t copy[32 * WARP_LANES] __attribute__((aligned(64)));
        void *place = (void *)(uintptr_t)(p->scan.min + p->base), *to = whole ? copy : place;
        x->mem.bytes == 4 ? fn->store_vectors32(to, rows, x->mem.n) : fn->store_vectors64(to, rows);
        if (whole)
            access_move_whole_lanes(&x->mem, place, copy, true);
        return;
    }
    plan_fill(w, o, p);
    unsigned order = mem_access_store_order(&x->mem);
    for (mask = access_in_order(mask, order); mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask) ^ order;
        uint8_t *to = (uint8_t *)(uintptr_t)(p->address[l] + p->base);
        uint8_t buffer[32] __attribute__((aligned(16)));
        for (unsigned k = 0; k < x->mem.n; k++) {
            const uint8_t *from = rows[k] + l * x->width[k] / 8;
            if (whole)
                access_load_element(buffer + k * x->mem.bytes, from, x->mem.bytes);
            else
                access_store_element(to + k * x->mem.bytes, from, x->mem.bytes);
        }
        if (whole)
            access_move_whole(to, buffer, (unsigned)x->mem.bytes * x->mem.n, true);
    }
}

static void store_local(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p)
{
    const struct mem_access *m = &o->access->mem;
    bool words = m->bytes == 4 && m->n == 1 && p->scan.min == p->scan.max;
    if (words) {
        w->block->launch->rows->blend32(local_word(w->local, p->scan.min - p->base, 0), rows[0], mask);
        return;
    }
    plan_fill(w, o, p);
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        uint8_t buffer[128];
        access_gather_lane(o->access, rows, l, buffer);
        local_write(w->local, p->address[l] - p->base, l, buffer, (uint32_t)m->bytes * m->n);
    }
}

static inline __attribute__((always_inline)) bool store(struct warp *w, uint8_t *const base[4], const struct op *o,
                                                        uint32_t mask, struct plan *p)
{
    uint8_t *rows[8];
    bool ok = true;
    rows_of(base, o->access, rows);
    fence_before(&o->access->mem);
    if (atomic_load_explicit(&w->block->launch->watching, memory_order_relaxed))
        access_watch_store(w, o, rows, mask, p);
    if (p->kind == PLAN_HOST)
        store_host(w, o, rows, mask, p);
    else if (p->kind == PLAN_LOCAL)
        store_local(w, o, rows, mask, p);
    else
        ok = access_store_by_lane(w, o, rows, mask, p);
    return ok;
}

static bool perform_store(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    return store(w, base, o, mask, p);
}

bool access_store(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    struct plan p;
    plan_access(w, a, base, o, mask, &p);
    if (access_is_watched(w))
        return access_watched(w, base, o, mask, &p, perform_store);
    return store(w, base, o, mask, &p);
}
