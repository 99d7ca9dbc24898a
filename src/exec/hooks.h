/* What a running launch tells those who watch it: detectors (check/), counters (explain/), timelines (trace/).
 *
 * A client fills a struct hooks with the functions it wants and hands it to a launch. Functions are called on the
 * thread that runs the warp, in the order of events on that thread; several threads call at once unless the launch
 * runs under a schedule. All warps of a block are on one thread at any time. Where a launch has no hooks an event costs a
 * test of a pointer that is in a register; one that no client wants costs a test more.
 *
 * `struct warp`, `struct block`, `struct op` and `struct activation` (exec/warp.h, exec/block.h, exec/code.h) may be read, not changed, but
 * for a client's own place in block->client.
 */
#ifndef HEDDLE_EXEC_HOOKS_H
#define HEDDLE_EXEC_HOOKS_H

#include "exec/block.h"
#include "exec/fault.h"

struct async_tensor;

/* How the addresses of an event's lanes lie. What a pattern says is said of all its lanes; it may also hold of events that are
 * told as ANY. */
enum access_pattern {
    ACCESS_ANY,
    ACCESS_UNIFORM,        /* one address: `base` */
    ACCESS_LINEAR,         /* lane l at base + l * bytes */
    ACCESS_UNIFORM_HALVES, /* one address for each half of the warp */
    ACCESS_LINEAR_HALVES,  /* each half is LINEAR, with a base of its own */
};

enum { HALF_WARP = WARP_LANES / 2 };

/* Where an asynchronous copy takes its bytes from; the others that it writes are zeroes. */
struct access_source {
    enum ptx_space space; /* GLOBAL or SHARED */
    const struct block *owner;
    uint64_t address, bytes;
};

/* Lanes access memory: after addresses have been checked, before anything is read or written. An instruction whose lanes are in
 * several spaces makes an event for each. Loads of kernel parameters, which nobody writes, make none. Which lane of a warp accesses what
 * by wmma.load and wmma.store the ISA does not say: see hooks.access_by_piece. */
struct access_event {
    const struct warp *warp;
    const struct op *op;  /* op->access: bytes, elements, order, scope, atomic operation; NULL there of a call, whose
                            parameters and results the machine copies */
    enum ptx_space space; /* GLOBAL (with constants), SHARED or LOCAL */
    const struct block *owner; /* of shared memory: the warp's block, or another one of its cluster; else NULL */
    bool is_async;             /* not by the lane itself, but by what it has issued (async.h): told when that is done */
    const struct async_work *work;      /* the piece of that; what it reads is told first, what it writes then */
    const struct access_source *source; /* of an asynchronous copy: what is copied; NULL: values, or a reduction */
    enum access_pattern pattern;
    uint32_t lanes;
    uint32_t bytes; /* of one lane */
    bool reads, writes;
    uint32_t wrote; /* of performed(): lanes that have written; not those of a cas that has compared in vain */
    bool strong;    /* volatile, relaxed, ordered or atomic */
    /* Addresses are the host's, or offsets in the block's or the thread's window. */
    uint64_t base;           /* of UNIFORM and LINEAR; no lane need be there */
    const uint64_t *address; /* by lane, of lanes that take part; NULL where the pattern is UNIFORM or LINEAR */
    uint64_t low, high;      /* all bytes lie in [low, high) */
};

static inline uint64_t access_address(const struct access_event *e, unsigned lane)
{
    return e->address ? e->address[lane] : e->base + (e->pattern == ACCESS_LINEAR ? (uint64_t)lane * e->bytes : 0);
}

/* Lanes issue asynchronous work: addresses have been checked, nothing is moved yet. access() tells of it again, lane by lane, when it is done.
 * A bulk copy is one lane's. */
struct issue_event {
    const struct warp *warp;
    const struct op *op; /* op->mode: enum async_mode */
    uint32_t lanes;
    uint32_t bytes;              /* that each lane writes; 0 where `tensor` tells */
    uint32_t ranks;              /* multicast: the blocks of the cluster that get them; 0: one does */
    const struct block *signals; /* whose mbarrier at `object` hears when it is done; NULL: none, or one a lane */
    uint64_t object;
    const uint64_t *to, *from; /* by lane, as addresses of an access event; from NULL: values */
    const uint32_t *taken;     /* by lane, of cp.async: bytes that are read, the others being zeroes; else NULL */
    const struct async_tensor
        *tensor; /* of copies by tensor maps (async.h), of which shared memory's address is `to` or `from`; else NULL */
};

