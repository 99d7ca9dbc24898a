/* The events of a running launch, for its clients: detectors (check/), counters (explain/),
 * timelines (trace/), recorders, the debugger and the explorer.
 *
 * Events are self-contained data. An event names the *site* (site.h) of its instruction, the block,
 * the warp, the lanes, and what they do: addresses as a pattern, order and scope, participants. It
 * has no pointer into the engine's records. So anyone with a table of sites can make events: the
 * engine, or the reader of a recording.
 *
 * A client fills a struct event_client with the kinds of events that it wants, and is added to a
 * launch's list. The thread that runs a warp calls it, in order; several threads call at once,
 * unless the launch runs under a schedule. All blocks of a cluster are on one thread. An event and
 * what it points to are valid during the call. Sites and the launch live longer, and so does the
 * block's record, until EVENT_BLOCK_END.
 *
 * Without clients, an event costs one test of a pointer in a register; an event that no client
 * wants costs one more test.
 */
#ifndef HEDDLE_EXEC_EVENTS_H
#define HEDDLE_EXEC_EVENTS_H

#include "base/bits.h"
#include "base/vec.h"
#include "exec/fault.h"
#include "exec/site.h"

enum event_kind {
    EVENT_ACCESS, /* struct access_event: before it is performed, addresses have been checked */
    /* The accesses of an EVENT_ACCESS that writes or is strong have been performed. It follows
     * that event on the same thread; only the accesses themselves and calls of other clients come
     * in between. So a client may hold a lock from the first event to the second, and then hears
     * of operations on a location in the order in which they were performed. One exception: a
     * test of an mbarrier may first complete asynchronous work, whose events come in between.
     * Asynchronous accesses, and copies of a call's parameters, have no EVENT_PERFORMED. */
    EVENT_PERFORMED,
    /* The same for weak reads, sent to performed(), for clients that ask for values. */
    EVENT_READ,
    EVENT_ISSUE,    /* struct issue_event */
    EVENT_MATRIX,   /* struct matrix_event */
    EVENT_OVERTAKE, /* struct overtake_event */
    EVENT_FAULT,    /* struct fault_event */
    EVENT_HEAP,     /* struct heap_event */
    EVENT_ENTER,    /* struct enter_event */
    /* The same, only if other lanes of the warp wait. A client that wants either event may get
     * both. */
    EVENT_ENTER_PARTED,
    EVENT_BRANCH, /* struct branch_event */
    /* struct schedule_event: blocks start and end; warps have a turn on a worker. The blocks of a
     * cluster start one after another, by rank, on one thread, before any of them has a turn.
     * block->peer links the blocks that have started and not ended, in a circle. */
    EVENT_BLOCK_START,
    EVENT_BLOCK_END,
    EVENT_TURN_START,
    EVENT_TURN_END,
    /* struct sync_event: */
    /* Lanes arrive at barrier `id` with a count of `threads` (0: all of the block); site->mode
     * says whether they wait. This event is the most expensive one. */
    EVENT_BARRIER_ARRIVE,
    EVENT_BARRIER_COUNTS, /* their `threads` differ from those of earlier lanes, `expected` */
    /* They execute a reduction there and the first arrival (`first`) does not; or the other way
     * around; or the two use different operations. */
    EVENT_BARRIER_MIXED,
    /* Barrier `id` of the block opens. No warp. `parties`, `waited`, `arrived`, `expected`. */
    EVENT_BARRIER_OPEN,
    /* The lanes of membermask that have not exited meet; the site is that of one of them. */
    EVENT_COLLECTIVE,
    EVENT_FENCE,
    /* Lanes commit a group of asynchronous work, or are about to wait for groups. */
    EVENT_GROUP,
    EVENT_EXIT,           /* lanes exit; `waits` */
    EVENT_CLUSTER_ARRIVE, /* lanes execute barrier.cluster.arrive, `order` is release or relaxed */
    /* All threads of the block's cluster have arrived or exited. No warp. `parties`. */
    EVENT_CLUSTER_OPEN,
    EVENT_CLUSTER_WAIT, /* lanes continue after barrier.cluster.wait, which acquires */
    /* An operation of a lane on the mbarrier at `address` in the shared memory of `owner`, with
     * `order` and `scope`. For asynchronous arrivals and transactions, the lane is the one that
     * issued the work: */
    EVENT_MBARRIER_ARRIVE, /* it arrives in the phase of this parity; it may complete it */
    /* test_wait or try_wait has returned that the last phase, of this parity, has completed. */
    EVENT_MBARRIER_WAIT,
    EVENT_KINDS
};

