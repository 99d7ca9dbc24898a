/* The queues of the compiler: for each tier, one thread of the machine has units compiled, in
 * the order of requests. It starts with the first request. */
#ifndef HEDDLE_JIT_COMPILE_QUEUE_H
#define HEDDLE_JIT_COMPILE_QUEUE_H

#include "jit/host/unit.h"

/* Adds a unit, with the lock held; false with u->why if there is no thread to compile it. */
bool queue_add(struct jit *j, struct unit *u);
/* The unit's kernel is freed: frees the unit, at once or when the thread that compiles it is
 * done. With the lock held. */
void queue_drop(struct jit *j, struct unit *u);

#endif
