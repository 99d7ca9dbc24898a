/* The lane functions of src/isa as bitcode (isa/lanes.c) for a CPU level: two modules for each
 * group, one for all lanes and one for a single lane. */
#ifndef HEDDLE_JIT_LANE_LIBRARY_H
#define HEDDLE_JIT_LANE_LIBRARY_H

#include <llvm-c/Core.h>

#include "isa/lanes.h"

struct jit_target;
struct lane_library;
/* NULL if there is no library for the CPU level. */
struct lane_library *lane_library_open(LLVMContextRef context, const struct jit_target *target);
/* NULL if the function is to be called, not inlined. */
LLVMValueRef lane_library_find(struct lane_library *l, int single, uint16_t lane);
/* The number of instructions of a lane function for one lane; 0 if it is a call. */
unsigned lane_library_size(struct lane_library *l, uint16_t lane);

/* Is the result of a lane function an f32 whose NaNs are made canonical (isa/sem_float.h)? */
bool lane_library_is_canonical(struct lane_library *l, uint16_t lane);

/* Is an instruction a call of a function whose name begins with this? */
bool lane_insn_calls(LLVMValueRef i, const char *name);
/* Replaces a masked load of a row by a load of the whole row. */
bool lane_insn_loads_row(LLVMValueRef i);

#endif
