/* Functions that the files of asynchronous work share (async.h): async_queue.c keeps it, async.c
 * performs it, async_issue.c and async_bulk.c accept it from lanes, async_tensor.c performs
 * tensor-map copies, async_events.c reports copies. Private to exec/. */
#ifndef HEDDLE_EXEC_ASYNC_WORK_H
#define HEDDLE_EXEC_ASYNC_WORK_H

#include "exec/access.h"
#include "exec/async.h"
#include "exec/block.h"
#include "exec/launch.h"

static inline bool async_has_failed(const struct warp *w)
{
    return launch_has_failed(w->block->launch);
}

static inline struct worker *async_worker(const struct warp *w)
{
    return w->block->worker;
}

static inline uint8_t async_mode(const struct async_work *x)
{
    return x->op->mode;
}

static inline bool async_is_bulk(const struct async_work *x)
{
    return async_mode(x) >= ASYNC_STORE;
}

static inline bool async_is_arrival(const struct async_work *x)
{
    return async_mode(x) == ASYNC_ARRIVE || async_mode(x) == ASYNC_ARRIVE_NOINC;
}

/* The same address in another block of the cluster. */
static inline struct location async_of_block(const struct location *p, struct block *b)
{
    struct location there = *p;
    there.owner = b;
    there.at = b->shared + p->address;
    return there;
}

/* In global memory: the distance from addresses to the machine's pointers. All lanes of one
 * instruction have the same, except in copies from both shared and unshared host memory while
 * the host is observed. */
static inline uint64_t async_shift(const struct location *p)
{
    return p->space == SPACE_GLOBAL && p->at ? (uint64_t)(uintptr_t)p->at - p->address : 0;
}

static inline struct async_rows *async_rows(struct async_work *x)
{
    return (struct async_rows *)x->parts;
}

/* NULL if it is not a tensor-map copy. */
static inline struct async_tensor *async_tensor(struct async_work *x)
{
    return x->op->mode >= ASYNC_TENSOR_LOAD ? (struct async_tensor *)&x->parts[1] : NULL;
}

/* ---- async_queue.c ---- */

/* The warp's queue, made where there is none; NULL after a fault. */
struct async_queue *async_queue_of(struct warp *w);
/* A record with room for n parts, that is not queued yet; NULL after a fault. */
struct async_work *async_new_work(struct warp *w, const struct op *o, uint32_t lanes, uint32_t n);
void async_free_work(struct async_work *x);
void async_enqueue(struct async_work *x);
/* The part of a lane. */
struct async_part async_part(const struct async_work *x, unsigned lane);
/* Frees finished work. */
void async_sweep(struct warp *w);
void async_free_queue(struct warp *w);
/* Iterates over the warps of the cluster, from the first of a block on; NULL after the last. */
struct warp *async_next_warp(struct warp *w, const struct block *start);

/* ---- async.c ---- */

/* Bounds the memory of work that nobody waits for, by finishing the oldest. False after a fault. */
bool async_bound(struct warp *w);

/* ---- async_bulk.c ---- */

/* Locates an operand's bytes, for an address in a space; false after a fault, or if a client
 * skips it. */
bool async_locate(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                  uint32_t bytes, uint32_t align, bool writes, struct location *p);
/* The mbarrier that an operand names. */
bool async_locate_object(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                         struct location *p);
/* A bulk copy or reduction. `at` is NULL if its bytes are not in one range: in a tensor, in
 * registers. */
struct async_bulk {
    struct location to, from;
    const struct location *object; /* the mbarrier that tracks it; NULL: groups do */
    uint64_t source;               /* as struct async_work has it */
    uint32_t bytes;
    const struct async_tensor *tensor; /* or NULL */
};
/* Enqueues it for one lane: one piece, or one for each block of a multicast. False after a
 * fault. */
bool async_enqueue_bulk(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane,
                        const struct async_bulk *c);
bool async_enqueue_piece(struct warp *w, const struct op *o, unsigned lane, const struct async_bulk *c);
uint64_t async_operand(uint8_t *const base[4], const struct op *o, enum async_operand k, unsigned width, unsigned lane);

/* ---- async_tensor.c ---- */

/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor (9.7.9.27.1); false after a fault that nobody
 * has left out. */
bool async_issue_tensor(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address);
bool async_finish_tensor(struct async_work *x, const struct async_part *p, unsigned lane);

/* ---- async_events.c ---- */

/* Reports to clients that a lane's piece is about to read, or write, `bytes` bytes. */
void async_tell_read(const struct async_work *x, unsigned lane, const struct location *from, uint32_t bytes);
void async_tell_write(const struct async_work *x, unsigned lane, const struct location *to, uint32_t bytes,
                      const struct access_source *source);

#endif
