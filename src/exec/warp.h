/* Running warps and blocks: what the files of the interpreter share. Compiled code (jit/) reads and writes the same records, and
 * clients of hooks.h (check/, trace/, explain/) read them.
 *
 * A warp is a list of activations. An activation is one call of a function by the lanes that made it
 * together: its registers, its frame in local memory, and for each block of code the lanes that are pending
 * there. Nothing of a warp stands on a C stack between operations, so a warp can stop at any of them
 * and go on later.
 */
#ifndef HEDDLE_EXEC_WARP_H
#define HEDDLE_EXEC_WARP_H

#include "exec/code.h"
#include "exec/fault.h"
#include "exec/rows.h"

struct hook_list;

struct activation {
    struct activation *next;   /* made before this one */
    struct activation *parent; /* NULL for the kernel */
    struct code *code;
    const struct op *call; /* with which the parent made it */
    uint32_t lanes;        /* in it, in activations that it made, or waiting there */
    uint32_t frame;        /* address of its frame in local memory */
    uint32_t stack;        /* first free address above the frame */
    uint32_t alloca_lanes; /* unused without alloca */
    uint32_t n_pending;    /* blocks that have lanes */
    bool parted;           /* lanes have run out of order: some waited while others went on past them */
    uint32_t next_group;   /* from which block on groups have not had their turn: quantum.c */
    uint64_t *pending_bits;
    uint32_t *pending; /* lanes by block */
    uint8_t *rows;
};

/* Lanes that wait: for others of their warp (a collective) or for their block (a barrier). */
struct wait {
    struct wait *next;
    const struct op *op; /* they go on in block op->next */
    struct activation *act;
    uint32_t lanes;
    uint32_t membermask; /* of a collective */
    uint32_t barrier;    /* of a barrier */
};

enum warp_state { WARP_FRESH, WARP_RUNNABLE, WARP_WAITING, WARP_DONE };

enum { MAX_WARPS = 32 };

enum block_client { CLIENT_MEMORY, CLIENT_RACES, CLIENT_COUNTERS, BLOCK_CLIENTS };

struct warp {
    struct block *block;
    uint32_t index;
    uint32_t exists, exited; /* lanes */
    enum warp_state state;
    /* Where it goes on; act is NULL when it has to look for pending lanes. */
    struct activation *act;
    const struct op *op;
    uint32_t at_block, mask;
    const uint8_t *sregs;    /* ROW_WARP */
    struct activation *acts; /* newest first */
    int32_t budget;          /* of branches backwards until it gives way */
    int32_t lane_budget;     /* the same of a lane in a serial part */
    int32_t spin_cost;       /* of one of a spinning loop, in this quantum */
    uint32_t spun;           /* the lanes that came to a spinning loop last, or went back in it */
    uint32_t ahead;          /* lanes have left that loop since */
    uint32_t backoff;        /* the exponent: quanta in succession that were spent spinning in vain */
    uint32_t backoff_quanta; /* to sit out */
    uint32_t backoff_budget; /* pauses that are left of a lane in a serial part, in the present pass (serial.c) */
    uint32_t first_backoff;  /* of a lane that waits there */
    uint32_t out;            /* lanes that have left such a part, in the last */
    int32_t access_quantum;  /* memory accesses that are left, under policies that switch after them */
    uint8_t *local;          /* local memory, interleaved (mem/local.h) */
    uint32_t local_ready;    /* bytes of a lane's that have been cleared, or written since */
    uint32_t left;           /* enum leave: why it left the last barrier phase of lockstep; LEAVE_REFUSED: no reason */
    uint32_t listed;         /* under a schedule: see worker.c */
    const struct hook_list *hooks; /* or NULL */
    struct wait *waits;
    struct wait whole;                 /* of all lanes at once: the only one then */
    uint32_t at_barrier[ALL_BARRIERS]; /* lanes that wait there */
    uint32_t arrived_at[ALL_BARRIERS]; /* lanes that have executed bar.arrive, until the warp counts */
    uint32_t counted_at[ALL_BARRIERS]; /* those that have been counted since the barrier opened last */
};

