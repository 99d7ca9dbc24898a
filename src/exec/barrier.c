/* Barriers of a block: bar and barrier with sync, arrive and red (PTX ISA 9.7.13.1). Barriers of a
 * cluster: barrier.cluster (9.7.13.3).
 *
 * A warp takes part as a whole. Lanes that reach a barrier, by any instruction anywhere in the
 * code, wait for all other lanes of their warp that have not exited. Then the warp counts as 32
 * threads: lanes of arrive continue, and lanes of sync and red wait until the barrier opens. If
 * lanes arrive again while others of their warp wait there, the warp counts once more. Threads
 * that have exited count as arrived.
 *
 * At the cluster's barrier each thread counts by itself. The blocks of a cluster run on one
 * worker, so one block may change the records of the others.
 */
#include "exec/barrier.h"

#include <stdlib.h>
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"

static const uint32_t *row32(struct warp *w, struct activation *a, row_ref r)
{
    uint8_t *base[4];
    warp_bases(w, a, base);
    return (const uint32_t *)row_at(base, r);
}

const char *barrier_name(uint32_t id)
{
    static const char *const names[ALL_BARRIERS] = {"barrier 0",
                                                    "barrier 1",
                                                    "barrier 2",
                                                    "barrier 3",
                                                    "barrier 4",
                                                    "barrier 5",
                                                    "barrier 6",
                                                    "barrier 7",
                                                    "barrier 8",
                                                    "barrier 9",
                                                    "barrier 10",
                                                    "barrier 11",
                                                    "barrier 12",
                                                    "barrier 13",
                                                    "barrier 14",
                                                    "barrier 15",
                                                    "the cluster's barrier"};
    return names[id];
}

static uint32_t live_lanes(const struct warp *w)
{
    return w->exists & ~w->exited;
}

/* A warp whose lanes all arrived together goes on with all of them; it has no other records to look
 * at. */
static void release_whole(struct warp *w, uint32_t id)
{
    struct wait *t = &w->whole;
    w->act = t->act;
    w->at_block = t->op->next;
    w->op = &t->act->code->ops[t->act->code->blocks[w->at_block].first];
    w->mask = t->lanes;
    w->waits = NULL;
    w->at_barrier[id] = 0;
    w->state = WARP_RUNNABLE;
}

/* The lanes of a wait go on. */
static void release(struct warp *w, struct wait *t)
{
    act_add_pending(t->act, t->op->next, t->lanes);
    wait_remove(w, t);
    if (w->state == WARP_WAITING)
        w->state = WARP_RUNNABLE;
}

static void give_result(struct warp *w, const struct wait *t, const struct barrier *bar)
{
    uint32_t *d = (uint32_t *)row32(w, t->act, t->op->d);
    if (t->op->mode == BAR_POPC) {
        for (uint32_t m = t->lanes; m; m &= m - 1)
            d[__builtin_ctz(m)] = bar->popc;
    } else {
        bool holds = t->op->mode == BAR_AND ? !bar->not_all : bar->any;
        *d = (*d & ~t->lanes) | (holds ? t->lanes : 0);
    }
}

/* Gives every lane of the warp that has been counted and waits at the barrier its result, and lets
 * it go on. */
static void release_warp(struct warp *w, uint32_t id, const struct barrier *bar)
{
    if (w->waits == &w->whole) {
        release_whole(w, id);
        return;
    }
    for (struct wait *t = w->waits, *next; t; t = next) {
        next = t->next;
        if (t->op->kind != OP_BAR || t->barrier != id || t->lanes & w->arrived_at[id])
            continue;
        if (t->op->has_d)
            give_result(w, t, bar);
        release(w, t);
    }
    w->at_barrier[id] &= w->arrived_at[id];
}

/* ---- what is told of barriers that open ---- */

/* The innermost call, counted from the barrier outwards, in which the two call chains differ; NULL:
 * they are equal. */
static const struct op *other_call(const struct wait *of, const struct wait *than)
{
    const struct activation *a = of->act, *b = than->act;
    for (; a != b && a && b; a = a->parent, b = b->parent)
        if (a->call != b->call)
            return a->call;
    return NULL;
}

/* The call by which a wait has reached its barrier, and by which the first wait of its warp at the
 * same instruction has not. */
static const struct op *call_of(const struct warp *w, const struct wait *t)
{
    const struct wait *first = w->waits;
    while (first->op != t->op || first->barrier != t->barrier)
        first = first->next;
    return first == t ? NULL : other_call(first, t);
}