/* 1 << enum event_kind */
typedef uint32_t event_set;
#define EVENT_BIT(kind) ((event_set)1 << (kind))
/* All events of memory accesses. */
#define EVENTS_OF_MEMORY                                                                                               \
    (EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_PERFORMED) | EVENT_BIT(EVENT_READ) | EVENT_BIT(EVENT_ISSUE) |           \
     EVENT_BIT(EVENT_MATRIX) | EVENT_BIT(EVENT_OVERTAKE) | EVENT_BIT(EVENT_FAULT))

/* ---- who ---- */

struct event_asks;
struct memory_rules;

/* The ranges of global memory that a launch may write, if known. */
enum { EVENT_WRITES_MOST = 6 };
struct event_writes {
    bool known; /* it writes nowhere else */
    uint32_t n;
    struct {
        uint64_t start, end;
    } at[EVENT_WRITES_MOST];
};

struct event_launch {
    uint64_t number;
    uint32_t task;     /* its number among tasks (queue.h), or 0 */
    const void *where; /* where the host launched it: launch_request.where */
    const struct site_table *kernel;
    uint32_t grid[3], block[3], blocks_per_cluster;
    uint32_t threads_per_block, warps_per_block;
    uint64_t n_blocks;
    /* Of a block; reserved: the part that the system keeps. */
    uint32_t shared_bytes, reserved_shared_start, reserved_shared_bytes;
    /* Packed, of kernel->code; or NULL. */
    const uint8_t *params;
    const struct event_writes *writes; /* from code and parameters; NULL: not analysed */
    const struct memory_rules *rules;  /* a checker's (check/memory/rules.h), or NULL */
    bool scheduled;                    /* one thread runs it, by a schedule */
    const struct event_asks *asks;
};

struct event_block {
    const struct event_launch *launch;
    uint64_t index;
    uint32_t ctaid[3];
    uint32_t rank; /* in its cluster */
    uint32_t n_warps;
    /* The address of its shared memory, which no other running block and no global memory has. */
    uint64_t shared;
    const void *worker;       /* the worker that runs it */
    struct event_block *peer; /* the next running block of its cluster, circular */
    unsigned n_slots;
    void *slot[]; /* state that clients keep for it from start to end; NULL at first */
};

/* A kind of client that keeps state for blocks takes a slot, once in the process (*slot is 0 at
 * first). It cannot keep state for blocks that started earlier. */
void event_slot_take(unsigned *slot);
/* The number of slots taken so far, for the code that makes blocks. */
unsigned event_slots(void);

/* The state in a slot; NULL: none. */
static inline void *event_kept(const struct event_block *b, unsigned slot)
{
    return slot - 1 < b->n_slots ? b->slot[slot - 1] : NULL;
}
static inline void event_keep(struct event_block *b, unsigned slot, void *what)
{
    if (slot - 1 < b->n_slots)
        b->slot[slot - 1] = what;
}

/* The block of a rank in the cluster; NULL: it has ended. */
static inline struct event_block *event_block_of_rank(struct event_block *b, uint32_t rank)
{
    struct event_block *p = b;
    while (p->rank != rank)
        if ((p = p->peer) == b)
            return NULL;
    return p;
}

/* ---- accesses ---- */

/* The pattern of the addresses of all lanes of an event. An event with ANY may also happen to have
 * another pattern. */
