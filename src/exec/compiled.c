/* The engine's functions for compiled code, and a worker's records for it: see compiled.h. */
#include "exec/access.h"
#include "exec/block.h"
#include "exec/collective.h"
#include "exec/histogram.h"
#include "exec/interp.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/worker.h"
#include "exec/compiled.h"

static bool loads(const struct op *o)
{
    return o->kind == OP_LD || o->kind == OP_FETCH;
}

static bool accesses_global(const struct op *o)
{
    return (loads(o) || o->kind == OP_ST || o->kind == OP_ATOM) && mem_access_may_be_global(&o->access->mem);
}

static bool compiled_op(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    uint8_t *base[4];
    if (accesses_global(o))
        histogram_settle(w->block->worker);
    warp_bases(w, a, base);
    return warp_run_op(w, a, base, o, mask);
}

/* Performs an access and fills its inline cache: the allocation of the first lane's bytes. */
static bool run_access(struct warp *w, struct activation *a, const struct op *o, uint32_t mask,
                       struct inline_cache *cache, uint64_t span)
{
    uint8_t *base[4];
    uint64_t address[WARP_LANES] __attribute__((aligned(64))),
        bytes = (uint64_t)o->access->mem.bytes * o->access->mem.n;
    struct mem_block b;
    warp_bases(w, a, base);
    access_addresses(w, a, base, o, mask, address);
    if (!compiled_op(w, a, o, mask))
        return false;
    const struct mem *m = &w->block->launch->machine->mem;
    bool found = mem_reach(m, address[__builtin_ctz(mask)], &b) && b.start % bytes == 0 &&
                 !mem_shift(m, &b); /* it goes to addresses as they are */
    if (found && (loads(o) || (b.kind != MEM_CONST && b.kind != MEM_PARAM)))
        *cache = (struct inline_cache){b.start, b.size > span ? (b.size - span) / bytes : 0,
                                       histogram_shift(w->block->worker, o, &b)};
    return true;
}

static bool compiled_iteration(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                               const struct compiled_access *accesses, uint32_t n)
{
    const struct code_block *b = &a->code->blocks[block];
    const struct op *first = &a->code->ops[b->first];
    uint8_t *base[4];
    bool good = true;
    warp_bases(w, a, base);
    for (uint32_t k = 0; k + 1 < b->n && good; k++) {
        uint32_t go = warp_guarded(base, &first[k], mask);
        if (n && accesses->op == k) {
            good = run_access(w, a, &first[k], go, &w->block->worker->inline_caches[accesses->cache], accesses->span);
            accesses++;
            n--;
        } else if (go) {
            good = compiled_op(w, a, &first[k], go);
        }
    }
    return good;
}

static bool shape_holds(const uint8_t *row, const struct compiled_shape *s, uint32_t mask)
{
    uint64_t ones = s->width == 64 ? ~0ull : (1ull << s->width) - 1;
    if (s->width == 1) {
        uint32_t lanes;
        memcpy(&lanes, row, 4);
        return (lanes & mask) == mask || (lanes & mask) == 0;
    }
    unsigned piece_end = 0;
    uint64_t base = 0;
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        if (l >= piece_end) {
            base = row_lane(row, s->width, l) - (uint64_t)s->lane_offsets[l];
            piece_end = (l / (unsigned)s->piece_lanes + 1) * (unsigned)s->piece_lanes;
        }
        if ((row_lane(row, s->width, l) ^ (base + (uint64_t)s->lane_offsets[l])) & ones)
            return false;
    }
    return true;
}

static bool shapes_hold(const struct activation *a, uint32_t mask, const struct compiled_shape *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!shape_holds(a->rows + s[i].slot, &s[i], mask))
            return false;
    return true;
}

