/* The opcodes of ops.def by name: for files that name one; all others pass on isa_op, and are not
 * compiled anew for a new one. */
#ifndef HEDDLE_ISA_OPCODES_H
#define HEDDLE_ISA_OPCODES_H

enum {
    OP_none,
#include "op_names.h" // made by the build: OP_add, OP_sub, ...
    OP_COUNT
};

#endif