enum access_pattern {
    ACCESS_ANY,
    ACCESS_UNIFORM,        /* one address: `base` */
    ACCESS_LINEAR,         /* lane l at base + l * bytes */
    ACCESS_UNIFORM_HALVES, /* one address for each half of the warp */
    ACCESS_LINEAR_HALVES,  /* each half is LINEAR, with a base of its own */
};

enum { HALF_WARP = WARP_LANES / 2 };

/* The source of an asynchronous copy; it writes zeroes beyond it. */
struct access_source {
    enum ptx_space space; /* GLOBAL or SHARED */
    struct event_block *owner;
    uint64_t address, bytes;
};

/* An instruction whose lanes access several spaces makes an event for each space. Loads of kernel
 * parameters make none, since nobody writes those. The ISA does not say which lane accesses what in
 * wmma.load and wmma.store: see event_client.by_piece. */
struct access_event {
    /* If not site->accesses: a call, whose parameters and results the machine copies. */
    const struct site *site;
    struct event_block *block;
    uint32_t warp;
    enum ptx_space space; /* GLOBAL (with constants), SHARED or LOCAL */
    /* Of shared memory: the block itself, or another one of its cluster; else NULL. */
    struct event_block *owner;
    /* An access of asynchronous work that the lane issued; sent when it is done, reads first. */
    bool is_async;
    enum access_pattern pattern;
    uint32_t lanes;
    uint32_t bytes; /* of one lane */
    bool reads, writes;
    bool strong; /* volatile, relaxed, ordered or atomic */
    /* EVENT_PERFORMED: the lanes that have written; not those whose cas failed. */
    uint32_t wrote;
    /* Addresses are the host's, or offsets in the block's or the thread's window. */
    uint64_t base; /* of UNIFORM and LINEAR; it may be the address of no lane */
    /* By lane, for participating lanes; NULL if the pattern is UNIFORM or LINEAR. */
    const uint64_t *address;
    uint64_t low, high; /* all bytes lie in [low, high) */
    /* If is_async: */
    const struct access_source *source; /* the source of a copy; NULL: values, or a reduction */
    /* Its mbarrier at `object` tracks the copy, in a phase of `parity`; NULL: groups do. */
    struct event_block *signals;
    uint64_t object;
    bool parity;
};

static inline uint64_t access_address(const struct access_event *e, unsigned lane)
{
    return e->address ? e->address[lane] : e->base + (e->pattern == ACCESS_LINEAR ? (uint64_t)lane * e->bytes : 0);
}

/* Does EVENT_PERFORMED follow? */
static inline bool event_will_be_performed(const struct access_event *e)
{
    return !e->is_async && e->site->accesses && (e->writes || e->strong);
}

struct async_tensor;

/* Lanes issue asynchronous work. Addresses have been checked; nothing has moved yet. When the work
 * is done, EVENT_ACCESS reports it lane by lane. A bulk copy belongs to one lane. */
struct issue_event {
    const struct site *site; /* site->mode: enum async_mode */
    struct event_block *block;
    uint32_t warp, lanes;
    uint32_t bytes; /* that each lane writes; 0: see `tensor` */
    /* Multicast: the blocks of the cluster that get the data; 0: only one does. */
    uint32_t ranks;
    /* The block whose mbarrier at `object` tracks the work; NULL: none, or one for each lane. */
    struct event_block *signals;
    uint64_t object;
    const uint64_t *to, *from; /* by lane, as addresses of an access event; from NULL: values */
    /* cp.async: the bytes that each lane reads; the rest is zero. Otherwise NULL. */
    const uint32_t *taken;
    /* Copies by tensor maps (async.h): the address in shared memory is `to` or `from`.
     * Otherwise NULL. */
    const struct async_tensor *tensor;
    /* Instead, of replayed copies: the ranges of global memory, as starts and ends. */
    const uint64_t *ranges;
    uint32_t n_ranges; /* of these numbers */
};

/* A warp of a warpgroup reads a piece of a wgmma matrix: consecutive bytes at an offset in its
 * block's shared memory. */
struct matrix_event {
    const struct site *site;
    struct event_block *block;
    uint32_t warp, lanes; /* the lanes that have not exited */
    uint64_t address;
    uint32_t bytes;
};

