/* The machine, its worker threads, launches: for exec/ and api/, and for what exec/ calls through struct compiler and hooks.h. */
#ifndef HEDDLE_EXEC_MACHINE_H
#define HEDDLE_EXEC_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/diag.h"
#include "exec/compiled.h"
#include "exec/device.h"
#include "exec/hooks.h"
#include "exec/schedule.h"
#include "exec/spin_cost.h"
#include "exec/warp.h"
#include "mem/window.h"

struct machine;
struct launch;
struct pool_item;
struct order_hooks;

enum { POOL_CLASSES = 58, ALLOCATION_CACHE = 256 };

enum { MAX_HISTOGRAMS = 4 };

/* Sums of what a worker's lanes add to the cells of arrays, by one kernel's compiled code: histogram.c. */
struct histograms {
    enum { HISTOGRAMS_UNKNOWN, HISTOGRAMS_ALLOWED, HISTOGRAMS_REFUSED } state;
    uint32_t n, n_closed, n_settled; /* how many there are; how often all were closed, and settled for the engine */
    struct histogram {
        uint64_t start, bytes, cell_bytes; /* of the array */
        uint64_t room;                     /* bytes of sums: whole lines */
        uint8_t *sums;                     /* of the cells, in their order */
    } at[MAX_HISTOGRAMS];
};

/* A thread that runs blocks: one of the machine's own, or one that launches. */
struct worker {
    struct machine *machine;
    struct launch *launch; /* that it works on */
    struct worker *next;   /* in the launch's list */
    uint32_t id;
    bool parked; /* waits while another looks into a stall */
    pthread_t thread;
    struct pool_item *pool[POOL_CLASSES]; /* free memory by size: pool.c */
    struct pool_item *windows[POOL_CLASSES];
    uint64_t pool_bytes; /* these, and what is in use */
    uint8_t *warp_rows;  /* of its last launch, with blocks of the shape laid_out */
    uint32_t laid_out[3];
    struct block *resident;
    uint32_t n_resident;
    struct block *kept;        /* one that has ended: the next to start is built on it */
    uint64_t claim, claim_end; /* blocks that are this worker's to start */
    uint64_t batch;            /* how many it took last */
    uint64_t done_blocks;      /* not counted in the launch yet */
    bool has_place;            /* among the resident ones, of a cluster that has ended */
    uint64_t warp_instructions, lane_instructions;
    _Atomic uint64_t look_at;                  /* where warp_instructions exceed it, limit_look() */
    uint64_t counted_steps;                    /* warp instructions that are in the launch's sum */
    uint64_t part;                             /* of what the launch had left, when it looked last */
    uint64_t begun_at;                         /* warp_instructions when one of its blocks has begun or ended last */
    uint32_t looks;                            /* into stalls */
    uint32_t wrote;                            /* lanes, of the last atomic operation that was watched */
    _Alignas(64) uint8_t scratch[2][512 + 64]; /* rows of results before they are blended in */
    const struct compiled *compiled;           /* code that inline_caches belong to */
    struct inline_cache *inline_caches;
    uint32_t n_inline_caches;
    uint64_t inline_caches_version; /* of memory, when they were empty last */
    struct histograms histograms;
    struct allocation_cache {            /* the allocation that an operation accessed last: access.c */
        uint64_t lo, hi, version, shift; /* shift: mem_shift() */
        const struct op *key;
    } allocation_cache[ALLOCATION_CACHE];
};

struct machine_config {
    uint32_t workers, stack_bytes;
    uint64_t memory_bytes, heap_bytes, print_bytes, step_limit;
    const char *cpu_level;
    hd_engine engine;
    void (*print)(void *data, const char *text, size_t bytes);
    void (*note)(void *data, const char *text);
    void *print_data;
    const char *policy, *record_path;
    const char *device;          /* see device_model(); NULL: the default */
    bool host_memory;            /* kernels reach the host's own memory, */
    host_ranges_fn *host_ranges; /* or these parts of it, if any */
    bool guarded;                /* mem_guard() */
    bool (*origin)(void *data, const void *start, bool freed, char *text, size_t bytes);
};

