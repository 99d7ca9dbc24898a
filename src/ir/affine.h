/* How values change: over the lanes of a warp, the iterations of a loop, the blocks of a grid.
 *
 * A pure instruction that is affine is a product and a sum of its operands (ir_mad_of): what knows that knows all of them. Shapes,
 * ranges, bits and steps over blocks (shape.h) are made of it forwards, through the whole function.
 */
#ifndef HEDDLE_IR_AFFINE_H
#define HEDDLE_IR_AFFINE_H

#include "ir/shape.h"

/* d = a * b + c, or a * factor + c, or minus c: modulo d's width, where the factors are extended to that first. */
struct ir_mad {
    ir_ref a, b, c; /* b, c: REF_NONE where there are none */
    ir_ref by;      /* the operand that is the factor, a constant; REF_NONE: it is 1, or b */
    int64_t factor;
    bool subtracts;
    enum { EXTEND_NONE, EXTEND_TRUNC, EXTEND_SIGN, EXTEND_ZERO } extend; /* of a and b */
    unsigned from, width;                                                /* of a; of d */
};

/* A constant, or a register of which the shapes' ranges say that it is one; shapes may be NULL. */
bool ir_number(const struct ir_func *f, const struct ir_shapes *s, ir_ref r, int64_t *v);
/* False where it is no such instruction. */
bool ir_mad_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, struct ir_mad *m);

#endif
