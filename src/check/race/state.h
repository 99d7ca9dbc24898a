/* What the parts of the race detector share. Private to check/race/. */
#ifndef HEDDLE_CHECK_RACE_STATE_H
#define HEDDLE_CHECK_RACE_STATE_H

#include <pthread.h>

#include "check/shadow/cells.h"
#include "check/race/history.h"
#include "check/host/host.h"
#include "check/report/places.h"
#include "check/race/races.h"
#include "check/order/timelines.h"
#include "exec/launch_writes.h"
#include "base/vec.h"

/* Why two accesses race. It tells findings of one pair of places apart. */
enum race_reason {
    RACE_ONE_INSTRUCTION, /* lanes of one instruction write one place */
    RACE_WARP,            /* threads of a warp */
    RACE_BLOCK,
    RACE_BLOCKS,
    RACE_LAUNCHES,
    RACE_OVERLAP, /* of programmatic dependent launches */
    RACE_HOST,
    RACE_SCOPE,  /* both strong, but a scope does not include the other thread */
    RACE_MIXED,  /* one strong, one weak */
    RACE_PARTLY, /* both strong, of different sizes */
    RACE_END,    /* of an access with the end of the block whose shared memory it accesses */
};

/* One of the two accesses, as a finding names it. */
struct race_side {
    const struct access_kind *kind;
    struct incarnation incarnation;
    unsigned thread; /* of the block */
};

struct race {
    struct race *next, *in_bucket;
    enum race_reason reason;
    struct race_side side[2]; /* by their places */
    VEC(uint32_t) counted;    /* tasks, ascending; 0: of two */
    const char *kernel;       /* of the first that is a kernel's */
    const char *text, *help;  /* made at once: the module may be gone when it is reported */
    struct place place[2];
    const char *note;
};

/* How the threads of a kernel can synchronise. */
struct kernel_traits {
    const struct site_table *kernel;
    bool releases;          /* fences, .acquire, .release: sync variables are kept */
    bool acquires;          /* by operations that are no fences */
    bool acquires_narrowly; /* for a block or a cluster alone */
    bool writes_weakly;     /* to global memory */
    bool
        stores_strongly; /* by more than read-modify-writes: which of several writes was observed depends on their order */
    uint32_t accesses; /* how many kinds of accesses it has, at most */
    bool irregular;    /* they synchronise by other than whole blocks and warps: histories keep all that is unordered */
};

/* A memoised transition: what an access makes of a history. */
struct transition {
    uint32_t old, site_epoch, lanes;
    uint32_t place;      /* transition_place() */
    uint32_t generation; /* of histories */
    uint32_t next; /* the history, relative to the lane of the access; or TRANSITION_STAYS; or TRANSITION_BY_LANE */
    uint32_t
        reported_in; /* where it reported a race: the only phase of shared memory that it is valid in (race_block.phase) */
    uint32_t unused; /* so that TRANSITION_WAYS of them are a cache line */
};
/* How much further the lane of the access is than the one that the cell names; 1 + that lane where
 * its number matters, else 0. */
static inline uint32_t transition_place(unsigned further, unsigned lane, unsigned mapping, bool alike)
{
    return further | lane << 8 | mapping << 16 | (uint32_t)alike << 24;
}
#define TRANSITION_STAYS   0x80000000u /* the cell stays as it is */
#define TRANSITION_BY_LANE 0x40000000u /* there is a transition for each lane, as lanes know different things */

/* Few where each access follows a release or an acquire of its own: then a transition is used again
 * soon or never. */
enum {
    TRANSITIONS = 1 << 12,
    TRANSITIONS_FEW = 1 << 8,
    TRANSITIONS_SHARED = 1 << 13,
    TRANSITION_WAYS = 2,
    SITES = 1 << 10,
    LOCKS_BITS = 14,
    LOCKS = 1 << LOCKS_BITS
};

/* Numbers that a worker has reserved. */
struct reservations {
    struct reservation site_epochs, splits, small_histories, histories; /* small ones are of one unit */
};

/* Bytes [low, high) of global memory that an access is performed on. */
struct span {
    _Atomic uint64_t low, high;
};

/* Which of its accesses an operation makes: all; only the read, as its compare-and-swap failed; the
 * read, or the write, of an asynchronous copy; a read of what its launch does not write. */
enum access_part { ACCESS_WHOLE, ACCESS_FAILED_CAS, ACCESS_READS, ACCESS_WRITES, ACCESS_READ_ONLY, ACCESS_PARTS };

