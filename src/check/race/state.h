/* State that the files of the race detector share. Private to check/race/. */
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

/* Why two accesses race. Findings of one pair of places differ in it. */
enum race_reason {
    RACE_ONE_INSTRUCTION, /* lanes of one instruction write to one location */
    RACE_WARP,            /* threads of a warp */
    RACE_BLOCK,
    RACE_BLOCKS,
    RACE_LAUNCHES,
    RACE_OVERLAP, /* a missing wait between programmatic dependent launches */
    RACE_HOST,
    RACE_SCOPE,  /* both strong, but a scope does not include the other thread */
    RACE_MIXED,  /* one strong, one weak */
    RACE_PARTLY, /* both strong, of different sizes */
    RACE_END,    /* an access may come after the end of the block whose shared memory it accesses */
};

/* One of the two accesses, as a finding names it. */
struct race_side {
    const struct access_kind *kind;
    struct incarnation incarnation;
    unsigned thread; /* its number in the block */
};

struct race {
    struct race *next, *in_bucket;
    enum race_reason reason;
    struct race_side side[2]; /* sorted by place */
    VEC(uint32_t) counted;    /* tasks in which it was counted, ascending; 0: between two tasks */
    const char *kernel;       /* of the first side that is in a kernel */
    /* Made immediately: the module may be gone when the race is reported. */
    const char *text, *help;
    struct place place[2];
    const char *note;
    struct {
        uint32_t task;
        const void *where; /* as hd_checker_options.place returned it; NULL: it is no launch */
    } launch[2];           /* of the sides, */
    uint32_t period;       /* in which they were noted: races_period() */
};

/* How the threads of a kernel can synchronise. */
struct kernel_traits {
    const struct site_table *kernel;
    bool releases;          /* fences, .acquire, .release: sync variables are kept */
    bool acquires;          /* by operations other than fences */
    bool acquires_narrowly; /* with the scope of a block or a cluster */
    bool writes_weakly;     /* to global memory */
    /* Other than by read-modify-writes: their order decides which write is observed. */
    bool stores_strongly;
    uint32_t accesses; /* an upper bound of its kinds of accesses */
    /* they synchronise by more than whole blocks and warps: histories keep all unordered
     * accesses */
    bool irregular;
};

/* A memoised transition: the next history after an access. */
struct transition {
    uint32_t old, site_epoch, lanes;
    uint32_t place;      /* transition_place() */
    uint32_t generation; /* the generation of its numbers */
    /* the next history, relative to the lane of the access; or TRANSITION_STAYS; or
     * TRANSITION_BY_LANE */
    uint32_t next;
    /* if it reported a race: the only phase of shared memory in which it is valid
     * (race_block.phase) */
    uint32_t reported_in;
    uint32_t unused; /* makes TRANSITION_WAYS of them a cache line */
};
/* The distance from the cell's lane to the access's lane; and, if that lane itself matters, 1 +
 * its number, else 0. */
static inline uint32_t transition_place(unsigned further, unsigned lane, unsigned mapping, bool alike)
{
    return further | lane << 8 | mapping << 16 | (uint32_t)alike << 24;
}
#define TRANSITION_STAYS 0x80000000u /* the cell stays as it is */
/* There is a transition for each lane, as lanes have different knowledge. */
#define TRANSITION_BY_LANE 0x40000000u

/* Few are kept if each access follows its own release or acquire: then a transition is rarely
 * used again. */
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
    /* Small ones have one unit. */
    struct reservation site_epochs, splits, small_histories, histories;
};

/* The bytes [low, high) of global memory that an access reads or writes. */
struct span {
    _Atomic uint64_t low, high;
};

/* Which accesses an operation makes: all; only the read, as its compare-and-swap failed; the
 * read, or the write, of an asynchronous copy; a read of memory that its launch does not write. */
enum access_part { ACCESS_WHOLE, ACCESS_FAILED_CAS, ACCESS_READS, ACCESS_WRITES, ACCESS_READ_ONLY, ACCESS_PARTS };

enum { KIND_BUCKETS_BITS = 10, FOUND_BUCKETS_BITS = 10 };