/* The compiler of kernels, where there is one (src/jit): the machine's functions that run launches call these. */
struct compiler {
    /* Before the first block: code that is ready is put into l->compiled, l->consider_at is set. False with a
     * diagnostic where the launch asks for compiled code and there can be none. */
    bool (*begin)(struct machine *m, struct launch *l, struct diags *diags);
    /* A worker has let its blocks have a turn, and has run l->consider_at instructions of warps. */
    void (*consider)(struct launch *l, const struct worker *k);
    void (*end)(struct launch *l);                       /* after its last block */
    void (*forget)(struct machine *m, struct kernel *k); /* which is about to be freed */
    bool (*wants_serial_walks)(const struct machine *m); /* code_env.serial_walks */
    /* The process is about to enter the sandbox: what is needed outside is added to the broker (sandbox/broker.h). False with
     * errno. */
    bool (*confine)(struct machine *m);
    void (*close)(struct machine *m);
};

/* Memory behind windows, and what of it no worker has: pool.c. */
struct windows {
    pthread_mutex_t lock;
    struct window_area area;
    struct pool_item *free[POOL_CLASSES];
};

struct machine {
    struct mem mem;
    struct windows windows;
    const struct compiler *compiler; /* or NULL: kernels are interpreted */
    void *compiler_data;
    struct machine_config config;
    const struct device_model *model;
    struct schedule schedule;
    lane_fn *const *lanes;
    const struct row_fns *rows;
    const char *cpu_level;
    struct worker *workers; /* threads of its own */
    uint32_t n_threads;
    pthread_mutex_t lock; /* of what follows, and of lists of launches' workers */
    pthread_cond_t work, idle;
    struct launch *launches;
    bool stopping;
    pthread_t clock_thread; /* limit.c */
    pthread_cond_t clock;
    bool has_clock;
    pthread_mutex_t one_at_a_time; /* launches under policies other than fair */
    pthread_mutex_t print_lock;    /* of the sinks of text, too */
    _Atomic uint64_t launch_number, heap_used;
    const struct order_hooks *_Atomic order; /* queue.h; or NULL */
};

/* What a launch has printed, and could not. */
struct print_total {
    uint64_t bytes, calls, lost_bytes, lost_calls;
    bool no_memory; /* one reason for it */
};

enum launch_flags {
    LAUNCH_COOPERATIVE = HD_LAUNCH_COOPERATIVE,
    LAUNCH_CLOSED = HD_LAUNCH_CLOSED,
};

struct launch {
    struct launch *next;
    struct machine *machine;
    struct kernel *kernel;
    uint64_t number;
    uint32_t task; /* its number in the order of tasks (queue.h), or 0 */
    uint32_t flags;
    uint32_t grid[3], block[3];
    uint32_t cluster[3], blocks_per_cluster; /* 1 where there are no clusters */
    bool explicit_cluster;                   /* somebody has said how large they are */
    uint32_t threads_per_block, warps_per_block;
    uint64_t n_blocks;
    uint32_t shared_bytes, dynamic_shared_bytes;
    uint32_t max_resident; /* clusters, or blocks where there are none, that the claimed device could hold */
    uint8_t *params;       /* in the machine's memory */
    uint8_t *grid_barrier; /* of a cooperative launch: what %envreg1 and 2 address */
    uint8_t *warp_rows;    /* ROW_WARP of every warp of a block; the launching worker's */
    const struct row_fns *rows;
    struct schedule *schedule;     /* NULL: fair */
    const struct hook_list *hooks; /* or NULL */
    hd_engine engine;
    const struct compiled *_Atomic compiled; /* NULL: not yet, or never; may be replaced by better code */
    _Atomic uint64_t consider_at;            /* when the compiler wants to hear of a worker; UINT64_MAX: never again */
    void *compiler_data;
    _Atomic uint64_t next_block, done_blocks;
    _Atomic uint64_t steps;       /* warp instructions, as far as workers have added theirs: limit.c */
    double deadline;              /* seconds_now() by then; 0: none */
    _Atomic uint32_t interrupted; /* enum fault_kind: as which the next worker that looks is to end it */
    _Atomic uint32_t resident;
    _Atomic bool failed;
    /* stalls: stall.c */
    _Atomic bool watching;     /* record what happens to memory */
    bool changed, read_global; /* since watching began; one thread runs then */
    bool noted;
    _Atomic uint32_t prober; /* 1: a worker wants all others to park */
    pthread_mutex_t lock;    /* of fault and of what follows */
    pthread_cond_t parking;
    struct fault fault;
    struct diags report; /* of a stall; made by whoever finds it */
    struct arena report_arena;
    struct worker *workers;
    uint64_t warp_instructions, lane_instructions;
    struct print_total printed; /* under the machine's print_lock */
};

