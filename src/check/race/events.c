/* Events of kernels become current accesses (current.h) and
 * happens-before (check/order/order.h). */
#include "check/race/current.h"

static uint32_t kind_of(struct race_block *b, const struct access_event *e, enum access_part part)
{
    const struct site *s = e->site;
    struct race_worker *k = b->worker;
    uint32_t lane_bytes = e->is_async ? 0 : e->bytes;
    struct known_site *p = &k->sites[(s->number + part * (SITES / ACCESS_PARTS)) % SITES];
    if (p->site != s || p->part != part || p->lane_bytes != lane_bytes)
        *p = (struct known_site){s, race_kind(b->races, s, lane_bytes, part), lane_bytes, part};
    return p->kind;
}

/* Is it a weak read of memory that its launch does not write? */
static bool is_read_only(const struct race_block *b, const struct access_event *e)
{
    const struct event_writes *w = &b->written;
    bool apart = w->known && e->space == SPACE_GLOBAL && !e->writes && !e->strong;
    for (uint32_t i = 0; i < w->n && apart; i++)
        apart = e->high <= w->at[i].start || e->low >= w->at[i].end;
    return apart;
}

static bool begin(struct current_access *cur, const struct access_event *e, struct race_block *b, enum access_part part)
{
    const struct event_launch *l = e->block->launch;
    if (atomic_load_explicit(&b->races->no_memory, memory_order_relaxed)) {
        if (!b->is_unwatched)
            race_stop_watching(b->races, l);
        b->is_unwatched = true;
        return false;
    }
    cur->r = b->races;
    cur->b = b;
    cur->warp = e->warp;
    cur->kernel = l->kernel;
    cur->shared = e->space == SPACE_SHARED && !b->is_clustered;
    cur->base = e->space == SPACE_SHARED && b->is_clustered ? e->owner->shared : 0;
    race_use_kind(cur, kind_of(b, e, part));
    cur->h = cur->shared ? &b->shared : &b->races->global;
    cur->reservations = cur->shared ? &b->shared_reservations : &b->worker->reservations;
    cur->last.site_epoch = 0;
    cur->event = e;
    cur->owner = e->owner;
    cur->alike = false;
    return cur->kind;
}

/* A weak write ends the releases of sync variables at its location. */
static void forget_releases(const struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    EACH_BIT(l, lanes)
        order_weak_write(cur->b->order, race_address(e, l), e->bytes);
}

/* A thread has acquired what another task has released: successors of this launch come after that
 * task, too. */
static void learn_from_task(const struct current_access *cur, uint32_t task)
{
    if (task)
        timelines_learn(cur->r->timelines, cur->b->task, task);
}

static void observe_elements(struct current_access *cur, const struct access_event *e, uint32_t lanes,
                             struct strong_access *s)
{
    bool returns = e->site->kind != SITE_RED; /* else it is no read of an acquire pattern (8.8) */
    for (uint32_t at = 0; s->reads && returns && at < e->bytes; at += s->bytes) {
        s->address = race_address(e, (unsigned)__builtin_ctz(lanes)) + at;
        learn_from_task(cur, order_observe(cur->b->order, cur->warp, lanes, s));
    }
}

static void release_elements(struct current_access *cur, const struct access_event *e, unsigned lane,
                             struct strong_access *s)
{
    for (uint32_t at = 0; at < e->bytes; at += s->bytes) {
        s->address = race_address(e, lane) + at;
        order_release(cur->b->order, cur->warp, lane, s);
    }
}

/* The next group of the remaining lanes, from position *i of their order on: one lane that has
 * written, or several that read the same place with no write in between. */
static uint32_t next_lanes(const struct access_event *e, unsigned order, uint32_t left, unsigned *i)
{
    uint32_t lanes = 0, wrote = e->wrote & left;
    if (order == 0)
        *i = (unsigned)__builtin_ctz(left);
    if (wrote >> (*i ^ order) & 1)
        return 1u << (*i ^ order);
    if (order == 0 && e->pattern == ACCESS_UNIFORM)
        return left & ((wrote & (0 - wrote)) - 1);
    for (uint64_t address = 0; *i < WARP_LANES; ++*i) {
        unsigned l = *i ^ order;
        if (!(left >> l & 1))
            continue;
        if (lanes && (wrote >> l & 1 || access_address(e, l) != address))
            break;
        lanes |= 1u << l;
        address = access_address(e, l);
        if (wrote >> l & 1)
            break;
    }
    return lanes;
}

