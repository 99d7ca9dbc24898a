/* See engine.h. */
#include "jit/host/engine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "exec/compiler.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/worker.h"
#include "jit/costs.h"
#include "jit/host/unit_compile.h"
#include "jit/host/compile_queue.h"

/* The work after which a kernel is worth compiling, and compiling again with more effort:
   costs.def. */
static const uint64_t worth_in_one[JIT_TIERS] = {LIMIT_worth_in_one, LIMIT_worth_again};
static const uint64_t worth_in_all[JIT_TIERS] = {LIMIT_worth_in_all, LIMIT_worth_again};

/* Shapes assume that thread indices fit in 31 bits (ir/range.c). */
static bool is_in_range(const struct launch *l)
{
    const struct launch_dims *dims = &l->request->dims;
    for (int i = 0; i < 3; i++)
        if ((uint64_t)dims->grid[i] * dims->block[i] > INT32_MAX)
            return false;
    return true;
}

static const char *unfit(const struct launch *l)
{
    return l->schedule       ? "a schedule other than fair runs in the interpreter"
           : l->events       ? "what watches a launch (a checker, a trace) runs in the interpreter"
           : !is_in_range(l) ? "the grid has more than 2147483647 threads along an axis"
                             : NULL;
}

/* If compiling took too long for one shape of blocks, it will for others: in the background that is
 * tried only once. */
static bool is_hopeless(struct jit *j, struct unit *u, const struct kernel *k)
{
    pthread_mutex_lock(&j->lock);
    const struct unit *o = k->compiled;
    while (o && !(o->tier == u->tier && atomic_load(&o->state) == UNIT_FAILED && o->is_overtime))
        o = o->next;
    if (o)
        memcpy(u->why, o->why, sizeof u->why);
    pthread_mutex_unlock(&j->lock);
    return o != NULL;
}

/* Handles a newly queued unit: loads it from disk, or passes it to the compiling thread. */
static void order(struct jit *j, struct unit *u, const struct kernel *k)
{
    bool can_be = (u->asked || !is_hopeless(j, u, k)) && unit_write_request(j, u, k);
    if (can_be && !j->program[0]) {
        const char *set = secure_getenv("HEDDLE_JIT");
        snprintf(u->why, sizeof u->why, "there is no %.150s: it is built if LLVM 19 and clang 19 are installed",
                 set && *set ? set : "heddle-jit");
        can_be = false;
    }
    bool ok = can_be && unit_recall(j, u);
    if (!can_be)
        unit_tell_why(j, u);
    pthread_mutex_lock(&j->lock);
    if (ok || !can_be || !queue_add(j, u))
        unit_finish(j, u, ok);
    pthread_mutex_unlock(&j->lock);
}

/* Waits for the code as long as the launch may; checks regularly whether
 * the launch was cancelled. */
static void compile_now(struct jit *j, struct unit *u, const struct launch *l)
{
    static const double look_seconds = 0.1;
    const double deadline = l->request->deadline;
    pthread_mutex_lock(&j->lock);
    bool mine = unit_claim(j, u, true);
    pthread_mutex_unlock(&j->lock);
    if (mine)
        order(j, u, l->kernel);
    pthread_mutex_lock(&j->lock);
    for (double now; atomic_load(&u->state) == UNIT_QUEUED && !launch_has_failed(l);) {
        now = seconds_now();
        if (deadline > 0 && deadline <= now)
            break;
        bool is_last = deadline > 0 && deadline < now + look_seconds;
        struct timespec until = seconds_to_timespec(is_last ? deadline : now + look_seconds);
        pthread_cond_timedwait(&j->done, &j->lock, &until);
    }
    pthread_mutex_unlock(&j->lock);
}

/* A child of fork has none of our threads; their work is free to claim: unit_claim(). The first of
 * the child's threads to come here cleans up, and others wait. */
static void after_fork(struct jit *j)
{
    pid_t self = getpid(), owner = atomic_load(&j->owner);
    if (owner == self)
        return;
    if (owner == -self || !atomic_compare_exchange_strong(&j->owner, &owner, -self)) {
        while (atomic_load(&j->owner) != self)
            sched_yield();
        return;
    }
    pthread_mutex_init(&j->lock, NULL);
    cond_init_monotonic(&j->done);
    for (struct compile_queue *l = j->queues; l < j->queues + JIT_TIERS; l++) {
        pthread_cond_init(&l->work, NULL);
        process_leave_to_parent(&l->process);
        l->has_thread = false;
        l->busy = l->first = NULL;
    }
    atomic_store(&j->owner, self);
}

/* Gives the launch the best available code; workers change over at the start of a warp's turn, or
 * of a block. Another worker may be ahead. */
static void take(struct launch *l, struct unit *u)
{
    struct unit *better = atomic_load(&u->better);
    const struct compiled *none = NULL;
    if (unit_is_ready(better))
        atomic_store_explicit(&l->compiled, &better->compiled, memory_order_release);
    else if (unit_is_ready(u))
        atomic_compare_exchange_strong(&l->compiled, &none, &u->compiled);
}

