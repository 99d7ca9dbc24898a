/* Captures streams into a graph: a state machine ("CUDA Runtime API", 6.4 stream management,
 * cudaStreamBeginCapture; "CUDA C++ Programming Guide", "Creating a Graph Using Stream Capture").
 *
 *      none --- begin ---> active --- a forbidden call ---> invalid
 *        ^                   |                                 |
 *        +-- end: a graph ---+        end: error 901, no graph |
 *        +-----------------------------------------------------+
 *
 * A capture begins and ends in one stream; other streams join it by waiting for its events. Each
 * stream has a tail: the nodes that its next node depends on. An event carries the tail to other
 * streams. At the end, the first stream must have waited for all others.
 *
 * The forbidden calls are an H200's (tests/forbidden): inquiries about the progress of a capturing
 * stream; any use of the legacy stream while a stream captures that would wait for it; and,
 * depending on the modes of the thread and of the captures, calls that may disturb a capture: those
 * that allocate, free, or wait. Each of them fails, and invalidates the captures that it disturbs.
 */
#ifndef HEDDLE_CUDA_STATE_CAPTURE_H
#define HEDDLE_CUDA_STATE_CAPTURE_H

#include "cuda/state/work.h"

/* ---- begin and end ---- */

/* Begins a capture into a graph (NULL: a new one), after n of its nodes, given by their handles. If
 * the capture fails, the graph ends. */
CUresult capture_begin(struct CUstream_st *s, struct CUgraph_st *into, const CUgraphNode *after,
                       const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode);
/* Ends a capture. *graph is NULL after an error. */
CUresult capture_end(struct CUstream_st *s, struct CUgraph_st **graph);
CUstreamCaptureStatus capture_status(struct CUstream_st *s);
/* The state of an active capture, with handles. `after` and `data` are the stream's until its next
 * work. CUDA_ERROR_LOSSY_QUERY: edges have data, and it was not asked for. */
CUresult capture_look(struct CUstream_st *s, cuuint64_t *id, CUgraph *graph, const CUgraphNode **after,
                      const CUgraphEdgeData **data, size_t *n);
/* Adds to or replaces the nodes (handles) that the stream's next node depends on, by
 * CUstreamUpdateCaptureDependencies_flags. */
CUresult capture_set_tail(struct CUstream_st *s, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n,
                          unsigned flags);
/* The calling thread's capture mode: which captures its calls can make invalid. */
CUstreamCaptureMode *capture_mode(void);

/* ---- what happens in streams that capture ---- */

/* Adds work as a node. */
CUresult capture_work(struct CUstream_st *s, const struct work *w);
/* The same for a launch with its event; *node is NULL if no node was added. */
CUresult capture_launch(struct CUstream_st *s, const struct work *w, CUgraphNode *node);
/* Allocation and free of graph memory. A call that fails does not change the capture. */
CUresult capture_alloc(struct CUstream_st *s, struct device *d, size_t bytes, CUdeviceptr *pointer);
CUresult capture_free(struct CUstream_st *s, const void *start);
/* For a call that has no meaning in a capture, or none that Heddle knows: makes the capture
 * invalid. */
CUresult capture_forbid(struct CUstream_st *s);
/* The stream was destroyed: its handle is invalid. */
void capture_stream_gone(struct CUstream_st *s);

/* ---- what happens elsewhere, and may disturb captures ---- */

/* For a call that may disturb captures. */
CUresult capture_unsafe(void);
/* For a use of a context's legacy stream. */
CUresult capture_legacy(CUcontext c);
bool capture_blocks_legacy(CUcontext c); /* would such a use fail? */
/* For a call that concerns all streams of a context. */
CUresult capture_context(CUcontext c);
void capture_context_gone(CUcontext c);

/* ---- events ---- */

/* Records an event in a capturing stream. */
CUresult capture_record(struct CUstream_st *s, struct CUevent_st *e);
/* `s` waits for the event; one of the two is part of a capture. */
CUresult capture_wait(struct CUstream_st *s, struct CUevent_st *e);
/* Adds a node that waits for the event, whoever records it (CU_EVENT_WAIT_EXTERNAL). */
CUresult capture_wait_external(struct CUstream_st *s, struct CUevent_st *e);
/* The host queries an event, which is allowed only if it was recorded outside captures. With
 * `forbid`, such a query makes the capture invalid. */
CUresult capture_event(struct CUevent_st *e, bool forbid);
/* The event is recorded elsewhere, and no longer part of a capture. */
void capture_forget(struct CUevent_st *e);
/* The event was destroyed: its handle is invalid. */
void capture_event_gone(struct CUevent_st *e);

#endif
