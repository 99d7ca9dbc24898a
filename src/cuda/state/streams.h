/* Streams by their handles. A thread's own default streams (CU_STREAM_PER_THREAD) are made here.
 * Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_STREAMS_H
#define HEDDLE_CUDA_STATE_STREAMS_H

#include "cuda/state/state.h"

/* A stream by its handle: one that was created, or 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD of the
 * current context. Captures may forbid the legacy stream (capture.h). */
CUresult stream_get(CUstream handle, hd_stream **stream, CUcontext *context);
/* The same, for what a stream that captures cannot do. */
CUresult stream_run(CUstream handle, hd_stream **stream, CUcontext *context);
/* The record of a stream that was created, or is the thread's own: NULL for the legacy stream.
 * context may be NULL. */
CUresult stream_object(CUstream handle, struct CUstream_st **s, CUcontext *context);
/* A stream's attributes; *context may be NULL. */
CUresult stream_attributes(CUstream handle, struct stream_attributes **attributes, CUcontext *context);
/* What they are at first. */
struct stream_attributes stream_first_attributes(int priority);
/* Whether a window of the cache is one that the context's device can have. */
CUresult stream_check_window(const CUaccessPolicyWindow *w, CUcontext c);
/* The nearest priority that there is. */
int stream_priority(int priority);

#endif
