/* Machines: memory, threads of their own, and how these find launches to help with. */
#include "exec/code.h"
#include "exec/compiler.h"
#include "exec/device.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/rows.h"
#include "exec/schedule.h"
#include "exec/thread_pool.h"
#include "exec/worker.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "isa/mma.h"
#include "texture/pictures.h"

/* A launch with blocks left to start. */
static struct launch *open_launch(struct machine *m)
{
    for (struct launch *l = atomic_load(&m->held) ? NULL : m->launches; l; l = l->next)
        if (!launch_is_by_one(l) && atomic_load(&l->next_block) < l->n_blocks && !atomic_load(&l->failed) &&
            !atomic_load(&l->prober))
            return l;
    return NULL;
}

/* A launcher goes on on its core. Where there are two cores, Linux often wakes a worker on that
 * one, too, and leaves both there for some launches, while the other core is idle. Where there are
 * many cores, it finds another one. */
static void leave_core(const struct machine *m, const struct launch *l)
{
    enum { FEW_CORES = 8 };
    cpu_set_t others = m->cores;
    int n = CPU_COUNT(&others);
    if (n < 2 || n > FEW_CORES || (int)m->n_threads >= n || l->core < 0 || sched_getcpu() != l->core)
        return;
    CPU_CLR(l->core, &others);
    sched_setaffinity(0, sizeof others, &others);
}

static void *worker_main(void *data)
{
    struct worker *k = data;
    struct machine *m = k->machine;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        struct launch *l = open_launch(m);
        if (l && launch_join(l, k, false)) { /* which keeps it from being freed */
            pthread_mutex_unlock(&m->lock);
            leave_core(m, l);
            worker_run(k, l, NULL);
            pthread_mutex_lock(&m->lock);
            launch_leave(l, k);
            pthread_cond_broadcast(&m->idle);
        } else if (m->stopping) {
            break;
        } else {
            pthread_cond_wait(&m->work, &m->lock);
        }
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static uint64_t host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 4ull << 30;
}

/* That this process may use (taskset, containers), not all that there are. `cores` is empty where
 * there are more than 1024. */
static uint32_t find_cores(cpu_set_t *cores)
{
    CPU_ZERO(cores);
    long n = sched_getaffinity(0, sizeof *cores, cores) == 0 ? CPU_COUNT(cores) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static void set_defaults(struct machine_config *c, uint32_t cores)
{
    if (!c->workers)
        c->workers = cores;
    if (!c->memory_bytes)
        c->memory_bytes = host_memory() / 4 * 3;
    if (!c->heap_bytes)
        c->heap_bytes = 8 << 20;
    if (!c->print_bytes)
        c->print_bytes = HD_DEFAULT_PRINT_BYTES;
    if (!c->stack_bytes)
        c->stack_bytes = 64 << 10;
}

/* Of each worker's core: with the workers' own, and one of the program's, there are four threads a
 * core. */
enum { STREAM_THREADS = 3 };

/* One thread fewer than workers: the thread that launches is one, too. */
static bool start_workers(struct machine *m)
{
    uint32_t n = m->config.workers - 1;
    m->threads = thread_pool_create(m->config.workers * STREAM_THREADS);
    if (!m->threads)
        return false;
    m->workers = aligned_alloc(64, (n + 1) * sizeof *m->workers);
    if (!m->workers)
        return false;
    memset(m->workers, 0, (n + 1) * sizeof *m->workers);
    for (uint32_t i = 0; i < n; i++) {
        struct worker *k = &m->workers[i];
        k->machine = m;
        k->id = i + 1;
        if (pthread_create(&k->thread, NULL, worker_main, k) != 0)
            return m->n_threads > 0;
        m->n_threads++;
    }
    return true;
}

static bool open_host(struct machine *m)
{
    const struct machine_config *c = &m->config;
    if (!c->host_memory && !c->host_ranges)
        return true;
    return mem_open_host(&m->mem, c->host_memory ? NULL : c->host_ranges, c->print_data);
}

/* A holder of the machine goes before copies that begin later. */
static void init_moving(struct machine *m)
{
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&m->moving, &kind);
    pthread_rwlockattr_destroy(&kind);
}

