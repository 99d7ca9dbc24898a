/* The machine: memory, worker threads, the claimed device, and its running launches. */
#ifndef HEDDLE_EXEC_MACHINE_H
#define HEDDLE_EXEC_MACHINE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "exec/device.h"
#include "exec/pool.h"
#include "exec/schedule.h"
#include "isa/lanes.h"
#include "mem/space.h"
#include "texture/texture.h"

struct context;
struct compiler;
struct worker;
struct launch;
struct kernel;
struct order_hooks;
struct thread_pool;

struct machine_config {
    uint32_t workers, stack_bytes;
    uint64_t memory_bytes, heap_bytes, print_bytes, step_limit, pending_launches;
    const char *cpu_level;
    hd_engine engine;
    void (*print)(void *data, const char *text, size_t bytes);
    void (*note)(void *data, const char *text);
    void *print_data;
    const char *policy, *record_path;
    const char *device;          /* see device_model(); NULL: the default */
    bool host_memory;            /* kernels reach all host memory */
    host_ranges_fn *host_ranges; /* or, if not NULL, these parts of it */
    bool (*host_allows)(void *data, const void *start, size_t bytes, bool writes);
    bool guarded;         /* mem_guard() */
    bool keeps_registers; /* see code_env */
    bool open_tails;      /* mem_open_tails() */
    void (*used_tail)(void *data, const char *kernel);
    bool (*origin)(void *data, const void *start, bool freed, char *text, size_t bytes);
};

struct machine {
    struct mem mem;
    struct windows windows;
    struct texture_table textures;
    const struct compiler *compiler; /* or NULL: kernels are interpreted */
    void *compiler_data;
    struct machine_config config;
    const struct device_model *model;
    struct schedule schedule;
    lane_fn *const *lanes;
    const struct row_fns *rows;
    const struct mma_fns *mma;
    const struct picture_fns *pictures;
    const char *cpu_level;
    struct worker *workers; /* threads of its own */
    uint32_t n_threads;
    cpu_set_t cores;             /* those that this process may use */
    struct thread_pool *threads; /* for streams */
    pthread_mutex_t lock;        /* protects the members below, and launches' lists of workers */
    pthread_cond_t work, idle;
    struct launch *launches;
    struct worker *spare; /* of ended launches, for new ones; linked by `next` */
    uint32_t n_spare;
    struct worker *_Atomic next_spare; /* one more, without a lock; or NULL */
    bool stopping;
    _Atomic bool held;       /* workers must park between turns: hold.h */
    pthread_rwlock_t moving; /* readers: copies and fills; writer: whoever holds the machine */
    pthread_t clock_thread;  /* limit.c */
    pthread_cond_t clock;
    bool has_clock;
    /* Launches under policies other than fair: held while one runs. */
    pthread_mutex_t one_at_a_time;
    _Atomic uint32_t n_held_up; /* launches that wait for that lock */
    pthread_mutex_t print_lock; /* also of `print` and `note` */
    _Atomic uint64_t launch_number, heap_used;
    /* Launches by kernels that have not ended; at most config.pending_launches. */
    _Atomic uint64_t pending_launches;
    _Atomic uint64_t ended_launches; /* launches by kernels that have ended */
    _Atomic uint32_t n_awaiting;     /* threads that wait for such a launch to end */
    /* ended_launches + 1 at the last futile wait; 0: none. */
    _Atomic uint64_t awaited_in_vain;
    const struct order_hooks *_Atomic order; /* queue.h; or NULL */
};

/* *error gets a static text if the policy or the CPU level is unknown, else NULL. */
hd_result machine_create(const struct machine_config *config, struct machine **machine, const char **error);
/* False: the schedule was not recorded completely. */
bool machine_destroy(struct machine *m);
/* Makes every running launch of a context of streams, or of all (NULL),
 * fail with FAULT_cancelled. */
void machine_cancel(struct machine *m, const struct context *c);
void machine_progress(struct machine *m, hd_progress *progress);
/* Frees a kernel that has been prepared for this machine; NULL is allowed. */
void machine_free_kernel(struct machine *m, struct kernel *k);

#endif
