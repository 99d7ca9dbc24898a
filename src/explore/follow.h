/* Lets the engine run a launch in the order of an interleaving (interleave.h). The choices made at
 * each step are the schedule that repeats it. */
#ifndef HEDDLE_EXPLORE_FOLLOW_H
#define HEDDLE_EXPLORE_FOLLOW_H

#include "exec/events.h"
#include "exec/schedule.h"
#include "explore/interleave.h"

struct follow {
    const struct interleaving *order;
    uint32_t grid[3];
    uint32_t at;                     /* the first step that was not executed yet */
    uint32_t *left;                  /* by step: lanes that have not executed it */
    bool is_lost;                    /* the engine has deviated from the interleaving */
    struct overwritten *overwritten; /* overwritten bytes of global memory, the latest first */
    uint64_t turn;
    struct guide guide;         /* for the launch's schedule, */
    struct event_client client; /* and among its clients */
};

/* Returns false if memory is exhausted. `f` must not move until follow_end(). */
bool follow_begin(struct follow *f, const struct interleaving *order, const uint32_t grid[3]);
/* Were all its steps executed, in order? `failed`: the launch ended with a fault, which some steps
 * come behind. */
bool follow_has_come(struct follow *f, bool failed);
/* Restores global memory. */
void follow_end(struct follow *f);

#endif
