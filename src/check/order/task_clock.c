/* Vector clocks over timelines; see task_clock.h. */
#include "check/order/task_clock.h"

#include <string.h>

/* Of a warp's lanes, and of a block's warps. */
enum { LANE_BITS = 5, LANE_MASK = (1 << LANE_BITS) - 1 };

static uint32_t block_of(uint32_t timeline)
{
    return timeline >> 2 * LANE_BITS;
}

static unsigned warp_of(uint32_t timeline)
{
    return timeline >> LANE_BITS & LANE_MASK;
}

static unsigned lane_of(uint32_t timeline)
{
    return timeline & LANE_MASK;
}

uint32_t task_clock_read(struct task_clock_reader *r, uint32_t timeline)
{
    uint32_t group = 1 + (timeline >> LANE_BITS);
    if (r->group != group) {
        memset(r->at, 0, sizeof r->at);
        clock_frontiers(r->clock, block_of(timeline), warp_of(timeline), r->at);
        r->group = group;
    }
    return r->at[lane_of(timeline)];
}

bool task_clock_counts(const struct clock *c, uint32_t timeline, uint32_t place)
{
    return !place || clock_before(c, block_of(timeline), warp_of(timeline), 1u << lane_of(timeline), place - 1);
}

void task_clock_count(struct clock **c, uint32_t timeline, uint32_t place)
{
    if (!task_clock_counts(*c, timeline, place))
        clock_add_lane(c, block_of(timeline), warp_of(timeline), lane_of(timeline), place);
}
