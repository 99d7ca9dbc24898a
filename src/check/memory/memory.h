/* memcheck and initcheck: bad accesses, leaks of the kernels' heap, reads of memory that nobody has
 * written, and accesses that the program's own rules about its memory do not allow (rules.h).
 *
 * memcheck.c hears of faults before they end a launch, and of the kernels' heap. initcheck.c
 * follows which bytes have been written (check/shadow/defined.h). A *region* is an allocation that
 * either of them has to say something about: its name, who has written to it, whether it leaks.
 */
#ifndef HEDDLE_CHECK_MEMORY_H
#define HEDDLE_CHECK_MEMORY_H

#include "check/report/findings.h"
#include "check/shadow/defined.h"

struct checker;

/* A place that was read before it was written, until somebody writes it. */
struct early_read {
    _Atomic(const void *) owner; /* a block; the checker where it is in global memory; NULL: no more */
    uint32_t warp;               /* whose local memory it is in; of shared memory UINT32_MAX */
    uint64_t address;
    struct finding *finding;
};

enum { MAX_EARLY = 64, REGION_BUCKETS = 1 << 12 };

struct region {
    struct region *next;
    uint64_t start, size;
    const char *name;                    /* or NULL */
    _Atomic(const struct site *) writer; /* of those that have defined bytes of it, the first in its text */
    struct finding *leak;                /* of its malloc in a kernel; else NULL */
};

/* Which bytes of all devices' memory have been written: kernels write to each other's. */
struct written {
    struct defined defined;
    pthread_mutex_t lock;
    uint32_t running;         /* launches, of all checkers that have it: with the lock */
    struct checker *checkers; /* that have it: with the lock */
};

struct memory_tools {
    struct event_client client, rules;
    struct written own, *written; /* its own, or that of the checker that it was made with */
    struct checker *next;         /* that has it, too */
    _Atomic(const char *) lost;   /* where initcheck first could not follow some memory, in words; NULL: it could */
    pthread_rwlock_t regions_lock;
    struct region *regions[REGION_BUCKETS]; /* by start */
    struct region *retired;                 /* not there any more, but a launch may still look at them */
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
/* No launch runs: what was kept for one that did can go. With checker.lock held. */
void memory_idle(struct checker *c);
/* ---- marks.c ---- */

/* What the host has told (world.h) of memory that is undefined; defined; as defined as other memory
 * is. */
bool memory_set_undefined(struct checker *c, uint64_t at, uint64_t bytes, const char *name);
void memory_set_defined(struct checker *c, uint64_t at, uint64_t bytes);
void memory_set_all_defined(struct checker *c);
void memory_copy_defined(struct checker *c, uint64_t to, uint64_t from, uint64_t bytes);

/* ---- memcheck.c, regions.c ---- */

/* An allocation is about to be freed, or a part of one gets another meaning. */
void memory_forget(struct checker *c, uint64_t at, uint64_t bytes);
/* Makes the findings of leaks as of now. With the lock of the findings held. */
void memory_count_leaks(struct checker *c);
/* What is known of writes to what was read too early (a finding_end_fn). */
const char *memory_written(const struct finding *f, struct arena *arena);
/* "byte 4 of shared variable `tile`"; "byte 4 of a buffer of 64 bytes". */
const char *memory_place(struct checker *c, const struct access_event *e, unsigned lane, struct arena *arena);

/* ---- regions.c ---- */

/* Notes the allocation that holds so many bytes; `name`, or NULL, and `leak` are its own. False
 * without memory. */
bool region_note(struct checker *c, uint64_t address, uint64_t bytes, const char *name, struct finding *leak);
struct region *region_find(struct checker *c, uint64_t address);
/* It is about to be freed: findings say from now on what is known by now. */
void region_forget(struct checker *c, uint64_t start);
/* "other parts of it are written at ..."; NULL: nobody has. */
const char *writer_words(const struct site *writer, struct arena *arena);
const char *memory_global_place(const struct checker *c, const struct region *r, uint64_t at, struct arena *arena);
void regions_idle(struct checker *c);
void regions_close(struct checker *c);

/* ---- initcheck.c ---- */

void initcheck_open(struct checker *c);
void initcheck_idle(struct checker *c);
void initcheck_access(void *data, const struct access_event *e);
void initcheck_block_ends(void *data, const struct schedule_event *e);
/* Memory has run out, in a launch or (NULL) an allocation of the host's; `place`: what is not
 * followed first. */
void initcheck_note_lost(struct checker *c, const struct event_launch *l, const char *place);
/* What initcheck does not watch. */
void initcheck_report_lost(struct checker *c, struct diags *diags);

/* ---- rules.c ---- */

void rules_open(struct checker *c);

#endif
