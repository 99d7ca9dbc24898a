/* A process whose launches `heddle explain` counts: its explainers, and the file of their counts.
 *
 * The lines of the file (process/file.h) between the first and the last:
 *     {"device": N, "launch": {...}}          a launch that has ended (explain/json.h)
 *     {"device": N, "again": I}               or a launch that equals the device's I-th launch
 * line, from 0
 *     {"device": N, "kernel": {...}}          a kernel by line: the sums of its launches so far;
 * its last line counts
 *     {"device": N, "calls": [...]}           library calls so far, by function (explain/calls.h);
 * the last line counts
 *     {"streams": [...]}                      at the end (explain/streams.h)
 *     {"running": N}                          running launches; the last line counts
 *     {"ended": true, "uncounted": N}         the last line
 */
#ifndef HEDDLE_CUDA_WATCH_EXPLAIN_H
#define HEDDLE_CUDA_WATCH_EXPLAIN_H

#include "cuda/process/explain_options.h"
#include "heddle.h"

/* Called when CUDA starts in the process, with the value of HEDDLE_EXPLAIN. Returns false if the
 * value is invalid. */
bool explain_start(const char *text);
/* NULL if nothing is counted. */
const struct explain_options *explain_options(void);
/* In a child of fork(), which has no CUDA. */
void explain_after_fork(void);

/* A range or a mark of the program's (NVTX), if there is a device. */
void explain_range(hd_range_event event, uint64_t id, const char *name);

/* Lets the launches of a new machine be counted. */
hd_result explain_machine(hd_machine *machine);
/* Is this launch to be counted? Asked once for each; true if no launch is filtered. */
bool explain_wants(const char *kernel);

#endif
