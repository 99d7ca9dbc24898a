/* Counts what launches do, as a client of exec/events.h.
 *
 * One counter serves all launches of a machine, on all workers; nothing in the way of an access
 * takes a lock. What is counted does not depend on the number of workers, but for l1_miss_sectors
 * and pairs of loads: blocks of a multiprocessor that different workers have run share nothing in
 * the model of L1.
 */
#ifndef HEDDLE_EXPLAIN_COUNT_H
#define HEDDLE_EXPLAIN_COUNT_H

#include "explain/counters.h"

struct device_model;
struct launch_request;
struct mem;
struct counter;
struct counted_launch;

/* `model`: the device of which the figures are; it need not be the one that the machine claims to
 * be. `sample_after`: sample.h; 0: all launches are counted. NULL where memory is exhausted. */
struct counter *counter_new(const struct device_model *model, uint64_t sample_after);
void counter_free(struct counter *c);

/* Before a launch: the counter becomes a client of it, where it is to be counted. NULL where memory
 * is exhausted. */
struct counted_launch *counter_begin(struct counter *c, const struct mem *mem, struct launch_request *q);
/* After it, also of one that has failed: what was counted, without insns and lines, until the
 * launch is freed. */
void counter_end(struct counted_launch *l, struct kernel_counters *counted, struct arena *arena);
void counter_launch_free(struct counted_launch *l);

/* The sums of all launches of the i-th kernel that has been launched, with insns and lines, but
 * without what is of a launch alone; false where there are not so many. */
bool counter_kernel(struct counter *c, size_t i, struct kernel_counters *sums, struct kernel_launches *launches,
                    struct arena *arena);

#endif
