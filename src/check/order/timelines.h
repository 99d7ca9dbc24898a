/* Happens-before between the tasks of streams and the host: vector clocks over timelines.
 *
 * A *task* is a launch, a copy, a fill, a call of a host function, an event of a stream, or a
 * *segment*: the host's own loads and stores between two of its calls. Tasks are numbered from 1. A
 * *timeline* is an ordered sequence of tasks: a stream, or the host.
 *
 * Whoever submits a task names the tasks that it comes after, whether or not these have ended. It
 * also comes after the previous task of its timeline, and after all that the host had done or
 * waited for at the submission (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution").
 * So this is the order that CUDA guarantees, not the order in which this run happened to execute
 * tasks.
 *
 * All host threads are one timeline. Their synchronisation (mutexes, thread creation, flags of
 * their own) cannot be observed, so an act of one comes after all earlier acts of any. A host
 * function in a stream is both a task and an act of the host. What it comes after comes before all
 * that the host does from its start on, and what the host does until its end comes before the
 * function's successors. A gate waits for a value in memory: all that has begun before its end
 * comes before its successors. These rules may hide a missing order; they never deny an order that
 * exists.
 *
 * Thread-safe. Queries take no lock.
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
/* Adds a reference; timelines_free() drops it. */
struct timelines *timelines_share(struct timelines *s);

/* A new task of a timeline other than the host's. *timeline 0 asks for a new timeline. The task
 * comes after the tasks `after`, where zeros are ignored. `published`, whose reference it takes,
 * is what the submitting thread of a launch had done and knew (a clock of threads); NULL for the
 * host. 0 without memory: the task is unknown and comes before nothing. */
uint32_t timelines_submit(struct timelines *s, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n, struct clock *published);
/* The task begins: all its predecessors have ended. From now on its order can be queried. */
void timelines_begin(struct timelines *s, uint32_t task);
void timelines_end(struct timelines *s, uint32_t task);
/* A thread of a running launch has acquired a release by a thread of another task: that task
 * comes before the launch's successors. */
void timelines_learn(struct timelines *s, uint32_t task, uint32_t from);
/* What was published for the task and its predecessors; or NULL. */
struct clock *timelines_published(const struct timelines *s, uint32_t task);
/* Closes the timeline, which gets no more tasks. */
void timelines_close(struct timelines *s, uint32_t timeline);
/* The host has waited for tasks, or was told that they have ended. Zeros are ignored. */
void timelines_wait(struct timelines *s, const uint32_t *tasks, uint32_t n);
/* The host's current segment, of its own loads and stores; 0 without memory. */
uint32_t timelines_host(struct timelines *s);
/* Has the host waited for all work? */
bool timelines_is_synchronized(struct timelines *s);

/* All tasks up to this number are retired: they come before all running and future tasks. */
uint32_t timelines_retired(const struct timelines *s);

/* Does the end of `a` come before the start of `b`? Both have begun, and `b` has not ended, or
 * was not waited for yet. */
bool timelines_before(const struct timelines *s, uint32_t a, uint32_t b);
/* May the launch `b` begin before the end of `a`, by programmatic stream serialization? Then `a`
 * comes only before those threads of `b` that have waited (griddepcontrol.wait), and before the
 * successors of `b`. As on an H200, `a` is the launch before `b`, or one that this launch
 * overlaps, with no other task in between. */
bool timelines_overlap(const struct timelines *s, uint32_t a, uint32_t b);
/* The largest number such that all tasks up to it come before `b`. */
uint32_t timelines_frontier(const struct timelines *s, uint32_t b);
/* The description of a task. Equal tasks share one, which lives as long as the timelines. */
const struct task_note *timelines_note(const struct timelines *s, uint32_t task);

#endif
