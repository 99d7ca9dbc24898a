/* Where a launch may write to global memory: intervals of addresses, by an interval analysis
 * (ir/range.c) of its instructions with the values of its parameters and its grid. It assumes
 * nothing: a pointer that leads out of its buffer is followed, and what may wrap is unknown. */
#ifndef HEDDLE_EXEC_LAUNCH_WRITES_H
#define HEDDLE_EXEC_LAUNCH_WRITES_H

#include "exec/events.h"

/* Not `known` for small launches and large functions, which are not worth the analysis. */
struct event_writes written_by(const struct event_launch *l);

#endif
