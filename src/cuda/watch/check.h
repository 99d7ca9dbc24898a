/* A process that `heddle check` watches: its checkers, and the file that its findings go to.
 *
 * The file (check_file.h) is in the folder that HEDDLE_CHECK names. Lines are added after each
 * launch with new findings, from time to time after and during others, and at the end. So whatever
 * ends the process, the findings until then are in the file.
 */
#ifndef HEDDLE_CUDA_WATCH_CHECK_H
#define HEDDLE_CUDA_WATCH_CHECK_H

#include "cuda/process/check_options.h"

/* Called when CUDA starts in the process, with the value of HEDDLE_CHECK. False: the value is
 * invalid. */
bool check_start(const char *text);
/* NULL if the process is not checked. */
const struct check_options *check_options(void);
/* In a child of fork(), which has no CUDA and no findings. */
void check_after_fork(void);

/* Lets a new machine be checked. The host's own accesses are watched only if it is `alone`: pages
 * that are protected for that cannot be used by other machines. */
hd_result check_machine(hd_machine *machine, bool alone);
/* Is this launch to be checked? Asked once for each; true if no launch is filtered. */
bool check_wants(const char *kernel);
/* A library call has run. May be called by any thread, with any locks held. */
void check_called(void);
/* Is this the launch of the recorded schedule (--policy replay:FILE)?
 * Asked once for each launch. */
bool check_replays(const char *kernel);
/* Adds to the process's findings: mistakes of the host, the reason for a failed launch. False: the
 * process is not checked. */
bool check_found(const hd_report *findings);
/* For the process itself, where it is checked without a file (the Python package): what has been
 * found until now, all that was launched having ended, as report_json() has it, from malloc; NULL
 * where the process is not checked. What occurs again after the call names its launch in the next
 * one's text. */
HD_API char *heddle_check_findings(void);

#endif
