/* Launches that cannot go on: whether nobody's turn can change anything any more, and what waits
 * for what (stall.c). */
#ifndef HEDDLE_EXEC_STALL_H
#define HEDDLE_EXEC_STALL_H

#include "exec/launch.h"
#include "exec/machine.h"

struct block;

/* Are the launch's workers to park: another looks into a stall, or the machine is held? */
static inline bool stall_parks(const struct launch *l)
{
    return atomic_load_explicit(&l->prober, memory_order_relaxed) ||
           atomic_load_explicit(&l->machine->held, memory_order_relaxed);
}

/* To be called by a worker whose blocks have all given way, since `since` (seconds; 0: under a
 * schedule, where time does not count). Finds out whether the launch can ever go on; reports where
 * not. */
void stall_look(struct worker *k, struct launch *l, double since);
/* Parks as long as it is to. */
void stall_park(struct worker *k, struct launch *l);
/* The same in two parts, around what the worker's thread does elsewhere. */
void stall_leave(struct worker *k, struct launch *l);
void stall_return(struct worker *k, struct launch *l);
/* All lanes of a block wait for each other, or those of a cluster. */
void stall_report_deadlock(struct block *b);

#endif
