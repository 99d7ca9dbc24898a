/* The interpreter's entry points (interp.c). Any warp may be run from what its records say, whoever
 * wrote them. */
#ifndef HEDDLE_EXEC_INTERP_H
#define HEDDLE_EXEC_INTERP_H

#include <stdbool.h>
#include <stdint.h>

struct warp;
struct activation;
struct op;

/* Runs a warp until it is done, waits, has spent its budget or its quantum of accesses, or the
 * launch has a fault. */
void warp_run(struct warp *w);
/* Runs an operation that is no end of a block, in some lanes; false after a fault. */
bool warp_run_op(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
/* The lanes of mask in which its guard holds. */
uint32_t warp_guarded(uint8_t *const base[4], const struct op *o, uint32_t mask);

#endif
