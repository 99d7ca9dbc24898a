/* Finds shapes: see shape.h.
 *
 * Every register is uniform until one of three things shows otherwise; they are repeated until
 * nothing changes. First, a value is computed from one that is not uniform. Second, a branch has a
 * divergent predicate: then lanes wait at one place while others run. Third, the running lanes
 * write a register that is live in the pending lanes.
 *
 * A set of pairs says at which two places lanes may be at once. A branch that lets lanes diverge
 * adds the pair of its targets. From a pair, the block that is first in the order runs on.
 */
#include "ir/shape_finder.h"

/* ---- lane offsets ---- */

static uint16_t add_lane_offsets(struct shape_finder *x, const struct lane_offsets *p)
{
    struct ir_shapes *s = x->s;
    for (uint32_t i = 0; i < s->lane_offsets.n; i++)
        if (memcmp(&s->lane_offsets.at[i], p, sizeof *p) == 0)
            return (uint16_t)i;
    if (s->lane_offsets.n == MAX_LANE_OFFSETS)
        return SHAPE_DIVERGENT;
    *VEC_PUSH(x->arena, &s->lane_offsets) = *p;
    return (uint16_t)(s->lane_offsets.n - 1);
}

/* Lane l over the lane that it counts from. */
static int64_t over(const struct shape_finder *x, uint16_t shape, unsigned l, bool piecewise)
{
    const struct lane_offsets *p = &x->s->lane_offsets.at[shape];
    return p->at[l] - (piecewise ? p->at[ir_piece_start(x->s, l)] : 0);
}

/* x * factor + y * sign, lane by lane. */
static uint16_t combine(struct shape_finder *x, uint16_t a, int64_t factor, uint16_t b, int64_t sign, unsigned width)
{
    if (a == SHAPE_UNIFORM && b == SHAPE_UNIFORM)
        return SHAPE_UNIFORM;
    bool piecewise = ir_is_piecewise(x->s, a) || ir_is_piecewise(x->s, b);
    struct lane_offsets p = {.piecewise = piecewise};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t u = (uint64_t)over(x, a, l, piecewise) * (uint64_t)factor;
        uint64_t v = (uint64_t)over(x, b, l, piecewise) * (uint64_t)sign;
        p.at[l] = ir_as_signed(u + v, width);
    }
    return add_lane_offsets(x, &p);
}

/* The same in all lanes of a piece. */
static bool is_uniform_in_pieces(const struct shape_finder *x, uint16_t shape)
{
    for (unsigned l = 0; l < WARP_LANES && shape != SHAPE_UNIFORM; l++)
        if (over(x, shape, l, true) != 0)
            return false;
    return x->s->pieces > 1 || shape == SHAPE_UNIFORM;
}

static uint16_t piecewise_uniform(struct shape_finder *x)
{
    struct lane_offsets p = {.piecewise = true};
    return add_lane_offsets(x, &p);
}

/* Of values of two shapes, either of which may be there. */
static uint16_t join(struct shape_finder *x, uint16_t a, uint16_t b)
{
    if (a == b || b == BOTTOM)
        return a;
    if (a == BOTTOM)
        return b;
    if (a == SHAPE_DIVERGENT || b == SHAPE_DIVERGENT || x->s->pieces == 1)
        return SHAPE_DIVERGENT;
    struct lane_offsets p = {.piecewise = true};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        p.at[l] = over(x, a, l, true);
        if (p.at[l] != over(x, b, l, true))
            return SHAPE_DIVERGENT;
    }
    return add_lane_offsets(x, &p);
}

uint16_t ir_shape(const struct ir_shapes *s, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG)
        return s->regs[i];
    if (ir_ref_kind(r) != REF_SREG || i >= IR_ENVREG)
        return SHAPE_UNIFORM;
    if (i / 4 == SREG_tid && i % 4 < 3)
        return s->tid[i % 4];
    if (i / 4 == SREG_laneid)
        return s->laneid;
    return isa_sreg_info((enum isa_sreg)(i / 4))->when == WHEN_LANE ? SHAPE_DIVERGENT : SHAPE_UNIFORM;
}

/* What threads have, by the thread: of %tid along an axis, or of a register that is known. */
typedef uint64_t thread_value(const struct shape_finder *x, uint32_t which, uint32_t thread);

