/* Happens-before of what a program gives to its streams and of what the host itself does: vector clocks over timelines.
 *
 * A *task* is a launch, a copy, a fill, a call of a host function, a moment of a stream (an event), or a segment of the
 * host's own loads and stores between two of its calls. Tasks have dense numbers from 1. A *timeline* is a sequence of tasks
 * that are ordered among themselves: a stream, or the host.
 *
 * Who submits a task says which tasks it comes after, whether or not these have ended already; it also comes after the last
 * one of its timeline, and after all that the host had done, or waited for, when it was submitted (CUDA C++ Programming Guide,
 * "Asynchronous Concurrent Execution"). So the order is CUDA's, and not that of this run.
 *
 * All threads of the host are one timeline: how they order each other (mutexes, creation, flags of their own) cannot be seen, so
 * what one of them does counts as after what any of them had done before. A host function in a stream is a task and an act of
 * the host at once: what it comes after is before all that the host does from its beginning on, and all that the host has done
 * until its end is before what comes after it. A gate, which waits for a value in memory, is before what comes after it with all that
 * has begun by its end. These may hide an order that is missing; none denies one that is there.
 *
 * Thread-safe. Asking for the order takes no lock.
 */
#ifndef HEDDLE_CHECK_TIMELINES_H
#define HEDDLE_CHECK_TIMELINES_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/queue.h"

struct timelines;

/* NULL where memory is exhausted. */
struct timelines *timelines_new(void);
void timelines_free(struct timelines *s); /* NULL is allowed */
/* The same, to be freed once more. */
struct timelines *timelines_share(struct timelines *s);

/* A new task of a timeline, which is made where *timeline is 0; the host's is never asked for here. It comes after `after` too,
 * zeros aside. 0 where memory is exhausted: the task is then not known, and before nothing. */
uint32_t timelines_submit(struct timelines *s, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n);
/* The task begins: all that it comes after has ended. From here on its order can be asked for. */
void timelines_begin(struct timelines *s, uint32_t task);
void timelines_end(struct timelines *s, uint32_t task);
/* A thread of a launch that runs has learnt, by a release and an acquire, what another task had done: all of that counts as before
 * what comes after the launch. */
void timelines_learn(struct timelines *s, uint32_t task, uint32_t from);
/* The timeline gets no more tasks. */
void timelines_close(struct timelines *s, uint32_t timeline);
/* The host has waited for tasks that have ended, or has been told that they have; zeros aside. */
void timelines_wait(struct timelines *s, const uint32_t *tasks, uint32_t n);
/* The task that loads and stores of the host's belong to which happen now; 0 where memory is exhausted. */
uint32_t timelines_host(struct timelines *s);
/* The host has waited for all that there is. */
bool timelines_is_synchronized(struct timelines *s);

/* All tasks up to it come before whatever begins from now on, and before all that runs, as the host has waited for them. */
uint32_t timelines_retired(const struct timelines *s);

/* Does the end of `a` come before the beginning of `b`? Both have begun, and `b` has not ended, or not been waited for. */
bool timelines_before(const struct timelines *s, uint32_t a, uint32_t b);
/* `a` comes before the end of `b`, a launch with programmatic stream serialization, and what comes behind that: but before `b` itself only
 * where that waits for it (griddepcontrol.wait). So are the launch before `b`, and those that it begins before the end of, as an H200
 * has it; not, where something else has been put between. */
bool timelines_overlap(const struct timelines *s, uint32_t a, uint32_t b);
/* A number such that all tasks up to it come before `b`: the largest. */
uint32_t timelines_frontier(const struct timelines *s, uint32_t b);
/* What the task is, which is so, too: one for all that are alike, as long as the timelines are. */
const struct task_note *timelines_note(const struct timelines *s, uint32_t task);

#endif