static uint32_t parties_of(const struct block *b, uint32_t id, struct barrier_party *party)
{
    uint32_t n = 0;
    for (const struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        for (const struct wait *t = w->waits; t; t = t->next) {
            if (t->op->kind != OP_BAR || t->barrier != id)
                continue;
            if (party)
                party[n] = (struct barrier_party){.block = b->told,
                                                  .warp = w->index,
                                                  .lanes = t->lanes,
                                                  .site = tell_site(b, t->op),
                                                  .call = tell_site(b, call_of(w, t)),
                                                  .alone = w->waits == t && !t->next};
            n++;
        }
    return n;
}

/* Of the block, or of all blocks of its cluster. Where there is no memory for them none are told
 * of. */
static void tell_parties(const struct block *b, struct sync_event *e)
{
    enum { MOST = 2 * MAX_WARPS };
    struct barrier_party few[MOST], *parties = few;
    const struct block *peer = b;
    bool all = e->kind == EVENT_CLUSTER_OPEN;
    uint32_t n = 0;
    do {
        n += parties_of(peer, e->id, NULL);
        peer = peer->peer;
    } while (all && peer != b);
    if (n > MOST && !(parties = malloc(n * sizeof *parties)))
        n = 0;
    do {
        e->n_parties += n ? parties_of(peer, e->id, parties + e->n_parties) : 0;
        peer = peer->peer;
    } while (all && peer != b);
    e->parties = parties;
    EVENT_TELL(b->launch->events, e->kind, sync, e);
    if (parties != few)
        free(parties);
}

static void tell_open(const struct block *b, uint32_t id)
{
    uint32_t waited[MAX_WARPS], arrived[MAX_WARPS];
    struct sync_event e = {.kind = EVENT_BARRIER_OPEN,
                           .block = b->told,
                           .id = id,
                           .expected = b->barriers[id].expected,
                           .waited = waited,
                           .arrived = arrived};
    for (uint32_t i = 0; i < b->n_warps; i++) {
        waited[i] = b->warps[i].at_barrier[id] & ~b->warps[i].arrived_at[id];
        arrived[i] = b->warps[i].counted_at[id];
    }
    tell_parties(b, &e);
}

/* Opens the barrier once all have come. */
static void open_if_full(struct block *b, uint32_t id)
{
    struct barrier *bar = &b->barriers[id];
    bool full = bar->expected ? bar->arrived >= bar->expected : (bar->waiting & b->live) == b->live;
    if (!full)
        return;
    struct barrier done = *bar;
    if (event_is_wanted(b->launch->events, EVENT_BARRIER_OPEN))
        tell_open(b, id);
    if (done.parted)
        *bar = (struct barrier){.parted = done.parted, .expected = done.expected, .first = done.first};
    else
        *bar = (struct barrier){0};
    b->open_barriers &= done.parted ? ~0u : ~(1u << id);
    b->n_opened++;
    if (done.some_only_arrived)
        for (uint32_t i = 0; i < b->n_warps; i++)
            b->warps[i].counted_at[id] = 0;
    bool aligned = b->compiled && b->n_done == 0 && __builtin_popcount(done.waiting) == (int)b->n_warps;
    for (uint32_t warps = done.waiting; warps; warps &= warps - 1) {
        struct warp *w = &b->warps[__builtin_ctz(warps)];
        aligned &= w->waits == &w->whole;
        release_warp(w, id, &done);
    }
    b->phase = aligned ? BLOCK_ALIGNED : BLOCK_TURNS;
}

static void reduce(struct warp *w, const struct wait *t, struct barrier *bar)
{
    uint32_t holds = *row32(w, t->act, t->op->c) & t->lanes;
    bar->popc += (uint32_t)__builtin_popcount(holds);
    bar->any |= holds != 0;
    bar->not_all |= holds != t->lanes;
}

/* Counts the warp once all its lanes are there, some of which have not been counted. */
static void count_warp(struct warp *w, uint32_t id)
{
    struct barrier *bar = &w->block->barriers[id];
    uint32_t live = live_lanes(w), came = w->arrived_at[id];
    if (!came || ((came | w->at_barrier[id]) & live) != live)
        return;
    w->arrived_at[id] = 0;
    bar->parted &= ~(1u << w->index);
    bar->arrived += WARP_LANES;
    if (came & ~w->at_barrier[id]) {
        w->counted_at[id] |= came & ~w->at_barrier[id];
        bar->some_only_arrived = true;
    }
    if (w->at_barrier[id])
        bar->waiting |= 1u << w->index;
    for (struct wait *t = w->waits, *next; t; t = next) {
        next = t->next;
        if (t->op->kind != OP_BAR || t->barrier != id || !(t->lanes & came))
            continue;
        if (t->op->mode == BAR_ARRIVE)
            release(w, t);
        else if (t->op->mode >= BAR_POPC)
            reduce(w, t, bar);
    }
}

static void tell_arrival(const struct warp *w, const struct op *o, uint32_t lanes, uint32_t id, uint32_t threads)
{
    const struct barrier *bar = &w->block->barriers[id];
    const struct event_list *to = w->events;
    bool reduces = o->mode >= BAR_POPC || (bar->first && bar->first->mode >= BAR_POPC);
    struct sync_event e = {.block = w->block->told,
                           .site = tell_site(w->block, o),
                           .warp = w->index,
                           .lanes = lanes,
                           .id = id,
                           .threads = threads,
                           .first = tell_site(w->block, bar->first),
                           .expected = bar->expected};
    e.kind = EVENT_BARRIER_COUNTS;
    if (bar->first && bar->expected != threads)
        EVENT_TELL(to, EVENT_BARRIER_COUNTS, sync, &e);
    e.kind = EVENT_BARRIER_MIXED;
    if (reduces && bar->first && bar->first->mode != o->mode)
        EVENT_TELL(to, EVENT_BARRIER_MIXED, sync, &e);
    e.kind = EVENT_BARRIER_ARRIVE;
    EVENT_TELL(to, EVENT_BARRIER_ARRIVE, sync, &e);
}

/* Lanes that name the same barrier; returns those that go on at once. */
static uint32_t arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes, uint32_t id,
                       uint32_t threads)
{
    struct block *b = w->block;
    struct barrier *bar = &b->barriers[id];
    if (w->events)
        tell_arrival(w, o, lanes, id, threads);
    if (!bar->first)
        bar->first = o;
    bar->expected = threads;
    b->open_barriers |= 1u << id;
    w->arrived_at[id] |= lanes;
    bar->parted |= 1u << w->index;
    bool all = !(live_lanes(w) & ~w->arrived_at[id] & ~w->at_barrier[id]), goes_on = o->mode == BAR_ARRIVE && all;
    struct wait *t = goes_on ? NULL : wait_add(w, a, o, lanes);
    if (t) {
        t->barrier = id;
        w->at_barrier[id] |= o->mode == BAR_ARRIVE ? 0 : lanes;
    } else if (!goes_on) {
        return 0;
    }
    count_warp(w, id);
    open_if_full(b, id);
    return goes_on ? lanes : 0; /* others are pending at the next block once they go on */
}

