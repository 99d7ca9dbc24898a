/* Has the engine run a launch as an interleaving has it (interleave.h): what it chooses at each
 * step is the schedule that repeats it. */
#ifndef HEDDLE_EXPLORE_FOLLOW_H
#define HEDDLE_EXPLORE_FOLLOW_H

#include "exec/events.h"
#include "exec/schedule.h"
#include "explore/interleave.h"

struct follow {
    const struct interleaving *order;
    uint32_t grid[3];
    uint32_t at;                     /* the first step that has not come */
    uint32_t *left;                  /* by step: lanes that have not come */
    bool is_lost;                    /* the engine has done something else */
    struct overwritten *overwritten; /* what was in global memory, the last first */
    uint64_t turn;
    struct guide guide;         /* for the launch's schedule, */
    struct event_client client; /* and among its clients */
};

/* False where memory is exhausted. `f` stays where it is until follow_end(). */
bool follow_begin(struct follow *f, const struct interleaving *order, const uint32_t grid[3]);
/* Have all its steps come in their order? `failed`: the launch has ended at a fault, which some of
 * them stand behind. */
bool follow_has_come(struct follow *f, bool failed);
/* Global memory is as it was. */
void follow_end(struct follow *f);

#endif
