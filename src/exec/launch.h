/* A launch: a grid of blocks that the machine's workers run. All workers share the record; members
 * that change are atomic, or under the lock that their comment names. */
#ifndef HEDDLE_EXEC_LAUNCH_H
#define HEDDLE_EXEC_LAUNCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/code.h"
#include "exec/fault.h"
#include "exec/events.h"
#include "texture/texture.h"

struct machine;
struct worker;
struct compiled;
struct schedule;
struct row_fns;
struct thread_pool;
struct memory_rules;
struct nested;
struct stopper;

/* Printed and lost output of a launch. */
struct print_total {
    uint64_t bytes, calls, lost_bytes, lost_calls;
    bool no_memory; /* some was lost because memory ran out */
};

enum launch_flags {
    LAUNCH_COOPERATIVE = HD_LAUNCH_COOPERATIVE,
    LAUNCH_CLOSED = HD_LAUNCH_CLOSED,
    LAUNCH_REPLAYED = HD_LAUNCH_REPLAYED,
};

/* CUDA's execution configuration. */
struct launch_dims {
    uint32_t grid[3], block[3]; /* in blocks, in threads */
    uint32_t cluster[3];        /* in blocks; 1 where there are no clusters */
    bool explicit_cluster;      /* their size was given */
    uint32_t shared_bytes;      /* dynamic, of a block */
};

/* What was bound to a module's reference when the launch was submitted; its kernel reads
 * that. */
struct bound_texture {
    const struct texture_reference *reference;
    struct texture *texture; /* held; or NULL */
};

/* A request for a launch. The caller keeps it unchanged until the launch has ended. */
struct launch_request {
    struct kernel *kernel;
    struct launch_dims dims;
    uint32_t flags;
    hd_engine engine;
    double deadline; /* seconds_now() by then; 0: none */
    uint8_t *params; /* packed, in the machine's memory (launch_params()); NULL: it has none */
    struct bound_texture *bound;
    uint32_t n_bound;
    uint64_t textures; /* when it was submitted: texture_table_enter(); 0: it has not been */
    struct event_list events;
    struct context *context; /* of streams (queue.h), whose fault ends it; NULL: none */
    uint32_t task;           /* its number among tasks (queue.h), or 0 */
    /* Where the host launched it: a place of hd_checker_options, or NULL. */
    const void *where;
    struct memory_rules *rules; /* a checker's (check/memory/rules.h), or NULL */
    struct schedule *schedule;  /* its own; NULL: the machine's */
    const char *launched_by;    /* the kernel, by its name in PTX; NULL: the host */
    /* Answers calls of the device runtime (nested.h); NULL: the kernel has none. */
    const struct nested *nested;
    struct stopper *stopper; /* who debugs it (stops.h); or NULL */
    uint64_t graph;          /* what %current_graph_exec says */
    void *graph_run;         /* hd_launch_config.graph_run */
};

