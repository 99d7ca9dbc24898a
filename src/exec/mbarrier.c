/* mbarrier: barriers that are objects in the block's shared memory (PTX ISA 9.7.13.15; isa/sem_mbarrier.h).
 *
 * A block stays on one worker, so an operation on an object is plain code, lane after lane. Nothing waits here: a try_wait whose
 * phase has not completed answers so at once, and its warp makes way for those that it waits for (interp.c), which the
 * time that it could be suspended for leaves open. What the ISA calls undefined is a fault where the object shows it: a count out
 * of range, an object that has not been initialised, more arrivals than are pending, .noComplete that completes.
 */
#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/hooks.h"
#include "exec/launch.h"
#include "isa/sem.h"

/* The operations of a warp's lanes. */
struct operations {
    struct plan plan;   /* first: access_watched() hands it to perform() */
    uint32_t done;      /* lanes that have arrived, or found their phase complete, */
    uint32_t parity;    /* in the phase of this parity, */
    uint32_t completes; /* and completed it */
    uint64_t address[WARP_LANES];
};

/* One lane's operation. */
struct operation {
    struct warp *w;
    const struct op *o;
    unsigned lane;
    const struct location *at;
    struct operations *all;
    u64 operand; /* count, state or parity */
    u64 object;  /* as it was */
};

static bool has(const struct op *o, enum isa_mod mod)
{
    return isa_has(o->origin->origin->inst, mod);
}

static void put_object(const struct operation *x, u64 object)
{
    struct launch *l = x->w->block->launch;
    if (atomic_load_explicit(&l->watching, memory_order_relaxed))
        l->changed |= memcmp(x->at->at, &object, sizeof object) != 0;
    memcpy(x->at->at, &object, sizeof object);
}

static void note(const struct operation *x, bool parity, bool completes)
{
    uint32_t lane = 1u << x->lane;
    x->all->done |= lane;
    x->all->parity |= parity ? lane : 0;
    x->all->completes |= completes ? lane : 0;
    x->all->address[x->lane] = x->at->address;
}

static bool faults(const struct operation *x, enum fault_kind kind, uint64_t value)
{
    return warp_fault_value(x->w, kind, x->o, x->lane, value);
}

static bool is_count(u64 count)
{
    return count > 0 && count < MBARRIER_LIMIT;
}

static bool init(const struct operation *x)
{
    if (!is_count(x->operand))
        return faults(x, FAULT_mbarrier_count, x->operand);
    put_object(x, sem_mbarrier((u32)x->operand, (u32)x->operand, false));
    return true;
}

/* The last arrival that is pending completes the phase: the next begins, with the count expected by then. */
static bool arrive(const struct operation *x)
{
    u64 count = x->o->has_b ? x->operand : 1;
    u32 expected = sem_mbarrier_expected(x->object);
    u32 pending = sem_mbarrier_pending(x->object) % MBARRIER_LIMIT; /* 0 where all threads have dropped out */
    bool parity = sem_mbarrier_parity(x->object), completes = count == pending;
    if (!is_count(count))
        return faults(x, FAULT_mbarrier_count, count);
    if (count > pending)
        return faults(x, FAULT_mbarrier_excess, pending);
    if (completes && has(x->o, MOD_noComplete))
        return faults(x, FAULT_mbarrier_completes, 0);
    expected -= x->o->mode == MBARRIER_ARRIVE_DROP ? (u32)count : 0;
    put_object(x, sem_mbarrier(completes ? expected : pending - (u32)count, expected, parity ^ completes));
    note(x, parity, completes);
    return true;
}

/* Has the phase completed that has this parity, be it the current one or the one before? */
static bool test(const struct operation *x)
{
    bool asked = has(x->o, MOD_parity) ? x->operand & 1 : sem_mbarrier_parity(x->operand);
    bool complete = asked != sem_mbarrier_parity(x->object);
    if (complete)
        note(x, asked, false);
    return complete;
}

static void put_predicate(uint8_t *d, unsigned lane, bool value)
{
    uint32_t bits;
    memcpy(&bits, d, 4);
    bits = (bits & ~(1u << lane)) | (uint32_t)value << lane;
    memcpy(d, &bits, 4);
}

static bool run_lane(struct operation *x, uint8_t *d)
{
    memcpy(&x->object, x->at->at, sizeof x->object);
    if (x->o->mode != MBARRIER_INIT && !(x->object & MBARRIER_VALID))
        return faults(x, FAULT_mbarrier_invalid, 0);
    switch ((enum mbarrier_mode)x->o->mode) {
    case MBARRIER_INIT: return init(x);
    case MBARRIER_INVAL: put_object(x, 0); return true;
    case MBARRIER_ARRIVE:
    case MBARRIER_ARRIVE_DROP:
        if (x->o->has_d)
            memcpy(d + 8 * x->lane, &x->object, 8);
        return arrive(x);
    default: put_predicate(d, x->lane, test(x)); return true;
    }
}

static bool perform(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    unsigned width = o->mode < MBARRIER_TEST_WAIT || has(o, MOD_parity) ? 32 : 64;
    plan_fill(w, o, p);
    for (uint32_t m = mask; m; m &= m - 1) {
        struct location at;
        struct operation x = {
            .w = w, .o = o, .lane = (unsigned)__builtin_ctz(m), .at = &at, .all = (struct operations *)p};
        enum fault_kind kind = access_locate_op(w, o, p->address[x.lane], &at);
        if (kind)
            return warp_fault_at(w, kind, o, x.lane, &at, o->access->mem.bytes);
        x.operand = o->has_b ? row_lane(row_at(base, o->b), width, x.lane) : 0;
        if (!run_lane(&x, row_at(base, o->d)))
            return false;
    }
    return true;
}

static void tell(const struct warp *w, const struct op *o, const struct operations *all)
{
    enum sync_kind kind = o->mode < MBARRIER_TEST_WAIT ? SYNC_MBARRIER_ARRIVE : SYNC_MBARRIER_WAIT;
    for (uint32_t m = hooks_want_sync(w->hooks, kind) ? all->done : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct sync_event e = {.kind = kind,
                               .block = w->block,
                               .warp = w,
                               .op = o,
                               .lanes = 1u << l,
                               .address = all->address[l],
                               .order = (uint8_t)o->imm,
                               .scope = o->access->mem.scope,
                               .parity = all->parity >> l & 1,
                               .completes = all->completes >> l & 1};
        hooks_tell_sync(w->hooks, &e);
    }
}

bool mbarrier_run(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                  bool *in_vain)
{
    struct operations all = {.done = 0};
    plan_access(w, a, base, o, mask, &all.plan);
    if (all.plan.kind != PLAN_HOST || all.plan.space != SPACE_SHARED) /* where there are none */
        all.plan.kind = PLAN_BY_LANE;
    for (uint32_t m = o->mode >= MBARRIER_TEST_WAIT ? mask : 0; m; m &= m - 1)
        put_predicate(row_at(base, o->d), (unsigned)__builtin_ctz(m), true); /* lanes left out do not spin for ever */
    bool ok = access_is_watched(w) ? access_watched(w, base, o, mask, &all.plan, perform)
                                   : perform(w, base, o, mask, &all.plan);
    *in_vain = o->mode == MBARRIER_TRY_WAIT && !(*(const uint32_t *)row_at(base, o->d) & mask);
    if (ok)
        tell(w, o, &all);
    return ok;
}
