/* A process one of whose launches `heddle explore` explores: before the launch begins, in its place
 * in the stream, with the memory as it is then. The launch goes on as if nothing had been.
 *
 * The lines of the file (process/file.h) between the first and the last:
 *     {"exploring": {...}}      which launch: kernel, launch, grid, block, cluster
 *     {"explored": {...}}       what was found of it: status, text, json; or status and error
 *     {"kernel": NAME}          each kernel that is launched, once
 *     {"ended": true, "launches": {NAME: N, ...}, "matching": N}     the last; matching: launches of the kernel that is asked for
 */
#ifndef HEDDLE_CUDA_WATCH_EXPLORE_H
#define HEDDLE_CUDA_WATCH_EXPLORE_H

#include "cuda/process/explore_options.h"
#include "heddle.h"

/* When CUDA starts in the process, with the value of HEDDLE_EXPLORE. False where that is none of
 * ours. */
bool explore_start(const char *text);
/* In a child of fork(), which has no CUDA. */
void explore_after_fork(void);

/* Called before a launch is submitted to a stream: if it is the selected launch, it is explored
 * when the stream reaches it. */
hd_result explore_launch(hd_stream *stream, hd_kernel *kernel, const char *name, const hd_launch_config *config);

#endif
