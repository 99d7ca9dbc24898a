/* Schedules blocks on a thread.
 *
 * Blocks are started in order. A worker runs a block until it is done. If all warps of a block let
 * others run (they spin on something outside), the block stays resident, and the worker turns to
 * the next one. It also starts another block in each round, up to the number that the device could
 * hold. Under policies other than fair, one thread runs all blocks, choice by choice.
 */
#include "exec/async.h"
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/compiler.h"
#include "exec/fault.h"
#include "exec/histogram.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/schedule.h"
#include "exec/stall.h"
#include "exec/stops.h"
#include "exec/thread_pool.h"
#include "exec/worker.h"

#include <sched.h>

#include "base/monotonic.h"

/* ---- which blocks a worker starts: one that runs many short ones takes several at a time, and
 * counts them together ---- */

/* Of what is left, a worker takes at most one of so many parts. */
enum { MAX_BATCH = 64, PARTS = 4 };

static void count_done(struct worker *k, struct launch *l)
{
    atomic_fetch_add_explicit(&l->done_blocks, k->done_blocks, memory_order_relaxed);
    k->done_blocks = 0;
}

/* Takes the next blocks to start; false where none is left. */
static bool claim(struct worker *k, struct launch *l)
{
    uint64_t next = atomic_load_explicit(&l->next_block, memory_order_relaxed);
    if (k->claim < k->claim_end)
        return true;
    if (next >= l->n_blocks)
        return false;
    uint64_t most = (l->n_blocks - next) / l->blocks_per_cluster / ((l->machine->n_threads + 1) * PARTS);
    k->batch = k->batch == 0 ? 1 : k->batch < MAX_BATCH ? 2 * k->batch : MAX_BATCH;
    if (k->batch > most)
        k->batch = most ? most : 1;
    count_done(k, l);
    uint64_t blocks = k->batch * l->blocks_per_cluster;
    k->claim = atomic_fetch_add(&l->next_block, blocks);
    k->claim_end = k->claim + blocks < l->n_blocks ? k->claim + blocks : l->n_blocks;
    return k->claim < k->claim_end;
}

/* A place among the resident clusters (or blocks), of which the claimed device holds so many. */
static bool take_place(struct worker *k, struct launch *l)
{
    if (!k->has_place && atomic_fetch_add(&l->resident, 1) >= l->max_resident) {
        atomic_fetch_sub(&l->resident, 1);
        return false;
    }
    k->has_place = false;
    return true;
}

static void leave_place(struct worker *k, struct launch *l)
{
    if (k->has_place)
        atomic_fetch_sub(&l->resident, 1);
    k->has_place = true;
}

/* Blocks that make progress but do not end, as those that pass a barrier again and again, may wait
 * for a block that has not begun. */
static bool is_patient(const struct worker *k)
{
    enum { PATIENCE_INSTRUCTIONS = 1 << 20 };
    return k->warp_instructions - k->begun_at < PATIENCE_INSTRUCTIONS;
}

static void add_resident(struct worker *k, struct block *b)
{
    struct block **link = &k->resident;
    while (*link)
        link = &(*link)->next;
    *link = b;
    k->n_resident++;
    k->begun_at = k->warp_instructions;
}

/* Starts the next block, or the next cluster's, as the last of the worker's residents; the first of
 * them, or NULL where none is left, or no more fit. The blocks of a cluster are resident together,
 * on one worker. */
static struct block *admit(struct worker *k, struct launch *l)
{
    bool left = k->claim < k->claim_end || atomic_load_explicit(&l->next_block, memory_order_relaxed) < l->n_blocks;
    if (!left || launch_has_failed(l) || !take_place(k, l))
        return NULL;
    if (!claim(k, l)) {
        leave_place(k, l);
        return NULL;
    }
    struct block *first = NULL;
    for (uint32_t rank = 0; rank < l->blocks_per_cluster; rank++) {
        struct block *b = block_start(k, l, k->claim++, first);
        if (!b) {
            launch_fail(l, FAULT_out_of_memory);
            if (!first)
                leave_place(k, l);
            return NULL;
        }
        first = first ? first : b;
        add_resident(k, b);
    }
    return first;
}

