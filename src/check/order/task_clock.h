/* Vector clocks over timelines (timelines.h): of each timeline, how many of its tasks come before.
 * They are clocks of clock.h, of which a timeline is a lane, and the place of a task an epoch.
 * Under the lock of the timelines, but for what asks. */
#ifndef HEDDLE_CHECK_TASK_CLOCK_H
#define HEDDLE_CHECK_TASK_CLOCK_H

#include "check/order/clock.h"

/* A clock that is read timeline by timeline, in their order. */
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
/* Does the task at this place come before? */
bool task_clock_counts(const struct clock *c, uint32_t timeline, uint32_t place);
/* The tasks of a timeline up to a place come before. Without memory *c counts less than it should. */
void task_clock_count(struct clock **c, uint32_t timeline, uint32_t place);

#endif
