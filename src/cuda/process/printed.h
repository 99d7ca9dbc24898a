/* Output of kernels. It is kept until the host waits for the device, as in CUDA, so that it appears
 * in the same order beside the program's own output. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_PROCESS_PRINTED_H
#define HEDDLE_CUDA_PROCESS_PRINTED_H

#include <stddef.h>

/* hd_machine_options.print */
void print_keep(void *data, const char *text, size_t bytes);
/* Writes to stdout what kernels have printed so far; CUDA does so where the host waits for the
 * device. */
void print_flush(void);
/* In a child of fork(): drops the output, which the parent prints. */
void print_after_fork(void);

#endif
