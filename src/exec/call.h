/* Calls and returns of lanes (call.c), and system calls of kernels (syscall.c). */
#ifndef HEDDLE_EXEC_CALL_H
#define HEDDLE_EXEC_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/fault.h"
#include "mem/space.h"

struct warp;
struct activation;
struct op;
struct machine;
struct context;

/* The lanes of `mask` call a function; false after a fault. System calls return immediately:
 * their lanes are added to *stay. */
bool call_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, uint32_t *stay);
/* Lanes return from `a`; its caller continues with them. */
void call_return(struct warp *w, struct activation *a, uint32_t lanes);

/* System calls of a kernel: vprintf, malloc, free, __assertfail. */
bool syscall_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
/* Allocates on the kernels' heap: NULL if its limit is reached, as under CUDA; false after a
 * fault of this kind. */
uint64_t heap_malloc(struct warp *w, const struct op *o, unsigned lane, uint64_t bytes);
bool heap_free(struct warp *w, const struct op *o, unsigned lane, uint64_t address, enum fault_kind otherwise);
/* Frees what the kernels of an idle context have allocated. `forget` is called for each
 * block before it is freed. */
void heap_leave(struct machine *m, const struct context *c, void (*forget)(void *data, const struct mem_block *b),
                void *data);

#endif