static void shape_fill(uint8_t *row, const struct compiled_shape *s)
{
    unsigned piece = (unsigned)s->piece_lanes;
    for (unsigned from = 0; from < WARP_LANES && s->width > 1; from += piece) {
        uint64_t v = row_lane(row, s->width, from);
        for (unsigned l = from; l < from + piece && s->width == 16; l++)
            ((uint16_t *)row)[l] = (uint16_t)(v + (uint64_t)s->lane_offsets[l]);
        for (unsigned l = from; l < from + piece && s->width == 32; l++)
            ((uint32_t *)row)[l] = (uint32_t)(v + (uint64_t)s->lane_offsets[l]);
        for (unsigned l = from; l < from + piece && s->width == 64; l++)
            ((uint64_t *)row)[l] = v + (uint64_t)s->lane_offsets[l];
        for (unsigned l = from; l < from + piece && s->width == 128; l++)
            memcpy(row + 16 * l, row + 16 * from, 16);
    }
}

static void shapes_fill(struct activation *a, const struct compiled_shape *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        shape_fill(a->rows + s[i].slot, &s[i]);
}

static void shape_spill(uint8_t *row, const struct compiled_shape *s, const uint64_t *seeds, uint32_t mask)
{
    uint64_t ones = s->width == 64 ? ~0ull : (1ull << s->width) - 1;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t v = (seeds[l / s->piece_lanes] + (uint64_t)s->lane_offsets[l]) & ones;
        if (mask >> l & 1)
            /* The host's bytes are in little-endian order. */
            memcpy(row + s->width / 8 * l, &v, s->width / 8);
    }
}

static void shapes_spill(struct activation *a, const struct compiled_shape *s, uint32_t n, const uint64_t *seeds,
                         uint32_t mask)
{
    for (uint32_t i = 0; i < n; i++) {
        shape_spill(a->rows + s[i].slot, &s[i], seeds, mask);
        seeds += WARP_LANES / s[i].piece_lanes;
    }
}

const struct compiled_calls compiled_calls = {compiled_op,     run_access,        collective_try, act_add_pending,
                                              shapes_hold,     shapes_fill,       shapes_spill,   serial_run,
                                              serial_back_off, compiled_iteration};

enum leave compiled_run(compiled_fn *fn, struct warp *w, struct activation *a, uint32_t block, uint32_t mask)
{
    enum leave how = (enum leave)fn(w, a, block, mask, &compiled_calls);
    if (how != LEAVE_SEEDS)
        return how;
    struct warp *at = w->block->stopped;
    fn(at, at == w ? a : at->act, at->op->next | COMPILED_FILL, at->mask, &compiled_calls);
    w->block->stopped = at;
    return LEAVE_AT;
}

void compiled_fill(compiled_fn *fn, struct warp *w, uint32_t block)
{
    fn(w, w->act, block | COMPILED_FILL, w->mask, &compiled_calls);
}

const struct compiled *worker_find_compiled(struct worker *k, struct launch *l)
{
    const struct compiled *c = atomic_load_explicit(&l->compiled, memory_order_acquire);
    if (!c || atomic_load_explicit(&l->watching, memory_order_relaxed))
        return NULL;
    uint64_t version = atomic_load_explicit(&l->machine->mem.version, memory_order_relaxed);
    if (k->compiled != c) {
        worker_drop_compiled(k);
        k->inline_caches = pool_take(k, ((size_t)c->n_inline_caches + 1) * sizeof *k->inline_caches);
        if (!k->inline_caches)
            return NULL;
        k->compiled = c;
        k->n_inline_caches = c->n_inline_caches + 1;
        histogram_begin(k);
        k->inline_caches_version = version + 1;
    }
    if (k->inline_caches_version != version)
        memset(k->inline_caches, 0, k->n_inline_caches * sizeof *k->inline_caches);
    k->inline_caches_version = version;
    return c;
}

void worker_drop_compiled(struct worker *k)
{
    histogram_close_all(k);
    if (k->compiled)
        pool_give(k, k->inline_caches, k->n_inline_caches * sizeof *k->inline_caches);
    k->compiled = NULL;
}
