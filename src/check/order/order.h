/* Happens-before between the threads of launches: the causality order of the PTX memory consistency
 * model (PTX ISA 8.9.5), as far as this run has shown it. It knows threads, barriers, fences,
 * scopes, and which strong write a strong read has observed. It knows nothing of races.
 *
 * One execution of a block is a *CTA incarnation*. It has a clock of *epochs*: whenever one of its
 * threads synchronises, a new epoch begins, and an access belongs to the epoch that its warp was
 * in. What a thread knows of others is a *frontier*, as an entry of a vector clock: their accesses
 * in epochs below it happen before all that the thread does from now on. Frontiers follow the
 * thread hierarchy, so that the usual barrier costs nothing per thread:
 *
 *     of the block    raised when all of its threads meet at a barrier
 *     of a warp       raised when all of its lanes meet in bar.warp.sync; holds among its own threads
 *     clocks          (clock.h) of the block, the warp, the lane, for all that is less regular: barriers of some threads, masks of some
 *                     lanes, what was acquired from other blocks
 *
 * Release and acquire (8.8). A release pattern is a strong write that releases, or that follows a
 * fence of its thread. It leaves what the thread knew at the location, in a *sync variable*;
 * read-modify-writes add to that, other writes begin anew. An acquire pattern is a strong read that
 * acquires, or that a fence follows. Both count only where the scopes of the operations include the
 * other thread (8.7, morally strong operations).
 *
 * The parts of a block belong to the worker that runs it. Sync variables are under a lock, which is
 * held from before a strong access until it has been performed, so that the order here is the order
 * in memory.
 */
#ifndef HEDDLE_CHECK_ORDER_H
#define HEDDLE_CHECK_ORDER_H

#include "base/vec.h"
#include "check/shadow/budget.h"
#include "check/order/clock.h"
#include "check/shadow/numbered.h"
#include "exec/events.h"

/* The threads that a scope includes (8.5): those of the block, of the
 * cluster, of the device, all. */
enum scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS, SCOPE_COUNT };
enum scope order_scope(enum isa_mod scope);

/* One execution of a block, or a task that is not a launch. */
struct incarnation {
    uint32_t task;    /* its launch, numbered by timelines.h */
    uint32_t cluster; /* the first incarnation of its cluster, which may be itself */
    uint32_t ctaid[3];
    uint32_t block[3]; /* the block's size in threads */
    bool host;         /* only the scope .sys includes it */
    bool has_peers;    /* its cluster has other blocks */
    _Atomic bool ended;
};

/* A thread's knowledge and progress at some moment. */
struct snapshot {
    struct clock *known;
    /* Its warp's epoch; the frontiers of its block and of its warp. */
    uint32_t epoch, frontier, warp_frontier;
};

/* The first half of a two-operation pattern on one location (8.8). Either a releasing operation,
 * which a later strong write of the lane to the location completes to a release pattern. Or what
 * strong reads without acquire have observed, which a later acquire of the location completes to
 * an acquire pattern. */
struct lane_pattern {
    uint64_t address;
    enum scope scope;   /* of the release; or the narrowest that acquires */
    struct snapshot at; /* for an observation, only `known` */
};
/* Patterns are kept for this number of locations. */
enum { LANE_PATTERNS = 16 };
struct lane_patterns {
    uint32_t n, next;
    struct lane_pattern of[LANE_PATTERNS];
};

/* State of single lanes, made once they synchronise one by one. */
struct lane_order {
    struct clock *known[WARP_LANES];    /* each includes the warp's `known`; NULL: it equals that */
    struct clock *acquired[WARP_LANES]; /* what was acquired last */
    /* What strong reads without acquire have observed, by the narrowest scope of a fence that
     * acquires it. It takes effect at such a fence. `have_observed`: the lanes that have some. */
    struct clock *observed[SCOPE_COUNT][WARP_LANES];
    uint32_t have_observed[SCOPE_COUNT];
    /* The last observed clock, and the lanes whose `observed` is that clock. */
    const struct clock *latest[SCOPE_COUNT];
    uint32_t have_latest[SCOPE_COUNT];
    /* At the lane's last releasing fence of each scope. */
    struct snapshot fence[SCOPE_COUNT][WARP_LANES];
    uint32_t have_fenced[SCOPE_COUNT];
    /* Lanes whose fence of scope cluster was only fence.mbarrier_init. */
    uint32_t have_fenced_inits;
    struct lane_patterns *released[WARP_LANES], *read[WARP_LANES]; /* or NULL */
};