static void note_done(struct worker *k)
{
    k->done_blocks++;
    k->begun_at = k->warp_instructions;
}

static void retire(struct worker *k, struct block *b)
{
    async_end_block(b);
    bool last = cluster_leave(b);
    block_finish(b);
    k->n_resident--;
    note_done(k);
    if (last)
        leave_place(k, k->launch);
}

/* Is it time for the compiler to think about a launch? */
static bool is_due(const struct worker *k, const struct launch *l)
{
    return l->machine->compiler && k->warp_instructions >= atomic_load_explicit(&l->consider_at, memory_order_relaxed);
}

/* Gives each warp of a block its quantum. If the block has ended, all in lockstep, goes on with the
 * blocks that follow it. */
static bool run_round(struct worker *k, struct block *b, bool *progress)
{
    const struct launch *l = k->launch;
    for (;;) {
        if (!block_round(b, progress))
            return false;
        bool others = k->n_resident > 1 || l->blocks_per_cluster > 1 || stall_parks(l) || is_due(k, l);
        if (others || launch_has_failed(l) || k->claim == k->claim_end || !block_can_be_next(b))
            return true;
        async_end_block(b);
        note_done(k);
        block_be_next(b, k->claim++);
    }
}

void worker_end_launch(struct worker *k, struct launch *l)
{
    count_done(k, l);
    block_drop_kept(k);
    snapshots_end(k);
    if (k->has_place)
        atomic_fetch_sub(&l->resident, 1);
    k->has_place = false;
    k->claim = k->claim_end = k->batch = 0;
}

/* Each resident block has a turn; true where one came on. */
static bool take_turns(struct worker *k)
{
    bool progress = false;
    for (struct block **link = &k->resident; *link;) {
        struct block *b = *link;
        if (run_round(k, b, &progress)) {
            *link = b->next;
            retire(k, b);
            progress = true;
        } else {
            link = &b->next;
        }
    }
    return progress;
}

/* Warps back off for others to have their quanta (quantum.c). Backoff that nobody would use ends at
 * once: a warp that waits for another worker looks again as soon as it can. */
static void skip_backoffs(struct worker *k)
{
    uint32_t least = UINT32_MAX;
    for (const struct block *b = k->resident; b && least; b = b->next) {
        uint32_t backoff = block_least_backoff(b);
        least = backoff < least ? backoff : least;
    }
    for (struct block *b = k->resident; b && least; b = b->next)
        block_skip_backoff(b, least);
}

/* Is somebody else to have the thread? One whose blocks come on keeps it for a while. */
static bool gives_way(bool is_brief, const struct thread_pool *others, bool progress, double *begun)
{
    static const double slice_seconds = 0.005, brief_seconds = 20e-6;
    if (!is_brief && (!others || !thread_pool_is_crowded(others)))
        return false;
    double now = progress ? seconds_now() : 0;
    *begun = *begun ? *begun : now;
    return !progress || now - *begun >= (is_brief ? brief_seconds : slice_seconds);
}

/* Nothing came on: lets other threads run. On a crowded computer each yield takes long, and a warp
 * that waits in vain makes a step between two of them. Under a step limit it must come to its limit
 * all the same, so it keeps the core as long as the last yield took. */
static void yield_core(const struct launch *l, double *kept_until)
{
    double before = l->machine->config.step_limit ? seconds_now() : 0;
    if (before < *kept_until)
        return;
    sched_yield();
    if (before > 0) {
        double after = seconds_now();
        *kept_until = after + (after - before);
    }
}

bool worker_run(struct worker *k, struct launch *l, const struct thread_pool *others)
{
    bool progress = true;
    double begun = 0, kept_until = 0;
    for (;;) {
        /* Where nothing came on, twice as many blocks have a turn next time around. */
        bool grown = false;
        for (uint32_t n = k->n_resident ? (!progress ? k->n_resident : !is_patient(k)) : 1; n > 0 && admit(k, l); n--)
            grown = true;
        if (!k->resident)
            return true;
        progress = take_turns(k) || grown || async_finish_all(k);
        histogram_settle_all(k);
        if (!l->is_offered && k == l->launcher)
            launch_offer_rest(l);
        if (k->resident)
            /* A block has given way: others may wait for those that this worker would take and
             * not start yet. */
            k->batch = 0;
        if (is_due(k, l))
            l->machine->compiler->consider(l, k);
        if (progress) {
            k->idle_since = 0;
        } else {
            k->idle_since = k->idle_since ? k->idle_since : seconds_now();
            skip_backoffs(k);
            stall_look(k, l, k->idle_since);
        }
        if (k->resident && gives_way(l->is_brief && k == l->launcher, others, progress, &begun))
            return false;
        if (!progress)
            yield_core(l, &kept_until);
        if (stall_parks(l))
            stall_park(k, l);
    }
}

