/* Threads for what runs beside the host: jobs, which have turns. There are few threads and may be
 * many jobs: one that has to wait for something returns, and has another turn when that has come.
 * Threads are made when jobs need them, up to a limit.
 *
 * Of what a thread cannot be taken from, or what takes memory once it has begun, only so many jobs
 * may be doing something at a time: they need permits.
 */
#ifndef HEDDLE_EXEC_THREAD_POOL_H
#define HEDDLE_EXEC_THREAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct job {
    struct job *next;
    void (*turn)(struct job *job);
};

enum permit {
    PERMIT_LAUNCH, /* a kernel has begun, and not ended */
    /* Of the host's code, which may wait as long as it likes: others need threads meanwhile. */
    PERMIT_CALL,
    N_PERMITS
};

struct thread_pool;

/* NULL where memory is exhausted. */
struct thread_pool *thread_pool_create(uint32_t most_threads);
/* No job may have a turn to come any more. NULL is allowed. */
void thread_pool_destroy(struct thread_pool *p);
/* The most threads that it may have. */
uint32_t thread_pool_size(const struct thread_pool *p);
/* Has a thread, at least one: where this is true once, jobs that are put have their turns. */
bool thread_pool_is_ready(struct thread_pool *p);
/* The job has a turn, behind all that wait for theirs. */
void thread_pool_put(struct thread_pool *p, struct job *job);
/* More jobs wait for their turns than there are threads for: who can go on later had better let
 * them. */
bool thread_pool_is_crowded(const struct thread_pool *p);

/* False: there is none now. The job, whose turn is to end without touching it again, gets the next
 * one that is given back, and a turn with it. */
bool thread_pool_take_permit(struct thread_pool *p, enum permit permit, struct job *job);
void thread_pool_give_permit(struct thread_pool *p, enum permit permit);

#endif