/* A worker: a thread that runs blocks. */
struct race_worker {
    struct race_worker *next;
    const void *of; /* its name in events */
    /* for linearise.c; in their own cache lines, as other workers poll them */
    _Alignas(64) struct span strong, writing;
    _Alignas(64) bool has_order; /* it holds the order's lock */
    bool is_writing;             /* `writing` is set */
    uint32_t backoff;            /* the length of its last pause for another worker */
    uint64_t launch;             /* the launch whose blocks it ran last */
    struct kernel_traits traits; /* that launch's kernel */
    struct event_writes written; /* and what that writes */
    struct known_site {
        const struct site *site;
        uint32_t kind, lane_bytes;
        enum access_part part;
    } sites[SITES];
    _Alignas(64) struct transition transitions[TRANSITIONS], transitions_shared[TRANSITIONS_SHARED];
    struct reservations reservations; /* of the histories of global memory */
    struct race_block *free_blocks;   /* free ones, which keep their memory */
};

/* The most recent site epochs of a warp: RECENT for global memory; for shared memory as many as
 * the kernel has accesses, up to a maximum. */
enum { RECENT = 16, RECENT_SHARED_MOST = 512 };
struct recent_site_epoch {
    uint32_t kind, epoch, generation, site_epoch;
    /* by enum lane_mapping: the history after one access by one lane to an empty cell; 0: not
     * made yet */
    uint32_t first[3];
    uint32_t some_lanes, some; /* the same for these lanes, which do not race with each other */
};

/* Phases of shared memory that repeat an earlier one: repeats.c. An access of a phase: */
struct phase_access {
    const struct site *site;
    int32_t at[2]; /* offset of the first lane of each half warp; for LINEAR and UNIFORM the base */
    uint32_t lanes;
    uint16_t bytes;
    uint8_t warp, pattern; /* enum access_pattern */
};

struct phase {
    struct phase_access *at;
    uint32_t (*lanes)[WARP_LANES]; /* the addresses of all ACCESS_ANY accesses, in order */
    uint32_t n, room, n_lanes, lanes_room;
};

enum { PHASES_KNOWN = 64, PHASE_MOST = 2048 };
struct phases {
    struct phase known[PHASES_KNOWN]; /* indexed by their first access; none of them has a race */
    struct phase now;                 /* the accesses of this phase, while it is recorded */
    /* In the state PHASE_LIKE: the known phase that it repeats so far. */
    const struct phase *like;
    uint32_t n, n_lanes; /* the number of accesses that repeated it */
    uint32_t left;       /* the number of those that have not updated the cells yet */
    enum { PHASE_WATCHED, PHASE_BEGINS, PHASE_LIKE, PHASE_RECORDED } state;
    bool on, reported; /* a race was reported in this phase */
    /* Whether comparing pays off; at 0 phases are PHASE_WATCHED for the rest of the launch. */
    int32_t worth;
};

/* A running block. */
struct race_block {
    struct race_block *next;
    struct races *races;
    struct race_worker *worker;
    struct block_order *order;
    struct kernel_traits traits;
    struct event_writes written;
    bool is_unwatched; /* it was reported that nothing is watched */
    /* Blocks of the cluster access each other's shared memory. Its cells are then those of its
     * host addresses, as for global memory, until another block gets that memory. */
    bool is_clustered;
    uint32_t task;
    uint32_t frontier, retired; /* tasks up to these come before the block's task; are retired */
    /* Shared memory. Accesses between two barriers of the whole block change cells in the same
     * way each time, and in each block of the launch. So site epochs here have no incarnation
     * and count epochs from the last such barrier, and histories and transitions stay valid. */
    struct histories shared;
    struct reservations shared_reservations;
    /* The first epoch after that barrier; the number of the current phase. */
    uint32_t shared_from, phase;
    uint64_t launch; /* the launch to which they belong */
    cell *shared_cells;
    uint32_t shared_words, updated_from, updated_to;
    /* by warp; for shared memory `recent_each` for each warp */
    struct recent_site_epoch (*recent)[RECENT], *recent_shared;
    uint32_t recent_each, n_warps; /* a power of two; the number of warps that there is room for */
    struct phases phases;
};

