/* A process whose kernels `heddle debug` stops in: its machines' launches belong to a debugger
 * (debug/run.h), which has a connection to the command. */
#ifndef HEDDLE_CUDA_WATCH_DEBUG_H
#define HEDDLE_CUDA_WATCH_DEBUG_H

#include "heddle.h"

/* When CUDA starts in the process, with the value of HEDDLE_DEBUG: "CONNECTION PIPE SNAPSHOT-BYTES
 * ALWAYS POLICY". False where that is none of ours. */
bool debug_start(const char *text);
/* In a child of fork(), which has no CUDA. */
void debug_after_fork(void);
/* A machine has been made. */
void debug_machine(hd_machine *m);

#endif
