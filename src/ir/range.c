/* Value ranges of registers, their strides from one block of threads to the next, and which of them
 * depend on what blocks claim: see shape.h.
 *
 * A register's range holds all that its definitions give, wherever it is read: an interval analysis
 * that knows no control flow. It begins with no values and goes over the instructions until nothing
 * is added, so `stage ^= 1` stays within 0 and 1. What still grows after a few passes, a counter,
 * is taken for any value (widening).
 */
#include "ir/affine.h"

/* none: nothing has been seen yet. */
static const struct ir_range unknown = {1, 0}, none = {INT64_MAX, INT64_MIN};
enum { GROWING_PASSES = 3, PASSES = 16 };

static bool is_known(struct ir_range r)
{
    return r.lo <= r.hi;
}

static bool is_none(struct ir_range r)
{
    return r.lo == INT64_MAX && r.hi == INT64_MIN;
}

static bool is_constant(struct ir_range r)
{
    return r.lo == r.hi;
}

/* Unless the result may have wrapped. */
static struct ir_range fit(unsigned width, __int128 lo, __int128 hi)
{
    int64_t most = width < 64 ? INT64_MAX >> (64 - width) : INT64_MAX / 2;
    return lo >= -(__int128)most - 1 && hi <= most ? (struct ir_range){(int64_t)lo, (int64_t)hi} : unknown;
}

static struct ir_range product(unsigned width, struct ir_range a, struct ir_range b)
{
    __int128 p[4] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo, (__int128)a.hi * b.hi};
    __int128 lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        lo = p[i] < lo ? p[i] : lo;
        hi = p[i] > hi ? p[i] : hi;
    }
    return is_known(a) && is_known(b) ? fit(width, lo, hi) : unknown;
}

static struct ir_range sum(unsigned width, struct ir_range a, struct ir_range b, bool subtracts)
{
    if (!is_known(a) || !is_known(b))
        return unknown;
    return subtracts ? fit(width, (__int128)a.lo - b.hi, (__int128)a.hi - b.lo)
                     : fit(width, (__int128)a.lo + b.lo, (__int128)a.hi + b.hi);
}

static struct ir_range of_sreg(uint32_t sreg, const struct ir_shapes *s)
{
    unsigned c = sreg % 4;
    const uint32_t *block = s->block, *grid = s->launch ? s->launch->grid : NULL;
    if (sreg >= IR_ENVREG || c > 2)
        return unknown;
    switch ((enum isa_sreg)(sreg / 4)) {
    case SREG_tid: return (struct ir_range){0, block[c] - 1};
    case SREG_ntid: return (struct ir_range){block[c], block[c]};
    /* what is launched has at most 2^31 - 1 threads along an axis: see jit/host/engine.c */
    case SREG_ctaid: return (struct ir_range){0, (grid ? grid[c] : INT32_MAX / block[c]) - 1ll};
    case SREG_nctaid: return grid ? (struct ir_range){grid[c], grid[c]} : (struct ir_range){1, INT32_MAX / block[c]};
    case SREG_laneid: return (struct ir_range){0, WARP_LANES - 1};
    default: return unknown;
    }
}

struct ir_range ir_range_of(const struct ir_func *f, const struct ir_shapes *s, ir_ref r)
{
    switch (ir_ref_kind(r)) {
    case REF_REG: return s->ranges[ir_ref_index(r)];
    case REF_SREG: return of_sreg(ir_ref_index(r), s);
    case REF_CONST: {
        const struct ir_const *c = &f->consts.at[ir_ref_index(r)];
        int64_t v = ir_as_signed(c->lo, c->width);
        return c->base == BASE_NONE && c->width >= 16 && c->width <= 64 ? (struct ir_range){v, v} : unknown;
    }
    default: return unknown;
    }
}

/* All bits up to the highest of a number that is not negative. */
static int64_t ones_over(int64_t v)
{
    return v ? (int64_t)(~0ull >> __builtin_clzll((uint64_t)v)) : 0;
}

static struct ir_range extended(const struct ir_mad *m, struct ir_range a)
{
    if (m->extend == EXTEND_TRUNC && is_known(a))
        return fit(m->width, a.lo, a.hi);
    return m->extend == EXTEND_ZERO && a.lo < 0 ? unknown : a;
}

static struct ir_range of_mad(const struct ir_func *f, const struct ir_shapes *s, const struct ir_mad *m)
{
    struct ir_range p = extended(m, ir_range_of(f, s, m->a));
    if (m->b)
        p = product(m->width, p, extended(m, ir_range_of(f, s, m->b)));
    else if (m->factor != 1)
        p = product(m->width, p, (struct ir_range){m->factor, m->factor});
    return m->c ? sum(m->width, p, ir_range_of(f, s, m->c), m->subtracts) : p;
}

