/* A launch: a grid of blocks on its way through the machine's workers. The record is shared by all
 * of them; what changes is atomic, or under a lock that its comment names. */
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

/* What a launch has printed, and could not. */
struct print_total {
    uint64_t bytes, calls, lost_bytes, lost_calls;
    bool no_memory; /* one reason for it */
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
    bool explicit_cluster;      /* somebody has said how large they are */
    uint32_t shared_bytes;      /* dynamic, of a block */
};

/* What was bound to a reference of a module's when the launch was asked for: it is what its kernel
 * reads. */
struct bound_texture {
    const struct texture_reference *reference;
    struct texture *texture; /* held; or NULL */
};

/* What is asked for. Whoever asks keeps it, as it is, until the launch has ended. */
struct launch_request {
    struct kernel *kernel;
    struct launch_dims dims;
    uint32_t flags;
    hd_engine engine;
    double deadline; /* seconds_now() by then; 0: none */
    uint8_t *params; /* packed, in the machine's memory (launch_params()); NULL: it has none */
    struct bound_texture *bound;
    uint32_t n_bound;
    struct event_list events;
    struct context *context;     /* of streams (queue.h), whose fault ends it; NULL: none */
    uint32_t task;               /* its number in the order of tasks (queue.h), or 0 */
    struct memory_rules *rules;  /* a checker's (check/memory/rules.h), or NULL */
    struct schedule *schedule;   /* its own; NULL: the machine's */
    const struct nested *nested; /* who answers what it asks of the device runtime (nested.h); NULL: it asks nothing */
    struct stopper *stopper;     /* who debugs it (stops.h); or NULL */
    uint64_t graph;              /* what %current_graph_exec says */
    void *graph_run;             /* hd_launch_config.graph_run */
};

struct launch {
    struct launch *next;
    struct machine *machine;
    struct worker *launcher;
    double begun;    /* when: seconds_now() */
    bool ready;      /* its kernel can run */
    bool held_up;    /* by another one that has the schedule */
    bool is_brief;   /* its launcher has something else to do, and gives way where it is not soon done */
    bool is_offered; /* to the machine's own workers */
    struct kernel *kernel;
    uint64_t number;
    const struct launch_request *request; /* what was asked for: dimensions, limits, the place among tasks */
    uint32_t blocks_per_cluster;          /* 1 where there are no clusters */
    uint32_t threads_per_block, warps_per_block;
    uint64_t n_blocks;
    uint32_t shared_bytes;       /* of a block: static and dynamic */
    uint32_t asked_shared_bytes; /* nothing begins behind them; what begins before may end within shared_bytes */
    /* What the system keeps of a block's shared memory, the last of it, where the kernel asks for
     * its place (%reserved_smem_offset_*): of shared_bytes, too. Cooperative groups of several
     * warps meet there. */
    uint32_t reserved_shared_start, reserved_shared_bytes;
    uint32_t max_resident; /* clusters, or blocks where there are none, that the claimed device could hold */
    const uint8_t *params; /* the request's */
    uint8_t *grid_barrier; /* of a cooperative launch: what %envreg1 and 2 address */
    uint8_t *warp_rows;    /* ROW_WARP of every warp of a block; the launching worker's */
    const struct row_fns *rows;
    struct schedule *schedule;               /* NULL: fair */
    const struct event_list *events;         /* who watches; or NULL */
    struct event_launch told;                /* what events name it by */
    const struct compiled *_Atomic compiled; /* NULL: not yet, or never; may be replaced by better code */
    _Atomic uint64_t consider_at;            /* when the compiler wants to hear of a worker; UINT64_MAX: never again */
    void *compiler_data;
    _Atomic uint64_t next_block, done_blocks;
    _Atomic uint64_t steps;       /* warp instructions, as far as workers have added theirs: limit.c */
    _Atomic uint32_t interrupted; /* enum fault_kind: as which the next worker that looks is to end it */
    _Atomic uint32_t resident;
    _Atomic bool failed;
    _Atomic bool used_tail; /* an access was in the tail of an allocation (mem/space.h) */
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

/* Memory of the machine for a launch's parameters, all of it 0, and back; NULL where memory is
 * exhausted, and allowed. */
uint8_t *launch_params(struct machine *m, const struct kernel *k);
void launch_params_free(struct machine *m, uint8_t *params);

/* A grid runs in whoever asks for it and in the machine's workers. Nothing of it stands on a C
 * stack between its steps, so that launches which wait for each other can take turns on few
 * threads; each step may be on another one.
 *
 * Limits have been checked. NULL where memory is exhausted. */
struct launch *launch_begin(struct machine *m, const struct launch_request *r, struct diags *diags);
/* Goes on; true where all is done. False where it has given way to jobs of `others` (worker_run()). */
bool launch_step(struct launch *l, const struct thread_pool *others);
/* A fault becomes a diagnostic. Frees the launch; NULL is allowed. */
hd_result launch_end(struct launch *l, hd_launch_stats *stats, struct diags *diags);

/* A thread begins and ends to work on a launch. False: its workers are to park now, and this one
 * does not wait until they go on, as it holds a lock that they may need for parking. */
bool launch_join(struct launch *l, struct worker *k, bool waits);
void launch_leave(struct launch *l, struct worker *k);

/* How many blocks the claimed device could hold at once (threads, blocks, shared memory). */
uint32_t launch_capacity(const struct machine *m, uint32_t threads_per_block, uint32_t shared_bytes);

/* Is all of it its launcher's? */
static inline bool launch_is_by_one(const struct launch *l)
{
    return l->schedule || (l->events && l->events->by_one);
}

/* Its blocks may begin: the machine's own workers are offered them, or its launcher begins alone,
 * where they were short in the kernel's last launch, whose time has been noted. */
void launch_open(struct launch *l);
/* Offers what is left after all, where that takes longer than to wake somebody. */
void launch_offer_rest(struct launch *l);
void launch_note_time(struct launch *l);

static inline bool launch_has_failed(const struct launch *l)
{
    return atomic_load_explicit(&l->failed, memory_order_relaxed);
}

#endif
