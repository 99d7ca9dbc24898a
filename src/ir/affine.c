/* See affine.h. */
#include "ir/affine.h"

/* ---- instructions ---- */

bool ir_number(const struct ir_func *f, const struct ir_shapes *s, ir_ref r, int64_t *v)
{
    struct ir_range range = s || ir_ref_kind(r) == REF_CONST ? ir_range_of(f, s, r) : (struct ir_range){1, 0};
    *v = range.lo;
    return range.lo == range.hi;
}

/* One factor is a constant, or none. */
static void find_factor(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, struct ir_mad *m)
{
    bool second = ir_number(f, s, i->b, &m->factor), first = !second && ir_number(f, s, i->a, &m->factor);
    m->a = first ? i->b : i->a;
    m->by = second ? i->b : first ? i->a : REF_NONE;
    m->b = m->by ? REF_NONE : i->b;
    if (!m->by)
        m->factor = 1;
    else if (m->extend == EXTEND_ZERO)
        m->factor &= (1ll << m->from) - 1;
}

/* PTX ISA 9.7.9.8: a shift by the width or more gives 0. */
static bool find_shift(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, struct ir_mad *m)
{
    int64_t by;
    if (!ir_number(f, s, i->b, &by) || by < 0 || by >= m->width)
        return false;
    m->by = i->b;
    m->factor = (int64_t)(1ull << by);
    return true;
}

bool ir_mad_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, struct ir_mad *m)
{
    enum lane_is is = ir_is(i);
    const struct lane_info *info = lane_info((enum lane_id)i->lane);
    *m = (struct ir_mad){.a = i->a, .factor = 1, .from = info->a, .width = info->d};
    switch (is) {
    case IS_COPY: return true;
    case IS_TRUNC: m->extend = EXTEND_TRUNC; return true;
    case IS_SEXT: m->extend = EXTEND_SIGN; return true;
    case IS_ZEXT: m->extend = EXTEND_ZERO; return true;
    case IS_ADD:
    case IS_SUB:
        m->c = i->b;
        m->subtracts = is == IS_SUB;
        return true;
    case IS_SHL: return find_shift(f, s, i, m);
    case IS_MUL_WIDE_U:
    case IS_MAD_WIDE_U: m->extend = EXTEND_ZERO; break;
    case IS_MUL_WIDE_S:
    case IS_MAD_WIDE_S: m->extend = EXTEND_SIGN; break;
    case IS_MUL:
    case IS_MAD: break;
    default: return false;
    }
    m->c = i->c;
    find_factor(f, s, i, m);
    return true;
}