/* ---- the cluster's barrier; arrived_at: the lanes that have arrived there since it opened last
 * ---- */

static void tell_cluster(const struct warp *w, const struct op *o, uint32_t lanes, enum event_kind kind)
{
    if (!event_is_wanted(w->events, kind))
        return;
    struct sync_event e = {.kind = kind,
                           .block = w->block->told,
                           .site = tell_site(w->block, o),
                           .warp = w->index,
                           .lanes = lanes,
                           .id = CLUSTER_BARRIER,
                           .order = ORDER_ACQUIRE,
                           .scope = MOD_cluster};
    if (kind == EVENT_CLUSTER_ARRIVE)
        e.order = isa_has(o->origin->origin->inst, MOD_relaxed) ? ORDER_RELAXED : ORDER_RELEASE;
    EVENT_TELL(w->events, kind, sync, &e);
}

uint32_t cluster_missing(const struct warp *w)
{
    /* the warps of a block that is built on another (block_start) are where those ended, until it
     * begins */
    uint32_t live = w->block->clean && w->block->phase == BLOCK_FRESH ? w->exists : live_lanes(w);
    return live & ~w->arrived_at[CLUSTER_BARRIER];
}

static bool block_has_arrived(const struct block *b)
{
    for (const struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        if (cluster_missing(w))
            return false;
    return true;
}

/* Lets the block's lanes go on that wait. */
static void pass_cluster(struct block *b)
{
    b->open_barriers &= ~(1u << CLUSTER_BARRIER);
    b->n_opened++;
    b->phase = BLOCK_TURNS;
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++) {
        w->arrived_at[CLUSTER_BARRIER] = 0;
        for (const struct wait *t = w->events && w->at_barrier[CLUSTER_BARRIER] ? w->waits : NULL; t; t = t->next)
            if (t->op->kind == OP_BAR && t->barrier == CLUSTER_BARRIER)
                tell_cluster(w, t->op, t->lanes, EVENT_CLUSTER_WAIT);
        if (w->at_barrier[CLUSTER_BARRIER])
            release_warp(w, CLUSTER_BARRIER, &(struct barrier){0});
    }
}

static void open_cluster_if_full(struct block *b)
{
    struct block *peer = b;
    do {
        if (!block_has_arrived(peer))
            return;
        peer = peer->peer;
    } while (peer != b);
    struct sync_event opens = {
        .kind = EVENT_CLUSTER_OPEN, .block = b->told, .id = CLUSTER_BARRIER, .scope = MOD_cluster};
    if (event_is_wanted(b->launch->events, EVENT_CLUSTER_OPEN))
        tell_parties(b, &opens);
    do {
        pass_cluster(peer);
        peer = peer->peer;
    } while (peer != b);
}

