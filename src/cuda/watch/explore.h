/* A process of which `heddle explore` explores one launch: before the launch begins, at its place
 * in the stream, with the memory of that moment. The launch then runs as usual.
 *
 * The lines of the file (process/file.h) between the first and the last:
 *     {"exploring": {...}}      the launch: kernel, launch, grid, block, cluster
 *     {"explored": {...}}       the results: status, text, json; or status and error
 *     {"kernel": NAME}          each launched kernel, once
 *     {"ended": true, "launches": {NAME: N, ...}, "matching": N}     the last line; matching:
 * launches of the requested kernel
 */
#ifndef HEDDLE_CUDA_WATCH_EXPLORE_H
#define HEDDLE_CUDA_WATCH_EXPLORE_H

#include "cuda/process/explore_options.h"
#include "heddle.h"

/* Called when CUDA starts in the process, with the value of HEDDLE_EXPLORE. Returns false if the
 * value is invalid. */
bool explore_start(const char *text);
/* In a child of fork(), which has no CUDA. */
void explore_after_fork(void);

/* Called before a launch is submitted to a stream: if it is the selected launch, it is explored
 * when the stream reaches it. */
hd_result explore_launch(hd_stream *stream, hd_kernel *kernel, const char *name, const hd_launch_config *config);

#endif
