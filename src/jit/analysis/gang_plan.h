/* Functions that the files of the gang analysis share: gang_common.c, gang_cost.c,
 * gang_blocks.c, gang_plan.c. Other files include function.h. */
#ifndef HEDDLE_JIT_ANALYSIS_GANG_PLAN_H
#define HEDDLE_JIT_ANALYSIS_GANG_PLAN_H

#include "jit/analysis/access.h"

/* ---- gang_common.c ---- */

/* Finds the blocks where warps begin, or continue after a barrier; `starts` by block. */
void gang_find_phase_starts(const struct function *fn, uint8_t *starts);
/* Can a gang run the instruction? Of atomics, those on the block's own memory: later warps of a
 * gang then run later. */
bool gang_takes(const struct ir_insn *i);
/* The blocks with which a gang may continue. */
uint32_t gang_next_blocks(const struct function *fn, uint32_t b, uint32_t next[2]);
/* Does one of its loops wait for other threads? */
bool gang_spins(const struct function *fn);
/* Is an operand the same in all warps, for each lane? */
bool gang_is_common(const struct function *fn, ir_ref r);
/* Finds fn->plan.common and .once. */
void gang_find_common(struct function *fn);

/* ---- gang_cost.c ---- */

/* How many of a block's `whole` warps should run a loop together; 1: none. *waits: the latency of
 * an iteration of a single warp. */
unsigned gang_best(const struct function *fn, uint32_t first, uint32_t last, unsigned whole, uint64_t *waits);

/* The number of the CPU's vectors that hold a warp's own values at the start of a loop. */
uint32_t gang_vectors_around(const struct function *fn, uint32_t head);

/* ---- gang_blocks.c ---- */

/* May all warps of the block be one gang, and where? Fills fn->plan. They then keep in registers
 * what single warps would save and reload at barriers. */
bool gang_plan_block(struct function *fn, uint32_t threads);

#endif
