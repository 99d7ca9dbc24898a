/* Blocks whose warps run compiled code together, barrier phase by barrier phase (lockstep.c). */
#ifndef HEDDLE_EXEC_LOCKSTEP_H
#define HEDDLE_EXEC_LOCKSTEP_H

#include <stdbool.h>

struct block;

/* Runs a block that has not begun by compiled code alone, all warps from barrier to barrier. False
 * where that is not possible, or not to the end: its warps then stand where their records say. */
bool block_run_lockstep(struct block *b);
/* The same for a block whose warps stand behind a barrier that they all came to as a whole. */
bool block_resume_lockstep(struct block *b);

#endif
