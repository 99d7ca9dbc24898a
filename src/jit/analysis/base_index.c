/* Base + index addressing: loads of `table[index]`, a uniform base plus a scaled index of 32 bits in each lane. It is found in the
 * instructions before the load: a sum of something uniform and the result of a widening multiplication; see access.h,
 * indexed_gather.c.
 */
#include "jit/analysis/access.h"

/* The last instruction of the block before another that writes a register: one without a guard, of lanes. */
static uint32_t find_definition(struct cursor here, ir_ref r, uint32_t before)
{
    uint32_t k = cursor_find_writer(here, r, before);
    return k != NO_WRITER && cursor_is_plain_writer(here, k, r) ? k : NO_WRITER;
}

/* Has a register at the load the value that it had at instruction k? */
static bool is_kept(struct cursor here, ir_ref r, uint32_t k)
{
    uint32_t last = cursor_find_writer(here, r, here.index);
    return last == NO_WRITER || last < k;
}

static bool take_lanes(struct cursor here, ir_ref r, row_ref row, uint32_t k, uint64_t scale, struct index *x)
{
    x->lanes = r;
    x->lanes_row = row;
    x->scale = (unsigned)scale;
    x->unit = scale % 8 == 0 ? 8 : scale % 4 == 0 ? 4 : 1;
    return ir_ref_kind(r) == REF_REG && fn_ref_width(here.fn, r) == 32 && fn_ref_shape(here.fn, r) == SHAPE_DIVERGENT &&
           is_kept(here, r, k) && scale > 0 && scale <= 1024;
}

static bool take_base(struct cursor here, ir_ref r, row_ref row, uint32_t k, struct index *x)
{
    x->base = r;
    x->base_row = row;
    return r && fn_ref_width(here.fn, r) == 64 && fn_ref_shape(here.fn, r) == SHAPE_UNIFORM &&
           (ir_ref_kind(r) != REF_REG || is_kept(here, r, k));
}

/* What is added to the base: a widened index. */
static bool find_lanes(struct cursor here, ir_ref r, uint32_t before, struct index *x)
{
    uint32_t k = ir_ref_kind(r) == REF_REG ? find_definition(here, r, before) : NO_WRITER, factor, shift = 0;
    if (k != NO_WRITER && ir_is(insn_at(here, k)) == IS_SHL && fn_constant_low(here.fn, insn_at(here, k)->b, &shift)) {
        r = insn_at(here, k)->a;
        k = shift < 10 && ir_ref_kind(r) == REF_REG ? find_definition(here, r, k) : NO_WRITER;
    }
    if (k == NO_WRITER)
        return false;
    const struct ir_insn *i = insn_at(here, k);
    switch (ir_is(i)) {
    case IS_MUL_WIDE_U:
    case IS_MUL_WIDE_S:
        return fn_constant_low(here.fn, i->b, &factor) &&
               take_lanes(here, i->a, op_at(here, k)->a, k, (uint64_t)factor << shift, x);
    case IS_ZEXT:
    case IS_SEXT: return take_lanes(here, i->a, op_at(here, k)->a, k, 1ull << shift, x);
    default: return false;
    }
}

bool base_index_find(struct cursor here, const struct access *a, struct index *x)
{
    uint32_t k = find_definition(here, a->i->a, here.index), factor;
    if (k == NO_WRITER)
        return false;
    const struct ir_insn *i = insn_at(here, k);
    const struct op *o = op_at(here, k);
    switch (ir_is(i)) {
    case IS_ADD:
        return (take_base(here, i->a, o->a, k, x) && find_lanes(here, i->b, k, x)) ||
               (take_base(here, i->b, o->b, k, x) && find_lanes(here, i->a, k, x));
    case IS_MAD_WIDE_U:
    case IS_MAD_WIDE_S:
        return take_base(here, i->c, o->c, k, x) && fn_constant_low(here.fn, i->b, &factor) &&
               take_lanes(here, i->a, o->a, k, factor, x);
    default: return false;
    }
}