struct warp_order {
    uint32_t epoch;          /* the epoch of its current accesses */
    uint32_t frontier;       /* what its threads know of each other by */
    uint32_t exists, exited; /* lanes */
    /* For exited lanes: the frontiers of block and warp at the exit. Others know no more of
     * their accesses. */
    uint32_t exit_frontier[WARP_LANES], exit_warp_frontier[WARP_LANES];
    struct clock *known;      /* or NULL: what the block knows; else that, too */
    struct lane_order *lanes; /* or NULL */
};

/* State that the blocks of a cluster share, for barrier.cluster. One worker runs them all. */
struct cluster_order {
    uint32_t blocks;
    uint32_t first; /* the incarnation of its first block */
    uint32_t opened_times;
    struct clock *arriving; /* joined knowledge of threads that have arrived since it last opened */
    struct clock *opened;   /* joined knowledge when it last opened */
};

/* A fence.mbarrier_init by a lane (9.7.13.4). It releases only the mbarriers that the lane has
 * initialised in epochs below `frontier`, to all who meet at the next cluster barrier at which
 * the lane arrives. */
struct init_fence {
    unsigned warp, lane;
    uint32_t frontier;
    bool has_arrived;
    uint32_t times; /* how often the barrier had opened before */
};

/* An mbarrier of the block (9.7.13.15). `phase`: joined knowledge of threads that have arrived
 * in phases of each parity, and earlier ones. */
struct mbarrier_order {
    uint64_t address;
    struct clock *phase[2];
};

struct block_order {
    struct order *order;
    struct block_order *next_running, **running_link; /* NULL: it has ended */
    uint32_t number;                                  /* its incarnation */
    uint32_t epoch, frontier;
    uint32_t least_exit_frontier;    /* of exited threads; UINT32_MAX: none has exited */
    bool irregular;                  /* some thread has a clock: frontiers do not tell everything */
    struct clock *known;             /* or NULL: nothing */
    struct clock *at_exit;           /* in a cluster: joined knowledge of its exited threads */
    struct clock *arrived[BARRIERS]; /* joined knowledge of threads that arrived without waiting */
    struct cluster_order *cluster;   /* or NULL */
    VEC(struct mbarrier_order) mbarriers;
    VEC(struct init_fence) init_fences;
    uint32_t n_warps;
    struct warp_order warps[];
};

struct order;

/* ---- life, and garbage collection ---- */

struct order *order_new(struct budget *budget);
void order_free(struct order *o);
/* Drops all sync variables, while no block runs: what they have released happens before all that
 * follows. */
void order_forget_releases(struct order *o);
/* Drops all incarnations. Nobody may hold a number of one. */
void order_forget_incarnations(struct order *o);
/* Garbage collection. Marks the incarnations of running blocks and those in sync variables. The
 * caller marks others that it needs; then order_drop_incarnations() frees the rest. No block may
 * start meanwhile. False without memory: nothing is dropped. With the lock (order_lock). */
bool order_keep_incarnations(struct order *o);
void order_keep_incarnation(struct order *o, uint32_t number);
void order_drop_incarnations(struct order *o);
const struct numbered *order_incarnations(const struct order *o);
const struct incarnation *order_incarnation(const struct order *o, uint32_t number);
/* Memory ran out, and some synchronisation was lost: ordered accesses may be reported as races. */
bool order_is_incomplete(const struct order *o);

/* From now on kernels may acquire by operations other than fences; or by scopes narrower than
 * the device, for which releases are kept by block. */
void order_has_acquires(struct order *o);
void order_part_releases(struct order *o);
bool order_scope_includes(const struct order *o, enum scope scope, uint32_t from, uint32_t to);

/* ---- blocks, tasks, the host ---- */

/* These return NULL without memory. A task that is not a launch has one thread. The host's new
 * segment inherits all that it knew in `before` (or NULL), which ends. */
struct block_order *order_block_start(struct order *o, const struct event_block *b, uint32_t task);
struct block_order *order_task_start(struct order *o, uint32_t task);
struct block_order *order_host_start(struct order *o, uint32_t task, struct block_order *before);
/* Gives its threads the knowledge of a clock, or NULL. */
void order_inherit(struct block_order *b, struct clock *c);
/* All that a lane knows and has done. Its later accesses are not included. */
struct clock *order_publish_all(struct block_order *b, unsigned warp, unsigned lane);
/* It belongs to the cluster of a block that has already started. */
void order_join_cluster(struct block_order *b, struct block_order *with);
/* Its threads have ended. Its record stays for others until order_block_end(). */
void order_block_ended(struct block_order *b);
bool order_has_ended(const struct order *o, uint32_t incarnation);
void order_block_end(struct block_order *b);

/* ---- synchronisation ---- */