static struct ir_range of_lanes(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i,
                                unsigned width)
{
    struct ir_range a = ir_range_of(f, s, i->a), b = ir_range_of(f, s, i->b);
    bool both = is_known(a) && is_known(b);
    struct ir_mad m;
    if (ir_mad_of(f, s, i, &m))
        return of_mad(f, s, &m);
    switch (ir_is(i)) {
    case IS_AND:
        return is_known(b) && b.lo >= 0   ? (struct ir_range){0, b.hi}
               : is_known(a) && a.lo >= 0 ? (struct ir_range){0, a.hi}
                                          : unknown;
    case IS_OR:
    case IS_XOR: return both && a.lo >= 0 && b.lo >= 0 ? (struct ir_range){0, ones_over(a.hi | b.hi)} : unknown;
    case IS_NOT: return is_known(a) ? (struct ir_range){~a.hi, ~a.lo} : unknown;
    case IS_LSHR:
    case IS_ASHR:
        if (!is_known(b) || !is_constant(b) || b.lo < 1 || b.lo > 31)
            return unknown;
        if (is_known(a) && (a.lo >= 0 || ir_is(i) == IS_ASHR))
            return (struct ir_range){a.lo >> b.lo, a.hi >> b.lo};
        return ir_is(i) == IS_LSHR && width < 64 ? (struct ir_range){0, ((1ll << width) - 1) >> b.lo} : unknown;
    default: return unknown;
    }
}

/* Of bytes and halves, as they stand in a register. */
static struct ir_range of_load(const struct ir_access *a, unsigned width)
{
    bool is_signed = a->mem.sign || 8u * a->mem.bytes == width;
    int64_t values = 1ll << 8 * a->mem.bytes;
    return is_signed ? (struct ir_range){-values / 2, values / 2 - 1} : (struct ir_range){0, values - 1};
}

/* What a launch has given for a parameter, to a register that is as wide. */
static struct ir_range of_parameter(const struct ir_launch *l, const struct ir_insn *i, ir_ref to, unsigned width)
{
    const struct ir_access *a = i->access;
    uint64_t v = 0, bytes = a->mem.bytes, most = l->param_bytes;
    if (i->a || a->disp_const || a->mem.frame || 8 * bytes != width || a->disp < 0)
        return unknown;
    for (uint64_t k = 0, at = (uint64_t)a->disp; k < a->mem.n && at <= most && bytes <= most - at; k++, at += bytes)
        if (a->regs[k] == to) {
            memcpy(&v, l->params + at, bytes);
            return (struct ir_range){ir_as_signed(v, width), ir_as_signed(v, width)};
        }
    return unknown;
}

static struct ir_range of_known(const struct ir_func *f, const struct ir_known *known, uint32_t reg)
{
    struct ir_range r = {INT64_MAX, INT64_MIN};
    for (uint32_t t = 0; t < known->n_threads; t++) {
        int64_t v = ir_as_signed(ir_known_value(f, known, reg, t), f->regs.at[reg].width);
        r.lo = v < r.lo ? v : r.lo;
        r.hi = v > r.hi ? v : r.hi;
    }
    return r;
}

/* Of what an instruction gives to a register; nothing where it reads what has no values yet. */
static struct ir_range of_insn(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i, ir_ref to)
{
    unsigned width = f->regs.at[ir_ref_index(to)].width;
    ir_ref refs[IR_MAX_REFS];
    for (unsigned n = ir_reads(i, refs); n-- > 0;)
        if (ir_ref_kind(refs[n]) == REF_REG && is_none(s->ranges[ir_ref_index(refs[n])]))
            return none;
    if (i->kind == IR_LANES && to == i->d) /* not a carry */
        return of_lanes(f, s, i, width);
    if (i->kind == IR_LD && i->access->mem.space == SPACE_PARAM && s->launch && width >= 16)
        return of_parameter(s->launch, i, to, width);
    return i->kind == IR_LD && i->access->mem.bytes <= 2 ? of_load(i->access, width) : unknown;
}