static uint64_t tid_value(const struct shape_finder *x, uint32_t axis, uint32_t thread)
{
    return ir_thread_number(x->s->block, thread, axis);
}

static uint64_t known_value(const struct shape_finder *x, uint32_t reg, uint32_t thread)
{
    return ir_known_value(x->f, &x->known, reg, thread);
}

/* The same offsets in every warp of the block, or none. */
static uint16_t shape_of_threads(struct shape_finder *x, thread_value *value, uint32_t which, unsigned width)
{
    const uint32_t *b = x->s->block, threads = b[0] * b[1] * b[2];
    struct lane_offsets p = {.piecewise = false};
    for (uint32_t t = 0; t < threads || t < WARP_LANES; t++) {
        int64_t over = ir_as_signed(value(x, which, t) - value(x, which, t & ~(WARP_LANES - 1u)), width);
        if (t < WARP_LANES)
            p.at[t] = over;
        else if (p.at[t % WARP_LANES] != over)
            return SHAPE_DIVERGENT;
    }
    return add_lane_offsets(x, &p);
}

/* ---- values ---- */

static bool exact_signed(struct ir_range r)
{
    return r.lo <= r.hi && r.hi - r.lo < INT32_MAX;
}

/* A widened index stays affine where nothing wraps; `i` is marked where that is an assumption. */
static uint16_t assume_no_wrap(struct shape_finder *x, const struct ir_insn *i, uint16_t shape, bool is_signed)
{
    enum { FAR = 1 << 24 };
    if (shape == SHAPE_UNIFORM)
        return shape;
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (x->s->lane_offsets.at[shape].at[l] > FAR || x->s->lane_offsets.at[shape].at[l] < -FAR)
            return SHAPE_DIVERGENT;
    x->s->assumptions[i - x->f->insns.at] = is_signed ? NO_WRAP_SIGNED : NO_WRAP_UNSIGNED;
    return shape;
}

/* A factor as the product takes it. */
static uint16_t extended(struct shape_finder *x, const struct ir_insn *i, const struct ir_mad *m)
{
    struct ir_range a = ir_range_of(x->f, x->s, m->a);
    uint16_t shape = ir_shape(x->s, m->a);
    bool is_signed = m->extend == EXTEND_SIGN;
    if (m->extend < EXTEND_SIGN || (exact_signed(a) && (is_signed || a.lo >= 0)))
        return shape;
    return assume_no_wrap(x, i, shape, is_signed);
}

/* One factor is a constant, or both are uniform, be it within pieces. */
static uint16_t of_mad(struct shape_finder *x, const struct ir_insn *i, const struct ir_mad *m)
{
    uint16_t a = ir_shape(x->s, m->a), b = ir_shape(x->s, m->by ? m->by : m->b), product = SHAPE_UNIFORM;
    if (m->b || b != SHAPE_UNIFORM)
        product = a == SHAPE_UNIFORM && b == SHAPE_UNIFORM                   ? SHAPE_UNIFORM
                  : is_uniform_in_pieces(x, a) && is_uniform_in_pieces(x, b) ? piecewise_uniform(x)
                                                                             : SHAPE_DIVERGENT;
    else if (a != SHAPE_UNIFORM)
        product = extended(x, i, m);
    if (product == SHAPE_DIVERGENT)
        return product;
    return combine(x, product, m->factor, ir_shape(x->s, m->c), m->subtracts ? -1 : 1, m->width);
}

/* ---- what is known in all threads ---- */

/* Of a predicate: uniform where it is the same in all threads of each warp. */
static uint16_t shape_of_known_predicate(const struct shape_finder *x, uint32_t reg)
{
    for (uint32_t t = 0; t < x->known.n_threads; t++)
        if (known_value(x, reg, t) != known_value(x, reg, t & ~(WARP_LANES - 1u)))
            return SHAPE_DIVERGENT;
    return SHAPE_UNIFORM;
}

static uint16_t shape_of_known(struct shape_finder *x, uint32_t reg)
{
    unsigned width = x->f->regs.at[reg].width;
    return width == 1 ? shape_of_known_predicate(x, reg) : shape_of_threads(x, known_value, reg, width);
}

/* ---- bits ---- */

