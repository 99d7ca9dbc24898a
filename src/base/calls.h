/* Calls of a library that are being made, and what has to wait until they have ended. A call may
 * use all that it has found until it ends; who destroys something first sees to it that no new call
 * finds it, and has it freed later: when every call has ended that had begun by then. Nobody waits
 * (read-copy-update, as Linux' SRCU does it).
 */
#ifndef HEDDLE_BASE_CALLS_H
#define HEDDLE_BASE_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

/* Around a call; calls within calls are calls. What the one returns, the other takes. */
_Atomic uint32_t *call_begin(void);
void call_end(_Atomic uint32_t *counted);

static inline void call_leave(_Atomic uint32_t *const *counted)
{
    call_end(*counted);
}
/* The rest of a function is one. */
#define IN_CALL _Atomic uint32_t *in_call __attribute__((cleanup(call_leave))) = call_begin()

/* To be called in a call. Has end(data) called, in a call, when the calls that are being made have
 * ended, at the end of the last of them or of a later one, in the order of asking. Without memory
 * to remember it, it is never called. */
void call_later(void (*end)(void *data), void *data);
/* In a child of fork(), where calls of its parent's threads never end: what was put off is not
 * called. */
void calls_after_fork(void);

#endif
