/* How blocks take turns on a thread.
 *
 * Blocks are started in order. A worker runs a block until it is done; where all of a block's warps give way (they
 * spin on something outside), it stays resident and the worker turns to the next, starting another each time around, up
 * to what the claimed device could hold. Under a policy other than fair one thread does it all, choice by choice.
 */
#include "exec/machine.h"

#include <sched.h>
#include <time.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void launch_fail(struct launch *l, enum fault_kind kind)
{
    pthread_mutex_lock(&l->lock);
    if (!l->fault.kind)
        l->fault.kind = kind;
    atomic_store(&l->failed, true);
    pthread_mutex_unlock(&l->lock);
}

static bool has_failed(const struct launch *l)
{
    return atomic_load_explicit(&l->failed, memory_order_relaxed);
}

static struct block *start_next(struct worker *k, struct launch *l)
{
    uint64_t index = atomic_fetch_add(&l->next_block, 1);
    struct block *b = index < l->n_blocks ? block_start(k, l, index) : NULL;
    if (!b && index < l->n_blocks)
        launch_fail(l, FAULT_out_of_memory);
    return b;
}

/* Starts the next block, as the last of the worker's residents; false where none is left, or no more fit. */
static bool admit(struct worker *k, struct launch *l)
{
    if (has_failed(l) || atomic_load_explicit(&l->next_block, memory_order_relaxed) >= l->n_blocks)
        return false;
    struct block *b = atomic_fetch_add(&l->resident, 1) < l->max_resident ? start_next(k, l) : NULL;
    if (!b) {
        atomic_fetch_sub(&l->resident, 1);
        return false;
    }
    struct block **link = &k->resident;
    while (*link)
        link = &(*link)->next;
    *link = b;
    k->n_resident++;
    return true;
}

static void retire(struct worker *k, struct block *b)
{
    block_finish(b);
    k->n_resident--;
    atomic_fetch_add_explicit(&k->launch->done_blocks, 1, memory_order_relaxed);
    atomic_fetch_sub(&k->launch->resident, 1);
}

/* Each resident block has a turn; true where one came on. */
static bool take_turns(struct worker *k)
{
    bool progress = false;
    for (struct block **link = &k->resident; *link;) {
        struct block *b = *link;
        if (block_round(b, &progress)) {
            *link = b->next;
            retire(k, b);
            progress = true;
        } else {
            link = &b->next;
        }
    }
    return progress;
}

void worker_run(struct worker *k, struct launch *l)
{
    double since = 0;
    bool progress = true;
    for (;;) {
        /* Where nothing came on, twice as many blocks have a turn next time around. */
        bool grown = false;
        for (uint32_t n = k->n_resident ? (progress ? 0 : k->n_resident) : 1; n > 0 && admit(k, l); n--)
            grown = true;
        if (!k->resident)
            return;
        progress = take_turns(k) || grown;
        if (progress) {
            since = 0;
        } else {
            since = since ? since : seconds_now();
            stall_look(k, l, since);
            sched_yield();
        }
        if (atomic_load_explicit(&l->prober, memory_order_relaxed))
            stall_park(k, l);
    }
}

/* ---- one thread, choice by choice ---- */

enum { ADMIT_EVERY = 8, LONGEST_SLICE = 12, PATIENCE = 1 << 12 };

/* The warps that can run, of all resident blocks. */
static uint32_t list_runnable(const struct worker *k, struct warp **list, uint32_t limit)
{
    uint32_t n = 0;
    for (struct block *b = k->resident; b; b = b->next)
        for (uint32_t i = 0; i < b->n_warps && n < limit; i++)
            if (b->warps[i].state == WARP_FRESH || b->warps[i].state == WARP_RUNNABLE)
                list[n++] = &b->warps[i];
    return n;
}

static void drop(struct worker *k, struct block *gone)
{
    struct block **link = &k->resident;
    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    retire(k, gone);
}

/* How many accesses a warp may make; short slices often, since switches between accesses show most. */
static int32_t choose_slice(struct schedule *s)
{
    return s->policy == POLICY_SERIAL ? INT32_MAX : 1 + (int32_t)schedule_choose(s, LONGEST_SLICE);
}

static void end_turn(struct worker *k, struct block *b)
{
    if (b->n_done == b->n_warps)
        drop(k, b);
    else if (block_is_stuck(b))
        stall_report_deadlock(b);
}

void worker_run_scheduled(struct worker *k, struct launch *l)
{
    struct schedule *s = l->schedule;
    uint32_t idle = 0, limit = l->max_resident * l->warps_per_block;
    struct warp **list = pool_take(k, limit * sizeof *list);
    bool serial = s->policy == POLICY_SERIAL, changed = true;
    uint32_t n = 0;
    if (!list)
        launch_fail(l, FAULT_out_of_memory);
    while (!has_failed(l)) {
        bool more = !k->resident || (serial ? idle > n : schedule_choose(s, ADMIT_EVERY) == 0), grown = false;
        for (uint32_t wanted = !more ? 0 : serial && k->n_resident ? k->n_resident : 1; wanted && admit(k, l); wanted--)
            grown = true;
        if (!k->resident)
            break;
        if (grown || changed)
            n = list_runnable(k, list, limit);
        /* serial goes on with the next where one has given way */
        struct warp *w = list[serial ? idle % n : schedule_choose(s, n)];
        uint32_t done = w->block->n_done, open = w->block->open_barriers;
        w->slice = choose_slice(s);
        block_run_warp(w);
        changed = w->state != WARP_RUNNABLE || w->block->n_done != done || w->block->open_barriers != open;
        idle = changed || w->slice == 0 ? 0 : idle + 1;
        if (!has_failed(l))
            end_turn(k, w->block);
        if (idle > n + PATIENCE) {
            stall_look(k, l, 0);
            idle = 0;
        }
    }
    while (k->resident)
        drop(k, k->resident);
    pool_give(k, list, limit * sizeof *list);
}
