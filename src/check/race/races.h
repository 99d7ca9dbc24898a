/* The race detector (docs/RACES.md). Two accesses race by the memory consistency model of the PTX
 * ISA (chapter 8): they overlap, at least one of them writes, causality orders neither before the
 * other, and they are not morally strong (8.7.1). The detector watches all bytes of global and
 * shared memory, in all launches of the machines whose checkers share it. check/order/order.h knows
 * the order, history.h the earlier accesses.
 *
 * A finding is a pair of places in the program and a reason. It is reported once, with a count,
 * and with the threads of one occurrence. Pair and count do not depend on the order in which
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
/* `timelines` orders tasks. NULL without memory. At the limit of its budget the detector stops
 * watching, until it can forget everything. */
struct races *races_new(struct checker *c, struct timelines *timelines, struct budget *budget);
/* Another checker watches with it, and drops it by races_free(). The
 * first must outlive the others. */
struct races *races_share(struct races *r, struct checker *c);
void races_free(struct races *r, const struct checker *c);
/* A launch begins, and has ended. Before the first, while none runs, the records of retired tasks
 * are dropped. */
void races_launch_begin(struct races *r);
void races_launch_end(struct races *r);
/* Before a launch of the kernel, which gets this client. */
const struct event_client *races_begin(struct races *r, const struct site_table *k);
/* A task that is not a launch, or the host, reads or writes memory that kernels can reach. */
/* All that a lane of a running block knows and has done, for a task that it submits; NULL if the
 * block is not watched. */
struct clock *races_publish(const struct event_block *block, unsigned warp, unsigned lane);
void races_range(struct races *r, uint32_t task, uint64_t address, uint64_t bytes, bool write);
/* The host accesses memory, at a place in the program, in a segment; called before and after the
 * access. Returns the launch, or 0, of which a thread released what the host acquires by this
 * access. */
uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done);
/* Memory is freed or reused: drops the accesses to it. */
void races_forget(struct races *r, uint64_t address, uint64_t bytes);
/* The number of findings, including reports of memory that is not watched. */
uint32_t races_count(const struct races *r);
/* Is it the checker that reports them, the first? */
bool races_reports(const struct races *r, const struct checker *c);
void races_report(struct races *r, const hd_checker_options *o, struct diags *diags);
/* Begins another period: a finding names the launches of its first occurrence in the newest period
 * in which it occurs. */
void races_period(struct races *r);

#endif
