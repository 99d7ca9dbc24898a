/* The process's contexts, and which is current in a thread. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_CONTEXTS_H
#define HEDDLE_CUDA_STATE_CONTEXTS_H

#include "cuda/state/state.h"

/* Is this handle still one of the context with this number? That context stays until the call ends. */
bool context_lives(CUcontext handle, uint64_t id);
void context_each(void (*visit)(CUcontext context));
/* One that has nothing yet, and no handle; and the same with one. */
CUresult context_start(struct device *d, unsigned flags, CUcontext *context);
CUresult context_new(struct device *d, unsigned flags, bool primary, CUcontext *handle);
void context_free(void *context); /* one without a handle */
/* Waits for its work, and takes no more; its memory, modules, streams and events go with it.
 * `next`: what its handle stands for from now on, or NULL. */
void context_end(CUcontext c, CUcontext next);

/* Waits for the work of all contexts. */
void contexts_wait(void);
/* The same, when the process ends; false where it was not done after so long: it is then cancelled. */
bool contexts_finish(double seconds);

/* Handles that are current in the thread; one may have ended since. NULL is allowed in
 * context_set(): an empty stack, or one without its top. */
CUcontext context_current_handle(void);
CUresult context_push(CUcontext handle);
CUresult context_pop(CUcontext *handle);
CUresult context_set(CUcontext handle);
/* The thread's context; NULL where there is none. */
CUcontext context_top(void);
/* The current context, which must be without a fault. Errors: CUDA_ERROR_NOT_INITIALIZED,
 * CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED, the fault. */
CUresult context_current(CUcontext *context);
/* The fault of the current context, which refuses a call whatever it is given; CUDA_SUCCESS: it has
 * none, or there is no context. */
CUresult context_failure(void);

#endif
