/* What is kept of tasks and timelines. Private to check/order/timelines.c, retired.c and
 * task_notes.c. */
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
    struct clock *host; /* the host's at the submission */
    uint32_t previous, n, after[];
};

struct task_record {
    uint32_t timeline, place; /* place: from 1 */
    uint32_t frontier;
    uint32_t overlapped; /* the first place of its timeline that it overlaps (timelines_overlap); 0: none */
    struct clock
        *clock; /* NULL: it has not begun, or nothing comes before it but its timeline, or memory is exhausted */
    bool counted_early; /* clocks have counted it before its end, and may lack what it has learnt since */
    struct pending *pending;
    _Atomic uint32_t learnt[MOST_LEARNT]; /* tasks; of more, the newest */
    const struct task_note *note;
    struct clock *published; /* what comes before it of threads of launches that may still run; or NULL */
};

struct timeline {
    VEC(uint32_t) tasks; /* by place - 1 - gone */
    uint32_t n, gone;
    uint32_t last_work;    /* place of the last that is no mark, */
    uint32_t begun, ended; /* of the last that has begun; that has ended */
    bool closed;
};

/* What comes before the successors of a task that the host submitted at one time: the branches
 * behind it. */
struct common_past {
    uint32_t after; /* the task, or 0 */
    struct clock *host, *clock;
};

struct timelines {
    _Atomic int users; /* but one */
    pthread_mutex_t lock;
    struct task_record *_Atomic *chunks;
    uint32_t n_tasks;
    VEC(struct timeline) timelines;
    uint32_t n_closed;         /* of them, that can go on as others in time */
    struct clock *now;         /* the host's */
    uint32_t segment;          /* the task of the host's accesses, or 0 where it would be a new one */
    struct common_past common; /* of tasks that began last */
    uint32_t unwaited;         /* a timeline of which the host had not waited for all, when somebody asked */
    VEC(uint32_t) least;       /* by timeline; retired.c */
    _Atomic uint32_t retired;
    _Atomic uint32_t forgotten; /* tasks up to this one, all retired, have no records: whole chunks */
    struct arena arena;         /* names and notes */
    struct map names, notes;
};

static inline struct task_record *task_record_of(const struct timelines *s, uint32_t task)
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

/* The largest number, up to `last`, such that the timeline's tasks up to it are all at places up to
 * `place`. */
static inline uint32_t timeline_counted(const struct timeline *x, uint32_t place, uint32_t last)
{
    return place < x->n && task_at(x, place + 1) <= last ? task_at(x, place + 1) - 1 : last;
}

/* Finds what is retired by now, and forgets it. */
void timelines_retire(struct timelines *s);
/* Has the host waited for all work? */
bool timelines_all_waited_for(struct timelines *s);
void timelines_drop_record(struct task_record *r);

/* ---- task_notes.c ---- */

/* The note that equal tasks share; NULL where memory is exhausted. */
const struct task_note *timelines_keep_note(struct timelines *s, const struct task_note *note);

#endif
