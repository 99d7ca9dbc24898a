/* Happens-before between the tasks of streams and the host: vector clocks over timelines.
 *
 * A *task* is a launch, a copy, a fill, a call of a host function, an event of a stream, or a
 * *segment*: the host's own loads and stores between two of its calls. Tasks are numbered from 1. A
 * *timeline* is a sequence of tasks in order: a stream, or the host.
 *
 * Whoever submits a task says which tasks it comes after, whether or not these have ended. It also
 * comes after the one before it in its timeline, and after all that the host had done, or waited
 * for, when it was submitted (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"). So
 * the order is CUDA's, and not that of this run.
 *
 * All threads of the host are one timeline. How they order each other (mutexes, creation, flags of
 * their own) cannot be seen, so what one of them does comes after all that any of them had done
 * before. A host function in a stream is a task and an act of the host at once: what it comes after
 * comes before all that the host does from its beginning on, and all that the host has done until
 * its end comes before the function's successors. A gate waits for a value in memory: all that has
 * begun by its end comes before its successors. These rules may hide an order that is missing; none
 * denies one that exists.
 *
 * Thread-safe. Asking for the order takes no lock.
 */
#ifndef HEDDLE_CHECK_TIMELINES_H
#define HEDDLE_CHECK_TIMELINES_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/queue.h"

struct timelines;
struct clock;

/* NULL where memory is exhausted. */
struct timelines *timelines_new(void);
void timelines_free(struct timelines *s); /* NULL is allowed */
/* One more reference, which timelines_free() gives back. */
struct timelines *timelines_share(struct timelines *s);

/* A new task of a timeline other than the host's; 0 in *timeline asks for a new timeline. It comes
 * after the tasks `after`, of which zeros are ignored. `published`, whose reference it takes, is what
 * a thread of a launch that puts the task had done and knew (a clock of threads); NULL for the host.
 * 0 without memory: the task is then unknown, and comes before nothing. */
uint32_t timelines_submit(struct timelines *s, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n, struct clock *published);
/* The task begins: all that it comes after has ended. From now on its order can be asked for. */
void timelines_begin(struct timelines *s, uint32_t task);
void timelines_end(struct timelines *s, uint32_t task);
/* A thread of a running launch has acquired what a thread of another task had released: that task
 * counts as before the launch's successors. */
void timelines_learn(struct timelines *s, uint32_t task, uint32_t from);
/* What was published for the task, and for those that it comes after; or NULL. */
struct clock *timelines_published(const struct timelines *s, uint32_t task);
/* The timeline gets no more tasks. */
void timelines_close(struct timelines *s, uint32_t timeline);
/* The host has waited for tasks, or has been told that they have ended. Zeros are ignored. */
void timelines_wait(struct timelines *s, const uint32_t *tasks, uint32_t n);
/* The segment of the host that its loads and stores belong to now; 0 without memory. */
uint32_t timelines_host(struct timelines *s);
/* Has the host waited for all work? */
bool timelines_is_synchronized(struct timelines *s);

/* All tasks up to this number are retired: they come before all that runs and all that will begin. */
uint32_t timelines_retired(const struct timelines *s);

/* Does the end of `a` come before the beginning of `b`? Both have begun, and `b` has not ended, or
 * not been waited for. */
bool timelines_before(const struct timelines *s, uint32_t a, uint32_t b);
/* May the launch `b`, by programmatic stream serialization, begin before the end of `a`? Then `a`
 * comes before a thread of `b` only where that has waited (griddepcontrol.wait), and before what
 * comes after `b`. As on an H200, `a` is the launch before `b`, or one that this overlaps, and
 * nothing else was put between. */
bool timelines_overlap(const struct timelines *s, uint32_t a, uint32_t b);
/* The largest number such that all tasks up to it come before `b`. */
uint32_t timelines_frontier(const struct timelines *s, uint32_t b);
/* What the task is. Equal tasks share one note, which lives as long as the timelines. */
const struct task_note *timelines_note(const struct timelines *s, uint32_t task);

#endif