/* Lane after lane, in the order in which they have performed it. */
static void update_strong(struct current_access *cur, const struct access_event *e)
{
    const struct mem_access *x = &e->site->access;
    struct strong_access s = {.bytes = x->bytes,
                              .acquires = x->order == ORDER_ACQUIRE || x->order == ORDER_ACQ_REL,
                              .releases = x->order == ORDER_RELEASE || x->order == ORDER_ACQ_REL,
                              .reads = e->reads,
                              .owner = e->space == SPACE_SHARED ? race_block_of(e->owner)->order->number : 0,
                              .scope = order_scope((enum isa_mod)x->scope)};
    unsigned order = e->site->kind == SITE_STORE ? mem_access_store_order(x) : 0;
    race_fetch(cur, e);
    unsigned i = 0;
    for (uint32_t left = e->lanes, lanes; left; left &= ~lanes) {
        lanes = next_lanes(e, order, left, &i);
        unsigned l = (unsigned)__builtin_ctz(lanes);
        s.writes = e->wrote >> l & 1;
        race_use_kind(cur, kind_of(cur->b, e, e->writes && !s.writes ? ACCESS_FAILED_CAS : ACCESS_WHOLE));
        if (cur->b->traits.releases)
            observe_elements(cur, e, lanes, &s);
        if (cur->kind)
            race_update(cur, access_address(e, l), e->bytes, lanes);
        if (cur->b->traits.releases && s.writes)
            release_elements(cur, e, l, &s);
    }
}

/* mbarrier.inval is not watched: in libcu++'s pipelines only match.sync orders it after the
 * arrivals of other lanes, which orders nothing in the memory model. */
static bool is_invalidation(const struct site *s)
{
    return s->kind == SITE_MBARRIER && s->mode == MBARRIER_INVAL;
}

/* Memory that nvcc's cooperative groups of several warps reserve is not watched: only shfl.sync
 * says there that data are ready. Atomic operations on it do order. */
static bool is_of_system(const struct access_event *e)
{
    const struct event_launch *l = e->block->launch;
    return l->reserved_shared_bytes && e->space == SPACE_SHARED && !e->strong &&
           access_address(e, (unsigned)__builtin_ctz(e->lanes)) >= l->reserved_shared_start;
}

static bool is_watched(const struct access_event *e)
{
    const struct race_block *b = race_block_of(e->block);
    bool reaches =
        b && (e->space == SPACE_GLOBAL ||
              (e->space == SPACE_SHARED && (e->owner == e->block || (b->is_clustered && race_block_of(e->owner)))));
    return reaches && e->site->accesses && !is_invalidation(e->site) && !is_of_system(e);
}

/* Does the detector need to know what the access has observed, or whether it has written? */
static bool waits_for_result(const struct race_block *b, const struct access_event *e)
{
    return e->strong && (race_is_linearised(b) || site_is_cas(e->site));
}

/* An asynchronous copy is performed. If the lane waits for it by groups (9.7.9.25.1), the copy
 * counts as the lane's access now, at the wait. Otherwise it happens before whatever the mbarrier's
 * phase happens before. */
static void update_issued(struct race_block *b, const struct access_event *e)
{
    struct current_access cur;
    unsigned lane = (unsigned)__builtin_ctz(e->lanes);
    if (begin(&cur, e, b, e->writes ? ACCESS_WRITES : ACCESS_READS))
        race_update_range(&cur, e->base, e->bytes, lane);
    if (e->writes && e->signals && race_block_of(e->signals))
        order_issued_done(b->order, e->warp, lane, race_block_of(e->signals)->order, e->object, e->parity);
}

static void update_access(struct race_block *b, const struct access_event *e)
{
    struct current_access cur;
    if (!begin(&cur, e, b, is_read_only(b, e) ? ACCESS_READ_ONLY : ACCESS_WHOLE))
        return;
    race_update_event(&cur, e, e->lanes);
    if (e->writes && !e->strong && b->worker->has_order)
        forget_releases(&cur, e, e->lanes);
}

/* Applies accesses that were left out because the phase had repeated another one so far. */
static void catch_up(struct race_block *b, struct event_block *block)
{
    struct access_event e;
    uint64_t at[WARP_LANES];
    while (race_phase_left(&b->phases, block, &e, at))
        update_access(b, &e);
}

static void part_phase(struct race_block *b, struct event_block *block)
{
    race_phase_part(&b->phases);
    catch_up(b, block);
}

