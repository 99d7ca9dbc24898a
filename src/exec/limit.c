/* Limits of a launch: how many warp instructions it may execute, and until when it may run.
 *
 * A worker counts the instructions of its warps anyway (worker.warp_instructions). When the count
 * passes worker.look_at, it calls limit_look() before its warp continues. That adds the count to
 * the launch's sum, and decides when to look again: after a part of what the launch has left, so
 * that all workers together hardly exceed the limit. A launch fails if the sum exceeds the limit.
 * An interrupt sets look_at to 0. Without limits, nothing else does.
 *
 * The interpreter compares before each basic block. Compiled code cannot be stopped before it
 * exits. So in a launch with limits, it is entered with at most as many backward branches and
 * barrier phases as the launch may still execute (limit_allows). If hardly any are left, the
 * interpreter executes the rest.
 *
 * Wall clocks: one thread of the machine, which the first launch with a time limit starts, sleeps
 * until the next limit is reached.
 */
#include "exec/abi.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/machine.h"
#include "exec/spin_cost.h"
#include "exec/worker.h"

#include "base/monotonic.h"

enum {
    /* Of what is left, all workers together have one part before they look again. */
    PARTS = 16,
    /* Of compiled code beside a clock, in warp instructions: some 50 ms. */
    LARGEST_STEP = 1 << 24,
    /* Of branches backwards, for compiled code to be worth entering. */
    LEAST_BUDGET = 8,
    LANE_BUDGET = 32,              /* of a lane in a serial part */
    PHASES = LOCKSTEP_PHASES / 16, /* of lockstep, where they are to be few */
};

static bool has_limits(const struct launch *l)
{
    return l->machine->config.step_limit || l->request->deadline > 0;
}

void limit_join(struct worker *k, struct launch *l)
{
    bool looks = has_limits(l) || launch_has_failed(l);
    k->counted_steps = k->part = 0;
    atomic_store(&k->look_at, looks ? 0 : UINT64_MAX);
}

/* The launch's remaining budget after the worker has added what it executed; *exceeded: it is
 * overdrawn. */
static uint64_t settle_steps(struct worker *k, struct launch *l, bool *exceeded)
{
    uint64_t limit = l->machine->config.step_limit, own = k->warp_instructions - k->counted_steps;
    if (!limit)
        return UINT64_MAX;
    uint64_t all = atomic_fetch_add_explicit(&l->steps, own, memory_order_relaxed) + own;
    k->counted_steps = k->warp_instructions;
    *exceeded = all > limit;
    return all < limit ? limit - all : 0;
}

/* The worker checks the limit, and sets when to check again. False: the launch has exceeded its
 * limit. */
static bool look(struct worker *k, struct launch *l)
{
    bool exceeded = false;
    uint64_t left = settle_steps(k, l, &exceeded), n = l->schedule || l->n_blocks == 1 ? 1 : k->machine->n_threads + 1;
    k->part = n == 1 ? left : left / (PARTS * n);
    atomic_store(&k->look_at,
                 k->part > UINT64_MAX - k->warp_instructions ? UINT64_MAX : k->warp_instructions + k->part);
    if (atomic_load(&l->interrupted)) /* interrupt_late() sets the two in the reverse order */
        atomic_store(&k->look_at, 0);
    return !exceeded;
}

bool limit_look(struct warp *w, const struct op *o, uint32_t lanes)
{
    struct launch *l = w->block->launch;
    enum fault_kind kind = look(w->block->worker, l) ? FAULT_none : FAULT_step_limit;
    if (atomic_load(&l->interrupted))
        kind = (enum fault_kind)atomic_load(&l->interrupted);
    return kind ? warp_fault(w, kind, o, (unsigned)__builtin_ctz(lanes)) : !launch_has_failed(l);
}

void limit_end(struct launch *l)
{
    uint64_t limit = l->machine->config.step_limit;
    if (limit && l->warp_instructions > limit)
        launch_fail(l, FAULT_step_limit);
}

/* ---- compiled code ---- */

