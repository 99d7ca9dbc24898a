/* mbarriers: barriers that are objects in the block's shared memory (PTX ISA 9.7.13.15;
 * isa/sem_mbarrier.h). A block stays on one worker, so an operation on an object is plain code,
 * lane after lane.
 *
 * Nothing waits here. A try_wait whose phase has not completed returns false at once, as the ISA
 * permits, and its warp lets others run (interp.c).
 *
 * What the ISA calls undefined is a fault if the object shows it: a count out of range, an object
 * that has not been initialised, more arrivals than are pending, a phase completed by .noComplete.
 * An invalidated object can still be used, as on an H200, because programs with libcu++ rely on
 * it; the checker reports it (check/sync/sync.c). Asynchronous arrivals and completed transactions
 * (async.c) call mbarrier_signal().
 */
#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/async.h"
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "isa/sem.h"

/* The operations of a warp's lanes. */
struct operations {
    struct plan plan;   /* first: access_watched() hands it to perform() */
    uint32_t done;      /* lanes that have arrived, or found their phase complete, */
    uint32_t parity;    /* in the phase of this parity, */
    uint32_t completes; /* and completed it */
    uint64_t address[WARP_LANES];
    struct block *owner[WARP_LANES]; /* whose shared memory has the object */
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
    if (x->o->mode != MBARRIER_INIT)
        object |= x->object & MBARRIER_INVALIDATED;
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
    x->all->owner[x->lane] = x->at->owner;
}

static bool faults(const struct operation *x, enum fault_kind kind, uint64_t value)
{
    return warp_fault_value(x->w, kind, x->o, x->lane, value);
}

static bool is_count(u64 count)
{
    return count > 0 && count < MBARRIER_LIMIT;
}

/* An object, taken apart. */
struct counts {
    u32 pending, expected;
    s32 transactions;
    bool parity;
};

static struct counts counts_of(u64 object)
{
    /* 0: all arrived, or dropped out. */
    return (struct counts){.pending = sem_mbarrier_pending(object) % MBARRIER_LIMIT,
                           .expected = sem_mbarrier_expected(object),
                           .transactions = sem_mbarrier_transactions(object),
                           .parity = sem_mbarrier_parity(object)};
}

static u64 object_of(const struct counts *c)
{
    return sem_mbarrier(c->pending, c->expected, c->transactions, c->parity);
}

/* Once no arrival and no transaction is pending the next phase begins, with the count expected by
 * then (9.7.13.15.8). */
static bool complete(struct counts *c)
{
    if (c->pending || c->transactions)
        return false;
    c->pending = c->expected;
    c->parity ^= 1;
    return true;
}

/* False where the tx-count would leave its range. */
static bool transact(struct counts *c, s64 transactions)
{
    s64 sum = c->transactions + transactions;
    c->transactions = (s32)sum;
    return sum > -(s64)MBARRIER_LIMIT && sum < (s64)MBARRIER_LIMIT;
}

static bool init(const struct operation *x)
{
    if (!is_count(x->operand))
        return faults(x, FAULT_mbarrier_count, x->operand);
    put_object(x, sem_mbarrier((u32)x->operand, (u32)x->operand, 0, false));
    return true;
}

static bool arrive(const struct operation *x)
{
    bool transacts = has(x->o, MOD_expect_tx);
    u64 count = x->o->has_b && !transacts ? x->operand : 1;
    struct counts c = counts_of(x->object);
    bool parity = c.parity;
    if (!is_count(count))
        return faults(x, FAULT_mbarrier_count, count);
    if (count > c.pending)
        return faults(x, FAULT_mbarrier_excess, c.pending);
    if (transacts && !transact(&c, (s64)x->operand))
        return faults(x, FAULT_mbarrier_transactions, x->operand);
    c.pending -= (u32)count;
    c.expected -= x->o->mode == MBARRIER_ARRIVE_DROP ? (u32)count : 0;
    bool completes = complete(&c);
    if (completes && has(x->o, MOD_noComplete))
        return faults(x, FAULT_mbarrier_completes, 0);
    put_object(x, object_of(&c));
    note(x, parity, completes);
    return true;
}

/* expect_tx and complete_tx. */
static bool count_transactions(const struct operation *x)
{
    struct counts c = counts_of(x->object);
    bool parity = c.parity;
    s64 transactions = x->o->mode == MBARRIER_EXPECT_TX ? (s64)x->operand : -(s64)x->operand;
    if (!transact(&c, transactions))
        return faults(x, FAULT_mbarrier_transactions, x->operand);
    bool completes = complete(&c);
    put_object(x, object_of(&c));
    note(x, parity, completes);
    return true;
}

static bool is_invalidated(const struct block *owner, uint64_t address)
{
    uint64_t object;
    memcpy(&object, owner->shared + address, sizeof object);
    return object & MBARRIER_INVALIDATED;
}

/* As an arrival of the thread is told of (tell()): one behind copies has these released; what
 * completes transactions has told of its own. */