/* A warp of a warpgroup reads a piece of a matrix of wgmma's in its block's shared memory: consecutive bytes at an offset there. */
struct matrix_event {
    const struct warp *warp;
    const struct op *op;
    uint64_t address;
    uint32_t bytes;
};

/* A lane is about to fault. */
struct fault_event {
    const struct warp *warp;
    const struct op *op;
    unsigned lane;
    enum fault_kind kind;
    enum ptx_space space;
    uint64_t address;
    uint32_t bytes;
    uint64_t window; /* bytes of the space, shared and local */
    bool writes;
};

enum sync_kind {
    SYNC_BARRIER_ARRIVE, /* lanes come to barrier `id`, which they give `threads` (0: all of the block); op->mode tells whether
                            they wait. What stands in the block's records of the barrier is from before */
    SYNC_BARRIER_COUNTS, /* they give it other `threads` than those before did, as block->barriers[id] has it */
    SYNC_BARRIER_MIXED, /* they reduce there, and the one who came first does not; or the other way around, or by another operation */
    SYNC_BARRIER_OPEN, /* barrier `id` of the block opens; warp and op are not set. See barrier_waited() */
    SYNC_COLLECTIVE,   /* lanes meet, those of membermask that have not exited; op is that of one of them */
    SYNC_FENCE,
    SYNC_GROUP, /* lanes commit a group of asynchronous work, or are about to wait for groups: op->mode, op->imm */
    SYNC_EXIT,  /* lanes end */
    SYNC_CLUSTER_ARRIVE, /* lanes execute barrier.cluster.arrive, `order` is release or relaxed */
    SYNC_CLUSTER_OPEN,   /* all threads of the block's cluster have arrived or exited; warp and op are not set */
    SYNC_CLUSTER_WAIT,   /* lanes go on behind barrier.cluster.wait, which acquires */
    /* A lane and the mbarrier at `address` of the shared memory of `block`, with `order` and `scope`; for what arrives or completes
     * transactions asynchronously, the lane that has issued it: */
    SYNC_MBARRIER_ARRIVE, /* it arrives in the phase of this parity, which its arrival may complete */
    SYNC_MBARRIER_WAIT, /* test_wait or try_wait has said that the phase of this parity, the last one, has completed */
};

struct sync_event {
    enum sync_kind kind;
    const struct block *block;
    const struct warp *warp;
    const struct op *op;
    uint32_t lanes, id, threads, membermask;
    uint64_t address;
    uint8_t order, scope; /* enum ir_order; enum isa_mod, as in struct mem_access */
    bool parity, completes;
    const uint8_t *source_lane; /* SYNC_COLLECTIVE of shfl: the lane that each lane reads; else NULL */
};

/* While barrier e->id opens: the lanes of the block's warp that waited there and go on, and those that had only arrived (bar.arrive)
 * and count. Threads that have exited count, too, and are in neither (warp.exited). */
static inline uint32_t barrier_waited(const struct sync_event *e, const struct warp *w)
{
    return w->at_barrier[e->id] & ~w->arrived_at[e->id];
}
static inline uint32_t barrier_arrived(const struct sync_event *e, const struct warp *w)
{
    return w->counted_at[e->id];
}

/* Lanes enter a block of code. */
struct control_event {
    const struct warp *warp;
    const struct activation *act;
    uint32_t block; /* of act->code */
    uint32_t lanes;
};

/* Lanes come to a branch that not all need take alike: bra with a guard, brx. They part where some but not all are `taken`: of brx
 * that is those who go where the first lane goes. */
struct branch_event {
    const struct warp *warp;
    const struct activation *act;
    uint32_t block; /* of act->code: which the branch ends */
    uint32_t lanes, taken;
};

enum schedule_kind { SCHEDULE_BLOCK_START, SCHEDULE_BLOCK_END, SCHEDULE_TURN_START, SCHEDULE_TURN_END };

