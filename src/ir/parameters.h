/* Of which of the kernel's parameters values are made: where addresses come from that the host has passed. */
#ifndef HEDDLE_IR_PARAMETERS_H
#define HEDDLE_IR_PARAMETERS_H

#include "ir/affine.h"

/* A set of parameters, by the 8 bytes where they stand; and what comes from elsewhere. */
#define IR_ELSEWHERE (1ull << 63)
enum { IR_PARAMETERS_MOST = 63 };

/* By register, of a kernel; shapes may be NULL. NULL without memory (arena.h). What is added to an address is taken for none where it is a product, or has less than 64 bits. So
 * what is computed out of two addresses may lead to where no parameter of its set does. */
uint64_t *ir_find_parameters(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena);
uint64_t ir_parameters_of(const uint64_t *sets, const struct ir_func *f, ir_ref r);

#endif
