/* Launches that cannot go on: whether nobody's turn can change anything any more, and what waits for what (stall.c). */
#ifndef HEDDLE_EXEC_STALL_H
#define HEDDLE_EXEC_STALL_H

struct worker;
struct launch;
struct block;

/* To be called by a worker whose blocks have all given way, since `since` (seconds; 0: under a schedule, where time does
 * not count). Finds out whether the launch can ever go on; reports where not. */
void stall_look(struct worker *k, struct launch *l, double since);
/* Parks while another worker looks. */
void stall_park(struct worker *k, struct launch *l);
/* The same in two parts, around what the worker's thread does elsewhere. */
void stall_leave(struct worker *k, struct launch *l);
void stall_return(struct worker *k, struct launch *l);
/* All lanes of a block wait for each other, or those of a cluster. */
void stall_report_deadlock(struct block *b);

#endif
