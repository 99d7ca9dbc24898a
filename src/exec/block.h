/* A block of a launch: its warps, barriers and shared memory, and how it gets its turns. All warps
 * of a block are on one thread at any time; compiled code (exec/abi.h) reads and writes the same
 * records, events.h tells of them. */
#ifndef HEDDLE_EXEC_BLOCK_H
#define HEDDLE_EXEC_BLOCK_H

#include "exec/abi.h"
#include "exec/warp.h"

struct launch;
struct worker;
struct event_block;

struct barrier {
    uint32_t waiting;       /* warps that have been counted and wait, by index */
    uint32_t parted;        /* warps of which lanes have come that are not counted, by index */
    uint32_t arrived;       /* threads that have been counted, by whole warps */
    uint32_t expected;      /* threads; 0 = all of the block that have not exited */
    const struct op *first; /* with which somebody came first, while it is in open_barriers */
    uint32_t popc;
    bool any, not_all;
    bool some_only_arrived; /* counted_at of some warps is not 0 */
};

struct block {
    struct block *next; /* resident of the same worker */
    struct block *peer; /* the next of its cluster that has not ended, around to itself; all are of the same worker */
    struct launch *launch;
    struct worker *worker;
    uint64_t index;
    uint32_t ctaid[3];
    uint32_t n_warps;
    uint32_t live; /* warps with lanes that have not exited, by index */
    uint32_t n_done;
    uint32_t n_opened;      /* how often barriers have opened */
    uint32_t open_barriers; /* at which somebody has arrived, by number */
    enum block_phase phase;
    bool compiled; /* it began with compiled code: lockstep may go on behind turns */
    bool clean;    /* since a start in lockstep nothing else has touched these records, in this block or those before */
    uint32_t phases;       /* of lockstep until it gives way: at most LOCKSTEP_PHASES */
    int32_t budget;        /* of each warp, in lockstep */
    uint32_t arrived;      /* of warps, in this barrier phase of lockstep: ARRIVED_END, barriers */
    struct warp *stopped;  /* where compiled code has left last */
    uint32_t n_async;      /* pieces of work that its warps have issued and that are not done: async.h */
    uint32_t shared_start; /* where its shared memory begins among that of the cluster's blocks: IR_SHARED_START */
    uint8_t *shared;
    uint8_t *sregs;           /* ROW_BLOCK */
    struct event_block *told; /* what events name it by, and what clients keep of it: events.h; NULL: nobody watches */
    struct barrier barriers[BARRIERS];
    struct warp warps[]; /* n_warps */
};

/* Has it not begun? The warps of a block that is built on another (block_start) are where those
 * ended, until it begins. */
static inline bool warp_is_fresh(const struct warp *w)
{
    return w->state == WARP_FRESH || (w->block->clean && w->block->phase == BLOCK_FRESH);
}

/* Where the rows of each base of a row_ref stand, for one activation. */
static inline void warp_bases(const struct warp *w, const struct activation *a, uint8_t *base[4])
{
    base[ROW_FRAME] = a->rows;
    base[ROW_CONST] = a->code->consts;
    base[ROW_WARP] = (uint8_t *)w->sregs;
    base[ROW_BLOCK] = w->block->sregs;
}

/* `first`: the first of its cluster that has been started; NULL where it is itself. */
struct block *block_start(struct worker *k, struct launch *l, uint64_t index, struct block *first);
/* Runs one warp until it gives way. */
void block_run_warp(struct warp *w);
/* Lets every warp that can run do so once. *progress is set where one came to a barrier or its end.
 * True when the block is done or the launch has failed. */
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

#endif
