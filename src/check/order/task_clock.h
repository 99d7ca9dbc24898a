/* Vector clocks over timelines (timelines.h): for each timeline, how many of its tasks come
 * before. They reuse clock.h: a timeline is a lane, and the position of a task in it an epoch.
 * All functions but queries need the lock of the timelines. */
#ifndef HEDDLE_CHECK_TASK_CLOCK_H
#define HEDDLE_CHECK_TASK_CLOCK_H

#include "check/order/clock.h"

/* Reads a clock timeline by timeline, in ascending order. */
struct task_clock_reader {
    const struct clock *clock;
    uint32_t group; /* 1 + the timeline's of `at`, in groups of 32 */
    uint32_t at[32];
};

uint32_t task_clock_read(struct task_clock_reader *r, uint32_t timeline);
static inline uint32_t task_clock_at(const struct clock *c, uint32_t timeline)
{
    struct task_clock_reader r = {.clock = c};
    return task_clock_read(&r, timeline);
}
/* Does the task at this position come before? */
bool task_clock_counts(const struct clock *c, uint32_t timeline, uint32_t place);
/* The timeline's tasks up to a position come before. Without memory *c counts too few. */
void task_clock_count(struct clock **c, uint32_t timeline, uint32_t place);

#endif
