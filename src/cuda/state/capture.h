/* The capture of streams into a graph, a state machine ("CUDA Runtime API", 6.4 stream management,
 * cudaStreamBeginCapture; "CUDA C++ Programming Guide", "Creating a Graph Using Stream Capture").
 *
 *      none --- begin ---> active --- a forbidden call ---> invalid
 *        ^                   |                                 |
 *        +-- end: a graph ---+        end: error 901, no graph |
 *        +-----------------------------------------------------+
 *
 * A capture has a stream in which it began, which ends it, and streams that have been drawn in by
 * waiting for its events. Each has a tail: the nodes that its next one depends on; an event takes
 * it along. At the end all must have come back to the first stream.
 *
 * An H200 has said what is forbidden (tests/forbidden): to ask a stream that captures how far it
 * is; to do anything with the legacy stream while a stream captures that would wait for it; and, as
 * the thread's mode and those of the captures have it, calls that may disturb a capture: those that
 * allocate, free, or wait. Each of them fails, and invalidates what it disturbs.
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
/* Of one that is active, with handles; `after` and `data` are the stream's until its next work.
 * CUDA_ERROR_LOSSY_QUERY: the edges are not plain, and their data is not asked for. */
CUresult capture_look(struct CUstream_st *s, cuuint64_t *id, CUgraph *graph, const CUgraphNode **after,
                      const CUgraphEdgeData **data, size_t *n);
/* The nodes that the stream's next one depends on, by their handles: these, too, or only these, as
 * CUstreamUpdateCaptureDependencies_flags have it. */
CUresult capture_set_tail(struct CUstream_st *s, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n,
                          unsigned flags);
/* The calling thread's capture mode: which captures its calls can make invalid. */
CUstreamCaptureMode *capture_mode(void);

/* ---- what happens in streams that capture ---- */

/* Work becomes a node. */
CUresult capture_work(struct CUstream_st *s, const struct work *w);
/* The same of a launch, with its event; *node: NULL where it is none. */
CUresult capture_launch(struct CUstream_st *s, const struct work *w, CUgraphNode *node);
/* Allocation and free of graph memory. A call that fails does not change the capture. */
CUresult capture_alloc(struct CUstream_st *s, struct device *d, size_t bytes, CUdeviceptr *pointer);
CUresult capture_free(struct CUstream_st *s, const void *start);
/* For a call that has no meaning in a capture, or none that Heddle knows: makes the capture
 * invalid. */
CUresult capture_forbid(struct CUstream_st *s);
/* It has been destroyed: its handle is none any more. */
void capture_stream_gone(struct CUstream_st *s);

/* ---- what happens elsewhere, and may disturb captures ---- */

/* A call that may. */
CUresult capture_unsafe(void);
/* Something with the legacy stream of a context. */
CUresult capture_legacy(CUcontext c);
bool capture_blocks_legacy(CUcontext c); /* that would fail */
/* Something with all streams of a context. */
CUresult capture_context(CUcontext c);
void capture_context_gone(CUcontext c);

/* ---- events ---- */

/* An event is recorded in a stream that captures. */
CUresult capture_record(struct CUstream_st *s, struct CUevent_st *e);
/* `s` waits for the event, and one of them captures. */
CUresult capture_wait(struct CUstream_st *s, struct CUevent_st *e);
/* A node that waits for the event, whoever records it (CU_EVENT_WAIT_EXTERNAL). */
CUresult capture_wait_external(struct CUstream_st *s, struct CUevent_st *e);
/* The host queries an event, which is allowed only if it was recorded outside captures. With
 * `forbid`, such a query makes the capture invalid. */
CUresult capture_event(struct CUevent_st *e, bool forbid);
/* The event is recorded elsewhere. */
void capture_forget(struct CUevent_st *e);
/* It has been destroyed: its handle is none any more. */
void capture_event_gone(struct CUevent_st *e);

#endif
