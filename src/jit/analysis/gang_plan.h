/* What the files of the gangs' analysis share: gang_common.c, gang_cost.c, gang_blocks.c,
 * gang_plan.c. Others include function.h. */
#ifndef HEDDLE_JIT_ANALYSIS_GANG_PLAN_H
#define HEDDLE_JIT_ANALYSIS_GANG_PLAN_H

#include "jit/analysis/access.h"

/* ---- gang_common.c ---- */

/* Blocks where warps begin or go on behind a barrier; `starts` by block. */
void gang_find_phase_starts(const struct function *fn, uint8_t *starts);
/* Of atomics those of the block's own memory: a warp behind another one in a gang is one that comes
 * later. */
bool gang_takes(const struct ir_insn *i);
/* Blocks that a gang may go on with. */
uint32_t gang_next_blocks(const struct function *fn, uint32_t b, uint32_t next[2]);
/* Does a loop of it wait for what others do? */
bool gang_spins(const struct function *fn);
/* Is an operand the same in all warps, lane by lane? */
bool gang_is_common(const struct function *fn, ir_ref r);
/* Finds fn->plan.common and .once. */
void gang_find_common(struct function *fn);

/* ---- gang_cost.c ---- */

/* How many warps are worth it to be run together through a loop; 1: none. *waits: what an iteration
 * would keep one of them waiting. */
unsigned gang_best(const struct function *fn, uint32_t first, uint32_t last, unsigned most, uint64_t *waits);

/* The CPU's vectors that hold what a warp has of its own where a loop begins. */
uint32_t gang_vectors_around(const struct function *fn, uint32_t head);

/* ---- gang_blocks.c ---- */

/* May all warps of the block be one gang, and where? Fills fn->plan. They keep their registers
 * where others bring them to memory and fetch them again. */
bool gang_plan_block(struct function *fn, uint32_t threads);

#endif