void race_on_access_and_lock(void *data, const struct access_event *e)
{
    struct race_block *b = race_block_of(e->block);
    (void)data;
    if (!is_watched(e))
        return;
    if (e->is_async) {
        update_issued(b, e);
        return;
    }
    race_gc(b->races);
    race_gc_shared(b);
    race_linearise_begin(b, e);
    if (waits_for_result(b, e))
        return;
    if (e->space == SPACE_SHARED && b->phases.state != PHASE_WATCHED) {
        if (race_phase_repeats(&b->phases, e))
            return;
        catch_up(b, e->block);
    }
    update_access(b, e);
}

/* Lane by lane where it matters which was the last. */
static void update_performed(struct current_access *cur, const struct access_event *e)
{
    if (cur->b->traits.releases || site_is_cas(e->site) || (e->site->kind == SITE_STORE && e->pattern != ACCESS_LINEAR))
        update_strong(cur, e);
    else
        race_update_event(cur, e, e->lanes);
}

void race_on_performed_and_unlock(void *data, const struct access_event *e)
{
    struct current_access cur;
    struct race_block *b = race_block_of(e->block);
    (void)data;
    if (!(e->strong || (b && race_is_linearised(b))) || !is_watched(e))
        return;
    if (waits_for_result(b, e) && begin(&cur, e, b, ACCESS_WHOLE))
        update_performed(&cur, e);
    race_linearise_end(b, e);
}

/* After a barrier of all threads of the block, accesses to its shared memory cannot race with
 * earlier ones. */
static void barrier_opens(struct race_block *b, const struct sync_event *e)
{
    uint32_t was = b->order->epoch;
    if (e->id >= BARRIERS)
        return;
    bool is_whole = order_all_wait(b->order, e) && b->order->least_exit_frontier == UINT32_MAX;
    if (!is_whole)
        part_phase(b, e->block);
    order_barrier_opens(b->order, e);
    if (!is_whole)
        return;
    race_end_phase(b, was);
    b->shared_from = b->order->frontier;
}

static void fence(struct race_block *b, const struct sync_event *e)
{
    unsigned does = e->site->fence;
    if (does & FENCE_GRIDS)
        order_grids_ended(b->order, e->warp, e->lanes, b->task);
    if (does & FENCE_PROXY)
        order_fence_proxy(b->order, e->warp, e->lanes, does & FENCE_PROXY_SHARED, does & FENCE_PROXY_GLOBAL);
    if (does & FENCE_INITS)
        order_fence_inits(b->order, e->warp, e->lanes);
    if (does & (FENCE_ACQUIRES | FENCE_RELEASES))
        order_fence(b->order, e->warp, e->lanes, does & FENCE_ACQUIRES, does & FENCE_RELEASES,
                    order_scope((enum isa_mod)e->site->scope));
}

/* The object may be another block's. */
static void mbarrier(struct race_block *b, const struct sync_event *e)
{
    const struct race_block *owner = race_block_of(e->owner);
    EACH_BIT(lane, owner ? e->lanes : 0) {
        if (e->kind == EVENT_MBARRIER_ARRIVE)
            order_mbarrier_arrive(b->order, e->warp, lane, owner->order, e);
        else
            order_mbarrier_wait(b->order, e->warp, lane, owner->order, e);
    }
}

void race_on_sync(void *data, const struct sync_event *e)
{
    struct race_block *b = race_block_of(e->block);
    (void)data;
    if (!b)
        return;
    switch (e->kind) {
    case EVENT_BARRIER_OPEN: barrier_opens(b, e); break;
    case EVENT_BARRIER_ARRIVE:
        if (e->site->mode == BAR_ARRIVE)
            order_barrier_arrive(b->order, e->warp, e->lanes, e->id);
        break;
    case EVENT_COLLECTIVE:
        /* The ISA does not say that shfl, vote, match and redux order memory. */
        if (e->site->mode == COLLECTIVE_SYNC) {
            part_phase(b, e->block);
            order_warp_meets(b->order, e->warp, e->lanes);
        }
        break;
    case EVENT_FENCE: fence(b, e); break;
    case EVENT_CLUSTER_ARRIVE: order_cluster_arrive(b->order, e->warp, e->lanes, e->order == ORDER_RELEASE); break;
    case EVENT_CLUSTER_OPEN: order_cluster_opens(b->order); break;
    case EVENT_CLUSTER_WAIT: order_cluster_wait(b->order, e->warp, e->lanes); break;
    case EVENT_MBARRIER_ARRIVE:
    case EVENT_MBARRIER_WAIT: mbarrier(b, e); break;
    case EVENT_EXIT: order_exit(b->order, e->warp, e->lanes, e->block->launch->kernel->has_async); break;
    default: break;
    }
}
