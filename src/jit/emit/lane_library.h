/* The lane functions of src/isa as bitcode (isa/lanes.c), for a CPU level; two modules of each group, for all lanes and for one. */
#ifndef HEDDLE_JIT_LANE_LIBRARY_H
#define HEDDLE_JIT_LANE_LIBRARY_H

#include "jit/emit/emit.h"

/* NULL where the function is to be called, and not copied. */
value lane_library_find(struct lane_library *l, int single, uint16_t lane);

/* Is an instruction a call of what begins with the name? */
bool lane_insn_calls(value i, const char *name);
/* A load of a row that only some lanes look at is a load of the row. */
bool lane_insn_loads_row(value i);

#endif