static bool begin(struct machine *m, struct launch *l, struct diags *diags)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    const char *why = unfit(l);
    hd_engine asked = l->request->engine, engine = asked ? asked : j->settings.wish;
    l->consider_at = UINT64_MAX;
    if (engine == HD_ENGINE_INTERP || (why && asked != HD_ENGINE_JIT))
        return true;
    struct unit *u =
        why ? NULL
            : unit_find(j, l->kernel, l->request->dims.block, j->settings.tier ? j->settings.tier : TIER_FIRST, false);
    if (u && engine == HD_ENGINE_JIT)
        compile_now(j, u, l);
    l->compiler_data = u;
    if (u) {
        l->consider_at = 0;
        take(l, u);
    }
    /* The launch was ended while it waited: exec/limit.c. */
    bool late = u && atomic_load(&u->state) == UNIT_QUEUED;
    if (asked != HD_ENGINE_JIT || atomic_load(&l->compiled) || late)
        return true;
    diag_error(diags, (struct place){0}, "engine", "leave the engine at auto, or take interp",
               "kernel `%.*s` cannot be compiled: %s", STR_ARG(l->kernel->func->symbol.name),
               why ? why
               : u ? u->why
                   : "no memory");
    return false;
}

static void want(struct launch *l, struct unit *u)
{
    struct jit *j = l->machine->compiler_data;
    if (!unit_is_free(j, u))
        return;
    pthread_mutex_lock(&j->lock);
    bool mine = unit_claim(j, u, false);
    pthread_mutex_unlock(&j->lock);
    if (mine)
        order(j, u, l->kernel);
}

/* Requests code that is worth it after this much work; returns the work
 * after which to check again. */
static uint64_t advance(struct launch *l, struct unit *u, uint64_t work, const uint64_t worth[JIT_TIERS])
{
    bool ready = unit_is_ready(u);
    uint64_t enough = worth[ready] > u->worth ? worth[ready] : u->worth;
    if (ready && u->is_last)
        return UINT64_MAX;
    if (work < enough)
        return enough;
    struct unit *next = u;
    if (ready && !(next = atomic_load(&u->better))) {
        next = unit_find(l->machine->compiler_data, l->kernel, l->request->dims.block, TIER_SECOND, u->asked);
        atomic_store(&u->better, next);
    }
    if (!next)
        return UINT64_MAX;
    want(l, next);
    return atomic_load(&next->state) == UNIT_FAILED || (ready && unit_is_ready(next)) ? UINT64_MAX : 0;
}

static void consider(struct launch *l, const struct worker *k)
{
    struct unit *u = l->compiler_data;
    uint64_t again = advance(l, u, k->warp_instructions, worth_in_one);
    take(l, u);
    atomic_store_explicit(&l->consider_at, again, memory_order_relaxed);
}

static void end(struct launch *l)
{
    struct unit *u = l->compiler_data;
    if (u)
        advance(l, u, atomic_fetch_add(&u->work, l->warp_instructions) + l->warp_instructions, worth_in_all);
}

static void forget(struct machine *m, struct kernel *k)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    pthread_mutex_lock(&j->lock);
    for (struct unit *u = k->compiled, *next; u; u = next) {
        next = u->next;
        queue_drop(j, u);
    }
    k->compiled = NULL;
    pthread_mutex_unlock(&j->lock);
}

static bool confine(struct machine *m)
{
    struct jit *j = m->compiler_data;
    bool keeps = !j->settings.target;
    j->is_confined = true;
    j->perf_map = unit_open_perf_map();
    bool ok = brokered_open(&j->disk, j->program, NULL, false);
    for (struct compile_queue *l = j->queues; l < j->queues + JIT_TIERS; l++)
        ok = ok && brokered_open(&l->outside, j->program, &l->process, keeps);
    return ok;
}

static void close_jit(struct machine *m)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_mutex_unlock(&j->lock);
    for (struct compile_queue *l = j->queues; l < j->queues + JIT_TIERS; l++) {
        pthread_cond_broadcast(&l->work);
        process_end(&l->process);
        brokered_end(&l->outside);
    }
    for (struct compile_queue *l = j->queues; l < j->queues + JIT_TIERS; l++) {
        if (l->has_thread)
            pthread_join(l->thread, NULL);
        process_close(&l->process);
        brokered_close(&l->outside);
        pthread_cond_destroy(&l->work);
    }
    brokered_close(&j->disk);
    if (j->perf_map)
        fclose(j->perf_map);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->done);
    free(j);
}

static const struct compiler compiler = {begin, consider, end, forget, unit_wants_serial_walks, confine, close_jit};

void jit_attach(struct machine *m)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j)
        return; /* kernels are interpreted */
    j->machine = m;
    j->owner = getpid();
    settings_read(&j->settings, &m->config);
    process_find_program(j->program);
    for (struct compile_queue *l = j->queues; l < j->queues + JIT_TIERS; l++) {
        l->jit = j;
        pthread_cond_init(&l->work, NULL);
        process_init(&l->process, settings_dump(&j->settings));
        brokered_init(&l->outside);
    }
    brokered_init(&j->disk);
    pthread_mutex_init(&j->lock, NULL);
    cond_init_monotonic(&j->done);
    m->compiler_data = j;
    m->compiler = &compiler;
}
