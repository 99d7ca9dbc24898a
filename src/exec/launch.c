/* Launches: the set-up of a grid before its blocks run, and its results. */
#include "exec/compiled.h"
#include "exec/compiler.h"
#include "exec/device.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/queue.h"
#include "exec/schedule.h"
#include "exec/stall.h"
#include "exec/stops.h"
#include "exec/emit_events.h"
#include "exec/worker.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/monotonic.h"

uint32_t launch_capacity(const struct machine *m, uint32_t threads_per_block, uint32_t shared_bytes)
{
    return m->model->multiprocessors * device_occupancy(m->model, threads_per_block, shared_bytes, 0).blocks;
}

/* %warpid is a slot of the multiprocessor, which an H200 gives out over its four partitions
 * starting with the second (recorded in the oracle). */
static uint32_t hardware_warp(uint32_t index)
{
    return (index & ~3u) | ((index + 1) & 3);
}

/* %tid and %warpid of every lane of a block, laid out once for launches of one shape. */
static bool lay_out_threads(struct launch *l, struct worker *k)
{
    const struct launch_dims *dims = &l->request->dims;
    bool again = k->warp_rows && memcmp(k->laid_out, dims->block, sizeof k->laid_out) == 0;
    l->warp_rows = k->warp_rows;
    if (again)
        return true;
    free(k->warp_rows);
    l->warp_rows = k->warp_rows = aligned_alloc(64, (size_t)l->warps_per_block * WARP_ROWS_BYTES);
    if (!l->warp_rows)
        return false;
    memcpy(k->laid_out, dims->block, sizeof k->laid_out);
    uint32_t x = 0, y = 0, z = 0;
    for (uint32_t t = 0; t < l->warps_per_block * WARP_LANES; t++) {
        uint32_t *rows = (uint32_t *)(l->warp_rows + (size_t)(t / WARP_LANES) * WARP_ROWS_BYTES);
        unsigned lane = t % WARP_LANES;
        rows[lane] = x;
        rows[32 + lane] = y;
        rows[64 + lane] = z;
        rows[96 + lane] = hardware_warp(t / WARP_LANES);
        if (++x == dims->block[0]) {
            x = 0;
            if (++y == dims->block[1]) {
                y = 0;
                z++;
            }
        }
    }
    return true;
}

uint8_t *launch_params(struct machine *m, const struct kernel *k)
{
    return mem_alloc_zero(&m->mem, k->param_bytes, MEM_PARAM, "kernel parameters");
}

void launch_params_free(struct machine *m, uint8_t *params)
{
    if (params)
        mem_free(&m->mem, params);
}

/* What cooperative groups keep a grid's barrier in: the size of it in 32 bits, then 32 bits that
 * start as 0. */
static bool make_grid_barrier(struct launch *l)
{
    enum { BYTES = 64 };
    l->grid_barrier = mem_alloc(&l->machine->mem, BYTES, MEM_DEVICE, "grid barrier");
    if (!l->grid_barrier)
        return false;
    memset(l->grid_barrier, 0, BYTES);
    l->grid_barrier[0] = BYTES;
    return true;
}

static bool asks_for_reserved_shared(const struct kernel *k)
{
    bool asks = false;
    for (uint32_t i = 0; i < k->block_rows.list.n; i++) {
        uint32_t sreg = k->block_rows.list.at[i].sreg / 4;
        asks |= sreg >= SREG_reserved_smem_offset_begin && sreg <= SREG_reserved_smem_offset_1;
    }
    return asks;
}

/* Static and dynamic shared memory are allocated in units, which are smaller than an H200's 128
 * bytes. The vendor's compilers rely on units: they read a variable's last words as part of a
 * vector. The padding between the two belongs to no variable; memcheck reports accesses that start
 * in it. */
static void size_shared(struct launch *l, const struct launch_request *r)
{
    enum { UNIT = 16 };
    uint32_t fixed = r->kernel->static_shared_bytes, dynamic = r->dims.shared_bytes,
             room = (fixed + UNIT - 1) / UNIT * UNIT;
    l->shared_bytes = room + (dynamic + UNIT - 1) / UNIT * UNIT;
    l->asked_shared_bytes = !event_is_wanted(&r->events, EVENT_FAULT) ? l->shared_bytes
                            : dynamic                                 ? room + dynamic
                                                                      : fixed;
    l->reserved_shared_start = l->shared_bytes;
    if (asks_for_reserved_shared(r->kernel)) {
        l->reserved_shared_bytes = l->machine->model->shared_bytes_reserved;
        l->shared_bytes += l->reserved_shared_bytes;
        l->asked_shared_bytes = l->shared_bytes;
    }
}