enum { KIND_BUCKETS_BITS = 10, FOUND_BUCKETS_BITS = 10 };

/* A thread that runs blocks. */
struct race_worker {
    struct race_worker *next;
    const void *of;                           /* as events name it */
    _Alignas(64) struct span strong, writing; /* linearise.c; others poll it: in cache lines of its own */
    _Alignas(64) bool has_order;              /* it holds the lock of the order */
    bool is_writing;                          /* `writing` is set */
    uint32_t backoff;                         /* the last pause for another worker */
    uint64_t launch;                          /* whose blocks it ran last; */
    struct kernel_traits traits;              /* its kernel, */
    struct event_writes written;              /* and what it writes */
    struct known_site {
        const struct site *site;
        uint32_t kind, lane_bytes;
        enum access_part part;
    } sites[SITES];
    _Alignas(64) struct transition transitions[TRANSITIONS], transitions_shared[TRANSITIONS_SHARED];
    struct reservations reservations; /* of the races' histories */
    struct race_block *free_blocks;   /* with their memory */
};

/* The last site epochs of a warp: for global memory so many, for shared memory as many as the
 * kernel has accesses, up to a number. */
enum { RECENT = 16, RECENT_SHARED_MOST = 512 };
struct recent_site_epoch {
    uint32_t kind, epoch, generation, site_epoch;
    uint32_t
        first[3]; /* by enum lane_mapping: the history of an access by one lane to an empty cell; 0: not made yet */
    uint32_t some_lanes, some; /* the same by these lanes, which do not race */
};

/* Phases of shared memory that repeat: repeats.c. An access of a phase: */
struct phase_access {
    const struct site *site;
    int32_t at[2]; /* of the first lane of each half; of LINEAR and UNIFORM the base */
    uint32_t lanes;
    uint16_t bytes;
    uint8_t warp, pattern; /* enum access_pattern */
};

struct phase {
    struct phase_access *at;
    uint32_t (*lanes)[WARP_LANES]; /* addresses, of each ACCESS_ANY one behind the other */
    uint32_t n, room, n_lanes, lanes_room;
};

enum { PHASES_KNOWN = 64, PHASE_MOST = 2048 };
struct phases {
    struct phase known[PHASES_KNOWN]; /* by their first access; none of them has a race */
    struct phase now;                 /* what this phase does, where it is recorded */
    const struct phase *like;         /* what it has done so far, where it is PHASE_LIKE */
    uint32_t n, n_lanes;              /* so many accesses of that */
    uint32_t left;                    /* accesses of it that are still to come to the cells */
    enum { PHASE_WATCHED, PHASE_BEGINS, PHASE_LIKE, PHASE_RECORDED } state;
    bool on, reported; /* a race, in this phase */
    int32_t worth;     /* PHASE_WATCHED for the rest of the launch where it has gone */
};

/* A block that runs. */
struct race_block {
    struct race_block *next;
    struct races *races;
    struct race_worker *worker;
    struct block_order *order;
    struct kernel_traits traits;
    struct event_writes written;
    bool is_unwatched; /* it has been reported that nothing is watched */
    /* Blocks of the cluster reach each other's shared memory: its cells are those of its addresses
     * on the host, as of global memory, until another block gets that memory. */
    bool is_clustered;
    uint32_t task;
    uint32_t frontier, retired; /* tasks up to these come before the block's task; are retired */
    /* Shared memory. Between two barriers of the whole block accesses make the same of cells each
     * time, and in each block of the launch: so site epochs have no incarnation here, and count
     * epochs from the last such barrier on, and histories and transitions stay valid. */
    struct histories shared;
    struct reservations shared_reservations;
    uint32_t shared_from, phase; /* the first epoch after that barrier; the number of this phase */
    uint64_t launch;             /* whose histories they are */
    cell *shared_cells;
    uint32_t shared_words, updated_from, updated_to;
    struct recent_site_epoch (*recent)[RECENT], *recent_shared; /* by warp; for shared memory so many of each warp: */
    uint32_t recent_each, n_warps;                              /* a power of two; room for so many warps */
    struct phases phases;
};

