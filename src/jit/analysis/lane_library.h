/* The lane functions of src/isa as bitcode (isa/lanes.c), for a CPU level: two modules of each
 * group, for all lanes and for one. */
#ifndef HEDDLE_JIT_LANE_LIBRARY_H
#define HEDDLE_JIT_LANE_LIBRARY_H

#include <llvm-c/Core.h>

#include "isa/lanes.h"

struct jit_target;
struct lane_library;
/* NULL where there are none for the CPU level. */
struct lane_library *lane_library_open(LLVMContextRef context, const struct jit_target *target);
/* NULL where the function is to be called, and not copied. */
LLVMValueRef lane_library_find(struct lane_library *l, int single, uint16_t lane);
/* How many instructions a lane function is for one lane; 0 where it is a call. */
unsigned lane_library_size(struct lane_library *l, uint16_t lane);

/* Is the result of a lane function f32, and made the canonical NaN where it is one
 * (isa/sem_float.h)? */
bool lane_library_is_canonical(struct lane_library *l, uint16_t lane);

/* Is an instruction a call of what begins with the name? */
bool lane_insn_calls(LLVMValueRef i, const char *name);
/* A load of a row that only some lanes look at is a load of the row. */
bool lane_insn_loads_row(LLVMValueRef i);

#endif
