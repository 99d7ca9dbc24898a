/* memcheck and initcheck: bad accesses, leaks of the kernels' heap, reads of uninitialised memory,
 * and accesses that the program's own rules about its memory forbid (rules.h).
 *
 * memcheck.c receives faults before they end a launch, and calls of the kernels' heap.
 * initcheck.c tracks which bytes have been written (check/shadow/defined.h). A *region* is an
 * allocation, or part of one, that either of them tracks: its name, its writer, whether it
 * leaks.
 */
#ifndef HEDDLE_CHECK_MEMORY_H
#define HEDDLE_CHECK_MEMORY_H

#include "check/report/findings.h"
#include "check/shadow/defined.h"

struct checker;

/* An uninitialised read; kept until the location is written. */
struct early_read {
    _Atomic(const void *) owner; /* a block; the checker for global memory; NULL: free */
    /* The warp whose local memory it is; UINT32_MAX for shared memory. */
    uint32_t warp;
    uint64_t address;
    struct finding *finding;
};

enum { MAX_EARLY = 64, REGION_BUCKETS = 1 << 12 };

struct region {
    struct region *next;
    uint64_t start, size;
    const char *name; /* or NULL */
    /* Of the sites that have written to it, the first in the source. */
    _Atomic(const struct site *) writer;
    struct finding *leak; /* the finding of a malloc in a kernel; else NULL */
};

/* Which bytes of all devices' memory have been written. Kernels write to each other's devices. */
struct written {
    struct defined defined;
    pthread_mutex_t lock;
    uint32_t running;         /* launches of all checkers that share this record; under the lock */
    struct checker *checkers; /* that share it; under the lock */
};

struct memory_tools {
    struct event_client client, rules;
    struct written own, *written; /* its own, or that of checker_new()'s `with` */
    struct checker *next;         /* that shares `written` */
    /* The first memory that initcheck could not track, in words; NULL: none. */
    _Atomic(const char *) lost;
    pthread_rwlock_t regions_lock;
    struct region *regions[REGION_BUCKETS]; /* by start */
    struct region *retired;                 /* freed, but a launch may still look at them */
    struct early_read early[MAX_EARLY];
    _Atomic uint32_t n_early; /* grows while a launch runs */
    pthread_mutex_t blocks_lock;
    struct block_memory *free_blocks; /* of blocks that have ended */
};

bool memory_open(struct checker *c, const struct checker *with);
/* A launch begins; ends. */
void memory_begin(struct checker *c);
void memory_end(struct checker *c);
void memory_close(struct checker *c);
/* No launch runs: frees what was kept for running ones. With checker.lock held. */
void memory_idle(struct checker *c);
/* ---- marks.c ---- */

/* What the host says of memory (world.h): it is undefined; it is defined; it is as defined as
 * other memory. */
bool memory_set_undefined(struct checker *c, uint64_t at, uint64_t bytes, const char *name);
void memory_set_defined(struct checker *c, uint64_t at, uint64_t bytes);
void memory_set_all_defined(struct checker *c);
void memory_copy_defined(struct checker *c, uint64_t to, uint64_t from, uint64_t bytes);

/* ---- memcheck.c, regions.c ---- */

/* An allocation is about to be freed, or a part of it reused for something else. */
void memory_forget(struct checker *c, uint64_t at, uint64_t bytes);
/* Makes the findings of leaks as of now. With the lock of the findings held. */
void memory_count_leaks(struct checker *c);
/* For a read of uninitialised memory: what is known of later writes there (a finding_end_fn). */
const char *memory_written(const struct finding *f, struct arena *arena);
/* "byte 4 of shared variable `tile`"; "byte 4 of a buffer of 64 bytes". */
const char *memory_place(struct checker *c, const struct access_event *e, unsigned lane, struct arena *arena);

/* ---- regions.c ---- */

/* Tracks an allocation. `name` (or NULL) and `leak` are its own. False without memory. */
bool region_note(struct checker *c, uint64_t address, uint64_t bytes, const char *name, struct finding *leak);
struct region *region_find(struct checker *c, uint64_t address);
/* The kernel frees it: it is no leak. */
void region_freed(struct checker *c, uint64_t start);
/* Adds it to the finding of its leak. With the lock of the findings held. */
void region_count_leak(struct checker *c, const struct region *r);
/* It is about to be freed, by whom ever: its findings keep what is known until now. What is still a
 * leak stays one. */
void region_forget(struct checker *c, uint64_t start);
/* "other parts of it are written at ..."; NULL: nothing wrote to it. */
const char *writer_words(const struct site *writer, struct arena *arena);
const char *memory_global_place(const struct checker *c, const struct region *r, uint64_t at, struct arena *arena);
void regions_idle(struct checker *c);
void regions_close(struct checker *c);

/* ---- initcheck.c ---- */

void initcheck_open(struct checker *c);
void initcheck_idle(struct checker *c);
void initcheck_access(void *data, const struct access_event *e);
void initcheck_block_ends(void *data, const struct schedule_event *e);
/* Memory has run out, in a launch or (NULL) in an allocation of the host. `place`: the first
 * memory that is not tracked. */
void initcheck_note_lost(struct checker *c, const struct event_launch *l, const char *place);
/* Reports which memory initcheck does not track. */
void initcheck_report_lost(struct checker *c, struct diags *diags);

/* ---- rules.c ---- */

void rules_open(struct checker *c);

#endif