static struct ir_range join(struct ir_range a, struct ir_range b)
{
    if (is_none(a) || is_none(b))
        return is_none(a) ? b : a;
    if (!is_known(a) || !is_known(b))
        return unknown;
    return (struct ir_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* True where a range has changed. */
static bool pass_over(const struct ir_func *f, const struct ir_known *known, bool widens, struct ir_shapes *s)
{
    ir_ref refs[IR_MAX_REFS];
    bool changed = false;
    for (uint32_t k = 0; k < f->insns.n; k++) {
        const struct ir_insn *i = &f->insns.at[k];
        for (unsigned n = ir_writes(i, refs); n-- > 0;) {
            uint32_t d = ir_ref_index(refs[n]);
            if (ir_ref_kind(refs[n]) != REF_REG || known->rows[d])
                continue;
            struct ir_range was = s->ranges[d], now = join(was, of_insn(f, s, i, refs[n]));
            if (now.lo == was.lo && now.hi == was.hi)
                continue;
            s->ranges[d] = widens && !is_none(was) ? unknown : now;
            changed = true;
        }
    }
    return changed;
}

/* Registers that are written have these values so far. */
static void begin_ranges(const struct ir_func *f, const struct ir_known *known, struct ir_range so_far,
                         struct ir_shapes *s)
{
    for (uint32_t r = 0; r < f->regs.n; r++) {
        s->ranges[r] = s->defs->first[r] < s->defs->first[r + 1] ? so_far : unknown;
        if (known->rows[r])
            s->ranges[r] = of_known(f, known, r);
        else if (s->defs->zeroed[r])
            s->ranges[r] = join(s->ranges[r], (struct ir_range){0, 0});
    }
}

void ir_find_ranges(const struct ir_func *f, const struct ir_known *known, struct arena *arena, struct ir_shapes *s)
{
    int pass = 0;
    s->ranges = ARENA_ARRAY(arena, struct ir_range, f->regs.n);
    begin_ranges(f, known, none, s);
    while (pass < PASSES && pass_over(f, known, pass >= GROWING_PASSES, s))
        pass++;
    if (pass == PASSES)
        begin_ranges(f, known, unknown, s);
}

void ir_find_ranges_of_launch(const struct ir_func *f, const uint32_t block[3], const struct ir_launch *launch,
                              struct arena *arena, struct ir_shapes *s)
{
    struct ir_known none_known = {.rows = ARENA_ARRAY(arena, uint8_t *, f->regs.n + 1)};
    *s = (struct ir_shapes){.block = {block[0], block[1], block[2]}, .launch = launch, .defs = ir_find_defs(f, arena)};
    ir_find_ranges(f, &none_known, arena, s);
}

/* ---- steps ---- */

static int64_t step_of(const struct ir_shapes *s, ir_ref r)
{
    if (ir_ref_kind(r) == REF_REG)
        return s->steps[ir_ref_index(r)];
    return ir_ref_kind(r) == REF_SREG && ir_ref_index(r) == SREG_ctaid * 4;
}

static int64_t add_steps(int64_t a, int64_t b)
{
    int64_t sum;
    return a == UNKNOWN_STEP || b == UNKNOWN_STEP || __builtin_add_overflow(a, b, &sum) ? UNKNOWN_STEP : sum;
}

static int64_t step_of_lanes(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i)
{
    int64_t a = step_of(s, i->a), b = step_of(s, i->b), c = step_of(s, i->c), product;
    struct ir_mad m;
    if ((a | b | c) == 0 || !ir_mad_of(f, s, i, &m))
        return (a | b | c) == 0 ? 0 : UNKNOWN_STEP;
    a = step_of(s, m.a);
    if (a == UNKNOWN_STEP || (m.b && (a | step_of(s, m.b)) != 0) || __builtin_mul_overflow(a, m.factor, &product))
        return UNKNOWN_STEP;
    c = step_of(s, m.c);
    return add_steps(product, m.subtracts && c != UNKNOWN_STEP ? -c : c);
}

void ir_find_steps(const struct ir_func *f, struct arena *arena, struct ir_shapes *s)
{
    s->steps = ARENA_ARRAY(arena, int64_t, f->regs.n);
    for (uint32_t r = 0; r < f->regs.n; r++)
        s->steps[r] = UNKNOWN_STEP;
    for (uint32_t k = 0; k < f->insns.n; k++) {
        const struct ir_insn *i = &f->insns.at[k];
        if (i->kind == IR_LANES && ir_is_only_def(s->defs, i->d, i))
            s->steps[ir_ref_index(i->d)] = step_of_lanes(f, s, i);
        for (unsigned n = 0; n < 8 && i->kind == IR_LD && i->access->mem.space == SPACE_PARAM; n++)
            if (ir_ref_kind(i->access->regs[n]) == REF_REG)
                s->steps[ir_ref_index(i->access->regs[n])] = 0;
    }
}

/* ---- what blocks claim ---- */

uint8_t *ir_find_claimed(const struct ir_func *f, struct arena *arena)
{
    uint8_t *claimed = ARENA_ARRAY(arena, uint8_t, f->regs.n);
    ir_ref refs[IR_MAX_REFS];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < f->insns.n; k++) {
            const struct ir_insn *i = &f->insns.at[k];
            bool hangs = i->kind == IR_ATOM || i->kind == IR_MBARRIER ||
                         (i->kind == IR_LD && i->access->mem.space == SPACE_SHARED);
            for (unsigned n = ir_reads(i, refs); n-- > 0;)
                hangs |= ir_ref_kind(refs[n]) == REF_REG && claimed[ir_ref_index(refs[n])];
            for (unsigned n = hangs ? ir_writes(i, refs) : 0; n-- > 0;) {
                bool is_new = ir_ref_kind(refs[n]) == REF_REG && !claimed[ir_ref_index(refs[n])];
                if (is_new)
                    claimed[ir_ref_index(refs[n])] = 1;
                changed |= is_new;
            }
        }
    }
    return claimed;
}