struct barrier {
    uint32_t waiting;       /* warps that have been counted and wait, by index */
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
    bool lockstep;          /* compiled code goes on with the next warp by itself: lockstep.c */
    bool begun;             /* it has had a turn */
    bool compiled;          /* it began with compiled code */
    bool resumed;           /* the first phase in lockstep behind turns: registers may be the interpreter's */
    bool can_resume;        /* a barrier has opened at which each warp stood as a whole: lockstep may go on there */
    bool clean;       /* it ran in lockstep from start to end: nothing else of its warps' records has been touched */
    uint32_t phases;  /* of lockstep until it gives way: at most LOCKSTEP_PHASES */
    int32_t budget;   /* of each warp, in lockstep */
    uint32_t arrived; /* of warps, in this barrier phase of lockstep: ARRIVED_END, barriers */
    struct warp *stopped; /* where compiled code has left last */
    uint8_t *shared;
    uint8_t *sregs;              /* ROW_BLOCK */
    void *client[BLOCK_CLIENTS]; /* what clients of hooks.h keep from the block's start to its end; NULL at its start */
    struct barrier barriers[BARRIERS];
    struct warp warps[]; /* n_warps */
};

/* ---- warp.c ---- */

/* The registers' rows by base, for one activation. */
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
static inline void warp_bases(const struct warp *w, const struct activation *a, uint8_t *base[4])
{
    base[ROW_FRAME] = a->rows;
    base[ROW_CONST] = a->code->consts;
    base[ROW_WARP] = (uint8_t *)w->sregs;
    base[ROW_BLOCK] = w->block->sregs;
}

/* Lanes become ready to run a block of code. */
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
/* The first pending block at or after `from`; NO_BLOCK where there is none. */
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
/* Makes the activation of a kernel that has ended one that begins. */
void act_renew(struct activation *a, uint32_t lanes);
/* Frees one that has just lost its last lanes, mostly the newest; all that no lane is left in. */
void act_free(struct warp *w, struct activation *a);
void act_free_empty(struct warp *w);

/* Lanes wait; NULL after a fault. */
struct wait *wait_add(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes);
void wait_remove(struct warp *w, struct wait *wait);

/* Gives a warp that begins its local memory, where the kernel has any; false where memory has run out. Nobody's leftovers are in
 * what a warp can read: so much of it as is seldom more than it needs is cleared at once, */
bool warp_take_local(struct warp *w);
/* and the rest up to the address `end` by whoever is about to use it. */
void warp_clear_local(struct warp *w, uint64_t end);
static inline void warp_need_local(struct warp *w, uint64_t end)
{
    if (end > w->local_ready)
        warp_clear_local(w, end);
}
void warp_give_local(struct warp *w);
/* Frees what the warp has of its worker's memory. */
void warp_free(struct warp *w);
/* All that decides what the warp does next, apart from memory, as a number. */
uint64_t warp_hash(const struct warp *w);

/* ---- interp.c ---- */

/* Runs a warp until it is done, waits, has spent its budget or its quantum of accesses, or the launch has a fault. */
void warp_run(struct warp *w);
/* Runs an operation that is no end of a block, in some lanes; false after a fault. */
bool warp_run_op(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
/* The lanes of mask in which its guard holds. */
uint32_t warp_guarded(uint8_t *const base[4], const struct op *o, uint32_t mask);

/* ---- quantum.c ---- */

/* Where a warp is: the lanes of `mask` run `block`. */
struct at {
    struct activation *a;
    uint32_t block, mask;
};

struct quantum {
    uint32_t backoff, rotations, spin_rotations;
    bool in_vain;
};

void quantum_begin(struct warp *w, struct quantum *q);
/* Lanes come to a block from before. */
static inline void quantum_come(struct warp *w, const struct at *at)
{
    if (at->a->code->blocks[at->block].spins) {
        w->spun = at->mask;
        w->ahead = 0;
    }
}
/* What a branch backwards, to at->block, spends from the budget. */
int32_t back_edge_cost(struct warp *w, const struct at *at);
/* The budget is spent: *at becomes another group of lanes, if there is one. False where the warp gives way. */
bool quantum_goes_on(struct warp *w, struct quantum *q, struct at *at);
/* Other lanes of the warp are elsewhere. */
bool warp_is_divided(const struct warp *w, const struct at *at);
/* Lanes go on past others that stay behind: from here on registers need not be what the order of blocks makes them. */
void warp_part_lanes(struct warp *w);

/* ---- call.c ---- */

/* The lanes of `mask` call; false after a fault. Lanes of a system call are back at once: they are added to
 * *stay. */
bool call_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, uint32_t *stay);
/* Lanes return from `a`, whose caller goes on with them. */
void call_return(struct warp *w, struct activation *a, uint32_t lanes);

