/* Counts what launches do, as a client of exec/events.h.
 *
 * One counter serves all launches of a machine, on all workers; an access takes no lock. Figures do
 * not depend on the number of workers, except l1_miss_sectors and pairs of loads: blocks of one
 * multiprocessor that different workers run share nothing in the model of L1.
 */
#ifndef HEDDLE_EXPLAIN_COUNT_H
#define HEDDLE_EXPLAIN_COUNT_H

#include "explain/counters.h"

struct device_model;
struct launch_request;
struct mem;
struct counter;
struct counted_launch;

/* `model`: the device that the figures are for, which need not be the one that the
 * machine claims to be. `sample_after`: see sample.h; 0 counts all launches. Returns
 * NULL if memory is exhausted. */
struct counter *counter_new(const struct device_model *model, uint64_t sample_after);
void counter_free(struct counter *c);

/* Call it before a launch: if the launch is to be counted, the counter becomes its client. Returns
 * NULL if memory is exhausted. */
struct counted_launch *counter_begin(struct counter *c, const struct mem *mem, struct launch_request *q);
/* Call it after the launch, even a failed one: returns its figures, without insns and lines, valid
 * until the launch is freed. */
void counter_end(struct counted_launch *l, struct kernel_counters *counted, struct arena *arena);
void counter_launch_free(struct counted_launch *l);

/* The sums of all launches of the i-th kernel, with insns and lines, but without figures that only
 * single launches have. Returns false if there are fewer kernels. */
bool counter_kernel(struct counter *c, size_t i, struct kernel_counters *sums, struct kernel_launches *launches,
                    struct arena *arena);

#endif
