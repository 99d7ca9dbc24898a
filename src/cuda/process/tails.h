/* Accesses to the tail of an allocation (hd_machine_options.open_tails). An H200 allows them, and
 * so does `heddle run`, with a message on stderr when the process ends. `heddle check` reports
 * them. Private to cuda/. */
#ifndef HEDDLE_CUDA_PROCESS_TAILS_H
#define HEDDLE_CUDA_PROCESS_TAILS_H

#include <stdbool.h>

/* Are such accesses allowed? Not under `heddle check`, in any process, or with
 * HEDDLE_EXACT_BOUNDS=1. */
bool tails_are_open(void);
/* hd_machine_options.used_tail */
void tails_used(void *data, const char *kernel);
/* In a child process, which reports only its own kernels. */
void tails_after_fork(void);

#endif