/* ---- one thread, choice by choice ---- */

/* After so many quanta in which nothing came on: a look at whether anything can; others that wait
 * for the schedule have it. */
enum { ADMIT_EVERY = 8, LONGEST_ACCESS_QUANTUM = 12, LOOK_AFTER = 1 << 12, GIVE_WAY_AFTER = 1 << 2, MOST_LOOKS = 8 };

/* Under serial, one quantum in so many goes to the warps in turn: two warps that let each other
 * run, as by a barrier, must not keep a third from running. */
enum { SERIAL_ROTATES_EVERY = 1 << 10 };

/* The lists of struct turns: the warps that can run, of all resident blocks. */
static void unlist(struct turns *r, struct warp *w)
{
    struct warp *last = r->list[--r->n];
    r->list[w->listed - 1] = last;
    last->listed = w->listed;
    w->listed = 0;
}

static void list_block(struct turns *r, struct block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        bool can_run = w->state == WARP_FRESH || w->state == WARP_RUNNABLE;
        if (can_run && !w->listed) {
            r->list[r->n++] = w;
            w->listed = r->n;
        } else if (!can_run && w->listed) {
            unlist(r, w);
        }
    }
}

/* A turn of a warp changes what can run in its own cluster only. */
static void list_cluster(struct turns *r, struct block *b)
{
    struct block *peer = b;
    do {
        list_block(r, peer);
        peer = peer->peer;
    } while (peer != b);
}

/* The same from scratch, in the order of blocks and warps, which serial keeps to. */
static void list_all(struct turns *r, const struct worker *k)
{
    while (r->n)
        r->list[--r->n]->listed = 0;
    for (struct block *b = k->resident; b; b = b->next)
        list_block(r, b);
}

static void drop(struct worker *k, struct block *gone)
{
    struct block **link = &k->resident;
    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    retire(k, gone);
}

/* How many accesses a warp may make; short quanta often, since switches
 * between accesses show most. */
static int32_t choose_access_quantum(struct schedule *s)
{
    return s->policy == POLICY_SERIAL ? INT32_MAX : 1 + (int32_t)schedule_choose(s, LONGEST_ACCESS_QUANTUM);
}

static void end_turn(struct worker *k, struct block *b)
{
    if (b->n_done == b->n_warps)
        drop(k, b);
    else if (block_is_stuck(b))
        stall_report_deadlock(b);
}

/* All warps have had quanta beyond the schedule's (stall.c): some may have ended, or wait. */
static void look_again(struct worker *k, const struct launch *l, struct turns *r)
{
    list_all(r, k);
    for (struct block *b = k->resident, *next; b && !launch_has_failed(l); b = next) {
        next = b->next;
        end_turn(k, b);
    }
}

/* Under serial: the first block, which makes progress but does not end, becomes the last. */
static void give_way(struct worker *k, struct turns *r)
{
    struct block *b = k->resident, **link = &k->resident;
    while (*link)
        link = &(*link)->next;
    *link = b;
    k->resident = b->next;
    b->next = NULL;
    k->begun_at = k->warp_instructions;
    list_all(r, k);
}

/* Starts up to `wanted` blocks. */
static void admit_some(struct worker *k, struct launch *l, struct turns *r, uint32_t wanted)
{
    struct block *b;
    for (; wanted && (b = admit(k, l)); wanted--)
        list_cluster(r, b);
}

