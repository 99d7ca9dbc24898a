/* A process whose launches `heddle explain` counts: its explainers, and the file that says what
 * they have counted.
 *
 * The lines of the file (process/file.h) between the first and the last:
 *     {"device": N, "launch": {...}}          each launch, when it has ended (explain/json.h)
 *     {"device": N, "again": I}               or, where one is as that of the device's I-th line with a launch, from 0 on
 *     {"device": N, "kernel": {...}}          a kernel by line: the sums of its launches so far; the last one of a kernel counts
 *     {"device": N, "calls": [...]}           what its calls of libraries have done so far, by function (explain/calls.h); the last counts
 *     {"streams": [...]}                      at its end (explain/streams.h)
 *     {"running": N}                          launches that have begun and not ended; the last one counts
 *     {"ended": true, "uncounted": N}         the last
 */
#ifndef HEDDLE_CUDA_WATCH_EXPLAIN_H
#define HEDDLE_CUDA_WATCH_EXPLAIN_H

#include "cuda/process/explain_options.h"
#include "heddle.h"

/* When CUDA starts in the process, with the value of HEDDLE_EXPLAIN. False where that is none of
 * ours. */
bool explain_start(const char *text);
/* NULL where nothing is counted. */
const struct explain_options *explain_options(void);
/* In a child of fork(), which has no CUDA. */
void explain_after_fork(void);

/* A range or a mark of the program's (NVTX), where a device is there. */
void explain_range(hd_range_event event, uint64_t id, const char *name);

/* Has the launches of a machine that was just made counted. */
hd_result explain_machine(hd_machine *machine);
/* Is this launch to be counted? Asked once for each; true where none is. */
bool explain_wants(const char *kernel);

#endif
