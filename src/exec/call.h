/* Calls and returns of lanes (call.c), and what a kernel asks of the machine (syscall.c). */
#ifndef HEDDLE_EXEC_CALL_H
#define HEDDLE_EXEC_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/fault.h"

struct warp;
struct activation;
struct op;

/* The lanes of `mask` call; false after a fault. Lanes of a system call are back at once: they are
 * added to *stay. */
bool call_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, uint32_t *stay);
/* Lanes return from `a`, whose caller goes on with them. */
void call_return(struct warp *w, struct activation *a, uint32_t lanes);

/* What a kernel asks of the machine: vprintf, malloc, free, __assertfail. */
bool syscall_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
/* Of the kernels' heap: NULL where its limit is reached, as under CUDA; false after a fault, of
 * this kind where that did not give it. */
uint64_t heap_malloc(struct warp *w, const struct op *o, unsigned lane, uint64_t bytes);
bool heap_free(struct warp *w, const struct op *o, unsigned lane, uint64_t address, enum fault_kind otherwise);

#endif
