/* A block of a launch: its warps, barriers and shared memory, and how it is scheduled. All
 * warps of a block run on one thread at any time. Compiled code uses the same records
 * (exec/abi.h). */
#ifndef HEDDLE_EXEC_BLOCK_H
#define HEDDLE_EXEC_BLOCK_H

#include "exec/abi.h"
#include "exec/warp.h"

struct launch;
struct worker;
struct event_block;

struct barrier {
    uint32_t waiting; /* counted warps that wait, by index */
    /* Warps of which only some lanes have arrived, not counted yet, by index. */
    uint32_t parted;
    uint32_t arrived;       /* number of threads in counted warps */
    uint32_t expected;      /* threads; 0 = all of the block that have not exited */
    const struct op *first; /* of the first arrival, while it is in open_barriers */
    uint32_t popc;
    bool any, not_all;
    bool some_only_arrived; /* counted_at of some warps is not 0 */
};

struct block {
    struct block *next; /* on the same worker */
    struct block *peer; /* the next running block of its cluster, circular; all are on one worker */
    struct launch *launch;
    struct worker *worker;
    uint64_t index;
    uint32_t ctaid[3];
    uint32_t n_warps;
    uint32_t live; /* warps with lanes that have not exited, by index */
    uint32_t n_done;
    uint32_t n_opened;      /* the number of times that barriers have opened */
    uint32_t open_barriers; /* barriers at which a thread has arrived, by number */
    enum block_phase phase;
    bool compiled; /* it began in compiled code: it may return to lockstep after turns */
    /* Only lockstep has used these records, in this block and those before. */
    bool clean;
    uint32_t phases;       /* of lockstep until it yields: at most LOCKSTEP_PHASES */
    int32_t budget;        /* of each warp, in lockstep */
    uint32_t arrived;      /* of warps, in this barrier phase of lockstep: ARRIVED_END, barriers */
    struct warp *stopped;  /* the warp whose compiled code was left last */
    uint32_t n_async;      /* pending asynchronous work of its warps: async.h */
    uint32_t shared_start; /* where its shared memory begins in the cluster's: IR_SHARED_START */
    uint8_t *shared;
    uint8_t *sregs; /* ROW_BLOCK */
    /* Its record in events, with clients' state (events.h); NULL: no clients. */
    struct event_block *told;
    struct barrier barriers[BARRIERS];
    struct warp warps[]; /* n_warps */
};

/* Has the warp not begun? A block that reuses another's records (block_start) has its warps in
 * their final state until it begins. */
static inline bool warp_is_fresh(const struct warp *w)
{
    return w->state == WARP_FRESH || (w->block->clean && w->block->phase == BLOCK_FRESH);
}

/* The address of each base of a row_ref, for one activation. */
static inline void warp_bases(const struct warp *w, const struct activation *a, uint8_t *base[4])
{
    base[ROW_FRAME] = a->rows;
    base[ROW_CONST] = a->code->consts;
    base[ROW_WARP] = (uint8_t *)w->sregs;
    base[ROW_BLOCK] = w->block->sregs;
}

/* `first`: the first started block of its cluster; NULL: this one is the first. */
struct block *block_start(struct worker *k, struct launch *l, uint64_t index, struct block *first);
/* Runs one warp until it yields. */
void block_run_warp(struct warp *w);
/* Runs every runnable warp once. Sets *progress if one reached a barrier or its end. True: the
 * block is done, or the launch has failed. */
bool block_round(struct block *b, bool *progress);
/* The smallest number of quanta that all runnable warps skip; and skips that many. */
uint32_t block_least_backoff(const struct block *b);
void block_skip_backoff(struct block *b, uint32_t quanta);
/* Can it make no more progress? */
bool block_is_stuck(const struct block *b);
/* Can a finished block's records be reused for the next block? Turns them into that block. */
bool block_can_be_next(const struct block *b);
void block_be_next(struct block *b, uint64_t index);
/* Ends it; the worker keeps one set of records for the next block. */
void block_finish(struct block *b);
/* Frees the kept records. */
void block_drop_kept(struct worker *k);

#endif