/* The low bits of each lane's value, where all above them are the same in all lanes. */
struct lane_bits {
    unsigned n;
    uint64_t mask, at[WARP_LANES];
};

static bool find_lane_bits(const struct shape_finder *x, ir_ref r, unsigned n, unsigned width, struct lane_bits *bits)
{
    uint16_t shape = ir_shape(x->s, r);
    const int64_t *over = x->s->lane_offsets.at[shape].at;
    uint64_t first = ir_bits_of(x->f, x->s, false, r).v;
    *bits = (struct lane_bits){.n = n, .mask = n >= 64 ? ~0ull : (1ull << n) - 1};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t v = (first & bits->mask) + (uint64_t)over[l];
        if (n < width && v > bits->mask)
            return false;
        bits->at[l] = v & bits->mask;
    }
    return !ir_is_piecewise(x->s, shape);
}

static uint16_t lane_offsets_of_bits(struct shape_finder *x, const struct lane_bits *bits, unsigned width)
{
    struct lane_offsets p = {.piecewise = false};
    for (unsigned l = 0; l < WARP_LANES; l++)
        p.at[l] = ir_as_signed(bits->at[l] - bits->at[0], width);
    return add_lane_offsets(x, &p);
}

/* Bit by bit: what two operands have above the bits that are known is the same in all lanes, and so
 * is the result's. */
static uint16_t bit_by_bit(struct shape_finder *x, const struct ir_insn *i, unsigned width)
{
    enum lane_is is = ir_is(i);
    const struct ir_shapes *s = x->s;
    struct lane_bits a, b;
    unsigned n = ir_bits_of(x->f, s, false, i->a).n;
    if (is != IS_NOT) {
        unsigned other = ir_bits_of(x->f, s, false, i->b).n;
        n = other < n ? other : n;
    }
    if (!find_lane_bits(x, i->a, n, width, &a) || (is != IS_NOT && !find_lane_bits(x, i->b, n, width, &b)))
        return SHAPE_DIVERGENT;
    for (unsigned l = 0; l < WARP_LANES; l++)
        a.at[l] = is == IS_AND   ? a.at[l] & b.at[l]
                  : is == IS_OR  ? a.at[l] | b.at[l]
                  : is == IS_XOR ? a.at[l] ^ b.at[l]
                                 : ~a.at[l] & a.mask;
    return lane_offsets_of_bits(x, &a, width);
}

/* By a constant. What is above the known bits is shifted alike in all lanes. */
static uint16_t shifted_right(struct shape_finder *x, const struct ir_insn *i, unsigned width)
{
    struct ir_range by = ir_range_of(x->f, x->s, i->b);
    struct lane_bits a;
    unsigned n = ir_bits_of(x->f, x->s, false, i->a).n;
    if (by.lo != by.hi || by.lo < 0 || by.lo >= width || !find_lane_bits(x, i->a, n, width, &a))
        return SHAPE_DIVERGENT;
    for (unsigned l = 0; l < WARP_LANES; l++)
        a.at[l] =
            ir_is(i) == IS_ASHR && n == width ? (uint64_t)(ir_as_signed(a.at[l], width) >> by.lo) : a.at[l] >> by.lo;
    return lane_offsets_of_bits(x, &a, width);
}

/* Patterns of 16 bits come from what is known in all threads only. */
static bool is_narrow(const struct shape_finder *x, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG && x->f->regs.at[ir_ref_index(r)].width < 32;
}

/* Operands are known, none is divergent. */
static uint16_t affine(struct shape_finder *x, const struct ir_insn *i, unsigned width)
{
    struct ir_mad m;
    if (is_narrow(x, i->a) || is_narrow(x, i->b) || width < 32)
        return SHAPE_DIVERGENT;
    if (ir_mad_of(x->f, x->s, i, &m))
        return of_mad(x, i, &m);
    switch (ir_is(i)) {
    case IS_AND:
    case IS_OR:
    case IS_XOR:
    case IS_NOT: return bit_by_bit(x, i, width);
    case IS_LSHR:
    case IS_ASHR: return shifted_right(x, i, width);
    default: return SHAPE_DIVERGENT;
    }
}

static bool is_assumed(const struct shape_finder *x, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG && x->s->assumed[ir_ref_index(r)];
}

