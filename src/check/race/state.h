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
#include "check/race/written.h"

/* Why two accesses are a race; findings of the same places are reported apart by it. */
enum race_reason {
    RACE_ONE_INSTRUCTION, /* lanes of one instruction write one place */
    RACE_WARP,            /* threads of a warp */
    RACE_BLOCK,
    RACE_BLOCKS,
    RACE_LAUNCHES,
    RACE_OVERLAP, /* of programmatic dependent launches */
    RACE_HOST,
    RACE_SCOPE,  /* both strong, but a scope does not name the other thread */
    RACE_MIXED,  /* one strong, one weak */
    RACE_PARTLY, /* both strong, of different sizes */
    RACE_END,    /* of one access, and the end of the block whose shared memory it is */
};

/* One of the two, as it is reported. */
struct race_side {
    const struct access_kind *kind;
    struct incarnation incarnation;
    unsigned thread; /* of the block */
};

struct race {
    struct race *next, *in_bucket;
    enum race_reason reason;
    uint64_t count;
    struct race_side side[2]; /* by their places */
    const char *kernel;       /* of the first that is a kernel's */
    const char *text, *help;  /* made when it is found: the module may have gone when it is reported */
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
    bool stores_strongly;   /* by more than updates: which of several writes was observed depends on their order */
    uint32_t accesses;      /* how many operations make any */
    bool irregular;         /* not by whole blocks and warps alone: histories keep all that is unordered */
};

/* What an access makes of a history. */
struct transition {
    uint32_t old, site_epoch, lanes;
    uint32_t place;      /* transition_place() */
    uint32_t generation; /* of histories */
    uint32_t next; /* history, relative to the lane of the access; or TRANSITION_STAYS: the cell stays as it is; or */
    uint32_t reported_in; /* 0; or it is reported, and holds in this phase of shared memory alone: race_block.phase */
    uint32_t unused;      /* so TRANSITION_WAYS of them are a cache line */
};
/* The lane of the access, from the one that the cell names; and its number + 1, where it matters, else 0. */
static inline uint32_t transition_place(unsigned further, unsigned lane, unsigned mapping, bool alike)
{
    return further | lane << 8 | mapping << 16 | (uint32_t)alike << 24;
}
#define TRANSITION_STAYS   0x80000000u
#define TRANSITION_BY_LANE 0x40000000u /* it matters which lane it is: there is a transition for each */

/* Few where each access of a thread is behind a release or an acquire of its own: then transitions come again soon or never. */
enum {
    TRANSITIONS = 1 << 12,
    TRANSITIONS_FEW = 1 << 8,
    TRANSITIONS_SHARED = 1 << 13,
    TRANSITION_WAYS = 2,
    SITES = 1 << 10,
    LOCKS_BITS = 14,
    LOCKS = 1 << LOCKS_BITS
};

/* Numbers that a worker has taken and not used yet. */
struct reservations {
    struct reservation site_epochs, splits, small_histories, histories; /* small ones are of one unit */
};

/* Bytes [low, high) of global memory that are being accessed. */
struct span {
    _Atomic uint64_t low, high;
};

/* What an operation does: all that it says; a cas that fails only reads; of asynchronous work, which is reported of by its lane, what
 * it reads, or what it writes; a read of what its launch does not write. */
enum access_part { ACCESS_WHOLE, ACCESS_FAILED_CAS, ACCESS_READS, ACCESS_WRITES, ACCESS_READ_ONLY, ACCESS_PARTS };

enum { KIND_BUCKETS_BITS = 10, FOUND_BUCKETS_BITS = 10 };

/* A thread that runs blocks. */
struct race_worker {
    struct race_worker *next;
    const void *of;                           /* as events name it */
    _Alignas(64) struct span strong, writing; /* what others look at has cache lines of its own: linearise.c */
    _Alignas(64) bool has_order;              /* the lock of the order */
    bool is_writing;                          /* `writing` is set */
    uint32_t backoff;                         /* pauses since it has waited for another worker */
    uint64_t launch;                          /* whose blocks it ran last, */
    struct kernel_traits traits;              /* and of what kernel, */
    struct written written;                   /* and what that one writes */
    struct known_site {
        const struct site *site;
        uint32_t kind, lane_bytes;
        enum access_part part;
    } sites[SITES];
    _Alignas(64) struct transition transitions[TRANSITIONS], transitions_shared[TRANSITIONS_SHARED];
    struct reservations reservations; /* of the races' histories */
    struct race_block *free_blocks;   /* with what they have taken */
};

/* Of global memory; of shared memory as many as the kernel has accesses, up to a number. */
enum { RECENT = 16, RECENT_SHARED_MOST = 512 };
struct recent_site_epoch {
    uint32_t kind, epoch, generation, site_epoch;
    uint32_t first[3];         /* by enum lane_mapping: the history of one lane's access; or 0: none was needed yet */
    uint32_t some_lanes, some; /* of one by these lanes, which are no race */
};