static struct schedule *schedule_of(struct machine *m, const struct launch_request *r)
{
    struct schedule *s = r->schedule ? r->schedule : &m->schedule;
    return s->policy == POLICY_FAIR || (s->of_one && !(r->flags & LAUNCH_REPLAYED)) ? NULL : s;
}

/* Sets %gridid, which also selects the launch's random choices. A launch that a debugger repeats
 * keeps its number. */
static uint64_t number_of(struct machine *m, const struct launch_request *r)
{
    struct stopper *s = r->stopper;
    uint64_t number = s && s->launch ? s->launch : atomic_fetch_add(&m->launch_number, 1) + 1;
    if (s)
        s->launch = number;
    return number;
}

static bool init_launch(struct launch *l, struct machine *m, const struct launch_request *r, struct worker *k)
{
    *l = (struct launch){.machine = m,
                         .launcher = k,
                         .begun = seconds_now(),
                         .kernel = r->kernel,
                         .request = r,
                         .params = r->params,
                         .rows = m->rows};
    const struct launch_dims *dims = &r->dims;
    l->blocks_per_cluster = dims->cluster[0] * dims->cluster[1] * dims->cluster[2];
    l->number = number_of(m, r);
    l->threads_per_block = dims->block[0] * dims->block[1] * dims->block[2];
    l->warps_per_block = (l->threads_per_block + WARP_LANES - 1) / WARP_LANES;
    l->n_blocks = (uint64_t)dims->grid[0] * dims->grid[1] * dims->grid[2];
    size_shared(l, r);
    l->max_resident = launch_capacity(m, l->threads_per_block, l->reserved_shared_start) / l->blocks_per_cluster;
    l->schedule = schedule_of(m, r);
    l->events = r->events.n ? &r->events : NULL;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->parking, NULL);
    if (r->flags & LAUNCH_COOPERATIVE && !make_grid_barrier(l))
        return false;
    return lay_out_threads(l, k) && (!l->events || tell_launch(l));
}

static void free_launch(struct launch *l)
{
    if (l->grid_barrier)
        mem_free(&l->machine->mem, l->grid_barrier);
    arena_free(&l->report_arena);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->parking);
    free(l);
}

/* ---- workers of a launch ---- */

static void join(struct launch *l, struct worker *k)
{
    k->launch = l;
    k->next = l->workers;
    k->warp_instructions = k->lane_instructions = 0;
    k->idle_since = 0;
    limit_join(k, l);
    k->looks = 0;
    l->workers = k;
}

bool launch_join(struct launch *l, struct worker *k, bool waits)
{
    pthread_mutex_lock(&l->lock);
    while (waits && stall_parks(l))
        pthread_cond_wait(&l->parking, &l->lock);
    bool may = !stall_parks(l);
    if (may)
        join(l, k);
    pthread_mutex_unlock(&l->lock);
    return may;
}

/* Stores past the caches (jit/analysis/nontemporal.c) are made before the launch is known to be
 * over (Intel SDM 3A, 9.2.2; AMD64 APM 2, 7.4.2). */
static void await_nontemporal(void)
{
#ifdef __x86_64__
    __builtin_ia32_sfence();
#endif
}

void launch_leave(struct launch *l, struct worker *k)
{
    await_nontemporal();
    pthread_mutex_lock(&l->lock);
    struct worker **link = &l->workers;
    while (*link != k)
        link = &(*link)->next;
    *link = k->next;
    worker_end_launch(k, l);
    worker_drop_compiled(k);
    pool_trim(k);
    l->warp_instructions += k->warp_instructions;
    l->lane_instructions += k->lane_instructions;
    k->launch = NULL;
    pthread_cond_broadcast(&l->parking);
    pthread_mutex_unlock(&l->lock);
}

