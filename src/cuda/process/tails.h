/* What an H200 lets kernels do at the end of an allocation, and `heddle check` does not: use its
 * tail (hd_machine_options.open_tails). It is let here, too, and said on stderr when the process
 * ends. Private to cuda/. */
#ifndef HEDDLE_CUDA_PROCESS_TAILS_H
#define HEDDLE_CUDA_PROCESS_TAILS_H

#include <stdbool.h>

/* Not where bounds are to be exact: under `heddle check`, of all processes, or by
 * HEDDLE_EXACT_BOUNDS=1. */
bool tails_are_open(void);
/* hd_machine_options.used_tail */
void tails_used(void *data, const char *kernel);
/* A child process tells of its own kernels. */
void tails_after_fork(void);

#endif