struct races {
    const struct checker *checker; /* what memory is called */
    struct timelines *timelines;
    struct event_client regular, irregular;
    struct order *order;
    _Atomic bool writes_weakly; /* a kernel does so whose strong accesses wait for that: linearise.c */
    struct histories global;
    struct cells cells;
    _Atomic uint8_t locks[LOCKS];             /* of cells */
    struct numbered kinds;                    /* struct access_kind; */
    uint32_t kind_of[1 << KIND_BUCKETS_BITS]; /* by place, under the lock */
    struct race_block *range;                 /* stands for a block where a task that is no launch accesses memory, */
    struct race_block *host;                  /* and the host */
    pthread_mutex_t range_lock;
    _Atomic uint32_t newest; /* of the tasks that have accessed memory */
    struct budget *budget;
    _Atomic bool may_miss; /* a write has come to a full history */
    _Atomic bool
        no_memory; /* nothing is watched any more: with gaps in what is known, ordered accesses would be reported */
    pthread_mutex_t lock; /* protects what follows */
    struct {
        const char *launch; /* in which that happened first, in words; NULL: it never did */
        uint32_t times;
        bool now;
    } unwatched;
    struct arena arena;                                     /* of findings */
    struct race_worker *_Atomic workers;                    /* a worker adds itself */
    struct race_worker *wrote_last;                         /* by a strong operation; protected by the order's lock */
    struct race *found, *found_by[1 << FOUND_BUCKETS_BITS]; /* by places */
    struct kept_sources sources;                            /* of places of what was found */
    uint32_t n_found, n_places;
};

/* ---- access_kinds.c ---- */

/* These return the number of an access kind, or 0 without memory. */
uint32_t race_kind(struct races *r, const struct site *site, uint32_t lane_bytes, enum access_part part);
uint32_t race_kind_torn(struct races *r, const struct access_kind *of);
uint32_t race_kind_of_task(struct races *r, const struct task_note *note, bool write);
uint32_t race_kind_of_host(struct races *r, const struct task_note *note, const void *where,
                           const struct host_access *a);

/* ---- gc.c ---- */

/* Is a collection due? Asked where numbers have been taken. */
bool race_gc_is_due(struct races *r, const struct histories *h);
/* Collects where that is due: for global memory by one who holds no lock but the range's; for a
 * block's shared memory. */
void race_gc_now(struct races *r);
void race_gc_shared_now(struct race_block *b);
static inline void race_gc(struct races *r)
{
    if (__builtin_expect(atomic_load_explicit(&r->global.gc_due, memory_order_relaxed), 0))
        race_gc_now(r);
}
static inline void race_gc_shared(struct race_block *b)
{
    if (__builtin_expect(atomic_load_explicit(&b->shared.gc_due, memory_order_relaxed), 0))
        race_gc_shared_now(b);
}

/* ---- blocks.c: kernels, and the blocks that run ---- */

struct kernel_traits race_traits_of(const struct site_table *k);

/* NULL where memory is exhausted. */
struct race_worker *race_worker_of(struct races *r, const void *of);
void race_block_starts(struct races *r, struct event_block *block);
void race_block_ends(struct event_block *block);
extern unsigned race_slot; /* of a block's */
static inline struct race_block *race_block_of(const struct event_block *b)
{
    return event_kept(b, race_slot);
}
void race_free_block(struct race_block *b);
void race_set_task(struct race_block *b, uint32_t task);
/* A phase of shared memory ends, with an epoch: all of its accesses happen before what follows. */
void race_end_phase(struct race_block *b, uint32_t epoch);
/* Memory has run out, in a launch or (NULL) in another task. */
void race_stop_watching(struct races *r, const struct event_launch *launch);

bool race_open_histories(struct histories *h, uint32_t site_epochs, uint32_t histories, uint32_t splits,
                         struct budget *budget);
void race_close_histories(struct histories *h);
void race_clear_histories(struct histories *h, uint64_t keep_bytes);

/* ---- inspect.c ---- */

/* Sees the history of a byte of global memory, relative to a lane; of a word whose bytes share one,
 * that of the first byte. */
typedef void race_history_fn(void *data, const struct histories *of, const struct access_history *h, unsigned lane,
                             uint64_t address);
/* Those of some bytes. A history is valid for the time of the call. */
void race_each_history(struct races *r, uint64_t address, uint64_t bytes, race_history_fn *see, void *data);

/* ---- report.c, words.c ---- */

/* What the two access: an address of global memory, or of the shared memory of a block. */
struct race_datum {
    const struct site_table *kernel; /* NULL: of a task of another kind */
    const struct event_block *owner; /* of shared memory; NULL: global */
    bool is_clustered;               /* the finding says whose */
    uint64_t address;
};
void race_add_finding(struct races *r, const struct race_datum *datum, enum race_reason reason,
                      const struct race_side *earlier, const struct race_side *later);
/* Gives a race its words. */
void race_describe(struct races *r, struct race *f, const struct race_datum *d);

#endif