/* From here on the launch can be cancelled, and its clock runs. It has no blocks to start yet. */
static bool enlist(struct machine *m, struct launch *l)
{
    l->next_block = l->n_blocks;
    pthread_mutex_lock(&m->lock);
    l->next = m->launches;
    m->launches = l;
    /* Since the task began. */
    if (l->request->context && fault_ends_context(context_fault(l->request->context)))
        launch_cancel(l);
    pthread_mutex_unlock(&m->lock);
    return l->request->deadline <= 0 || limit_start_clock(m);
}

/* Until its last worker has left it, a launch stays in the list: it can be cancelled, and its
 * progress be seen. */
static void withdraw(struct machine *m, struct launch *l)
{
    pthread_mutex_lock(&m->lock);
    while (l->workers)
        pthread_cond_wait(&m->idle, &m->lock);
    struct launch **link = &m->launches;
    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    pthread_mutex_unlock(&m->lock);
}

/* ---- workers of who launches ---- */

static struct worker *new_worker(struct machine *m)
{
    struct worker *k = aligned_alloc(64, sizeof *k);
    if (k) {
        memset(k, 0, sizeof *k);
        k->machine = m;
    }
    return k;
}

static void free_worker(struct worker *k)
{
    pool_free_all(k);
    free(k->warp_rows);
    free(k);
}

struct worker *worker_take(struct machine *m)
{
    struct worker *k = atomic_exchange(&m->next_spare, NULL);
    if (k)
        return k;
    pthread_mutex_lock(&m->lock);
    k = m->spare;
    if (k) {
        m->spare = k->next;
        m->n_spare--;
    }
    pthread_mutex_unlock(&m->lock);
    return k ? k : new_worker(m);
}

/* As many are kept as run at a time where few wait. */
void worker_give(struct worker *k)
{
    struct machine *m = k->machine;
    struct worker *none = NULL;
    if (atomic_compare_exchange_strong(&m->next_spare, &none, k))
        return;
    pthread_mutex_lock(&m->lock);
    bool kept = m->n_spare < 2 * m->config.workers;
    if (kept) {
        k->next = m->spare;
        m->spare = k;
        m->n_spare++;
    }
    pthread_mutex_unlock(&m->lock);
    if (!kept)
        free_worker(k);
}

void workers_free_spare(struct machine *m)
{
    for (struct worker *k = m->spare, *next; k; k = next) {
        next = k->next;
        free_worker(k);
    }
    if (m->next_spare)
        free_worker(m->next_spare);
}

/* ---- from begin to end ---- */

static bool pass_on(struct launch *l, struct diags *diags)
{
    if (l->report.list.n)
        diags_append(diags, &l->report);
    else
        fault_report(l->machine, l->kernel, &l->fault, diags);
    return true;
}

static bool compiler_begins(struct launch *l, struct diags *diags)
{
    return !l->machine->compiler || l->machine->compiler->begin(l->machine, l, diags);
}

/* Runs a step that writes diagnostics; false if memory is exhausted. A jump to the caller's
 * recovery point would leak the launch and the worker, and lose which fault it was. */
static bool guarded(bool (*step)(struct launch *, struct diags *), struct launch *l, struct diags *diags)
{
    jmp_buf oom, *outer = diags->arena->on_oom;
    volatile bool ok = false;
    diags->arena->on_oom = &oom;
    if (setjmp(oom) == 0)
        ok = step(l, diags);
    diags->arena->on_oom = outer;
    return ok;
}

/* Text of the kernel's printf that nobody will see. */
static void tell_lost(const struct launch *l)
{
    struct machine *m = l->machine;
    const struct print_total *t = &l->printed;
    if (!t->lost_calls || !m->config.note)
        return;
    struct arena scratch = {0};
    char text[512];
    snprintf(
        text, sizeof text,
        "%llu of %llu calls of printf in kernel `%.200s` were lost with %llu bytes of text: %s%llu bytes are the limit "
        "of a launch; raise it by cudaDeviceSetLimit(cudaLimitPrintfFifoSize, ...), --printf or HD_LIMIT_PRINT_BYTES",
        (unsigned long long)t->lost_calls, (unsigned long long)t->calls,
        demangle(l->kernel->func->symbol.name, &scratch), (unsigned long long)t->lost_bytes,
        t->no_memory ? "memory had run out; " : "", (unsigned long long)m->config.print_bytes);
    pthread_mutex_lock(&m->print_lock);
    m->config.note(m->config.print_data, text);
    pthread_mutex_unlock(&m->print_lock);
    arena_free(&scratch);
}

