/* Immediates for which an instruction's result differs from that of the same values in registers.
 *
 * The assembler for the H200 chooses other machine code where positions, lengths or addends are
 * constants, and for values that the ISA leaves undefined, or hardly defines, that code gives other
 * results than the instruction on registers. They are deterministic, and programs see them, so this
 * file follows them. All of it was measured on an H200 over every position from 0 to 69 and lengths
 * around every limit. Not followed: what the assembler computes whole because every operand is a
 * constant (its sine of 1.0 differs from the hardware's in the last bit).
 */
#include "ir/builder.h"
#include "isa/lane_ids.h"

static bool constant(const struct builder *b, ir_ref r, uint64_t *value)
{
    if (ir_ref_kind(r) != REF_CONST)
        return false;
    const struct ir_const *c = &b->f->consts.at[ir_ref_index(r)];
    *value = c->lo;
    return c->base == BASE_NONE;
}

/* 9.7.1.20 bfi: a mask of `length` bits is made with a 5-bit length, except where a byte
 * permutation serves. */
static void fold_bfi(struct builder *b, struct ir_insn *i)
{
    uint64_t position, length;
    if (!constant(b, i->c, &position) || !constant(b, i->e, &length))
        return;
    position &= 0xff;
    length &= 0xff;
    if (position < 32 && position % 8 != 0 && length >= 32)
        i->e = ir_const_of(b, 32, length % 32);
}

/* 9.7.1.19 bfe.s32: a field that starts past the top is all ones, not all sign. */
static void fold_bfe(struct builder *b, struct ir_insn *i)
{
    uint64_t position, length;
    if (!constant(b, i->b, &position) || !constant(b, i->c, &length))
        return;
    if ((position & 0xff) < 32 || (length & 0xff) == 0)
        return;
    i->lane = LANE_mov_b32;
    i->a = ir_const_of(b, 32, UINT32_MAX);
    i->b = i->c = REF_NONE;
}

/* 9.7.1.4 mad.hi.sat.s32: a constant addend is added without saturation. */
static void fold_mad(struct builder *b, struct ir_insn *i)
{
    uint64_t addend;
    if (constant(b, i->c, &addend))
        i->lane = LANE_madhi_s32;
}

void ir_fold_immediates(struct builder *b, struct ir_insn *i)
{
    switch (i->lane) {
    case LANE_bfi_b32: fold_bfi(b, i); break;
    case LANE_bfe_s32: fold_bfe(b, i); break;
    case LANE_madhi_sat_s32: fold_mad(b, i); break;
    default: break;
    }
}