/* A lane accesses bytes of an unfinished copy, without a wait (PTX ISA 9.7.9.25). */
struct overtake_event {
    const struct access_event *access;
    unsigned lane;
    const struct site *copy;
    bool written; /* the copy will write the bytes; else it will read them */
};

/* A lane is about to fault. */
struct fault_event {
    const struct site *site;
    struct event_block *block;
    uint32_t warp;
    unsigned lane;
    enum fault_kind kind;
    enum ptx_space space;
    uint64_t address;
    uint32_t bytes;
    uint64_t window; /* bytes of the space, shared and local */
    bool writes;
};

/* A kernel allocates or frees heap memory. */
struct heap_event {
    const struct site *site;
    struct event_block *block;
    uint32_t warp;
    unsigned lane;
    bool is_free;
    uint64_t address, bytes;
};

/* ---- where lanes go ---- */

/* Lanes of the event's warp that wait at a barrier or for other lanes. */
struct event_wait {
    const struct site *site;
    /* In an enter_event: the site at which these lanes left the call whose code others enter: the
     * site itself, or that of a call. NULL: they never were in that call. */
    const struct site *left;
    uint32_t lanes, barrier;
};

/* Lanes enter a block of code. */
struct enter_event {
    struct event_block *block;
    uint32_t warp, lanes;
    uint32_t function, code_block; /* the function of the kernel; the block of the function */
    const struct event_wait *waits;
    uint32_t n_waits;
};

/* Lanes reach a branch that may diverge: bra with a guard, brx. It diverges if some but not all of
 * them are `taken`; for brx, these are the lanes that go where the first lane goes. */
struct branch_event {
    struct event_block *block;
    uint32_t warp, lanes, taken;
    uint32_t function, code_block; /* the block that the branch ends */
};

enum turn_state { TURN_READY, TURN_BARRIER, TURN_MASK, TURN_DONE };

struct schedule_event {
    enum event_kind kind;
    struct event_block *block;
    uint32_t warp;         /* of a turn */
    bool first;            /* the warp's first turn starts */
    enum turn_state state; /* at the end of a turn: what the warp waits for */
    uint32_t id;           /* its barrier, or its mask */
    uint64_t steps;        /* warp instructions of its worker */
};

/* ---- who meets whom ---- */

/* Lanes of a warp that wait at a barrier that opens. */
struct barrier_party {
    struct event_block *block;
    uint32_t warp, lanes;
    const struct site *site;
    /* The call by which these lanes came to the site, if other lanes of the warp came to it by
     * another call. Otherwise NULL. */
    const struct site *call;
    bool alone; /* nothing else of the warp waits */
};

struct sync_event {
    enum event_kind kind;
    const struct site *site;   /* NULL if a barrier opens */
    struct event_block *block; /* of the lanes */
    uint32_t warp;
    uint32_t lanes, id, threads, membermask;
    struct event_block *owner; /* of the mbarrier at `address` */
    uint64_t address;
    uint8_t order, scope; /* enum ir_order; enum isa_mod, as in struct mem_access */
    bool parity, completes;
    bool invalid; /* the mbarrier has been invalidated */
    /* EVENT_COLLECTIVE of shfl: the lane that each lane reads; else NULL. */
    const uint8_t *source_lane;
    const struct site *first; /* barriers: the site of the first arrival */
    uint32_t expected;        /* threads; 0: all that have not exited */
    /* When a barrier opens, by warp: the lanes that waited and now go on; the lanes that only
     * arrived (bar.arrive) and are counted. Exited threads are counted, too, but are in neither. */
    const uint32_t *waited, *arrived;
    const struct barrier_party *parties; /* by block and warp */
    uint32_t n_parties;
    const struct event_wait *waits; /* EVENT_EXIT */
    uint32_t n_waits;
};

/* ---- what a client may ask, and decide ---- */

