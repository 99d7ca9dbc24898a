/* The records of tasks and timelines. Private to check/order/timelines.c, retired.c and
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

/* The data of a task between its submission and its start. */
struct pending {
    struct clock *host; /* the host's clock at the submission */
    uint32_t previous, n, after[];
};

struct task_record {
    uint32_t timeline, place; /* place: its position in the timeline, from 1 */
    uint32_t frontier;
    /* The first position of its timeline that it overlaps (timelines_overlap); 0: none. */
    uint32_t overlapped;
    /* NULL: it has not begun, or only its timeline comes before it, or memory is exhausted. */
    struct clock *clock;
    bool counted_early; /* clocks counted it before its end, and may lack what it learnt since */
    struct pending *pending;
    _Atomic uint32_t learnt[MOST_LEARNT]; /* tasks; if there are more, the newest */
    const struct task_note *note;
    /* Predecessors among threads of launches that may still run; or NULL. */
    struct clock *published;
};

struct timeline {
    VEC(uint32_t) tasks; /* by position - 1 - gone */
    uint32_t n, gone;
    uint32_t last_work;    /* position of the last that is not a mark */
    uint32_t begun, ended; /* positions of the last that has begun, and that has ended */
    bool closed;
};

/* The common predecessors of tasks that the host submitted at one time behind one task: the
 * branches of a graph. */
struct common_past {
    uint32_t after; /* the task that they follow, or 0 */
    struct clock *host, *clock;
};

struct timelines {
    _Atomic int users; /* number of users, minus one */
    pthread_mutex_t lock;
    struct task_record *_Atomic *chunks;
    uint32_t n_tasks;
    VEC(struct timeline) timelines;
    uint32_t n_closed;         /* closed timelines, which new ones can reuse */
    struct clock *now;         /* the host's clock */
    uint32_t segment;          /* the host's current segment, or 0 if it would be a new one */
    struct common_past common; /* of the tasks that began last */
    uint32_t unwaited;         /* a timeline for which the host had not waited at the last query */
    VEC(uint32_t) least;       /* by timeline: retired.c */
    _Atomic uint32_t retired;
    /* Tasks up to this one are retired and have no records: whole chunks. */
    _Atomic uint32_t forgotten;
    struct arena arena; /* of names and notes */
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

/* The largest number, up to `last`, such that the timeline's tasks up to it are at positions up
 * to `place`. */
static inline uint32_t timeline_counted(const struct timeline *x, uint32_t place, uint32_t last)
{
    return place < x->n && task_at(x, place + 1) <= last ? task_at(x, place + 1) - 1 : last;
}

/* Finds the tasks that are retired by now, and drops their records. */
void timelines_retire(struct timelines *s);
/* Has the host waited for all work? */
bool timelines_all_waited_for(struct timelines *s);
void timelines_drop_record(struct task_record *r);

/* ---- task_notes.c ---- */

/* The one description that equal tasks share; NULL without memory. */
const struct task_note *timelines_keep_note(struct timelines *s, const struct task_note *note);

#endif
