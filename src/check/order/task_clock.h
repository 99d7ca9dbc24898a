/* Vector clocks over timelines (timelines.h): of each timeline, how many of its tasks come before. Under the lock of the timelines. */
#ifndef HEDDLE_CHECK_TASK_CLOCK_H
#define HEDDLE_CHECK_TASK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Never changed, and shared. */
struct task_clock {
    uint32_t refs, n;
    uint32_t at[]; /* by timeline: how many of its tasks; none of those behind */
};

/* One in the making, with room for all timelines. */
struct times {
    uint32_t *at, n, capacity;
};

/* NULL without memory. */
struct task_clock *task_clock_new(const struct times *t);
void task_clock_release(struct task_clock *c); /* NULL is allowed here and below */
static inline struct task_clock *task_clock_keep(struct task_clock *c)
{
    if (c)
        c->refs++;
    return c;
}

void times_set(struct times *to, const struct times *from);
void times_join(struct times *t, const struct task_clock *c);
/* The tasks of a timeline up to a place come before. */
void times_join_place(struct times *t, uint32_t timeline, uint32_t place);
static inline uint32_t times_at(const struct times *t, uint32_t timeline)
{
    return timeline < t->n ? t->at[timeline] : 0;
}
bool times_equal(const struct task_clock *c, const struct times *t);

#endif
