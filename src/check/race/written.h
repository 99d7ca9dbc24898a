/* Where a launch writes to memory that may be global: intervals of addresses, from the values of its parameters, its grid and its
 * instructions, by an interval analysis (ir/range.c) that takes nothing for granted: a pointer that leads out of its buffer is
 * followed, and what may wrap is not known. */
#ifndef HEDDLE_CHECK_WRITTEN_H
#define HEDDLE_CHECK_WRITTEN_H

#include "exec/events.h"

/* Small launches and large functions, which are not worth the analysis, are not known. */
struct event_writes written_by(const struct event_launch *l);

#endif
