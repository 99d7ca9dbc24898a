/* What the files of the queue share: task.c (tasks, and their order for those who look at it),
 * stream_run.c (a stream's turns), queue.c (streams, contexts). Private to exec/.
 */
#ifndef HEDDLE_EXEC_STREAMS_H
#define HEDDLE_EXEC_STREAMS_H

#include "exec/machine.h"
#include "exec/queue.h"
#include "exec/thread_pool.h"

struct stream {
    struct job job; /* runs its tasks */
    struct context *context;
    struct stream *next, **link; /* in the context's list, where something has been put */
    bool blocking, closed;
    bool active;               /* its job has turns, or will have */
    uint32_t batches;          /* that have begun and not ended */
    uint64_t number, n_put;    /* n_put: since the mark */
    struct task *first, **end; /* not taken yet */
    struct task *last;         /* put last; held; NULL where it is known to be done */
    struct task *join;         /* not put yet: what the next task is to come after */
    struct task *mark;         /* one of the last THROTTLE tasks; held */
    uint32_t timeline;         /* for order hooks */
    /* The job's, for whoever runs it: */
    struct task *taken; /* the first of them is to run, or runs */
    uint32_t n_awaited; /* of those it comes after, so many are done */
    bool asked, begun;  /* that one: it has its permit, or waits for it; its turns have begun */
    bool turned;        /* it has had its last turn, and waits for its parts */
    bool skips;         /* it, as nothing is to be done, or the context had a fault when it began */
    struct stream *next_awaiting;
};

/* The last task of a stream that has gone, as long as what comes after it has to be told. */
struct tail {
    struct task *last; /* held */
    bool blocking;
};

struct context {
    struct machine *machine;
    uint64_t number;       /* unique in the process; never 0 */
    _Atomic uint32_t refs; /* its owner's, and its tasks' */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a task that somebody watches is done; no stream is active any more */
    struct stream *streams; /* that have a last task, or something to come after */
    struct stream *legacy;
    uint32_t n_active;
    VEC(struct tail) tails;
    _Atomic uint64_t n_streams;
    _Atomic int fault;
};

static inline const struct order_hooks *context_order(const struct context *c)
{
    return atomic_load_explicit(&c->machine->order, memory_order_acquire);
}

static inline struct thread_pool *context_threads(const struct context *c)
{
    return c->machine->threads;
}

/* ---- task.c ---- */

void context_release(struct context *c);
/* Drops what the task waits for. */
void task_let_go(struct task *t);
void task_set_context(struct task *t, struct context *c);
/* With the context's lock held, so that numbers are in the order of the stream. */
void task_order_submit(struct task *t, struct stream *s);
/* The host has waited for what `t`, which is in no stream, waits for. */
void task_order_wait(const struct context *c, const struct task *t);

/* ---- stream_run.c ---- */

/* A turn of a stream's job: runs its tasks until the next has to wait. */
void stream_turn(struct job *job);
/* A turn of the first of its tasks, by the thread that has put it. */
void stream_turn_once(struct stream *s);
/* A stream is in the context's list while something that is put comes after it. */
void stream_enlist(struct stream *s);
void stream_unlist(struct stream *s);
void stream_free(struct stream *s);
void context_drop_tail(struct context *c, uint32_t i);

#endif