static void tell_signal(const struct warp *w, const struct op *o, unsigned lane, struct block *owner, uint64_t address,
                        bool parity, bool arrives, bool completes)
{
    if (!event_is_wanted(w->events, EVENT_MBARRIER_ARRIVE))
        return;
    struct sync_event e = {.kind = EVENT_MBARRIER_ARRIVE,
                           .block = w->block->told,
                           .site = tell_site(w->block, o),
                           .warp = w->index,
                           .owner = owner->told,
                           .invalid = is_invalidated(owner, address),
                           .lanes = 1u << lane,
                           .address = address,
                           .order = arrives ? ORDER_RELEASE : ORDER_RELAXED,
                           .scope = MOD_cluster,
                           .parity = parity,
                           .completes = completes};
    EVENT_TELL(w->events, EVENT_MBARRIER_ARRIVE, sync, &e);
}

bool mbarrier_signal(struct warp *w, const struct op *o, unsigned lane, struct block *owner, uint64_t address,
                     const struct mbarrier_signal *signal)
{
    u64 object;
    uint8_t *at = owner->shared + address;
    memcpy(&object, at, sizeof object);
    if (!(object & MBARRIER_VALID))
        return warp_fault_value(w, FAULT_mbarrier_invalid, o, lane, 0);
    struct counts c = counts_of(object);
    bool parity = c.parity;
    if (signal->arrives && !c.pending)
        return warp_fault_value(w, FAULT_mbarrier_excess, o, lane, 0);
    if (signal->announces && c.pending + 1 == MBARRIER_LIMIT)
        return warp_fault_value(w, FAULT_mbarrier_count, o, lane, MBARRIER_LIMIT);
    if (!transact(&c, -(s64)signal->bytes))
        return warp_fault_value(w, FAULT_mbarrier_transactions, o, lane, signal->bytes);
    c.pending += signal->announces;
    c.pending -= signal->arrives;
    bool completes = !signal->announces && complete(&c);
    object = object_of(&c) | (object & MBARRIER_INVALIDATED);
    memcpy(at, &object, sizeof object);
    w->block->launch->changed = true;
    if (completes || signal->arrives)
        tell_signal(w, o, lane, owner, address, parity, signal->arrives, completes);
    return true;
}

struct mbarrier_state mbarrier_state(const struct block *owner, uint64_t address)
{
    u64 object;
    memcpy(&object, owner->shared + address, sizeof object);
    struct counts c = counts_of(object);
    return (struct mbarrier_state){c.pending, c.transactions, c.parity};
}

/* Has the phase completed that has this parity, be it the current one or the one before? */
/* The phase that a test's operand names: by its parity, or by a state. */
static bool asked_of(const struct op *o, u64 operand)
{
    return has(o, MOD_parity) ? operand & 1 : sem_mbarrier_parity(operand);
}

static bool test(const struct operation *x)
{
    bool asked = asked_of(x->o, x->operand);
    bool done = asked != sem_mbarrier_parity(x->object);
    if (done)
        note(x, asked, false);
    return done;
}

static void put_predicate(uint8_t *d, unsigned lane, bool value)
{
    uint32_t bits;
    memcpy(&bits, d, 4);
    bits = (bits & ~(1u << lane)) | (uint32_t)value << lane;
    memcpy(d, &bits, 4);
}

/* What a thread waits for is done now at the latest. */
static bool try_wait(struct operation *x, uint8_t *d)
{
    if (!test(x) && async_is_pending(x->at->owner)) {
        if (!async_finish_for(x->at->owner, x->at->address))
            return false;
        memcpy(&x->object, x->at->at, sizeof x->object);
    }
    put_predicate(d, x->lane, test(x));
    return true;
}

/* A test finds things as they are; what it has asked for in vain is done by the next. */
static bool test_wait(const struct operation *x, uint8_t *d)
{
    bool done = test(x);
    put_predicate(d, x->lane, done);
    return done || !async_is_pending(x->at->owner) || async_finish_for(x->at->owner, x->at->address);
}

static bool run_lane(struct operation *x, uint8_t *d)
{
    memcpy(&x->object, x->at->at, sizeof x->object);
    /* libcu++'s destructors invalidate what is none any more, too */
    bool makes = x->o->mode == MBARRIER_INIT || x->o->mode == MBARRIER_INVAL;
    if (!makes && !(x->object & MBARRIER_VALID))
        return faults(x, FAULT_mbarrier_invalid, 0);
    switch ((enum mbarrier_mode)x->o->mode) {
    case MBARRIER_INIT: return init(x);
    case MBARRIER_INVAL:
        /* Else it stays as it is, whatever it is. */
        if (x->object & MBARRIER_VALID && access_is_watched(x->w))
            put_object(x, x->object | MBARRIER_INVALIDATED);
        return true;
    case MBARRIER_ARRIVE:
    case MBARRIER_ARRIVE_DROP:
        if (x->o->has_d)
            memcpy(d + 8 * x->lane, &x->object, 8);
        return arrive(x);
    case MBARRIER_EXPECT_TX:
    case MBARRIER_COMPLETE_TX: return count_transactions(x);
    case MBARRIER_TRY_WAIT: return try_wait(x, d);
    default: return test_wait(x, d);
    }
}

