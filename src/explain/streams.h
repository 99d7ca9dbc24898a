/* What a program's streams and its host do over time on the device, by estimates.
 *
 * A client of the order of tasks (exec/queue.h): what was put into streams, what each task waits
 * for, and for what the host waits. From these and from how long each task would take there follows
 * when it would begin and end, whatever this run took. What is not known is assumed (streams.c):
 * that the host does nothing between its calls, what a call takes, and how fast memory is copied.
 */
#ifndef HEDDLE_EXPLAIN_STREAMS_H
#define HEDDLE_EXPLAIN_STREAMS_H

#include <jansson.h>

#include "exec/queue.h"
#include "heddle.h"

struct stream_log;

/* NULL where memory is exhausted. */
struct stream_log *stream_log_new(void);
void stream_log_free(struct stream_log *l); /* NULL is allowed */
/* For machine.order of a further machine; NULL where there are too many. */
const struct order_hooks *stream_log_hooks(struct stream_log *l);

/* A launch would take so long; a copy or a fill (one way) moves so many bytes, within the device or
 * from and to the host. */
void stream_log_launched(struct stream_log *l, uint32_t task, double ns);
/* A library's call would take so long at least; its span says what it does. */
void stream_log_worked(struct stream_log *l, uint32_t task, double ns, double flops, double bytes);
void stream_log_moved(struct stream_log *l, uint32_t task, uint64_t bytes, bool within_device);

/* A range or a mark of the program's, by the thread that calls. `name`: of what begins. */
void stream_log_range(struct stream_log *l, hd_range_event event, uint64_t id, const char *name);

/* An array of tracks, a stream, a thread of the host, or ranges that do not overlap each: name, and
 * spans of from and to in nanoseconds, kind and name; "cut" and "left_out", a number of tasks,
 * where the program went on behind what is remembered. NULL where memory is exhausted. */
json_t *stream_log_json(struct stream_log *l);

#endif