/* Warp instructions that it may execute before it leaves. */
static uint64_t find_step(struct worker *k, struct launch *l)
{
    uint64_t step = atomic_load(&k->look_at) - k->warp_instructions;
    if (limit_is_due(k) || step < k->part / 2) {
        look(k, l);
        step = limit_is_due(k) ? 0 : atomic_load(&k->look_at) - k->warp_instructions;
    }
    return l->request->deadline > 0 && step > LARGEST_STEP ? LARGEST_STEP : step;
}

/* What a warp may execute up to a branch backwards: of a function each instruction once, and of a
 * serial part, once for each lane and each branch backwards of that. */
static uint64_t most_between_branches(const struct code *c)
{
    return (uint64_t)c->n_ops * (c->has_serial ? WARP_LANES * LANE_BUDGET : 1);
}

static void cap_budget(struct warp *w, int32_t budget)
{
    if (w->budget > budget)
        w->budget = budget;
    w->lane_budget = LANE_BUDGET;
}

bool limit_allows_warp(struct warp *w, const struct code *c)
{
    struct launch *l = w->block->launch;
    if (!has_limits(l))
        return true;
    uint64_t budget = find_step(w->block->worker, l) / most_between_branches(c);
    if (budget < LEAST_BUDGET)
        return false;
    /* It leaves behind the branch that spends too much. */
    cap_budget(w, budget < BUDGET ? (int32_t)budget - 2 : BUDGET);
    return true;
}

bool limit_allows_block(struct block *b, const struct code *c)
{
    struct launch *l = b->launch;
    b->phases = LOCKSTEP_PHASES;
    b->budget = BUDGET;
    if (!has_limits(l))
        return true;
    uint64_t budget = find_step(b->worker, l) / (most_between_branches(c) * b->n_warps);
    if (budget < LEAST_BUDGET)
        return false;
    uint64_t turn = budget / PHASES < 4 ? 4 : budget / PHASES < BUDGET ? budget / PHASES : BUDGET;
    b->phases = budget / turn < LOCKSTEP_PHASES ? (uint32_t)(budget / turn) : LOCKSTEP_PHASES;
    /* It leaves behind the branch that would spend more than there is. */
    b->budget = (int32_t)turn - 2;
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        cap_budget(w, b->budget);
    return true;
}

/* ---- interrupting; clocks ---- */

/* With the launch in the machine's list, whose lock is held. */
static void make_all_look(struct launch *l)
{
    pthread_mutex_lock(&l->lock);
    for (struct worker *k = l->workers; k; k = k->next)
        atomic_store(&k->look_at, 0);
    pthread_mutex_unlock(&l->lock);
}

void launch_cancel(struct launch *l)
{
    launch_fail(l, FAULT_cancelled);
    make_all_look(l);
}

/* Interrupts launches whose time is over; when the next will be, or 0. */
static double interrupt_late(struct machine *m)
{
    double now = seconds_now(), next = 0;
    for (struct launch *l = m->launches; l; l = l->next) {
        double deadline = l->request->deadline;
        if (deadline <= 0 || atomic_load(&l->interrupted))
            continue;
        if (deadline <= now) {
            atomic_store(&l->interrupted, FAULT_timeout);
            make_all_look(l);
        } else if (!next || deadline < next) {
            next = deadline;
        }
    }
    return next;
}

static void *clock_main(void *data)
{
    struct machine *m = data;
    pthread_mutex_lock(&m->lock);
    while (!m->stopping) {
        double next = interrupt_late(m);
        if (next > 0) {
            struct timespec at = seconds_to_timespec(next);
            pthread_cond_timedwait(&m->clock, &m->lock, &at);
        } else {
            pthread_cond_wait(&m->clock, &m->lock);
        }
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

bool limit_start_clock(struct machine *m)
{
    pthread_mutex_lock(&m->lock);
    m->has_clock = m->has_clock || pthread_create(&m->clock_thread, NULL, clock_main, m) == 0;
    pthread_cond_signal(&m->clock);
    pthread_mutex_unlock(&m->lock);
    return m->has_clock;
}