bool cluster_leave(struct block *b)
{
    struct block *before = b;
    while (before->peer != b)
        before = before->peer;
    before->peer = b->peer;
    b->peer = b;
    if (b->told)
        tell_leave_cluster(b, before);
    if (before != b && b->open_barriers & 1u << CLUSTER_BARRIER && !launch_has_failed(b->launch))
        open_cluster_if_full(before);
    return before == b;
}

/* Lanes that wait go on at once where the barrier has opened since they arrived. */
static uint32_t cluster_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes)
{
    struct block *b = w->block, *peer = b;
    if (o->mode == BAR_CLUSTER_ARRIVE) {
        tell_cluster(w, o, lanes, EVENT_CLUSTER_ARRIVE);
        w->arrived_at[CLUSTER_BARRIER] |= lanes;
        do {
            peer->open_barriers |= 1u << CLUSTER_BARRIER;
            peer = peer->peer;
        } while (peer != b);
        open_cluster_if_full(b);
        return lanes;
    }
    uint32_t stay = lanes & w->arrived_at[CLUSTER_BARRIER];
    struct wait *t = stay ? wait_add(w, a, o, stay) : NULL;
    if (t) {
        t->barrier = CLUSTER_BARRIER;
        w->at_barrier[CLUSTER_BARRIER] |= stay;
    }
    if (lanes & ~stay)
        tell_cluster(w, o, lanes & ~stay, EVENT_CLUSTER_WAIT);
    return lanes & ~stay;
}

static uint32_t bad_barrier(struct warp *w, const struct op *o, unsigned lane, uint64_t value, bool *fault)
{
    *fault = true;
    warp_fault_value(w, FAULT_bad_barrier, o, lane, value);
    return 0;
}

/* Constants are the same in all lanes. */
static bool is_constant(row_ref r)
{
    return (r & 3) == ROW_CONST;
}

uint32_t barrier_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault)
{
    if (o->mode == BAR_CLUSTER_ARRIVE || o->mode == BAR_CLUSTER_WAIT)
        return cluster_arrive(w, a, o, mask);
    const uint32_t *ids = row32(w, a, o->a), *threads = o->has_b ? row32(w, a, o->b) : NULL;
    bool one_barrier = is_constant(o->a);
    uint32_t go_on = 0;
    while (mask) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t same = 0, id = ids[lane], n = threads ? threads[lane] : 0;
        if (id >= BARRIERS)
            return bad_barrier(w, o, lane, id, fault);
        /* 0 of the others: all threads, as without a number (an H200). */
        if (n % WARP_LANES || (n == 0 && o->mode == BAR_ARRIVE))
            return bad_barrier(w, o, lane, n, fault);
        for (uint32_t m = one_barrier ? 0 : mask; m; m &= m - 1)
            same |= ids[__builtin_ctz(m)] == id ? 1u << __builtin_ctz(m) : 0;
        same = one_barrier ? mask : same;
        mask &= ~same;
        go_on |= arrive(w, a, o, same, id, n);
    }
    return go_on;
}

bool barrier_arrive_whole(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    if (o->mode != BAR_SYNC || !is_constant(o->a) || o->has_b || w->waits || mask != live_lanes(w) ||
        event_is_wanted(w->events, EVENT_BARRIER_ARRIVE))
        return false;
    struct block *b = w->block;
    uint32_t id = *row32(w, a, o->a);
    struct barrier *bar = &b->barriers[id < BARRIERS ? id : 0];
    if (id >= BARRIERS || w->arrived_at[id] || bar->expected)
        return false;
    w->whole = (struct wait){.op = o, .act = a, .lanes = mask, .barrier = id};
    w->waits = &w->whole;
    w->at_barrier[id] = mask;
    w->state = WARP_WAITING;
    w->act = NULL;
    if (!bar->first)
        bar->first = o;
    bar->expected = 0;
    bar->waiting |= 1u << w->index;
    bar->arrived += WARP_LANES;
    b->open_barriers |= 1u << id;
    open_if_full(b, id);
    return true;
}

void barrier_recheck(struct warp *w)
{
    struct block *b = w->block;
    if (!live_lanes(w))
        b->live &= ~(1u << w->index);
    for (uint32_t open = b->open_barriers; open; open &= open - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(open);
        if (id == CLUSTER_BARRIER) {
            open_cluster_if_full(b);
            continue;
        }
        if (live_lanes(w))
            count_warp(w, id);
        open_if_full(b, id);
    }
}
