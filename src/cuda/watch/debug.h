/* A process in whose kernels `heddle debug` stops: a debugger (debug/run.h), which is connected to
 * the command, handles its machines' launches. */
#ifndef HEDDLE_CUDA_WATCH_DEBUG_H
#define HEDDLE_CUDA_WATCH_DEBUG_H

#include "heddle.h"

/* Called when CUDA starts in the process, with the value of HEDDLE_DEBUG: "CONNECTION PIPE
 * SNAPSHOT-BYTES ALWAYS POLICY". Returns false if the value is invalid. */
bool debug_start(const char *text);
/* In a child of fork(), which has no CUDA. */
void debug_after_fork(void);
/* A machine was created. */
void debug_machine(hd_machine *m);

#endif