struct races {
    const struct checker *first;
    struct checker *checkers; /* all that share it, for the names of memory; under the lock */
    struct timelines *timelines;
    struct event_client regular, irregular;
    struct order *order;
    /* a running kernel writes weakly, so strong accesses wait for its writes: linearise.c */
    _Atomic bool writes_weakly;
    struct histories global;
    struct cells cells;
    _Atomic uint8_t locks[LOCKS];             /* locks of cells */
    struct numbered kinds;                    /* struct access_kind; */
    uint32_t kind_of[1 << KIND_BUCKETS_BITS]; /* by place, under the lock */
    uint32_t running;                         /* launches; protected by the range's lock */
    /* Stands in for a block when a task that is not a launch accesses memory. */
    struct race_block *range;
    struct race_block *host; /* stands in for a block when the host does */
    pthread_mutex_t range_lock;
    _Atomic uint32_t newest; /* the newest task that has accessed memory */
    struct budget *budget;
    uint32_t period;       /* under the lock */
    _Atomic bool may_miss; /* a write has met a full history */
    /* nothing is watched any more: with incomplete histories, ordered accesses would be reported */
    _Atomic bool no_memory;
    pthread_mutex_t lock; /* protects what follows */
    struct {
        const char *launch; /* the first launch in which that happened, in words; NULL: none */
        uint32_t times;
        bool now;
    } unwatched;
    struct arena arena;                  /* of findings */
    struct race_worker *_Atomic workers; /* each worker adds itself */
    /* the last worker that wrote by a strong operation; protected by the order's lock */
    struct race_worker *wrote_last;
    struct race *found, *found_by[1 << FOUND_BUCKETS_BITS]; /* by their places */
    struct kept_sources sources;                            /* of the findings' places */
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

/* Is a collection due? To be asked after numbers were taken. */
bool race_gc_is_due(struct races *r, const struct histories *h);
/* Collects if that is due: for global memory, by a thread that holds no lock but the range's;
 * for a block's shared memory. */
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
extern unsigned race_slot; /* the slot of a block */
static inline struct race_block *race_block_of(const struct event_block *b)
{
    return event_kept(b, race_slot);
}
void race_free_block(struct race_block *b);
void race_set_task(struct race_block *b, uint32_t task);
/* A phase of shared memory ends, and with it an epoch: all of its accesses happen before what
 * follows. */
void race_end_phase(struct race_block *b, uint32_t epoch);
/* Memory has run out, in a launch or (NULL) in another task. */
void race_stop_watching(struct races *r, const struct event_launch *launch);

bool race_open_histories(struct histories *h, uint32_t site_epochs, uint32_t histories, uint32_t splits,
                         struct budget *budget);
void race_close_histories(struct histories *h);
void race_clear_histories(struct histories *h, uint64_t keep_bytes);

/* ---- inspect.c ---- */

/* Receives the history of a byte of global memory, relative to a lane. For a word whose bytes
 * share one, called for the first byte. */
typedef void race_history_fn(void *data, const struct histories *of, const struct access_history *h, unsigned lane,
                             uint64_t address);
/* Calls `see` for the histories of a range. A history is valid during the call. */
void race_each_history(struct races *r, uint64_t address, uint64_t bytes, race_history_fn *see, void *data);

/* ---- report.c, words.c ---- */

/* The memory that both access: an address of global memory, or of a block's shared memory. */
struct race_datum {
    const struct site_table *kernel; /* NULL: the task is not a launch */
    const struct event_block *owner; /* the block whose shared memory it is; NULL: global memory */
    bool is_clustered;               /* the finding names the block whose memory it is */
    uint64_t address;
};
void race_add_finding(struct races *r, const struct race_datum *datum, enum race_reason reason,
                      const struct race_side *earlier, const struct race_side *later);
/* Writes the texts of a race. */
void race_describe(struct races *r, struct race *f, const struct race_datum *d);

#endif
