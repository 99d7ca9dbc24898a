/* What the parts of the checker share: its tools' state, and the list of findings. Private to check/. */
#ifndef HEDDLE_CHECK_FINDINGS_H
#define HEDDLE_CHECK_FINDINGS_H

#include "check/check.h"
#include "check/shadow/defined.h"
#include "check/host/host.h"
#include "check/report/places.h"
#include "check/race/races.h"
#include "check/host/host.h"
#include "check/order/timelines.h"

/* ---- findings.c ---- */

/* One kind of error at one instruction. */
struct finding {
    struct finding *next;      /* of all, newest first */
    struct finding *in_bucket; /* of those that findings_sight() compares */
    const char *code;
    enum diag_severity severity;
    const struct site *site; /* where it shows; modules stay as long as the machine has a checker */
    const void *key;         /* tells findings of one code and instruction apart, or NULL */
    struct place place;      /* of site */
    const char *kernel;      /* that was running */
    const char *kind;        /* in words, what tells findings of one code and line apart */
    _Atomic uint64_t launch; /* its number */
    _Atomic uint64_t first;  /* the first thread seen in it, in the order of blocks and threads */
    _Atomic uint64_t count;
    const char *text;
    const char *help;
    const char *written;   /* uninitialised reads: what is known of writes there at the first sight, */
    const char *later;     /* where it is written later, */
    struct region *region; /* of whose state at the end it depends what is said of it, or NULL */
};

enum { FINDING_BUCKETS = 1 << 8 };

struct findings {
    pthread_mutex_t lock; /* of all but `bucket` and what is atomic */
    struct arena arena;   /* of findings and their texts; as long as the checker */
    struct finding *newest;
    _Atomic(struct finding *) bucket[FINDING_BUCKETS];
    uint32_t n;
    struct kept_sources sources; /* texts that places are in */
};

/* What a thread did wrong. */
struct sight {
    const char *code, *kind;
    enum diag_severity severity;
    const struct site *site;
    const void *key;
    const struct event_block *block;
    uint32_t warp;
    unsigned lane;
    uint64_t count; /* of threads that did so here */
};

/* Counts it. Where it is the first of its kind at its place, or of an earlier thread of the same launch, returns the finding, whose
 * text is to be made, and to be followed by findings_done(); else NULL, as where memory is exhausted. */
struct finding *findings_sight(struct findings *f, const struct sight *s);
void findings_done(struct findings *f);
/* A finding of an instruction that is reported where its count is made other than 0. To be called with the lock held. */
struct finding *findings_add(struct findings *f, const struct sight *s);
void findings_report(struct checker *c, struct diags *diags);
void findings_close(struct findings *f);

/* "thread (1,0,0) of block (0,0,0)" */
const char *thread_name(struct arena *arena, const struct event_block *b, uint32_t warp, unsigned lane);
/* "block (0,0,0)" */
const char *block_name(struct arena *arena, const struct event_block *b);
/* "at file.cu:12", "at PTX line 7" */
const char *place_name(struct arena *arena, const struct site *s);

/* ---- the tools ---- */

/* A place that was read too early, until somebody writes it. */
struct early {
    _Atomic(const void *) owner; /* a block; the checker where it is in global memory; NULL: no more */
    uint32_t warp;               /* whose local memory it is in; of shared memory UINT32_MAX */
    uint64_t address;
    struct finding *finding;
};

enum { MAX_EARLY = 64, REGION_BUCKETS = 1 << 12 };

/* An allocation of whose bytes some have been undefined. */
struct region {
    struct region *next;
    uint64_t start, size;
    const char *name;                    /* or NULL */
    _Atomic(const struct site *) writer; /* of those that have defined bytes of it, the first in its text */
    struct finding *leak;                /* of its malloc in a kernel; else NULL */
};

enum { MOST_LEARNT = 8, HOST_PLACES = 64 };

/* Where an instruction of the host's was last, by the stack at it. */
struct host_place {
    uint64_t pc, sp, top;
    const void *place;
};