struct launch {
    struct launch *next;
    struct machine *machine;
    struct worker *launcher;
    double begun;    /* seconds_now() at its start */
    bool ready;      /* its kernel is prepared */
    bool held_up;    /* by another launch that holds the schedule */
    bool is_brief;   /* its launcher has other work, and gives way unless it ends soon */
    bool is_offered; /* to the machine's own workers */
    int core;        /* the core on which its launcher opened it */
    struct kernel *kernel;
    uint64_t number;
    const struct launch_request *request; /* dimensions, limits, the place among tasks */
    uint32_t blocks_per_cluster;          /* 1 where there are no clusters */
    uint32_t threads_per_block, warps_per_block;
    uint64_t n_blocks;
    uint32_t shared_bytes; /* of a block: static and dynamic */
    /* Accesses must begin below this, but may end within shared_bytes. */
    uint32_t asked_shared_bytes;
    /* The last part of a block's shared memory, which the system reserves if the kernel asks for
     * its offset (%reserved_smem_offset_*); it is part of shared_bytes. Cooperative groups of
     * several warps use it. */
    uint32_t reserved_shared_start, reserved_shared_bytes;
    uint32_t max_resident; /* the clusters (or blocks) that the claimed device can hold at once */
    const uint8_t *params; /* the request's */
    uint8_t *grid_barrier; /* of a cooperative launch: the address of %envreg1 and 2 */
    uint8_t *warp_rows;    /* ROW_WARP of every warp of a block; the launching worker's */
    const struct row_fns *rows;
    struct schedule *schedule;       /* NULL: fair */
    const struct event_list *events; /* who watches; or NULL */
    struct event_launch told;        /* its record in events */
    /* NULL: not compiled yet, or never; better code may replace it. */
    const struct compiled *_Atomic compiled;
    /* When a worker reports to the compiler next; UINT64_MAX: never again. */
    _Atomic uint64_t consider_at;
    void *compiler_data;
    _Atomic uint64_t next_block, done_blocks;
    _Atomic uint64_t steps; /* warp instructions that workers have added so far: limit.c */
    /* enum fault_kind: the next worker that checks limits must end it so. */
    _Atomic uint32_t interrupted;
    _Atomic uint32_t resident;
    _Atomic bool failed;
    _Atomic bool used_tail; /* an access was in the tail of an allocation (mem/space.h) */
    /* stalls: stall.c */
    _Atomic bool watching;     /* record changes of memory */
    bool changed, read_global; /* since watching began; one thread runs then */
    bool noted;
    _Atomic uint32_t prober; /* 1: a worker asks all others to park */
    pthread_mutex_t lock;    /* of `fault` and the members below */
    pthread_cond_t parking;
    struct fault fault;
    struct diags report; /* of a stall, by the worker that finds it */
    struct arena report_arena;
    struct worker *workers;
    uint64_t warp_instructions, lane_instructions;
    struct print_total printed; /* under the machine's print_lock */
};

/* Allocates zeroed memory of the machine for a launch's parameters, and frees it. NULL: out of
 * memory; NULL may be freed. */
uint8_t *launch_params(struct machine *m, const struct kernel *k);
void launch_params_free(struct machine *m, uint8_t *params);

/* The calling thread and the machine's workers run a grid. Between its steps, nothing of it is on a
 * C stack. So launches that wait for each other can take turns on few threads, and each step may be
 * on another thread.
 *
 * Limits must have been checked. NULL: out of memory. */
struct launch *launch_begin(struct machine *m, const struct launch_request *r, struct diags *diags);
/* Continues. True: all is done. False: it has given way to jobs of `others` (worker_run()). */
bool launch_step(struct launch *l, const struct thread_pool *others);
/* A fault becomes a diagnostic. Frees the launch; NULL is allowed. */
hd_result launch_end(struct launch *l, hd_launch_stats *stats, struct diags *diags);

/* A thread joins and leaves a launch. False: its workers must park now, and this thread does not
 * wait for them, since it holds a lock that they may need to park. */
bool launch_join(struct launch *l, struct worker *k, bool waits);
void launch_leave(struct launch *l, struct worker *k);

/* How many blocks the claimed device could hold at once (threads, blocks, shared memory). */
uint32_t launch_capacity(const struct machine *m, uint32_t threads_per_block, uint32_t shared_bytes);

/* Does the launching thread run all of it? */
static inline bool launch_is_by_one(const struct launch *l)
{
    return l->schedule || (l->events && l->events->by_one);
}

/* Its blocks may begin. If the kernel's last launch was short (its time is noted), the launching
 * thread begins alone; otherwise the machine's workers are offered blocks. */
void launch_open(struct launch *l);
/* Offers the remaining blocks, if they take longer than waking a worker. */
void launch_offer_rest(struct launch *l);
void launch_note_time(struct launch *l);

static inline bool launch_has_failed(const struct launch *l)
{
    return atomic_load_explicit(&l->failed, memory_order_relaxed);
}

#endif
