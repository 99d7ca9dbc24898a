/* The process's contexts, and which is current in a thread. Private to cuda/. */
#ifndef HEDDLE_CUDA_CONTEXTS_H
#define HEDDLE_CUDA_CONTEXTS_H

#include "cuda/state.h"

void context_add(CUcontext c);
/* No thread has it any more, and no list. */
void context_remove(CUcontext c);
bool is_context(CUcontext context);
/* Is there still the context with this number? */
bool context_lives(uint64_t id);
bool context_lives_held(uint64_t id); /* with the lock held */
void context_each(void (*visit)(CUcontext context));
/* Waits for the work of all contexts. */
void contexts_wait(void);
/* The same, when the process ends; false where it was not done after so long: it is then cancelled. */
bool contexts_finish(double seconds);

/* The thread's; NULL where there is none. */
CUcontext context_top(void);
CUresult context_push(CUcontext context);
CUresult context_pop(CUcontext *context);
/* NULL is allowed: an empty stack, or one without its top. */
CUresult context_set(CUcontext context);
/* The current context, which must be without a fault. Errors: CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT,
 * the fault. */
CUresult context_current(CUcontext *context);
/* The fault of the current context, which refuses a call whatever it is given; CUDA_SUCCESS: it has none, or there is no context. */
CUresult context_failure(void);

#endif
