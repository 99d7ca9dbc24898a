/* A warp: where its lanes are and what they wait for. Compiled code (exec/abi.h) uses the same
 * records as the interpreter.
 *
 * A warp is a list of activations. An activation is one call of a function, by the lanes that made
 * the call together. It has registers, a frame in local memory, and the pending lanes of each basic
 * block. A warp keeps nothing on a C stack between operations, so it can stop at any of them and go
 * on later.
 */
#ifndef HEDDLE_EXEC_WARP_H
#define HEDDLE_EXEC_WARP_H

#include "exec/code.h"

struct block;
struct async_queue;
struct event_list;

struct activation {
    struct activation *next;   /* made before this one */
    struct activation *parent; /* NULL for the kernel */
    struct code *code;
    const struct op *call; /* the parent's call */
    uint32_t lanes;        /* in it or in activations that it made, waiting ones included */
    uint32_t frame;        /* address of its frame in local memory */
    uint32_t stack;        /* first free address above the frame */
    uint32_t alloca_lanes; /* unused without alloca */
    uint32_t n_pending;    /* blocks that have lanes */
    bool polls;            /* a loop that spins has called it, to learn whether to go on */
    bool parted;           /* lanes have run out of order: some waited while others passed them */
    /* the first block whose groups have not had a turn, among all and among those that do not spin:
     * quantum.c */
    uint32_t next_group[2];
    uint64_t *pending_bits;
    uint32_t *pending; /* lanes by block */
    uint8_t *rows;
};

/* Lanes that wait for other lanes (a collective) or for their block (a barrier). */
struct wait {
    struct wait *next;
    const struct op *op; /* they go on in block op->next */
    struct activation *act;
    uint32_t lanes;
    uint32_t membermask; /* of a collective */
    uint32_t barrier;    /* of a barrier */
};

enum warp_state { WARP_FRESH, WARP_RUNNABLE, WARP_WAITING, WARP_DONE };

struct warp {
    struct block *block;
    uint32_t index;
    uint32_t exists, exited; /* lanes */
    enum warp_state state;
    /* Where it continues; act is NULL if it must search for pending lanes. */
    struct activation *act;
    const struct op *op;
    uint32_t at_block, mask;
    const uint8_t *sregs;    /* ROW_WARP */
    struct activation *acts; /* newest first */
    int32_t budget;          /* backward branches until it gives way */
    int32_t lane_budget;     /* the same of a lane in a serial part */
    int32_t spin_cost;       /* the cost of a backward branch of a spinning loop, in this quantum */
    uint32_t spun;           /* the lanes that reached a spinning loop last, or iterated in it */
    uint32_t ahead;          /* lanes have left that loop since */
    uint32_t backoff;        /* the exponent: successive quanta of futile spinning */
    uint32_t backoff_quanta; /* to sit out */
    uint32_t backoff_budget; /* pauses left for a lane in a serial part, in this pass (serial.c) */
    uint32_t first_backoff;  /* of a lane that waits there */
    uint32_t out;            /* lanes that have left such a part, in the last */
    int32_t access_quantum;  /* memory accesses left, under policies that switch after some */
    uint8_t *local;          /* local memory, interleaved (mem/local.h) */
    uint32_t local_ready;    /* bytes of a lane that have been cleared or written */
    /* Enum leave: why it left the last barrier phase of lockstep; LEAVE_REFUSED: no reason. */
    uint32_t left;
    uint32_t listed;                 /* under a schedule: see worker.c */
    const struct event_list *events; /* who watches; or NULL */
    struct wait *waits;
    struct async_queue *async;         /* or NULL: nothing has been issued (async.h) */
    struct wait whole;                 /* of all lanes at once: the only one then */
    uint32_t at_barrier[ALL_BARRIERS]; /* lanes that wait there until it opens */
    uint32_t arrived_at[ALL_BARRIERS]; /* lanes that have arrived there, until the warp counts */
    /* Lanes of bar.arrive that have been counted since the barrier opened last. */
    uint32_t counted_at[ALL_BARRIERS];
};

/* A register's row, by the bases of warp_bases() (block.h). */
static inline uint8_t *row_at(uint8_t *const base[4], row_ref r)
{
    return base[r & 3] + (r & ~3u);
}
static inline uint64_t row_lane(const uint8_t *row, unsigned width, unsigned lane)
{
    uint64_t v = 0;
    memcpy(&v, row + lane * width / 8, width / 8);
    return v;
}

/* The lanes whose value in the row equals that of `lane`. */
static inline uint32_t row_lanes_like(const uint8_t *row, unsigned width, uint32_t lanes, unsigned lane)
{
    uint32_t same = 0;
    if (lanes == UINT32_MAX && memcmp(row, row + width / 8, (WARP_LANES - 1) * width / 8) == 0)
        return lanes;
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        same |= row_lane(row, width, l) == row_lane(row, width, lane) ? 1u << l : 0;
    }
    return same;
}

/* Lanes become ready to run a basic block. */
static inline void act_add_pending(struct activation *a, uint32_t block, uint32_t lanes)
{
    if (!lanes)
        return;
    if (!a->pending[block]) {
        a->n_pending++;
        a->pending_bits[block / 64] |= 1ull << (block % 64);
    }
    a->pending[block] |= lanes;
}
static inline uint32_t pending_take(struct activation *a, uint32_t block)
{
    uint32_t lanes = a->pending[block];
    a->pending[block] = 0;
    a->n_pending--;
    a->pending_bits[block / 64] &= ~(1ull << (block % 64));
    return lanes;
}
/* The first pending block at or after `from`, or NO_BLOCK. */
static inline uint32_t pending_first(const struct activation *a, uint32_t from)
{
    uint32_t words = (a->code->n_blocks + 63) / 64, i = from / 64;
    if (i >= words)
        return NO_BLOCK;
    uint64_t bits = a->pending_bits[i] & (~0ull << (from % 64));
    while (!bits)
        if (++i == words)
            return NO_BLOCK;
        else
            bits = a->pending_bits[i];
    return i * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* A new activation, none of whose lanes is pending yet; NULL after a fault. */
struct activation *act_push(struct warp *w, struct code *code, struct activation *parent, const struct op *call,
                            uint32_t lanes);
/* Resets the activation of an ended kernel to its start. */
void act_renew(struct activation *a, uint32_t lanes);
/* Frees an activation that has just lost its last lane, mostly the newest; frees all empty ones. */
void act_free(struct warp *w, struct activation *a);
void act_free_empty(struct warp *w);

/* Lanes wait; NULL after a fault. */
struct wait *wait_add(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes);
void wait_remove(struct warp *w, struct wait *wait);

/* Gives a starting warp its local memory, if the kernel has any; false: out of memory. A
 * warp must not read another's leftovers: the part that most warps use is cleared at
 * once, */
bool warp_take_local(struct warp *w);
/* and the rest, up to the address `end`, before its first use. */
void warp_clear_local(struct warp *w, uint64_t end);
static inline void warp_need_local(struct warp *w, uint64_t end)
{
    if (end > w->local_ready)
        warp_clear_local(w, end);
}
void warp_give_local(struct warp *w);
/* Frees the warp's part of its worker's memory. */
void warp_free(struct warp *w);
/* A hash of everything that decides the warp's next step, except memory. */
uint64_t warp_hash(const struct warp *w);

#endif