/* Blocks start and end; warps have a turn on a worker. warp is NULL for blocks. The blocks of a cluster start one behind the other,
 * in the order of their ranks, on one thread, before any has a turn: those that have started and not ended are block->peer, around. */
struct schedule_event {
    enum schedule_kind kind;
    const struct block *block;
    const struct warp *warp;
};

/* A kernel takes memory from its heap or gives it back. */
struct heap_event {
    const struct warp *warp;
    const struct op *op;
    unsigned lane;
    bool is_free;
    void *p;
    uint64_t bytes;
};

struct hooks {
    void *data;
    void (*access)(void *data, const struct access_event *e);
    /* wmma.load and wmma.store make an event for each register, or part of one, that machine code moves. Else they make one or two, in
     * which each lane accesses bytes that follow each other: not those that its registers hold, nor those of the chunk of its number, but
     * the same whenever the fragment, its layout, the address and the stride are. */
    bool access_by_piece;
    void (*issue)(void *data, const struct issue_event *e);
    void (*matrix)(void *data, const struct matrix_event *e);
    /* The accesses of an event that is strong, or writes, have been performed. It follows each call of access() for such an event, on the same thread,
     * with nothing in between but the accesses themselves and other clients' calls: a client may hold a lock from the one to the
     * other, so that the order in which it hears of operations on a place is that in which they were performed. */
    void (*performed)(void *data, const struct access_event *e);
    /* True: the lane's access is left out (a load gives 0) and the launch goes on; false: the launch fails. */
    bool (*fault)(void *data, const struct fault_event *e);
    void (*sync)(void *data, const struct sync_event *e);
    uint32_t sync_kinds; /* 1 << enum sync_kind: which it wants. ARRIVE costs most */
    void (*control)(void *data, const struct control_event *e);
    bool control_where_parted; /* control() only where other lanes of the warp wait; it may be called elsewhere, too */
    void (*branch)(void *data, const struct branch_event *e);
    void (*heap)(void *data, const struct heap_event *e);
    void (*schedule)(void *data, const struct schedule_event *e);
};

/* Who may watch a launch, each once; all are told of an event in this order. */
enum hook_client {
    HOOK_TRACE,
    HOOK_COUNTERS,
    HOOK_MEMORY,
    HOOK_RULES,
    HOOK_SYNC,
    HOOK_COPIES,
    HOOK_WGMMA,
    HOOK_RACES,
    HOOK_PROXIES,
    HOOK_CLIENTS
};

/* The clients of a launch, and what any of them wants. */
struct hook_list {
    unsigned n;                           /* behind the last client */
    const struct hooks *at[HOOK_CLIENTS]; /* or NULL */
    bool wants_access;                    /* or fault(), issue(), matrix() */
    bool access_by_piece;
    bool wants_control, wants_control_where_parted, wants_branch;
    uint32_t sync_kinds;
};

static inline void hooks_add(struct hook_list *list, enum hook_client client, const struct hooks *h)
{
    list->at[client] = h;
    if (list->n <= client)
        list->n = client + 1;
    list->wants_access |= h->access || h->performed || h->fault || h->issue || h->matrix;
    list->access_by_piece |= h->access_by_piece;
    list->wants_control |= h->control && !h->control_where_parted;
    list->wants_control_where_parted |= h->control && h->control_where_parted;
    list->wants_branch |= h->branch != NULL;
    list->sync_kinds |= h->sync ? h->sync_kinds : 0;
}

static inline bool hooks_want_sync(const struct hook_list *list, enum sync_kind kind)
{
    return list && list->sync_kinds >> kind & 1;
}

#define HOOKS_CALL(list, name, event)                                                                                  \
    do {                                                                                                               \
        for (unsigned hook_ = 0; hook_ < (list)->n; hook_++)                                                           \
            if ((list)->at[hook_] && (list)->at[hook_]->name)                                                          \
                (list)->at[hook_]->name((list)->at[hook_]->data, (event));                                             \
    } while (0)

static inline void hooks_tell_sync(const struct hook_list *list, const struct sync_event *e)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] && list->at[i]->sync && list->at[i]->sync_kinds >> e->kind & 1)
            list->at[i]->sync(list->at[i]->data, e);
}

#endif
