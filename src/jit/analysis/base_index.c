/* Base + index addressing: loads of `table[index]`, with a uniform base and a scaled 32-bit index
 * in each lane. Recognised in the instructions before the load, as a sum of a uniform value and the
 * result of a widening multiplication; see access.h, indexed_gather.c.
 */
#include "jit/analysis/access.h"

enum { MOST_SCALE = 1024 };

/* The block's last instruction before another that writes a register, if it is affine and executed
 * by all lanes. */
static uint32_t find_definition(struct cursor here, ir_ref r, uint32_t before, struct ir_mad *m)
{
    uint32_t k = ir_ref_kind(r) == REF_REG ? cursor_find_writer(here, r, before) : NO_WRITER;
    bool is_affine = k != NO_WRITER && cursor_is_plain_writer(here, k, r) &&
                     ir_mad_of(here.fn->ir, here.fn->shapes, fn_insn_at(here, k), m);
    return is_affine ? k : NO_WRITER;
}

static bool take_base(struct cursor here, ir_ref r, uint32_t k, struct index *x)
{
    x->base = r;
    return r && fn_ref_width(here.fn, r) == 64 && fn_ref_shape(here.fn, r) == SHAPE_UNIFORM && cursor_keeps(here, r, k);
}

/* Takes what is added to the base: an index, widened by instruction k, times x->scale and its
   factor. */
static bool take_lanes(struct cursor here, const struct ir_mad *m, uint32_t k, struct index *x)
{
    if (m->b || m->factor <= 0 || m->factor > MOST_SCALE)
        return false;
    x->scale *= (unsigned)m->factor;
    x->unit = x->scale % 8 == 0 ? 8 : x->scale % 4 == 0 ? 4 : 1;
    x->lanes = m->a;
    return m->extend >= EXTEND_SIGN && fn_ref_width(here.fn, m->a) == 32 &&
           fn_ref_shape(here.fn, m->a) == SHAPE_DIVERGENT && cursor_keeps(here, m->a, k) && x->scale <= MOST_SCALE;
}

/* The same for a register as instruction `before` reads it; it may be shifted or multiplied once
 * more. */
static bool find_lanes(struct cursor here, ir_ref r, uint32_t before, struct index *x)
{
    struct ir_mad m;
    uint32_t k = find_definition(here, r, before, &m);
    x->scale = 1;
    if (k != NO_WRITER && !m.extend && !m.b && !m.c && m.factor > 0 && m.factor <= MOST_SCALE) {
        x->scale = (unsigned)m.factor;
        k = find_definition(here, m.a, k, &m);
    }
    return k != NO_WRITER && !m.c && take_lanes(here, &m, k, x);
}

bool base_index_find(struct cursor here, const struct access *a, struct index *x)
{
    struct ir_mad m;
    uint32_t k = find_definition(here, a->i->a, here.index, &m);
    x->scale = 1;
    if (k == NO_WRITER || !m.c || m.subtracts)
        return false;
    if (m.extend)
        return take_base(here, m.c, k, x) && take_lanes(here, &m, k, x);
    return !ir_mad_multiplies(&m) && ((take_base(here, m.a, k, x) && find_lanes(here, m.c, k, x)) ||
                                      (take_base(here, m.c, k, x) && find_lanes(here, m.a, k, x)));
}
