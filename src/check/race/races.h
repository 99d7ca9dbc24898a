/* The race detector (docs/RACES.md). Two accesses race by the memory consistency model of the PTX
 * ISA (chapter 8) and nothing else: they overlap, at least one of them writes, causality orders
 * neither before the other, and they are not morally strong (8.7.1). All bytes of global and shared
 * memory are watched, in all launches of a machine. check/order/order.h knows what is ordered,
 * history.h what is remembered.
 *
 * A finding is a pair of places in the program and a reason. It is reported once, with a count, and
 * with the threads of one occurrence. The pair and the count are the same in whatever order the
 * accesses come.
 */
#ifndef HEDDLE_CHECK_RACES_H
#define HEDDLE_CHECK_RACES_H

#include "base/diag.h"
#include "check/shadow/budget.h"
#include "heddle.h"

struct checker;
struct site_table;
struct event_client;
struct races;

struct timelines;
struct host_access;
/* `timelines` orders tasks. NULL without memory. Beyond the budget nothing is watched any more,
 * until all can be forgotten. */
struct races *races_new(const struct checker *c, struct timelines *timelines, struct budget *budget);
void races_free(struct races *r);
/* No launch runs, and none begins: forgets what is retired. */
void races_idle(struct races *r);
/* Before a launch of the kernel, which gets this client. */
const struct event_client *races_begin(struct races *r, const struct site_table *k);
/* A task that is no launch, or the host, reads or writes memory that kernels can reach. */
/* All that a lane of a running block knows and has done, for who puts a task on its behalf; NULL
 * where nobody watches it. */
struct clock *races_publish(const struct event_block *block, unsigned warp, unsigned lane);
void races_range(struct races *r, uint32_t task, uint64_t address, uint64_t bytes, bool write);
/* The host accesses memory, at a place in the program, in a segment: called before and after the
 * access. Returns the launch of which a thread has released what the host acquires by it, or 0. */
uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done);
/* Memory is freed or used anew: forgets the accesses to it. */
void races_forget(struct races *r, uint64_t address, uint64_t bytes);
uint32_t races_count(const struct races *r); /* findings, and reports of what is not watched */
void races_report(struct races *r, const hd_checker_options *o, struct diags *diags);

#endif
