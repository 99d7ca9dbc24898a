/* Who runs blocks of launches: those that it has started and keeps, its memory, what it remembers
 * of allocations. A thread of the machine's own is one; and so is whoever launches, who may go on
 * on another thread each time that he has given way (launch.h). While it runs, other threads write
 * look_at alone (limit.c), and read its blocks only while it is parked (stall.c). */
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
    struct launch *launch;                /* that it works on */
    struct worker *next;                  /* in the launch's list */
    uint32_t id;                          /* 0: whoever launches */
    bool parked;                          /* waits while another looks into a stall, or has given way */
    pthread_t thread;                     /* of the machine's own */
    struct pool_item *pool[POOL_CLASSES]; /* free memory by size: pool.c */
    struct pool_item *windows[POOL_CLASSES];
    uint64_t pool_bytes;   /* these, and what is in use */
    struct ledger *ledger; /* of what is in use, while snapshots are taken (snapshot.h); or NULL */
    uint8_t *warp_rows;    /* of its last launch, with blocks of the shape laid_out */
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
    double idle_since;                         /* when a block of its has come on last; 0: now */
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

/* A worker for who launches, with memory of earlier launches where there is one. NULL where memory
 * is exhausted. */
struct worker *worker_take(struct machine *m);
void worker_give(struct worker *k);
void workers_free_spare(struct machine *m);

/* Runs blocks of a launch until none is left to start and this worker's are done: then it is true.
 * False where it has given way, as its blocks wait for others, or have had their time, while jobs
 * of `others` have no thread; NULL: it never does. */
bool worker_run(struct worker *k, struct launch *l, const struct thread_pool *others);
/* The same on one thread, by the launch's schedule: it gives way where all its blocks wait, and
 * other launches for the schedule. */
bool worker_run_scheduled(struct worker *k, struct launch *l, const struct thread_pool *others);
/* What the worker has kept for the launch's next block. */
void worker_end_launch(struct worker *k, struct launch *l);

/* To be called before anything but compiled code accesses global memory. */
static inline void histogram_settle(struct worker *k)
{
    if (k->histograms.n)
        histogram_settle_for_engine(k);
}

#endif
