/* Streams: tasks that run in order, beside those of other streams (CUDA C++ Programming Guide,
 * "Asynchronous Concurrent Execution").
 *
 * A context is a set of streams on one machine with one fate: the first task that fails is its
 * fault, launches that run are ended (but see fault_ends_context), and no task runs in it any more.
 * A task waits for those it depends on: the one before it in its stream, those that were named for
 * it, and by CUDA's rule for the legacy default stream: a task of that stream waits for the last
 * task of every blocking stream, and the other way about.
 *
 * Streams are many, and threads few: a stream with something to do is a job of the machine's
 * threads (thread_pool.h). One whose next task waits has no thread, and a task that waits itself,
 * as a kernel that spins, gives its thread back, to have another turn.
 *
 * A task is whatever its `turn` does: what launches, copies and host functions are is said in
 * api/work.c and api/stream_memory.c.
 */
#ifndef HEDDLE_EXEC_QUEUE_H
#define HEDDLE_EXEC_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "heddle.h"

struct machine;
struct context;
struct stream;

enum task_kind {
    TASK_MARK, /* does nothing: a moment of a stream */
    TASK_LAUNCH,
    TASK_COPY,
    TASK_FILL,
    TASK_CALL,  /* of a function of the host */
    TASK_GATE,  /* one that may have waited for whatever runs beside it */
    TASK_ALLOC, /* from it on memory may be used that was allocated in the order of streams */
    TASK_FREE,
    TASK_HOST, /* is in no queue: what the host itself does */
    TASK_WORK, /* of a function of the host in the place of a kernel: a library's call */
};

/* What a task is to those who look at the order of tasks, and to their reports. */
struct task_note {
    enum task_kind kind;
    const char *name;  /* the kernel's, or the library's call's, or NULL; is copied */
    uint64_t stream;   /* its number; 0: none */
    const void *where; /* the host's call that put it: a place of hd_checker_options, or NULL */
    /* A launch that may begin before the one before it in its stream has ended. */
    bool programmatic;
    /* The task that has put it, as a kernel's launch: it comes after what that does; 0: the host
     * has. */
    uint32_t by;
    bool tail; /* it comes after all of that, too */
};

/* Who looks at the order of tasks (check/). Tasks then have numbers, from 1, by which is told what
 * comes before what, although it may be done already. */
struct order_hooks {
    void *data;
    /* A task has been put behind its timeline's last, which is the stream's, and behind `after`;
     * *timeline is 0 at first. */
    uint32_t (*submit)(void *data, uint32_t *timeline, const struct task_note *note, const uint32_t *after, uint32_t n);
    /* Around what it does, when all that it waits for is done. */
    void (*begin)(void *data, uint32_t task);
    void (*end)(void *data, uint32_t task);
    /* The host has waited for tasks, or has seen that they are done. */
    void (*wait)(void *data, const uint32_t *tasks, uint32_t n);
    /* What comes after a task that runs comes after `part`, too. */
    void (*learn)(void *data, uint32_t task, uint32_t part);
    /* The stream has gone. */
    void (*close)(void *data, uint32_t timeline);
};

struct task {
    /* Does something on a thread; true where the task is done, false where it is to have another
     * turn, perhaps on another thread, so that others have theirs; it may first make the task wait
     * for others (task_after). An error is the context's fault. NULL: there is nothing to do. */
    bool (*turn)(struct task *t, hd_result *result);
    /* Asked when it has had its last turn, if it has had one: a task of another stream that it is
     * not done without, held by who asks, until there is none: NULL. Where it is NULL itself, there
     * is none. */
    struct task *(*part)(struct task *t);
    /* Frees what the task has of its own; NULL = nothing. Always called, once. */
    void (*drop)(struct task *t);
    bool always; /* runs after a fault, too: to see task_status() */
    /* Who puts it may give it its first turn: handing it over may take longer. */
    bool brief;
    struct task_note note; /* but for the stream, which is known when it is put */
    /* The rest is the queue's. */
    struct context *context;
    struct task *next;
    VEC(struct task *) after; /* tasks to wait for */
    struct stream *awaiting;  /* streams whose next task waits for this one */
    _Atomic uint32_t refs;
    _Atomic bool done, watched;
    uint32_t number; /* for the machine's order hooks; 0: there were none */
    double time;     /* when it was done: seconds_now() */
};

/* A task of `bytes` bytes, zeroed, that begins with a struct task; one reference is the caller's.
 * NULL: no memory. */
struct task *task_new(size_t bytes);
void task_hold(struct task *t);
void task_release(struct task *t);
/* Makes a task that has not been put wait for another; false where memory is exhausted. */
bool task_after(struct task *t, struct task *earlier);
bool task_is_done(const struct task *t);
void task_wait(struct task *t);
/* The host acts on the task's being done: to be told where CUDA promises what follows to come after
 * it. */
void task_order_host(struct task *t);
/* The context's fault so far. */
hd_result task_status(const struct task *t);

/* NULL where memory is exhausted. */
struct context *context_create(struct machine *m);
/* Waits for all its tasks. All streams but the legacy one have been destroyed. */
void context_destroy(struct context *c);
/* Waits for what has been put, and has no more run but what always does: the context's fault is
 * HD_ERROR_CONTEXT_IS_DESTROYED from then on, where it had none. */
void context_close(struct context *c);
/* For other folders: unique in the process, never 0. */
uint64_t context_number(const struct context *c);
struct stream *context_legacy_stream(struct context *c);
hd_result context_fault(struct context *c);
/* Does a fault end what runs in the context? An assertion that fails does not: on an H200, the
 * other kernels go on. */
static inline bool fault_ends_context(hd_result fault)
{
    return fault && fault != HD_ERROR_ASSERT;
}
/* Gives the context a fault, where it has none, and ends what runs in it. */
void context_fail(struct context *c, hd_result fault);
/* Waits until all that has been put into any stream is done; false where memory is exhausted. */
bool context_wait(struct context *c);

struct stream *stream_create(struct context *c, bool blocking);
/* One whose number is another's, as what a kernel puts is a part of what is in the stream of its
 * launch; putting never waits. */
struct stream *stream_create_within(struct context *c, uint64_t number);
/* What has been put still runs. */
void stream_destroy(struct stream *s);
/* Takes over the caller's reference of the task, and runs it if it is brief and nothing is before
 * it; *held, if not NULL, gets one of its own. Waits where a thousand tasks are pending. False
 * where no thread can be made: the task has then been dropped. */
bool stream_put(struct stream *s, struct task *t, struct task **held);
/* What is put next comes after `earlier`, too. False where memory is exhausted, or no thread can be
 * made. */
bool stream_after(struct stream *s, struct task *earlier);
/* What has been put last, held by the caller; NULL where all is done, and nobody asks for the
 * order. */
struct task *stream_last(struct stream *s);
/* What is put in between is one piece of work: nobody waits before all of it has been put, however
 * much is pending. The end counts for `n` tasks, and may wait. */
void stream_begin_batch(struct stream *s);
void stream_end_batch(struct stream *s, uint32_t n);
/* Nothing is pending that a new task would wait for: where nobody looks at the order of tasks, the
 * caller may do it himself. */
bool stream_is_idle(struct stream *s);
bool stream_is_watched(const struct stream *s);
/* All that has been put is done; for the legacy stream, also what that is put into blocking
 * streams. */
bool stream_is_done(struct stream *s);
/* Waits until it is; false where memory is exhausted. */
bool stream_wait(struct stream *s);
uint64_t stream_number(const struct stream *s);

#endif