/* NULL: the best that there is. */
static const char *asked_cpu_level(const struct machine_config *c)
{
    const char *set = secure_getenv("HEDDLE_CPU");
    return c->cpu_level ? c->cpu_level : set && *set ? set : NULL;
}

hd_result machine_create(const struct machine_config *config, struct machine **machine, const char **error)
{
    struct machine *m = calloc(1, sizeof *m);
    *error = NULL;
    if (!m)
        return HD_ERROR_OUT_OF_MEMORY;
    m->config = *config;
    set_defaults(&m->config, find_cores(&m->cores));
    const char *asked = asked_cpu_level(config);
    m->lanes = lane_table(asked, &m->cpu_level);
    m->rows = rows_for_level(m->cpu_level);
    m->mma = mma_for_level(m->cpu_level);
    m->pictures = pictures_for_level(m->cpu_level);
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->one_at_a_time, NULL);
    pthread_mutex_init(&m->print_lock, NULL);
    init_moving(m);
    windows_open(&m->windows);
    texture_table_init(&m->textures);
    pthread_cond_init(&m->work, NULL);
    pthread_cond_init(&m->idle, NULL);
    cond_init_monotonic(&m->clock);
    hd_result r = HD_SUCCESS;
    m->model = device_model(config->device);
    if (!m->lanes)
        *error = config->cpu_level ? "this machine does not have this CPU level"
                                   : "this machine does not have the CPU level that HEDDLE_CPU names";
    else if (!m->model)
        *error = "there is no such device; devices are sm_70, sm_75, sm_80, sm_86, sm_89, sm_90, sm_100 and sm_120";
    if (*error || !schedule_open(&m->schedule, config->policy, config->record_path, error))
        r = HD_ERROR_INVALID_VALUE;
    else if (!mem_init(&m->mem, m->config.memory_bytes) || !open_host(m) || !start_workers(m))
        r = HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        machine_destroy(m);
        return r;
    }
    if (m->config.open_tails)
        mem_open_tails(&m->mem);
    if (m->config.guarded)
        mem_guard(&m->mem);
    *machine = m;
    return HD_SUCCESS;
}

bool machine_destroy(struct machine *m)
{
    if (!m)
        return true;
    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    pthread_cond_broadcast(&m->work);
    pthread_cond_signal(&m->clock);
    pthread_mutex_unlock(&m->lock);
    if (m->has_clock)
        pthread_join(m->clock_thread, NULL);
    thread_pool_destroy(m->threads);
    for (uint32_t i = 0; i < m->n_threads; i++) {
        pthread_join(m->workers[i].thread, NULL);
        pool_free_all(&m->workers[i]);
    }
    free(m->workers);
    workers_free_spare(m);
    if (m->compiler)
        m->compiler->close(m);
    bool recorded = schedule_close(&m->schedule);
    windows_close(&m->windows);
    texture_table_destroy(&m->textures);
    mem_destroy(&m->mem);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->one_at_a_time);
    pthread_mutex_destroy(&m->print_lock);
    pthread_rwlock_destroy(&m->moving);
    pthread_cond_destroy(&m->work);
    pthread_cond_destroy(&m->idle);
    pthread_cond_destroy(&m->clock);
    free(m);
    return recorded;
}

void machine_cancel(struct machine *m, const struct context *c)
{
    pthread_mutex_lock(&m->lock);
    for (struct launch *l = m->launches; l; l = l->next)
        if (!c || l->request->context == c)
            launch_cancel(l);
    pthread_mutex_unlock(&m->lock);
}

void machine_free_kernel(struct machine *m, struct kernel *k)
{
    if (k && m->compiler)
        m->compiler->forget(m, k);
    kernel_free(k);
}

void machine_progress(struct machine *m, hd_progress *p)
{
    *p = (hd_progress){0};
    pthread_mutex_lock(&m->lock);
    for (struct launch *l = m->launches; l; l = l->next) {
        p->launches++;
        p->blocks_done += atomic_load_explicit(&l->done_blocks, memory_order_relaxed);
        p->blocks += l->n_blocks;
    }
    pthread_mutex_unlock(&m->lock);
}
