/* A file of what happens over time: the JSON that chrome://tracing and Perfetto open (the "Trace
 * Event Format").
 *
 * Every function but the first writes an event; what goes wrong is the stream's own error. Times
 * are microseconds. A thread is a line of the picture, and a process a group of lines.
 */
#ifndef HEDDLE_TRACE_EVENTS_H
#define HEDDLE_TRACE_EVENTS_H

#include <stdint.h>
#include <stdio.h>

struct trace_thread {
    uint64_t process;
    uint32_t thread;
};

/* Before all events, and behind them. */
void trace_head(FILE *f);
void trace_tail(FILE *f);

void trace_name_process(FILE *f, uint64_t process, const char *name);
void trace_name_thread(FILE *f, struct trace_thread t, const char *name);
/* Something begins, or what began last in the thread ends: phase 'B' or 'E'. */
void trace_event(FILE *f, char phase, struct trace_thread t, const char *name, double at);
/* Both at once; `category` is what Perfetto lets its users choose by. */
void trace_span(FILE *f, struct trace_thread t, const char *name, const char *category, double from, double to);

#endif