static uint16_t of_lanes(struct shape_finder *x, const struct ir_insn *i, unsigned width)
{
    const struct lane_info *info = lane_info(i->lane);
    ir_ref operands[4] = {i->a, i->b, i->c, info->e & (CARRY_IN | CARRY_FOURTH) ? i->e : REF_NONE};
    bool uniform = true, in_pieces = true, assumed = false;
    uint32_t d = ir_ref_index(i->d);
    if (x->of_known[d] != SHAPE_DIVERGENT && x->s->bits[d].n >= width)
        return x->of_known[d]; /* its operands are not asked: lane 0's number is written down */
    x->s->assumptions[i - x->f->insns.at] = NO_WRAP_NOT_ASSUMED;
    for (int k = 0; k < 4; k++) {
        uint16_t s = operands[k] ? ir_shape(x->s, operands[k]) : SHAPE_UNIFORM;
        if (s == BOTTOM)
            return BOTTOM;
        if (s == SHAPE_DIVERGENT)
            return SHAPE_DIVERGENT;
        uniform &= s == SHAPE_UNIFORM;
        in_pieces &= is_uniform_in_pieces(x, s);
        assumed |= is_assumed(x, operands[k]);
    }
    if (uniform)
        return SHAPE_UNIFORM;
    if (width == 128)
        return SHAPE_DIVERGENT;
    if (x->of_known[d] != SHAPE_DIVERGENT)
        return x->of_known[d];
    uint8_t *assumptions = &x->s->assumptions[i - x->f->insns.at];
    uint16_t shape = affine(x, i, width);
    if ((shape == SHAPE_DIVERGENT || *assumptions) && in_pieces && width > 1 && !info->e) {
        *assumptions = NO_WRAP_NOT_ASSUMED; /* what is computed for each piece needs none */
        shape = piecewise_uniform(x);
    }
    if (!(assumed || *assumptions) || shape == SHAPE_DIVERGENT)
        return shape;
    if (shape == SHAPE_UNIFORM)
        return SHAPE_DIVERGENT;
    uint8_t *mark = &x->s->assumed[ir_ref_index(i->d)];
    x->changed |= !*mark;
    *mark = true;
    return shape;
}

/* A load from one address gives one value, but in local memory, which generic addresses may lead
 * to. */
static uint16_t of_load(const struct shape_finder *x, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    if (a->mem.space == SPACE_LOCAL || a->mem.space == SPACE_GENERIC || a->mem.frame)
        return SHAPE_DIVERGENT;
    uint16_t s = i->a ? ir_shape(x->s, i->a) : SHAPE_UNIFORM;
    return s == SHAPE_UNIFORM || s == BOTTOM ? s : SHAPE_DIVERGENT;
}

void shape_meet(struct shape_finder *x, ir_ref r, uint16_t shape)
{
    if (ir_ref_kind(r) != REF_REG || shape == BOTTOM)
        return;
    uint16_t *now = &x->s->regs[ir_ref_index(r)], next = join(x, *now, shape);
    x->changed |= next != *now;
    *now = next;
}

/* `serial`: lanes run it one after the other, so that each has what it found at its time. */
static void visit_insn(struct shape_finder *x, const struct ir_insn *i, bool serial)
{
    bool partly = i->guard && ir_shape(x->s, i->guard) == SHAPE_DIVERGENT;
    uint16_t shape = SHAPE_DIVERGENT;
    switch (i->kind) {
    case IR_LANES:
        if (ir_ref_kind(i->d) == REF_REG)
            shape = of_lanes(x, i, x->f->regs.at[ir_ref_index(i->d)].width);
        break;
    case IR_LD: shape = of_load(x, i); break;
    case IR_FRAME:
    case IR_NOW:
    case IR_ACTIVEMASK: shape = SHAPE_UNIFORM; break;
    default: break;
    }
    if (serial || (partly && shape != BOTTOM))
        shape = SHAPE_DIVERGENT;
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++) {
        bool is_carry = i->kind == IR_LANES && refs[k] != i->d;
        shape_meet(x, refs[k], is_carry && shape != SHAPE_UNIFORM && shape != BOTTOM ? SHAPE_DIVERGENT : shape);
    }
}

