/* Streams by handles. The thread's own default streams (CU_STREAM_PER_THREAD) are created here.
 * Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_STREAMS_H
#define HEDDLE_CUDA_STATE_STREAMS_H

#include "cuda/state/state.h"

/* A stream by its handle: one that was created, or 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD of the
 * current context. Captures may forbid the legacy stream (capture.h). */
CUresult stream_get(CUstream handle, hd_stream **stream, CUcontext *context);
/* The same for operations that a capturing stream cannot do. */
CUresult stream_run(CUstream handle, hd_stream **stream, CUcontext *context);
/* The record of a created stream, or of the thread's own; NULL for the legacy stream. context may
 * be NULL. */
CUresult stream_object(CUstream handle, struct CUstream_st **s, CUcontext *context);
/* A stream's attributes; *context may be NULL. */
CUresult stream_attributes(CUstream handle, struct stream_attributes **attributes, CUcontext *context);
/* Initial attributes. */
struct stream_attributes stream_first_attributes(int priority);
/* Can the context's device have this cache window? */
CUresult stream_check_window(const CUaccessPolicyWindow *w, CUcontext c);
/* The nearest existing priority. */
int stream_priority(int priority);

#endif