/* Accesses that a GPU lets pass, and a checker does not. */
static void tell_used_tail(const struct launch *l)
{
    struct machine *m = l->machine;
    if (!atomic_load(&l->used_tail) || !m->config.used_tail)
        return;
    struct arena scratch = {0};
    pthread_mutex_lock(&m->print_lock);
    m->config.used_tail(m->config.print_data, demangle(l->kernel->func->symbol.name, &scratch));
    pthread_mutex_unlock(&m->print_lock);
    arena_free(&scratch);
}

struct launch *launch_begin(struct machine *m, const struct launch_request *r, struct diags *diags)
{
    struct worker *k = worker_take(m);
    struct launch *l = k ? malloc(sizeof *l) : NULL;
    if (!l || !init_launch(l, m, r, k)) {
        if (l)
            free_launch(l);
        if (k)
            worker_give(k);
        return NULL;
    }
    mem_forget_host(&m->mem);
    if (!enlist(m, l))
        launch_fail(l, FAULT_out_of_memory);
    l->ready = guarded(compiler_begins, l, diags);
    if (r->deadline > 0 && r->deadline <= seconds_now())
        launch_fail(l, FAULT_timeout);
    mem_begin_use(&m->mem);
    return l;
}

/* Under a schedule one launch runs at a time; false if another one runs and this one does not wait
 * for it. */
static bool take_schedule(struct launch *l, bool waits)
{
    struct machine *m = l->machine;
    bool taken = pthread_mutex_trylock(&m->one_at_a_time) == 0;
    if (!taken && !l->held_up) {
        l->held_up = true;
        m->n_held_up++;
    }
    if (!taken && !waits)
        return false;
    if (!taken)
        pthread_mutex_lock(&m->one_at_a_time);
    m->n_held_up -= l->held_up;
    l->held_up = false;
    return true;
}

static void start_or_return(struct launch *l)
{
    if (l->launcher->launch) {
        stall_return(l->launcher, l);
    } else {
        if (l->schedule)
            schedule_begin(l->schedule, l->number);
        launch_open(l);
        launch_join(l, l->launcher, true);
    }
}

bool launch_step(struct launch *l, const struct thread_pool *others)
{
    struct worker *k = l->launcher;
    if (!k->launch && (!l->ready || launch_has_failed(l)))
        return true;
    if (l->schedule && !take_schedule(l, !others)) {
        sched_yield();
        return false;
    }
    start_or_return(l);
    bool done = l->schedule ? worker_run_scheduled(k, l, others) : worker_run(k, l, others);
    if (done)
        launch_leave(l, k);
    else
        stall_leave(k, l);
    if (l->schedule)
        pthread_mutex_unlock(&l->machine->one_at_a_time);
    return done;
}

hd_result launch_end(struct launch *l, hd_launch_stats *stats, struct diags *diags)
{
    if (!l)
        return HD_ERROR_OUT_OF_MEMORY;
    struct machine *m = l->machine;
    m->n_held_up -= l->held_up;
    withdraw(m, l);
    mem_end_use(&m->mem);
    limit_end(l);
    if (l->ready && m->compiler)
        m->compiler->end(l);
    if (l->schedule && l->schedule->diverged)
        launch_fail(l, FAULT_replay);
    if (l->fault.kind)
        guarded(pass_on, l, diags);
    if (l->ready && !l->fault.kind)
        launch_note_time(l);
    tell_lost(l);
    tell_used_tail(l);
    if (stats)
        *stats = (hd_launch_stats){seconds_now() - l->begun, l->done_blocks, l->warp_instructions, l->lane_instructions,
                                   l->printed.lost_bytes};
    hd_result result = l->ready        ? fault_result(l->fault.kind)
                       : diags->errors ? HD_ERROR_NOT_SUPPORTED
                                       : HD_ERROR_OUT_OF_MEMORY;
    worker_give(l->launcher);
    free_launch(l);
    return result;
}