static unsigned operand_width(const struct op *o)
{
    return !mbarrier_tests(o->mode) || has(o, MOD_parity) ? 32 : 64;
}

/* Is it a test, or an arrival that counts no transactions and may complete the phase? */
static bool may_be_together(const struct op *o)
{
    bool arrives = o->mode == MBARRIER_ARRIVE || o->mode == MBARRIER_ARRIVE_DROP;
    return arrives ? !has(o, MOD_expect_tx) && !has(o, MOD_noComplete) : mbarrier_tests(o->mode);
}

/* Lanes at one object that give the same operand, of an operation that may_be_together():
 * of tests, one is for all. Arrivals of which only the last may complete the phase, and
 * none faults, are subtractions. False where it is neither, and nothing has been done;
 * *ok is false after a fault. */
static bool perform_together(struct operation *x, uint8_t *d, uint32_t mask, bool *ok)
{
    const struct op *o = x->o;
    u64 count = o->has_b ? x->operand : 1;
    memcpy(&x->object, x->at->at, sizeof x->object);
    struct counts c = counts_of(x->object);
    if (mbarrier_tests(o->mode)) {
        uint32_t bits;
        *ok = run_lane(x, d);
        memcpy(&bits, d, 4);
        bits = bits >> x->lane & 1 ? bits | mask : bits & ~mask;
        memcpy(d, &bits, 4);
        return true;
    }
    if (!(x->object & MBARRIER_VALID) || !is_count(count) || c.pending < count * (unsigned)__builtin_popcount(mask))
        return false;
    for (uint32_t m = mask; m; m &= m - 1) {
        u64 state = object_of(&c);
        if (o->has_d)
            memcpy(d + 8 * (unsigned)__builtin_ctz(m), &state, 8);
        c.pending -= (u32)count;
        c.expected -= o->mode == MBARRIER_ARRIVE_DROP ? (u32)count : 0;
    }
    complete(&c);
    put_object(x, object_of(&c));
    *ok = true;
    return true;
}

/* Do all lanes ask for what the first does: of tests, for the phase of one parity? */
static bool is_same(const struct op *o, const uint8_t *row, unsigned width, uint32_t mask)
{
    bool tests = mbarrier_tests(o->mode), by_parity = tests && has(o, MOD_parity);
    u64 first = row_lane(row, width, (unsigned)__builtin_ctz(mask)), differ = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        differ |= row_lane(row, width, (unsigned)__builtin_ctz(m)) ^ first;
    return !(differ & (by_parity ? 1 : tests ? 1ull << MBARRIER_PHASE_BIT : ~0ull));
}

static bool perform(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    unsigned width = operand_width(o);
    bool at_one = !access_is_watched(w) && p->kind == PLAN_HOST && p->scan.min == p->scan.max && mask & (mask - 1);
    if (at_one && may_be_together(o) && (!o->has_b || is_same(o, row_at(base, o->b), width, mask))) {
        struct location at;
        struct operation x = {
            .w = w, .o = o, .lane = (unsigned)__builtin_ctz(mask), .at = &at, .all = (struct operations *)p};
        bool ok;
        x.operand = o->has_b ? row_lane(row_at(base, o->b), width, x.lane) : 0;
        if (!access_locate_op(w, o, p->scan.min, &at) && perform_together(&x, row_at(base, o->d), mask, &ok))
            return ok;
    }
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
    enum event_kind kind = !mbarrier_tests(o->mode) ? EVENT_MBARRIER_ARRIVE : EVENT_MBARRIER_WAIT;
    for (uint32_t m = event_is_wanted(w->events, kind) ? all->done : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct sync_event e = {.kind = kind,
                               .block = w->block->told,
                               .site = tell_site(w->block, o),
                               .warp = w->index,
                               .owner = all->owner[l]->told,
                               .invalid = is_invalidated(all->owner[l], all->address[l]),
                               .lanes = 1u << l,
                               .address = all->address[l],
                               .order = (uint8_t)o->imm,
                               .scope = o->access->mem.scope,
                               .parity = all->parity >> l & 1,
                               .completes = all->completes >> l & 1};
        EVENT_TELL(w->events, kind, sync, &e);
    }
}

bool mbarrier_run(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                  bool *in_vain)
{
    struct operations all = {.done = 0};
    plan_access(w, a, base, o, mask, &all.plan);
    if (all.plan.kind != PLAN_HOST || all.plan.space != SPACE_SHARED) /* where there are none */
        all.plan.kind = PLAN_BY_LANE;
    if (mbarrier_tests(o->mode))
        *(uint32_t *)row_at(base, o->d) |= mask; /* lanes left out do not spin for ever */
    bool ok = access_is_watched(w) ? access_watched(w, base, o, mask, &all.plan, perform)
                                   : perform(w, base, o, mask, &all.plan);
    *in_vain = mbarrier_tests(o->mode) && !(*(const uint32_t *)row_at(base, o->d) & mask);
    if (ok)
        tell(w, o, &all);
    return ok;
}
