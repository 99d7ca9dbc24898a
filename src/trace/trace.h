/* A timeline of warps, in the JSON that chrome://tracing and Perfetto open (the "Trace Event
 * Format").
 *
 * A block is a process, a warp a thread: what it runs, and what it waits for in between. A client
 * of exec/events.h; any number of launches and threads may use one tracer. Times are microseconds
 * of the clock, or under a schedule thousands of instructions.
 */
#ifndef HEDDLE_TRACE_TRACE_H
#define HEDDLE_TRACE_TRACE_H

#include <stdbool.h>

struct event_client;

struct tracer;

/* NULL with errno set where the file cannot be written. */
struct tracer *trace_open(const char *path);
const struct event_client *trace_client(struct tracer *t);
/* Ends the file; false with errno set where it could not be written completely. */
bool trace_close(struct tracer *t);

#endif
