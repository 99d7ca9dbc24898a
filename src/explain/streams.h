/* Timelines of a program's streams and host threads on the device, estimated.
 *
 * A client of the order of tasks (exec/queue.h): it records what was submitted to streams, what
 * each task waits for, and what the host waits for. From these and the estimated time of each task
 * it computes when tasks would begin and end, whatever this run took. Assumptions (streams.c): the
 * host does nothing between its calls, and the times of calls and memory copies.
 */
#ifndef HEDDLE_EXPLAIN_STREAMS_H
#define HEDDLE_EXPLAIN_STREAMS_H

#include <jansson.h>

#include "exec/queue.h"
#include "heddle.h"

struct stream_log;

/* Returns NULL if memory is exhausted. */
struct stream_log *stream_log_new(void);
void stream_log_free(struct stream_log *l); /* NULL is allowed */
/* For machine.order of another machine; NULL if there are too many. */
const struct order_hooks *stream_log_hooks(struct stream_log *l);

/* Notes the estimated time of a launch, or the bytes that a copy or fill (one way) moves, within
 * the device or from and to the host. */
void stream_log_launched(struct stream_log *l, uint32_t task, double ns);
/* Notes the least time of a library call, with the words of its span. */
void stream_log_worked(struct stream_log *l, uint32_t task, double ns, double flops, double bytes);
void stream_log_moved(struct stream_log *l, uint32_t task, uint64_t bytes, bool within_device);

/* Notes a range or mark of the calling thread. `name`: of a range that begins. */
void stream_log_range(struct stream_log *l, hd_range_event event, uint64_t id, const char *name);

/* An array of tracks: of a stream, a host thread, or ranges that do not overlap. A track has a
 * name, and spans with from and to in nanoseconds, kind and name. "cut" and "left_out" (a number of
 * tasks) tell that the program did more than was kept. Returns NULL if memory is exhausted. */
json_t *stream_log_json(struct stream_log *l);

#endif
