/* What is kept of tasks and timelines. Private to timelines.c and retired.c. */
#ifndef HEDDLE_CHECK_TIMELINES_STATE_H
#define HEDDLE_CHECK_TIMELINES_STATE_H

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "check/order/task_clock.h"
#include "check/order/timelines.h"

enum {
    HOST_TIMELINE = 0,
    CHUNK_LOG2 = 12,
    CHUNK_TASKS = 1 << CHUNK_LOG2,
    N_CHUNKS = 1 << (32 - CHUNK_LOG2),
    MOST_LEARNT = 4
};

/* What is known of a task between its submission and its beginning. */
struct pending {
    struct task_clock *host; /* the host's at the submission */
    uint32_t previous, n, after[];
};

struct task_record {
    uint32_t timeline, place; /* place: from 1 */
    uint32_t frontier;
    uint32_t overlapped;      /* the first place of its timeline that it overlaps (timelines_overlap); 0: none */
    struct task_clock *clock; /* NULL: it has not begun, or memory is exhausted */
    struct pending *pending;
    _Atomic uint32_t learnt[MOST_LEARNT]; /* tasks; of more, the newest */
    const struct task_note *note;
};

struct timeline {
    VEC(uint32_t) tasks; /* by place - 1 - gone */
    uint32_t n, gone;
    uint32_t last_work;    /* place of the last that is no mark, */
    uint32_t begun, ended; /* of the last that has begun; that has ended */
    bool closed;
};

struct timelines {
    _Atomic int users; /* but one */
    pthread_mutex_t lock;
    struct task_record *_Atomic *chunks;
    uint32_t n_tasks;
    VEC(struct timeline) timelines;
    uint32_t n_closed;         /* of them, that can go on as others in time */
    struct times now;          /* the host's clock, with room for all timelines */
    struct task_clock *shared; /* the same as a clock, or NULL */
    uint32_t segment;          /* the task of the host's accesses, or 0 where it would be a new one */
    struct times scratch;      /* with room for all timelines */
    _Atomic uint32_t retired;
    _Atomic uint32_t forgotten; /* tasks up to this one, all retired, have no records: whole chunks */
    struct arena arena;         /* names and notes */
    struct map names, notes;
};

static inline struct task_record *record_of(const struct timelines *s, uint32_t task)
{
    return &atomic_load_explicit(&s->chunks[task >> CHUNK_LOG2], memory_order_acquire)[task & (CHUNK_TASKS - 1)];
}

static inline bool is_forgotten(const struct timelines *s, uint32_t task)
{
    return task <= atomic_load_explicit(&s->forgotten, memory_order_relaxed);
}

static inline uint32_t task_at(const struct timeline *x, uint32_t place)
{
    return x->tasks.at[place - 1 - x->gone];
}

/* The largest number, up to `last`, such that all tasks up to it are among those that `t` counts, those of the timeline `but` aside. All up
 * to `least` are. */
uint32_t timelines_counted(const struct timelines *s, const struct times *t, uint32_t last, uint32_t least,
                           uint32_t but);
/* Finds what is retired by now, and forgets it. */
void timelines_retire(struct timelines *s);
/* Has the host waited for all work? */
bool timelines_all_waited_for(const struct timelines *s);
void timelines_drop_record(struct task_record *r);

#endif
