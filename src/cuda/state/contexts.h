/* The process's contexts, and which is current in a thread. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_CONTEXTS_H
#define HEDDLE_CUDA_STATE_CONTEXTS_H

#include "cuda/state/state.h"

/* Does this handle still belong to the context with this number? If so, the context stays until the
 * call ends. */
bool context_lives(CUcontext handle, uint64_t id);
void context_each(void (*visit)(CUcontext context));
/* Creates an empty context: the first without a handle, the second with one. */
CUresult context_start(struct device *d, unsigned flags, CUcontext *context);
CUresult context_new(struct device *d, unsigned flags, bool primary, CUcontext *handle);
void context_free(void *context); /* frees a context without a handle */
/* Gives the device the context's limits where those of the context before it differ. */
CUresult context_first_limits(CUcontext c, const struct CUctx_st *before);
/* Ends a context: waits for its work, and frees its memory, modules, streams and events. `next`:
 * the context that its handle stands for from now on, or NULL. */
void context_end(CUcontext c, CUcontext next);

/* Waits for the work of all contexts. */
void contexts_wait(void);
/* The same when the process ends. False: the work was not done after this time, and was
 * cancelled. */
bool contexts_finish(double seconds);

/* The handle that is current in the thread; its context may have ended since. context_set() takes
 * NULL for no context. */
CUcontext context_current_handle(void);
CUresult context_push(CUcontext handle);
CUresult context_pop(CUcontext *handle);
CUresult context_set(CUcontext handle);
/* The thread's context; NULL if there is none. */
CUcontext context_top(void);
/* The current context, which must be without a fault. Errors: CUDA_ERROR_NOT_INITIALIZED,
 * CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED, the fault. */
CUresult context_current(CUcontext *context);
/* The fault of the current context, with which every call fails; CUDA_SUCCESS: it has none, or
 * there is no context. */
CUresult context_failure(void);

#endif