/* Questions that cost only if a client asks them; allowed while an event is being sent. */
struct event_asks {
    /* Which of the lanes that are about to read may use the value? Compilers load a value before a
     * thread knows whether it needs it. */
    uint32_t (*users)(const struct access_event *e, uint32_t lanes);
    /* Do these lanes of a store write the same value? */
    bool (*alike)(const struct access_event *e, uint32_t lanes);
    /* The element (up to 16 bytes) that a lane stores, or has loaded (EVENT_READ, EVENT_PERFORMED).
     * False: unknown. */
    bool (*value)(const struct access_event *e, unsigned lane, unsigned element, uint64_t value[2]);
    /* "writes 4 bytes at 0x..., 8 bytes past the end of ..." */
    const char *(*describe)(const struct fault_event *e, struct arena *arena);
    /* Ends the launch with a fault that a client has found in a lane's access. False: another fault
     * has ended it already. */
    bool (*fail)(const struct access_event *e, unsigned lane, enum fault_kind kind, const char *detail);
};

/* Answered by the engine. */
extern const struct event_asks engine_asks;

static inline uint32_t event_users(const struct access_event *e, uint32_t lanes)
{
    return e->block->launch->asks->users(e, lanes);
}
static inline bool event_alike(const struct access_event *e, uint32_t lanes)
{
    return e->block->launch->asks->alike(e, lanes);
}

/* ---- clients ---- */

struct event_client {
    void *data;
    event_set wants;
    /* True: wmma.load and wmma.store make an event for each register, or part of one, that machine
     * code moves. False: they make one or two events, in which each lane accesses consecutive
     * bytes. These are not the bytes that its registers hold; which ones they are depends only on
     * the fragment, its layout, the address and the stride. */
    bool by_piece;
    /* It gets one event at a time. Workers would wait for each other at each event, so a single
     * worker runs all blocks. */
    bool by_one;
    /* Used instead of the launch's, if the client records what others ask; or NULL. */
    const struct event_asks *asks;
    /* Called for the kinds that it wants: */
    void (*access)(void *data, const struct access_event *e);
    void (*performed)(void *data, const struct access_event *e);
    void (*issue)(void *data, const struct issue_event *e);
    void (*matrix)(void *data, const struct matrix_event *e);
    void (*overtake)(void *data, const struct overtake_event *e);
    /* True: the client has reported the fault; the lane's access is skipped (a load returns 0), and
     * the launch goes on. False: the launch fails, unless another client returns true. All clients
     * are called. */
    bool (*fault)(void *data, const struct fault_event *e);
    void (*heap)(void *data, const struct heap_event *e);
    void (*enter)(void *data, const struct enter_event *e);
    void (*branch)(void *data, const struct branch_event *e);
    void (*schedule)(void *data, const struct schedule_event *e);
    void (*sync)(void *data, const struct sync_event *e);
};

/* The clients of a launch, in the order in which they get events, and the union of what they want.
 * While the launch runs, only a client that is being called may change the list, and only under a
 * schedule, since no other thread runs the launch then. */
struct event_list {
    const struct event_client **at;
    uint32_t n, capacity;
    event_set wants;
    bool by_piece, by_one;
};

/* False: out of memory. */
bool events_add(struct event_list *list, const struct event_client *client);
/* This client gets each event before the others. */
bool events_add_first(struct event_list *list, const struct event_client *client);
void events_close(struct event_list *list);

static inline bool events_want(const struct event_list *list, event_set any)
{
    return list && list->wants & any;
}
static inline bool event_is_wanted(const struct event_list *list, enum event_kind kind)
{
    return events_want(list, EVENT_BIT(kind));
}

/* Calls `call` of the clients that want events of a kind. */
#define EVENT_TELL(list, kind, call, event)                                                                            \
    do {                                                                                                               \
        for (unsigned told_ = 0; told_ < (list)->n; told_++)                                                           \
            if ((list)->at[told_]->wants & EVENT_BIT(kind))                                                            \
                (list)->at[told_]->call((list)->at[told_]->data, (event));                                             \
    } while (0)
/* The same for a fault; true: some client wants the lane's access skipped. */
bool events_tell_fault(const struct event_list *list, const struct fault_event *e);

#endif
