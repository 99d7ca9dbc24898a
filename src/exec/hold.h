/* Stops a machine: all workers are between two turns, and no copy or fill is running. Then the
 * host memory that kernels may use can change; launches continue afterwards and see the change
 * as a GPU's would. */
#ifndef HEDDLE_EXEC_HOLD_H
#define HEDDLE_EXEC_HOLD_H

struct machine;

/* Waits for running turns to end. Not to be called from a worker's thread within a turn; one
 * thread holds at a time, until it releases. */
void machine_hold(struct machine *m);
/* All continue; their cached look-ups of host memory are dropped. */
void machine_release(struct machine *m);

/* Around a copy or fill. */
void machine_begin_move(struct machine *m);
void machine_end_move(struct machine *m);

#endif
