/* What waits for the compiler: for each tier, one thread of the machine has units compiled, in the
 * order of requests; it starts with the first. */
#ifndef HEDDLE_JIT_COMPILE_QUEUE_H
#define HEDDLE_JIT_COMPILE_QUEUE_H

#include "jit/host/unit.h"

/* With the lock held; false with u->why where there is no thread to compile it. */
bool queue_add(struct jit *j, struct unit *u);
/* The kernel of the unit goes: so does the unit, at once or when the thread that has it in hand is
 * done. With the lock held. */
void queue_drop(struct jit *j, struct unit *u);

#endif