static void visit_values(struct shape_finder *x)
{
    for (uint32_t b = 0; b < x->f->n_ordered; b++) {
        const struct ir_block *block = ir_block_at(x->f, b);
        for (uint32_t k = 0; k < block->n; k++)
            visit_insn(x, &x->f->insns.at[block->first + k], block->serial_to);
    }
}

static void prepare(struct shape_finder *x)
{
    struct ir_shapes *s = x->s;
    const struct ir_func *f = x->f;
    s->regs = ARENA_ARRAY(x->arena, uint16_t, f->regs.n);
    s->block_words = (f->n_ordered + 63) / 64;
    s->pending = ARENA_ARRAY(x->arena, uint64_t, (size_t)f->n_ordered * s->block_words);
    s->pending_live = ARENA_ARRAY(x->arena, uint64_t, (size_t)f->n_ordered * s->live.words);
    s->whole = ARENA_ARRAY(x->arena, uint8_t, f->n_ordered);
    s->lane_serial = ARENA_ARRAY(x->arena, uint8_t, f->n_ordered);
    s->assumptions = ARENA_ARRAY(x->arena, uint8_t, f->insns.n);
    s->assumed = ARENA_ARRAY(x->arena, uint8_t, f->regs.n);
    s->pieces = s->block[0] == 8 ? 4 : s->block[0] == 16 ? 2 : 1;
    x->successors = ARENA_ARRAY(&x->scratch, uint32_t, f->n_ordered);
    x->seen = ARENA_ARRAY(&x->scratch, uint64_t, f->n_ordered);
    struct lane_offsets p = {.piecewise = false};
    add_lane_offsets(x, &p);
    for (unsigned l = 0; l < WARP_LANES; l++)
        p.at[l] = l;
    s->laneid = add_lane_offsets(x, &p);
    for (unsigned axis = 0; axis < 3; axis++)
        s->tid[axis] = shape_of_threads(x, tid_value, axis, 32);
    for (uint32_t r = 0; r < f->regs.n; r++)
        s->regs[r] = BOTTOM;
    for (uint32_t i = 0; i < f->zeroed.n; i++)
        shape_meet(x, ir_make_ref(REF_REG, f->zeroed.at[i]), SHAPE_UNIFORM);
}

/* All that the shapes hang on, until nothing changes; false where the work is spent. */
static bool find_shapes(struct shape_finder *x)
{
    const struct ir_func *f = x->f;
    struct ir_shapes *s = x->s;
    bool enough = ir_find_live(f, x->arena, &s->live);
    if (!enough)
        return false;
    prepare(x);
    ir_find_known(f, s, &x->scratch, &x->known);
    x->of_known = ARENA_ARRAY(&x->scratch, uint16_t, f->regs.n);
    for (uint32_t r = 0; r < f->regs.n; r++)
        x->of_known[r] = x->known.rows[r] ? shape_of_known(x, r) : SHAPE_DIVERGENT;
    ir_find_ranges(f, &x->known, x->arena, s);
    ir_find_bits(f, &x->known, false, x->arena, s);
    ir_find_bits(f, &x->known, true, x->arena, s);
    ir_find_steps(f, x->arena, s);
    s->claimed = ir_find_claimed(f, x->arena);
    do {
        x->changed = false;
        visit_values(x);
        enough = shape_visit_branches(x) && shape_visit_pending_live(x);
    } while (x->changed && enough);
    for (uint32_t r = 0; r < f->regs.n; r++)
        if (s->regs[r] == BOTTOM) /* never written */
            s->regs[r] = SHAPE_UNIFORM;
    shape_find_whole(x);
    return enough;
}

bool ir_find_shapes(const struct ir_func *f, const uint32_t block[3], struct arena *arena, struct ir_shapes *s)
{
    if (f->n_ordered > MAX_BLOCKS)
        return false;
    *s = (struct ir_shapes){.block = {block[0], block[1], block[2]}, .defs = ir_find_defs(f, arena)};
    uint64_t work = 1ull << 32;
    struct ir_func bounded = *f;
    bounded.work_left = &work;
    struct shape_finder x = {.f = &bounded, .s = s, .arena = arena, .scratch = {.on_oom = arena->on_oom}};
    bool enough = find_shapes(&x);
    arena_free(&x.scratch);
    return enough;
}