/* ---- syscall.c ---- */

/* What a kernel asks of the machine: vprintf, malloc, free, __assertfail. */
bool syscall_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);

/* ---- access.c, atom.c: `base` is that of the activation; false after a fault ---- */

bool access_load(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool access_store(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool access_atom(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);

/* Every lane's address; inactive lanes get an active one's. */
void access_addresses(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                      uint64_t *address);

/* ---- locate.c ---- */

/* Where an address of a lane leads. */
struct location {
    uint8_t *at;          /* on the host; NULL in local memory */
    enum ptx_space space; /* GLOBAL, SHARED or LOCAL */
    uint64_t address;     /* in that space */
    uint64_t window;      /* bytes of that space, shared and local */
};

/* FAULT_none, or what is wrong; *p is filled as far as it is known. */
enum fault_kind access_locate(struct warp *w, enum ptx_space space, uint64_t address, uint32_t bytes, bool writes,
                              struct location *p);
/* The same for an access of o, alignment and state space of atomics included. */
enum fault_kind access_locate_op(struct warp *w, const struct op *o, uint64_t address, struct location *p);
/* Copies from a generic address of a lane; false after a fault. */
bool access_read(struct warp *w, const struct op *o, unsigned lane, uint64_t address, void *to, uint32_t bytes);

/* ---- watched.c ---- */

/* Tells the hooks that the machine itself writes into the lanes' local memory: parameters, results. */
void access_tell_write(struct warp *w, const struct op *o, uint32_t lanes, uint64_t address, uint32_t bytes);

/* ---- collective.c, barrier.c ---- */

/* Lanes arrive at a collective; returns those that go on at once (at o->next), the others wait. Sets *fault on a bad membermask. */
uint32_t collective_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault);
/* The same where it completes at once; else false, and nothing has been done. */
bool collective_try(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
/* After lanes have exited: collectives that were waiting for them complete. */
void collective_recheck(struct warp *w);
/* Lanes arrive at a barrier; returns those that go on at once. Sets *fault on a bad barrier. */
uint32_t barrier_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault);
/* The same for a whole warp at a plain barrier, which is the usual case: false, and nothing done, where it is not. The
 * warp waits then, or has its place to go on. */
bool barrier_arrive_whole(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
void barrier_recheck(struct warp *w);
/* The block has ended, or never begins: its cluster goes on without it. True where it was the last one. */
bool cluster_leave(struct block *b);
/* Those of the warp's lanes that have not arrived at the cluster's barrier. */
uint32_t cluster_missing(const struct warp *w);
/* "barrier 3". */
const char *barrier_name(uint32_t id);

/* ---- mbarrier.c ---- */

/* False after a fault; *in_vain: a try_wait of all lanes whose phases have not completed. */
bool mbarrier_run(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                  bool *in_vain);

/* ---- fault.c ---- */

/* Records a fault of a lane; the first of the launch stands. Always returns false. */
bool warp_fault(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane);
bool warp_fault_at(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, const struct location *p,
                   uint32_t bytes);
/* The same with a number that the kind needs: a target, an index. */
bool warp_fault_value(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, uint64_t value);

#endif