struct checker {
    struct machine *machine;
    hd_checker_options options;
    bool finished;                        /* nothing more is launched */
    struct timelines *timelines;          /* or NULL */
    struct order_hooks order;             /* that keep them */
    struct host_watch *host;              /* or NULL */
    _Atomic uint32_t learnt[MOST_LEARNT]; /* launches of which the host knows something */
    pthread_mutex_t host_places_lock;
    struct host_place host_places[HOST_PLACES];                            /* by instruction */
    struct races *races;                                                   /* or NULL */
    struct event_client memory, rules, sync, sync_parted, copies, proxies; /* of the tools that are wanted */
    _Atomic(struct passed *) passed;                                       /* parted.c; in the findings' arena */
    struct wgmma_kernel *wgmma; /* kernels that have been looked at; with `lock` */
    struct findings findings;
    pthread_mutex_t lock;              /* of `running`; held where the host looks at shadow memory */
    uint32_t running;                  /* launches */
    struct budget own_budget, *budget; /* its own, or that of the checker that it was made with */
    struct defined defined;
    _Atomic(const char *) lost; /* where initcheck first could not follow some memory, in words; NULL: it could */
    pthread_rwlock_t regions_lock;
    struct region *regions[REGION_BUCKETS]; /* by start */
    struct region *retired;                 /* not there any more, but a launch may still look at them */
    struct early early[MAX_EARLY];
    _Atomic uint32_t n_early; /* grows while a launch runs */
    pthread_mutex_t blocks_lock;
    struct block_memory *free_blocks; /* of blocks that have ended */
};

/* ---- copies.c: a part of racecheck ---- */

void copies_open(struct checker *c);

/* ---- proxies.c: a part of racecheck ---- */

void proxies_open(struct checker *c);
bool proxies_concern(const struct site_table *k);

/* ---- wgmma.c: a part of racecheck ---- */

/* What watches launches of the kernel; NULL where nothing in it can go wrong. With c->lock held. */
const struct event_client *wgmma_client(struct checker *c, const struct site_table *k);
void wgmma_close(struct checker *c);

/* ---- rules.c: a part of memcheck ---- */

void rules_open(struct checker *c);

/* ---- memory.c: memcheck and initcheck ---- */

/* "byte 4 of shared variable `tile`"; "byte 4 of a buffer of 64 bytes". */
const char *memory_place(struct checker *c, const struct access_event *e, unsigned lane, struct arena *arena);

bool memory_open(struct checker *c);
void memory_close(struct checker *c);
/* No launch runs: what was kept for one that did can go. With c->lock held. */
void memory_rest(struct checker *c);
/* An allocation is about to be freed, or a part of one gets another meaning. */
void memory_forget(struct checker *c, const void *p, uint64_t bytes);
/* What initcheck does not watch. */
void memory_tell_lost(struct checker *c, struct diags *diags);
/* Makes the findings of leaks as of now. With the lock of the findings held. */
void memory_count_leaks(struct checker *c);
/* What is known of writes to what was read: the end of the finding's sentence, or NULL. */
const char *memory_written(const struct finding *f, struct arena *arena);

/* ---- tasks.c: the order of tasks, and what those that are no launches do to memory ---- */

void tasks_watch(struct checker *c);
void tasks_unwatch(struct checker *c);

/* ---- sync.c: synccheck ---- */

void sync_open(struct checker *c);
/* What watches launches of the kernel. */
const struct event_client *sync_client(struct checker *c, const struct site_table *k);

/* ---- parted.c: a part of synccheck ---- */

/* Lanes enter a block of code while others of their warp wait; lanes exit; a barrier of the block opens; blocks start and end. */
void parted_enter(struct checker *c, const struct enter_event *e);
void parted_exit(struct checker *c, const struct sync_event *e);
void parted_open(const struct event_block *b);
void parted_schedule(const struct schedule_event *e);
void parted_init(void);
/* Can that be a mistake in this kernel? */
bool parted_concern(const struct site_table *k);

#endif