/* *error gets a static text where the policy or the CPU level is not known; else NULL. */
hd_result machine_create(const struct machine_config *config, struct machine **machine, const char **error);
/* False where the schedule could not be recorded whole. */
bool machine_destroy(struct machine *m);
/* Makes every running launch fail with FAULT_cancelled. */
void machine_cancel(struct machine *m);
void machine_progress(struct machine *m, hd_progress *progress);
/* Frees a kernel that has been prepared for this machine; NULL is allowed. */
void machine_free_kernel(struct machine *m, struct kernel *k);

struct launch_request {
    struct kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0 where nobody has said */
    uint32_t shared_bytes, flags;
    hd_engine engine;
    double deadline;    /* as in struct launch */
    const void *params; /* packed */
    struct hook_list hooks;
    struct worker *worker; /* that launches; NULL: one is made for it */
    uint32_t task;         /* as in struct launch */
};

/* A worker for a thread that launches; it keeps memory from one launch to the next. NULL where memory is exhausted. */
struct worker *worker_create(struct machine *m);
void worker_destroy(struct worker *k); /* NULL is allowed */

/* Runs a grid to its end in this thread and the machine's workers. Limits have been checked. A fault becomes a
 * diagnostic. */
hd_result machine_launch(struct machine *m, const struct launch_request *r, hd_launch_stats *stats,
                         struct diags *diags);

/* A thread begins and ends to work on a launch. */
void launch_join(struct launch *l, struct worker *k);
void launch_leave(struct launch *l, struct worker *k);

/* How many blocks the claimed device could hold at once (threads, blocks, shared memory). */
uint32_t launch_capacity(const struct machine *m, uint32_t threads_per_block, uint32_t shared_bytes);

/* ---- worker.c ---- */

/* Runs blocks of a launch until none is left to start and this worker's are done. */
void worker_run(struct worker *k, struct launch *l);
/* The same on one thread, by the launch's schedule. */
void worker_run_scheduled(struct worker *k, struct launch *l);
/* What the worker has kept for the launch's next block. */
void worker_end_launch(struct worker *k, struct launch *l);
static inline bool launch_has_failed(const struct launch *l)
{
    return atomic_load_explicit(&l->failed, memory_order_relaxed);
}

/* ---- compiled.c ---- */

/* The launch's compiled code, where it may run: it tells nobody what it does, and takes no orders from a schedule. */
const struct compiled *worker_find_compiled(struct worker *k, struct launch *l);
/* Forgets the compiled code that the worker has run last. */
void worker_drop_compiled(struct worker *k);

/* ---- histogram.c ---- */

/* For the code that inline_caches belong to. */
void histogram_begin(struct worker *k);
/* Where compiled code performs an operation that was in the allocation: how far from the cells are the sums that it is to
 * change instead; 0: the cells themselves. To be called after histogram_settle(). */
uint64_t histogram_shift(struct worker *k, const struct op *o, const struct mem_block *b);
/* Brings all sums to their arrays. */
void histogram_settle_all(struct worker *k);
void histogram_settle_for_engine(struct worker *k);
/* The same, and from here on there are none. */
void histogram_close_all(struct worker *k);
/* To be called before anything but compiled code accesses global memory. */
static inline void histogram_settle(struct worker *k)
{
    if (k->histograms.n)
        histogram_settle_for_engine(k);
}