static uint32_t choose_warp(struct schedule *s, const struct turns *r, uint32_t idle, uint64_t turn)
{
    if (s->guide) {
        uint32_t i = s->guide->warp(s->guide->data, r->list, r->n);
        if (r->n > 1)
            schedule_hint(s, i);
    }
    if (s->policy != POLICY_SERIAL)
        return schedule_choose(s, r->n);
    if (turn % SERIAL_ROTATES_EVERY == 0)
        return (uint32_t)(turn / SERIAL_ROTATES_EVERY % r->n);
    return idle % r->n; /* goes on with the next where one has given way */
}

/* Other launches wait for this one to let them have the schedule, and it waits for others. */
static bool is_in_the_way(const struct launch *l, const struct thread_pool *others)
{
    return others && atomic_load_explicit(&l->machine->n_held_up, memory_order_relaxed) > 0;
}

/* TURN_TAKEN: and there may be more. */
enum turn_end { TURN_TAKEN, TURN_NONE_LEFT, TURN_GIVES_WAY };

/* A warp has a turn; what has given way is looked into. */
static enum turn_end take_scheduled_turn(struct worker *k, struct launch *l, struct turns *r,
                                         const struct thread_pool *others)
{
    struct schedule *s = l->schedule;
    bool serial = s->policy == POLICY_SERIAL, in_vain = serial && k->resident && !is_patient(k);
    bool more = !k->resident || in_vain || (serial ? r->idle > r->n : schedule_choose(s, ADMIT_EVERY) == 0);
    if (more)
        admit_some(k, l, r, s->at_once ? UINT32_MAX : serial && k->n_resident ? k->n_resident : 1);
    if (in_vain)
        give_way(k, r);
    if (!k->resident)
        return TURN_NONE_LEFT;
    struct warp *w = r->list[choose_warp(s, r, r->idle, ++r->turn)];
    struct block *b = w->block, *peer = b->peer;
    uint32_t done = b->n_done, open = b->open_barriers, opened = b->n_opened;
    w->access_quantum = choose_access_quantum(s);
    block_run_warp(w);
    if (!serial)
        async_finish_some(b);
    bool changed = w->state != WARP_RUNNABLE || b->n_done != done || b->open_barriers != open || b->n_opened != opened;
    r->idle = changed || (r->idle > r->n && async_finish_all(k)) ? 0 : r->idle + 1;
    if (changed)
        list_cluster(r, b);
    if (!launch_has_failed(l))
        end_turn(k, b);
    if (changed && peer != b)
        list_cluster(r, peer);
    if (changed && serial)
        list_all(r, k);
    bool gives_way = r->idle > r->n + GIVE_WAY_AFTER && is_in_the_way(l, others);
    if (gives_way || r->idle > r->n + (LOOK_AFTER << (k->looks < MOST_LOOKS ? k->looks : MOST_LOOKS))) {
        stall_look(k, l, 0);
        look_again(k, l, r);
        r->idle = 0;
    }
    if (stall_parks(l))
        stall_park(k, l);
    return gives_way ? TURN_GIVES_WAY : TURN_TAKEN;
}

bool worker_run_scheduled(struct worker *k, struct launch *l, const struct thread_pool *others)
{
    struct stopper *stopper = stops_may_go_back(l->request->stopper) ? l->request->stopper : NULL;
    bool ready = !stopper || k->ledger || snapshots_begin(k);
    enum turn_end end;
    uint32_t limit = l->max_resident * l->blocks_per_cluster * l->warps_per_block;
    struct turns r = {.list = ready ? pool_take(k, limit * sizeof *r.list) : NULL};
    if (r.list)
        list_all(&r, k);
    else
        launch_fail(l, FAULT_out_of_memory);
    do {
        for (end = TURN_TAKEN; end == TURN_TAKEN && !launch_has_failed(l);) {
            if (stopper)
                stopper->turn(stopper->data, k, &r);
            end = take_scheduled_turn(k, l, &r, others);
        }
    } while (stopper && end != TURN_GIVES_WAY && stopper->goes_back(stopper->data, k, &r));
    while (r.n)
        r.list[--r.n]->listed = 0;
    pool_give(k, r.list, limit * sizeof *r.list);
    if (end == TURN_GIVES_WAY && k->resident && !launch_has_failed(l))
        return false;
    while (k->resident)
        drop(k, k->resident);
    return true;
}