/* A block that runs. */
struct race_block {
    struct race_block *next;
    struct races *races;
    struct race_worker *worker;
    struct block_order *order;
    struct kernel_traits traits;
    struct written written;
    bool is_unwatched; /* it is known that nothing is watched */
    /* Blocks of the cluster reach each other's shared memory: it has its past in cells of the host's addresses, as global memory has, until
     * a block gets that memory anew. */
    bool is_clustered;
    uint32_t task;
    uint32_t frontier, retired; /* tasks up to these come before the block's; before all that begins from now on */
    /* Of shared memory. What the accesses between two barriers of the whole block make of cells is the same each time, in each block of
     * the launch: site epochs say no incarnation, and their epochs count from the last such barrier on, so that histories and transitions
     * stay. */
    struct histories shared;
    struct reservations shared_reservations;
    uint32_t shared_from, phase; /* the epoch after that barrier; of such phases, the number of this one */
    uint64_t launch;             /* that they are of */
    cell *shared_cells;
    uint32_t shared_words, updated_from, updated_to;
    struct recent_site_epoch (*recent)[RECENT], *recent_shared; /* by warp; of shared memory, so many for each warp: */
    uint32_t recent_each, n_warps;                              /* a power of two; warps that there is room for */
};

struct races {
    struct machine *machine;
    struct timelines *timelines;
    struct event_client regular, irregular;
    struct order *order;
    _Atomic bool writes_weakly; /* a kernel does whose strong accesses wait for that: linearise.c */
    struct histories global;
    struct cells cells;
    _Atomic uint8_t locks[LOCKS];             /* of cells */
    struct numbered kinds;                    /* struct access_kind; */
    uint32_t kind_of[1 << KIND_BUCKETS_BITS]; /* by place, under the lock */
    struct race_block *range; /* what stands for a block while a task that is no launch accesses memory, */
    struct race_block *host;  /* and the host */
    pthread_mutex_t range_lock;
    _Atomic uint32_t newest; /* of the tasks that have accessed memory */
    struct budget *budget;
    _Atomic uint64_t forgotten;
    _Atomic bool
        no_memory; /* nothing is watched: what is known has gaps, and what they have ordered would be taken for races */
    pthread_mutex_t lock; /* of what follows */
    struct {
        const char *launch; /* in which it was first so, in words; NULL: it never was */
        uint32_t times;
        bool now;
    } unwatched;
    struct arena arena;                  /* of findings */
    struct race_worker *_Atomic workers; /* a worker adds itself */
    struct race_worker *wrote_last;      /* by a strong operation; under the order's lock */
    VEC(struct kernel_traits) kernels;
    struct race *found, *found_by[1 << FOUND_BUCKETS_BITS]; /* by places */
    struct kept_sources sources;                            /* of places of what was found */
    uint32_t n_found, n_places;
};

/* access_kinds.c: the number of what an operation does, so many bytes each lane, or a task that is no launch; 0 without memory. */
uint32_t race_kind(struct races *r, const struct site *site, uint32_t lane_bytes, enum access_part part);
/* The same access where it is torn. */
uint32_t race_kind_torn(struct races *r, const struct access_kind *of);
uint32_t race_kind_of_task(struct races *r, const struct task_note *note, bool write);
uint32_t race_kind_of_host(struct races *r, const struct task_note *note, const void *where,
                           const struct host_access *a);

/* gc.c: what no cell names is given back, and can be taken again. Are histories to be collected by now? Asked where numbers
 * have been taken. */
bool race_gc_is_due(struct races *r, const struct histories *h);
/* Where they are due: of global memory, while blocks run, by one who has no lock but the range's; of a block's shared memory. */
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
struct kernel_traits race_find_traits(struct races *r, const struct site_table *k);

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
/* A phase of shared memory ends, at an epoch: all of its accesses are before what comes. */
void race_end_phase(struct race_block *b, uint32_t epoch);
/* Memory has run out, in a launch or (NULL) in a task that is none. */
void race_stop_watching(struct races *r, const struct event_launch *launch);

bool race_open_histories(struct histories *h, uint32_t site_epochs, uint32_t histories, uint32_t splits,
                         struct budget *budget);
void race_close_histories(struct histories *h);
void race_clear_histories(struct histories *h, uint64_t keep_bytes);

/* ---- inspect.c ---- */

/* The history of a byte of global memory, whose entries are relative to a lane (history.h). Of a word whose bytes have one it is the
 * first. */
typedef void race_history_fn(void *data, const struct histories *of, const struct access_history *h, unsigned lane,
                             uint64_t address);
/* Those of some bytes; each is as it is for the time of the call. */
void race_each_history(struct races *r, uint64_t address, uint64_t bytes, race_history_fn *see, void *data);

/* ---- report.c, words.c ---- */

/* What is accessed: an address of global memory, or of the shared memory of a block. */
struct race_datum {
    const struct site_table *kernel; /* NULL: of a task of another kind */
    const struct event_block *owner; /* of shared memory; NULL: global */
    bool is_clustered;               /* it is reported whose */
    uint64_t address;
};
void race_add_finding(struct races *r, const struct race_datum *datum, enum race_reason reason,
                      const struct race_side *earlier, const struct race_side *later);
/* Gives a race its words. */
void race_describe(struct races *r, struct race *f, const struct race_datum *d);

#endif
