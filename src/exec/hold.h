/* A machine stands still: all workers are between two turns, and no copy or fill is on its way.
 * What kernels may use of the host's memory can be changed then, under launches that go on
 * afterwards and meet the change as a GPU's would. */
#ifndef HEDDLE_EXEC_HOLD_H
#define HEDDLE_EXEC_HOLD_H

struct machine;

/* Waits for the turns that are on their way. Not from a worker's thread within a turn, and by one
 * thread at a time, until it releases. */
void machine_hold(struct machine *m);
/* All go on; what they have looked up of the host's memory is looked up again. */
void machine_release(struct machine *m);

/* Around a copy or fill. */
void machine_begin_move(struct machine *m);
void machine_end_move(struct machine *m);

#endif