/* ---- stall.c ---- */

/* To be called by a worker whose blocks have all given way, since `since` (seconds; 0: under a schedule, where time does
 * not count). Finds out whether the launch can ever go on; reports where not. */
void stall_look(struct worker *k, struct launch *l, double since);
/* Parks while another worker looks. */
void stall_park(struct worker *k, struct launch *l);
/* All lanes of a block wait for each other, or those of a cluster. */
void stall_report_deadlock(struct block *b);

/* ---- limit.c ---- */

/* Before the worker's first block of a launch. */
void limit_join(struct worker *k, struct launch *l);
static inline bool limit_is_due(struct worker *k)
{
    return k->warp_instructions > atomic_load_explicit(&k->look_at, memory_order_relaxed);
}
/* To be called where that is so, by a warp whose `lanes` are about to run o. False where the launch has failed, as where it has
 * executed too much. */
bool limit_look(struct warp *w, const struct op *o, uint32_t lanes);
/* After the last block: a launch that has executed too much has failed. */
void limit_end(struct launch *l);
/* May compiled code be entered? Then the budgets of the warp are such that it leaves before it has executed too much; or those of
 * the block's warps, which begin a barrier phase, and its phases. */
bool limit_allows_warp(struct warp *w, const struct code *c);
bool limit_allows_block(struct block *b, const struct code *c);
/* With the machine's lock held. */
void launch_cancel(struct launch *l);
/* A launch with a deadline has come into the machine's list; false where no thread can be started. */
bool limit_start_clock(struct machine *m);

/* ---- fault.c ---- */

/* Ends the launch with a fault of no thread's, unless it has one. */
void launch_fail(struct launch *l, enum fault_kind kind);

/* ---- block.c ---- */

/* `first`: the first of its cluster that has been started; NULL where it is itself. */
struct block *block_start(struct worker *k, struct launch *l, uint64_t index, struct block *first);
/* The number of its cluster in the launch, known from its start. */
static inline uint64_t block_cluster(const struct block *b)
{
    return b->index / b->launch->blocks_per_cluster;
}
/* Runs one warp until it gives way. */
void block_run_warp(struct warp *w);
/* Lets every warp that can run do so once. *progress is set where one came to a barrier or its end. True when the
 * block is done or the launch has failed. */
bool block_round(struct block *b, bool *progress);
/* Quanta that each warp that can run sits out, at least; and takes so many of them off. */
uint32_t block_least_backoff(const struct block *b);
void block_skip_backoff(struct block *b, uint32_t quanta);
/* Can nobody's turn let it go on? */
bool block_is_stuck(const struct block *b);
/* May one that is done become another one, without being put away and started again? Makes it that. */
bool block_can_be_next(const struct block *b);
void block_be_next(struct block *b, uint64_t index);
/* Puts it away; the worker keeps one for the next that it starts. */
void block_finish(struct block *b);
/* Frees what has been kept. */
void block_drop_kept(struct worker *k);

/* ---- lockstep.c ---- */

/* Runs a block that has not begun by compiled code alone, all warps from barrier to barrier. False where that is not
 * possible, or not to the end: its warps then stand where their records say. */
bool block_run_lockstep(struct block *b);
/* The same for a block whose warps stand behind a barrier that they all came to as a whole. */
bool block_resume_lockstep(struct block *b);

/* ---- pool.c ---- */

/* At least `bytes` bytes, aligned to 64; contents undefined, so that what kernels can read has to be cleared; NULL where the
 * machine's limit or the system's is reached. */
void *pool_take(struct worker *k, size_t bytes);
void pool_give(struct worker *k, void *p, size_t bytes);
/* The same of what kernels address as shared or local memory. */
void *pool_take_window(struct worker *k, size_t bytes);
void pool_give_window(struct worker *k, void *p, size_t bytes);
void windows_open(struct windows *w);
void windows_close(struct windows *w);
void pool_free_all(struct worker *k);
/* Between launches, when all is free: keeps it where it is little. */
void pool_trim(struct worker *k);

#endif