/* Will all threads of the block that have not exited meet, if barrier `id` opens? */
bool order_all_wait(const struct block_order *b, const struct sync_event *e);
void order_barrier_opens(struct block_order *b, const struct sync_event *e);
/* bar.arrive: lanes arrive without waiting. */
void order_barrier_arrive(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t id);
/* barrier.cluster (9.7.13.4): lanes arrive; all have arrived; lanes have waited. */
void order_cluster_arrive(struct block_order *b, unsigned warp, uint32_t lanes, bool releases);
void order_cluster_opens(struct block_order *b);
void order_cluster_wait(struct block_order *b, unsigned warp, uint32_t lanes);
/* An mbarrier in the shared memory of `owner`: a lane arrives in the phase of a parity and may
 * complete it; a lane has seen that phase complete. */
void order_mbarrier_arrive(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                           const struct sync_event *e);
void order_mbarrier_wait(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                         const struct sync_event *e);
/* An asynchronous operation that a lane has issued, and an mbarrier tracks (9.7.9.25), is done
 * in the phase of a parity. It is not an access of the lane. It happens before all that threads
 * do that know of this phase, and before nothing else. */
void order_issued_done(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner, uint64_t address,
                       bool parity);
/* bar.warp.sync of these lanes. */
void order_warp_meets(struct block_order *b, unsigned warp, uint32_t lanes);
/* Begins a new epoch of the warp. */
void order_step(struct block_order *b, unsigned warp);
/* `issues`: copies that these lanes issued may still be running. */
void order_exit(struct block_order *b, unsigned warp, uint32_t lanes, bool issues);
/* griddepcontrol.wait: lanes learn that the earlier, overlapping grids have ended. The second
 * function asks whether a lane has learnt that. */
void order_grids_ended(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t task);
bool order_knows_grids_ended(const struct block_order *b, unsigned warp, unsigned lane, uint32_t task);
/* fence; fence.mbarrier_init.release.cluster; fence.proxy.async, of one space or both. */
void order_fence(struct block_order *b, unsigned warp, uint32_t lanes, bool acquires, bool releases, enum scope scope);
void order_fence_inits(struct block_order *b, unsigned warp, uint32_t lanes);
void order_fence_proxy(struct block_order *b, unsigned warp, uint32_t lanes, bool shared, bool global);

/* Strong accesses come between these two calls, one location at a time, in the order in which
 * lanes perform them. */
void order_lock(struct order *o);
void order_unlock(struct order *o);
struct strong_access {
    uint64_t address; /* an address of the host */
    uint32_t bytes;
    uint32_t owner; /* the incarnation whose shared memory it is; 0: global memory */
    bool reads, writes;
    bool acquires, releases;
    enum scope scope;
};
/* A read by lanes that all read the same value: they observe what the last write has released.
 * Returns another task that has released it, or 0. To be called before the access is recorded,
 * because an acquiring read comes after what it acquires. */
uint32_t order_observe(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s);
/* A write. To be called after the access is recorded, because a releasing write is released
 * itself. */
void order_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s);
/* Does the location have a release by a strong write? Without the lock. */
bool order_has_release(const struct block_order *b, uint64_t address, uint32_t bytes);
/* A weak write: a strong read of it acquires nothing. */
void order_weak_write(struct block_order *b, uint64_t address, uint32_t bytes);

/* ---- what happens before ---- */

/* Accesses of a warp's lanes in one epoch. */
struct accesses {
    uint32_t incarnation, warp, lanes, epoch;
};

/* These return the lanes whose accesses happen before the current access of `lane`, for accesses
 * of the same task; */
uint32_t order_before(const struct block_order *b, unsigned warp, unsigned lane, struct accesses of);
/* for asynchronous operations that lanes have issued and an mbarrier tracks; */
uint32_t order_issued_before(const struct block_order *b, unsigned warp, unsigned lane, struct accesses of);
/* for mbarrier.init in the shared memory of a block of the cluster, ordered by
 * fence.mbarrier_init; */
uint32_t order_init_before(const struct block_order *owner, const struct block_order *b, unsigned warp, unsigned lane,
                           struct accesses of);
/* for accesses to global memory, or to the shared memory of their block, those that a fence of
 * the async proxy orders. */
uint32_t order_fenced(const struct block_order *b, unsigned warp, unsigned lane, bool global, struct accesses of);
/* The lanes whose accesses, or issued copies, happen before the end of at least one thread of
 * the block. All of its threads have exited. */
uint32_t order_before_end(const struct block_order *b, struct accesses of, bool issued);
bool order_all_have_exited(const struct block_order *b);
/* Do all running lanes of a warp have the same clock? If so: do they know the same about all
 * lanes of these accesses? */
bool order_lanes_know_alike(const struct block_order *b, unsigned warp);
bool order_knows_lanes_alike(const struct block_order *b, unsigned warp, struct accesses of);

#endif
