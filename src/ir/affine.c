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

/* PTX ISA 9.7.8.8: a shift by the width or more gives 0. */
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
    const struct lane_info *info = lane_info(i->lane);
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
    case IS_NEG: m->factor = -1; return true;
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

/* ---- over the iterations of a loop ---- */

struct ir_loop ir_loop_of(const struct ir_func *f, const struct ir_shapes *s, const struct ir_defs *defs, uint32_t from,
                          uint32_t to, struct arena *arena)
{
    uint32_t first = UINT32_MAX, end = 0;
    for (uint32_t o = from; o < to; o++) {
        const struct ir_block *b = &f->blocks.at[f->order[o]];
        first = b->first < first ? b->first : first;
        end = b->first + b->n > end ? b->first + b->n : end;
    }
    return (struct ir_loop){.f = f,
                            .s = s,
                            .defs = defs,
                            .from = from,
                            .to = to,
                            .arena = arena,
                            .results = ARENA_ARRAY(arena, struct ir_affine *, end - first + 1),
                            .first = first};
}

bool ir_is_fixed(const struct ir_loop *l, ir_ref r)
{
    return ir_defs_within(l->defs, r, l->from, l->to).n == 0;
}

/* What defines r for instruction `before`. NULL: r is what the iteration before has left, or it is
 * not known who defines it. */
static const struct ir_def *reaching(const struct ir_loop *l, ir_ref r, uint32_t before)
{
    if (l->to - l->from == 1)
        return ir_def_before(l->defs, r, l->from, before);
    struct ir_def_list all = ir_defs_within(l->defs, r, l->from, l->to);
    return all.n == 1 ? all.at : NULL;
}

static void add_addend(const struct ir_loop *l, struct ir_affine *x, struct ir_addend addend)
{
    int64_t n;
    if (!ir_number(l->f, l->s, addend.r, &n))
        x->over = EVOLVES_BY_ADDENDS;
    else
        x->step = ir_as_signed((uint64_t)x->step + (addend.negative ? -(uint64_t)n : (uint64_t)n),
                               l->f->regs.at[ir_ref_index(x->r)].width);
    x->addends[x->n_addends++] = addend;
}

static bool can_add(const struct ir_loop *l, ir_ref r)
{
    int64_t n;
    return ir_is_fixed(l, r) || ir_number(l->f, l->s, r, &n);
}

/* The search goes from what a register is when an iteration ends back to what it was when it began,
 * through copies and sums. */
static bool find_addends(const struct ir_loop *l, struct ir_affine *x)
{
    enum { MOST = 64 };
    x->addends = ARENA_ARRAY(l->arena, struct ir_addend, MOST);
    ir_ref q = x->r;
    for (uint32_t n = 0, before = UINT32_MAX; n < MOST; n++) {
        const struct ir_def *d = n && q == x->r && l->to - l->from > 1 ? NULL : reaching(l, q, before);
        if (!d)
            return n && q == x->r;
        const struct ir_insn *i = &l->f->insns.at[d->insn];
        struct ir_mad m;
        if (i->guard || i->d != q || !ir_mad_of(l->f, l->s, i, &m) || m.extend || ir_mad_multiplies(&m))
            return false;
        bool first = m.c && !m.subtracts && can_add(l, m.a);
        if (m.c && !first && !can_add(l, m.c))
            return false;
        if (m.c)
            add_addend(l, x, (struct ir_addend){first ? m.a : m.c, m.subtracts});
        q = first ? m.c : m.a;
        before = d->insn;
    }
    return false;
}

static struct ir_affine *make(const struct ir_loop *l, ir_ref r, uint32_t insn, enum ir_evolution over)
{
    struct ir_affine *x = ARENA_NEW(l->arena, struct ir_affine);
    *x = (struct ir_affine){.over = over, .r = r, .insn = insn, .made = AFFINE_OTHER};
    return x;
}

/* A sum with a number has the base of the other operand. */
static void find_base(const struct ir_loop *l, struct ir_affine *x)
{
    const struct ir_mad *m = &x->mad;
    int64_t n = 0;
    bool second = !m->c || ir_number(l->f, l->s, m->c, &n);
    if (m->extend || ir_mad_multiplies(m) || (!second && (m->subtracts || !ir_number(l->f, l->s, m->a, &n))))
        return;
    const struct ir_affine *other = second ? x->a : x->c;
    x->base = other->base;
    x->added = (int64_t)((uint64_t)other->added + (m->subtracts ? -(uint64_t)n : (uint64_t)n));
}

static enum ir_evolution join(enum ir_evolution a, enum ir_evolution b)
{
    return a > b ? a : b;
}

static void find_mad(struct ir_loop *l, struct ir_affine *x)
{
    const struct ir_mad *m = &x->mad;
    x->made = AFFINE_MAD;
    x->a = ir_affine_of(l, m->a, x->insn);
    x->b = ir_affine_of(l, m->b, x->insn);
    x->c = ir_affine_of(l, m->c, x->insn);
    enum ir_evolution product = join(x->a->over, x->b->over);
    if (m->b && (product == EVOLVES_BY_STEP || product == EVOLVES_BY_ADDENDS))
        product = x->a->over && x->b->over ? EVOLVES_OTHERWISE : EVOLVES_BY_ADDENDS;
    uint64_t more = (uint64_t)x->c->step, step = (uint64_t)x->a->step * (uint64_t)m->factor;
    x->over = join(product, x->c->over);
    x->step = ir_as_signed(m->subtracts ? step - more : step + more, m->width);
    find_base(l, x);
}

static struct ir_affine *result_of(struct ir_loop *l, ir_ref r, uint32_t insn)
{
    const struct ir_insn *i = &l->f->insns.at[insn];
    struct ir_affine **result = &l->results[insn - l->first], *x = *result;
    if (x && x->r == r)
        return x;
    x = *result = make(l, r, insn, i->kind == IR_LD ? EVOLVES_LOADED : EVOLVES_OTHERWISE);
    if (i->kind != IR_LANES || i->guard || i->d != r)
        return x;
    if (ir_mad_of(l->f, l->s, i, &x->mad)) {
        find_mad(l, x);
        return x;
    }
    enum ir_evolution over = EVOLVES_NOT;
    ir_ref reads[IR_MAX_REFS];
    for (unsigned n = ir_reads(i, reads); n-- > 0;)
        over = join(over, ir_affine_of(l, reads[n], insn)->over);
    x->over = over == EVOLVES_BY_STEP || over == EVOLVES_BY_ADDENDS ? EVOLVES_OTHERWISE : over;
    return x;
}

const struct ir_affine *ir_affine_of(struct ir_loop *l, ir_ref r, uint32_t insn)
{
    bool is_fixed = ir_is_fixed(l, r), has_blocks = l->to - l->from > 1;
    const struct ir_def *d = is_fixed ? NULL : reaching(l, r, insn);
    struct ir_affine *x = d && !has_blocks ? NULL : make(l, r, insn, is_fixed ? EVOLVES_NOT : EVOLVES_BY_STEP);
    if (x && (is_fixed || find_addends(l, x))) {
        x->made = AFFINE_BASE;
        x->base = ir_ref_kind(r) == REF_REG ? r : REF_NONE;
    } else if (d) {
        x = result_of(l, r, d->insn);
    } else {
        x->over = EVOLVES_OTHERWISE;
    }
    return x;
}
