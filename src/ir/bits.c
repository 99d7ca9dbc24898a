/* Known bits, the low ones: see shape.h. As with ranges (range.c), only registers that are written
 * once have any, and a pass takes what it does not know yet as unknown.
 */
#include "ir/affine.h"

enum { PASSES = 2, BITS = 64 };

static uint64_t low_mask(unsigned n)
{
    return n >= BITS ? ~0ull : (1ull << n) - 1;
}

static struct ir_bits make(unsigned n, unsigned width, uint64_t v)
{
    n = n < width ? n : width;
    return (struct ir_bits){(uint8_t)n, v & low_mask(n)};
}

/* Of %tid in the first lanes of all warps: bits that are 0 in all. */
static struct ir_bits of_tid(const uint32_t block[3], unsigned axis)
{
    uint32_t threads = block[0] * block[1] * block[2], differ = 0;
    for (uint32_t t = 0; t < threads; t += WARP_LANES)
        differ |= ir_thread_number(block, t, axis);
    return make(differ ? (unsigned)__builtin_ctz(differ) : 32, 32, 0);
}

static struct ir_bits of_sreg(const uint32_t block[3], uint32_t i, bool all_lanes)
{
    if (i >= IR_ENVREG || i % 4 > 2)
        return (struct ir_bits){0, 0};
    switch ((enum isa_sreg)(i / 4)) {
    case SREG_tid: return all_lanes && block[i % 4] > 1 ? (struct ir_bits){0, 0} : of_tid(block, i % 4);
    case SREG_ntid: return make(32, 32, block[i % 4]);
    case SREG_laneid: return all_lanes ? (struct ir_bits){0, 0} : make(32, 32, 0);
    default: return (struct ir_bits){0, 0};
    }
}

struct ir_bits ir_bits_of(const struct ir_func *f, const struct ir_shapes *s, bool all_lanes, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG)
        return (all_lanes ? s->common : s->bits)[i];
    if (ir_ref_kind(r) == REF_CONST && f->consts.at[i].base == BASE_NONE)
        return make(BITS, f->consts.at[i].width, f->consts.at[i].lo);
    return ir_ref_kind(r) == REF_SREG ? of_sreg(s->block, i, all_lanes) : (struct ir_bits){0, 0};
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Bits that are known to be zero below all others. */
static unsigned zeros(struct ir_bits x)
{
    return x.v ? (unsigned)__builtin_ctzll(x.v) : x.n;
}

/* What one factor does not know counts from the lowest bit of the other on. */
static struct ir_bits product(struct ir_bits a, struct ir_bits b, unsigned width)
{
    return make(least(a.n + zeros(b), b.n + zeros(a)), width, a.v * b.v);
}

/* Where all of one is known, and is zero above what is known of the
 * other, so is all of the result. */
static struct ir_bits conjunction(struct ir_bits a, struct ir_bits b, unsigned width)
{
    bool all = (a.n >= width && !(a.v & ~low_mask(b.n))) || (b.n >= width && !(b.v & ~low_mask(a.n)));
    return make(all ? width : least(a.n, b.n), width, a.v & b.v);
}

static struct ir_bits shifted_right(struct ir_bits a, struct ir_bits by, unsigned width, bool is_signed)
{
    if (by.n < 32 || by.v >= width || a.n <= by.v)
        return (struct ir_bits){0, 0};
    bool whole = a.n == width && !(is_signed && a.v >> (width - 1));
    return make(whole ? width : a.n - (unsigned)by.v, width, a.v >> by.v);
}

static struct ir_bits extended(struct ir_bits a, const struct ir_mad *m)
{
    if (m->extend < EXTEND_SIGN || a.n < m->from)
        return a;
    bool negative = m->extend == EXTEND_SIGN && a.v >> (m->from - 1);
    return make(BITS, BITS, negative ? a.v | ~low_mask(m->from) : a.v);
}

static struct ir_bits of_mad(const struct ir_func *f, const struct ir_shapes *s, bool all_lanes, const struct ir_mad *m)
{
    struct ir_bits b = m->b ? extended(ir_bits_of(f, s, all_lanes, m->b), m) : make(BITS, BITS, (uint64_t)m->factor);
    struct ir_bits p = product(extended(ir_bits_of(f, s, all_lanes, m->a), m), b, m->width);
    struct ir_bits c = ir_bits_of(f, s, all_lanes, m->c);
    return m->c ? make(least(p.n, c.n), m->width, m->subtracts ? p.v - c.v : p.v + c.v) : p;
}

static struct ir_bits of_lanes(const struct ir_func *f, const struct ir_shapes *s, bool all_lanes,
                               const struct ir_insn *i)
{
    struct ir_bits a = ir_bits_of(f, s, all_lanes, i->a), b = ir_bits_of(f, s, all_lanes, i->b);
    unsigned width = lane_info(i->lane)->d;
    struct ir_mad m;
    if (ir_mad_of(f, s, i, &m))
        return of_mad(f, s, all_lanes, &m);
    switch (ir_is(i)) {
    case IS_AND: return conjunction(a, b, width);
    case IS_OR: return make(least(a.n, b.n), width, a.v | b.v);
    case IS_XOR: return make(least(a.n, b.n), width, a.v ^ b.v);
    case IS_NOT: return make(a.n, width, ~a.v);
    case IS_LSHR: return shifted_right(a, b, width, false);
    case IS_ASHR: return shifted_right(a, b, width, true);
    default: return (struct ir_bits){0, 0};
    }
}

/* The bits below the first that differs. */
static struct ir_bits of_known(const struct ir_func *f, const struct ir_known *known, uint32_t reg, bool all_lanes)
{
    uint64_t first = ir_known_value(f, known, reg, 0), differ = 0;
    for (uint32_t t = 0; t < known->n_threads; t += all_lanes ? 1 : WARP_LANES)
        differ |= ir_known_value(f, known, reg, t) ^ first;
    return make(differ ? (unsigned)__builtin_ctzll(differ) : BITS, f->regs.at[reg].width, first);
}

void ir_find_bits(const struct ir_func *f, const struct ir_known *known, bool all_lanes, struct arena *arena,
                  struct ir_shapes *s)
{
    struct ir_bits *regs = ARENA_ARRAY(arena, struct ir_bits, f->regs.n);
    *(all_lanes ? &s->common : &s->bits) = regs;
    for (uint32_t r = 0; r < f->regs.n; r++)
        if (known->rows[r])
            regs[r] = of_known(f, known, r, all_lanes);
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t k = 0; k < f->insns.n; k++) {
            const struct ir_insn *i = &f->insns.at[k];
            uint32_t d = ir_ref_index(i->d);
            if (i->kind == IR_LANES && ir_is_only_def(s->defs, i->d, i) && !known->rows[d] &&
                f->regs.at[d].width <= BITS)
                regs[d] = of_lanes(f, s, all_lanes, i);
        }
}
