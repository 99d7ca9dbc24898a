/* Affine analysis: how values change over the lanes of a warp, the iterations of a loop, the blocks
 * of a grid.
 *
 * ir_mad_of() reduces a pure instruction that is affine to a product and a sum of its operands, by
 * what its entry of isa/lanes_*.def says that it is. Shapes, value ranges, known bits and strides
 * between blocks (shape.h) are computed forwards with it, through the whole function.
 * ir_affine_of() is scalar evolution: it goes backwards through the definitions, from the
 * instruction that asks, and says how an operand evolves over the iterations of a loop.
 */
#ifndef HEDDLE_IR_AFFINE_H
#define HEDDLE_IR_AFFINE_H

#include "ir/shape.h"

/* d = a * b + c, or a * factor + c, or the product minus c, modulo d's width. The factors are
 * extended to that width first. */
struct ir_mad {
    ir_ref a, b, c; /* b, c: REF_NONE where there are none */
    /* Where it is a number: then 1 without a product, -1 of neg; else b is the factor. */
    int64_t factor;
    /* The operand that the number comes from, for the shape to look at; REF_NONE: there is none. */
    ir_ref by;
    bool subtracts;
    enum { EXTEND_NONE, EXTEND_TRUNC, EXTEND_SIGN, EXTEND_ZERO } extend; /* of a and b */
    unsigned from, width;                                                /* of a; of d */
};

/* The low bits of v as a signed number of that width. */
static inline int64_t ir_as_signed(uint64_t v, unsigned width)
{
    return width < 64 ? (int64_t)(v << (64 - width)) >> (64 - width) : (int64_t)v;
}

/* Is there a product? */
static inline bool ir_mad_multiplies(const struct ir_mad *m)
{
    return m->b || m->factor != 1;
}

/* Is r a constant, or a register whose range has one number? Shapes may be NULL: then only
 * constants are. */
bool ir_number(const struct ir_func *f, const struct ir_shapes *s, ir_ref r, int64_t *v);
/* False if the instruction is not affine. */
bool ir_mad_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, struct ir_mad *m);

/* ---- over the iterations of a loop ---- */

/* Blocks from..to - 1 of the order. If these are several, only registers that the loop defines once
 * are known, and a use is taken for one behind the definition: steps are right then, but not in
 * which iteration a register has which value. */
struct ir_loop {
    const struct ir_func *f;
    const struct ir_shapes *s; /* NULL: they are not known yet */
    const struct ir_defs *defs;
    uint32_t from, to;
    struct arena *arena;
    struct ir_affine **results; /* of instructions from `first` on */
    uint32_t first;
};

/* An operand as one instruction of the loop reads it, modulo its width: what `step` says of it
 * holds even if it wraps. But an operand that is extended (mad.extend) may wrap before that, and
 * whoever relies on the step behind an extension tests that it does not. */
struct ir_affine {
    enum ir_evolution {
        EVOLVES_NOT,        /* loop-invariant */
        EVOLVES_BY_STEP,    /* an add recurrence: `step`, a number, more in each iteration */
        EVOLVES_BY_ADDENDS, /* an add recurrence whose step is loop-invariant, but no number */
        EVOLVES_OTHERWISE,
        EVOLVES_LOADED, /* it depends on what the loop loads */
    } over;
    int64_t step;
    /* The operand is this register's value at the start of the iteration, plus `added`; or
     * REF_NONE. */
    ir_ref base;
    int64_t added;
    ir_ref r; /* the operand itself */
    /* The value of `base`; by an affine instruction; by another. */
    enum { AFFINE_BASE, AFFINE_MAD, AFFINE_OTHER } made;
    uint32_t insn;     /* AFFINE_MAD: the instruction that computes it; else that reads it */
    struct ir_mad mad; /* AFFINE_MAD: that instruction, and its operands */
    const struct ir_affine *a, *b, *c;
    struct ir_addend {
        ir_ref r;
        bool negative;
    } *addends; /* AFFINE_BASE: what an iteration adds, from the last to the first */
    uint32_t n_addends;
};

struct ir_loop ir_loop_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_defs *defs, uint32_t from,
                          uint32_t to, struct arena *arena);
bool ir_is_fixed(const struct ir_loop *l, ir_ref r); /* is r not written in the loop? */
/* How r evolves, as instruction `insn` of the loop reads it. */
const struct ir_affine *ir_affine_of(struct ir_loop *l, ir_ref r, uint32_t insn);

#endif
