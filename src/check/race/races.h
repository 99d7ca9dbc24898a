/* Data races, by the memory consistency model of the PTX ISA (chapter 8) and nothing else: two accesses overlap, at least one of them
 * writes, causality orders neither before the other, and they are not morally strong (8.7.1). All bytes of global and shared memory
 * are watched, in all launches of a machine; order.h says what is ordered, history.h what is remembered.
 *
 * A finding is a pair of places in the program and a reason; it is reported once, with the threads of its first sight.
 */
#ifndef HEDDLE_CHECK_RACES_H
#define HEDDLE_CHECK_RACES_H

#include "base/diag.h"
#include "check/shadow/budget.h"
#include "heddle.h"

struct machine;
struct site_table;
struct event_client;
struct races;

struct timelines;
struct host_access;
/* `timelines` has the order of tasks. NULL where memory is exhausted. Beyond the budget
 * nothing is watched any more, until all can be forgotten. */
struct races *races_new(struct machine *m, struct timelines *timelines, struct budget *budget);
void races_free(struct races *r);
/* No launch runs, and none begins: what nothing can race with any more is forgotten. */
void races_idle(struct races *r);
/* Before a launch of the kernel, which gets this client. */
void races_begin(struct races *r, const struct site_table *k);
const struct event_client *races_client(struct races *r, const struct site_table *k);
/* A task that is no launch, or the host, reads or writes memory that kernels can reach. */
void races_range(struct races *r, uint32_t task, const void *p, uint64_t bytes, bool write);
/* The host itself does, from a place in the program, as part of a task of its own: before and after the access. Returns the task of
 * which the host has learnt by it: 0, or a launch in which a thread has released what the host has acquired. */
uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done);
/* Memory is freed or given another meaning: what has been done to it is forgotten. */
void races_forget(struct races *r, const void *p, uint64_t bytes);
uint32_t races_count(const struct races *r); /* findings, and words about what is not watched */
void races_report(struct races *r, const hd_checker_options *o, struct diags *diags);

#endif
