/* A worker runs blocks of a launch. It keeps the blocks that it has started, free memory, and a
 * cache of allocations. Each thread of the machine is a worker. The launching thread is one, too;
 * after it has given way, another thread may continue in its place (launch.h). Other threads write
 * only look_at of a running worker (limit.c); they read its blocks while it is parked (stall.c). */
#ifndef HEDDLE_EXEC_WORKER_H
#define HEDDLE_EXEC_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/histogram.h"
#include "exec/pool.h"

struct machine;
struct launch;
struct block;
struct compiled;
struct inline_cache;
struct ledger;
struct thread_pool;

enum { ALLOCATION_CACHE = 256 };

struct worker {
    struct machine *machine;
    struct launch *launch; /* the one it works on */
    struct worker *next;   /* in the launch's list */
    uint32_t id;           /* 0: the launching thread */
    /* It waits while another worker examines a stall, or it has given way. */
    bool parked;
    pthread_t thread;                     /* of the machine's own */
    struct pool_item *pool[POOL_CLASSES]; /* free memory by size: pool.c */
    struct pool_item *windows[POOL_CLASSES];
    uint64_t pool_bytes;   /* free and used memory */
    struct ledger *ledger; /* of what is in use, while snapshots are taken (snapshot.h); or NULL */
    uint8_t *warp_rows;    /* of its last launch, with blocks of the shape laid_out */
    uint32_t laid_out[3];
    struct block *resident;
    uint32_t n_resident;
    struct block *kept;        /* one that has ended: the next to start is built on it */
    uint64_t claim, claim_end; /* blocks that are this worker's to start */
    uint64_t batch;            /* how many it took last */
    uint64_t done_blocks;      /* not counted in the launch yet */
    bool has_place;            /* it may start another cluster: one has ended */
    uint64_t warp_instructions, lane_instructions;
    _Atomic uint64_t look_at; /* limit_look() when warp_instructions exceeds it */
    uint64_t counted_steps;   /* warp instructions that are in the launch's sum */
    /* Its share of the launch's remaining steps, when it last looked. */
    uint64_t part;
    /* warp_instructions when one of its blocks last began or ended. */
    uint64_t begun_at;
    double idle_since; /* when a block of it last made progress; 0: now */
    uint32_t looks;    /* how often it examined stalls */
    /* The lanes that the last watched atomic operation wrote for. */
    uint32_t wrote;
    _Alignas(64) uint8_t scratch[2][512 + 64]; /* rows of results before they are blended in */
    const struct compiled *compiled;           /* code that inline_caches belong to */
    struct inline_cache *inline_caches;
    uint32_t n_inline_caches;
    uint64_t inline_caches_version; /* memory's version when they were last emptied */
    struct histograms histograms;
    /* The allocation that an operation accessed last: access.c. */
    struct allocation_cache {
        uint64_t lo, hi, version, shift; /* shift: mem_shift() */
        const struct op *key;
    } allocation_cache[ALLOCATION_CACHE];
};

/* A worker for the launching thread, with the memory of an earlier one if there is a spare. NULL:
 * out of memory. */
struct worker *worker_take(struct machine *m);
void worker_give(struct worker *k);
void workers_free_spare(struct machine *m);

/* Runs blocks of a launch. True: no block is left to start, and all of this worker's are done.
 * False: it has given way, because jobs of `others` have no thread while its blocks wait or have
 * had their time. `others` NULL: it never gives way. */
bool worker_run(struct worker *k, struct launch *l, const struct thread_pool *others);
/* The same on one thread, by the launch's schedule. It gives way if all its blocks wait and other
 * launches want the schedule. */
bool worker_run_scheduled(struct worker *k, struct launch *l, const struct thread_pool *others);
/* Drops what the worker has kept for the launch's next block. */
void worker_end_launch(struct worker *k, struct launch *l);

/* To be called before anything but compiled code accesses global memory. */
static inline void histogram_settle(struct worker *k)
{
    if (k->histograms.n)
        histogram_settle_for_engine(k);
}

#endif
