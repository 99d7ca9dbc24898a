/* How values change: over the lanes of a warp, the iterations of a loop, the blocks of a grid.
 *
 * A pure instruction that is affine is a product and a sum of its operands (ir_mad_of): what knows that knows all of them. Shapes,
 * ranges, bits and steps over blocks (shape.h) are made of it forwards, through the whole function; what registers are over the
 * iterations of a loop (ir_affine_of: scalar evolution) backwards, from the instruction that asks.
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

/* ---- over the iterations of a loop ---- */

/* Blocks from..to - 1 of the order. Of a loop of several blocks only registers that it defines once are known, and as if they were
 * defined before anybody reads them: what steps there, by how much is right, but not when. */
struct ir_loop {
    const struct ir_func *f;
    const struct ir_shapes *s; /* NULL: they are not known yet */
    const struct ir_defs *defs;
    uint32_t from, to;
    struct arena *arena;
    struct ir_affine **results; /* of instructions from `first` on */
    uint32_t first;
};

/* What an operand is, as an instruction of the loop reads it. Modulo its width; only what is extended must not have wrapped. */
struct ir_affine {
    enum ir_evolution {
        EVOLVES_NOT,        /* the same in each iteration */
        EVOLVES_BY_STEP,    /* more by `step` in each */
        EVOLVES_BY_ADDENDS, /* by what does not change, but is no number */
        EVOLVES_OTHERWISE,
        EVOLVES_LOADED, /* it hangs on what the loop loads */
    } over;
    int64_t step;
    ir_ref base; /* it is what this register is when the iteration begins, and `added`; or REF_NONE */
    int64_t added;
    ir_ref r; /* the operand */
    enum { AFFINE_BASE, AFFINE_MAD, AFFINE_OTHER } made;
    uint32_t insn;     /* that reads it; of AFFINE_MAD: that computes it */
    struct ir_mad mad; /* of AFFINE_MAD, and what its operands are */
    const struct ir_affine *a, *b, *c;
    struct ir_addend {
        ir_ref r;
        uint32_t insn; /* that adds it */
        bool negative;
    } *addends; /* of a base that evolves: what an iteration adds */
    uint32_t n_addends;
};

/* Makes a loop of those blocks. */
struct ir_loop ir_loop_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_defs *defs, uint32_t from,
                          uint32_t to, struct arena *arena);
bool ir_is_fixed(const struct ir_loop *l, ir_ref r); /* does the loop not write it? */
/* r as instruction `insn` of the loop reads it. */
const struct ir_affine *ir_affine_of(struct ir_loop *l, ir_ref r, uint32_t insn);

#endif
