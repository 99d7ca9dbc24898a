/* Whether all lanes of a warp agree on a branch, from scalars; see emit.h.
 *
 * Most guards and conditions of loops compare an index that is affine over the lanes with a number
 * that is the same in all of them. The lanes' numbers then lie between those of two lanes, and two
 * scalar comparisons show that the condition holds in all lanes, or in none. The comparison of all
 * lanes is left for where that does not show it: LLVM sinks it there. CPUs with registers of masks
 * compare all lanes as fast.
 */
#include "jit/emit/emit.h"

enum { MAX_DEPTH = 4 };

/* LLVM's predicates are in the same order. */
LLVMIntPredicate emit_predicate(enum lane_is is)
{
    _Static_assert((int)LLVMIntSLE - LLVMIntEQ == IS_SLE - IS_EQ, "");
    return (LLVMIntPredicate)(is - IS_EQ + LLVMIntEQ);
}

/* A condition, as the instruction before `at` of the block leaves it. */
struct condition {
    ir_ref r;
    uint32_t at;
    bool wanted; /* that it holds in all lanes; or that it holds in none */
    int depth;
};

static value all_agree(struct emit *e, struct condition c);

/* Does it hold of a piece of the warp? Its lanes have the values from `first` to `first` + span: no
 * lane's wraps where the sum does not. */
static value piece_agrees(struct emit *e, enum lane_is is, value first, uint64_t span, value bound)
{
    LLVMBuilderRef b = e->m->b;
    LLVMTypeRef type = LLVMTypeOf(first);
    if (is == IS_NE) /* the lanes' values are those up to `span` behind the first, wrapped or not */
        return build_ugt(e, build_sub(e, bound, first), const_int(type, span));
    value last = build_add(e, first, const_int(type, span));
    bool is_signed = is >= IS_SGT, is_below = is == IS_ULT || is == IS_ULE || is == IS_SLT || is == IS_SLE;
    value no_wrap = LLVMBuildICmp(b, is_signed ? LLVMIntSGE : LLVMIntUGE, last, first, "");
    return build_and(e, no_wrap, LLVMBuildICmp(b, emit_predicate(is), is_below ? last : first, bound, ""));
}

/* A comparison of an affine register with a uniform operand. */
static value comparison_agrees(struct emit *e, const struct ir_insn *i, enum lane_is is)
{
    bool swapped = fn_ref_shape(e->fn, i->a) == SHAPE_UNIFORM;
    ir_ref lanes = swapped ? i->b : i->a, bound = swapped ? i->a : i->b;
    uint16_t shape = fn_ref_shape(e->fn, lanes);
    unsigned width = fn_ref_width(e->fn, lanes);
    if (shape == SHAPE_DIVERGENT || fn_ref_shape(e->fn, bound) != SHAPE_UNIFORM || is == IS_EQ ||
        (width != 32 && width != 64) || (ir_is_piecewise(e->fn->shapes, shape) && ir_ref_kind(lanes) != REF_REG))
        return NULL;
    const int64_t *offset = e->fn->shapes->lane_offsets.at[shape].at;
    unsigned pieces = ir_is_piecewise(e->fn->shapes, shape) ? e->fn->shapes->pieces : 1, n = WARP_LANES / pieces;
    value all = NULL, limit = reg_read_scalar(e, bound);
    for (unsigned p = 0; p < pieces; p++) {
        int64_t low = offset[p * n], high = low;
        for (unsigned l = p * n; l < (p + 1) * n; l++) {
            low = offset[l] < low ? offset[l] : low;
            high = offset[l] > high ? offset[l] : high;
        }
        if (low < INT32_MIN || high > INT32_MAX || high - low > INT32_MAX)
            return NULL;
        value first = reg_read_piece(e, lanes, p);
        first = build_add(e, first, const_int(LLVMTypeOf(first), (uint64_t)low));
        value own = piece_agrees(e, swapped ? lane_mirrored(is) : is, first, (uint64_t)(high - low), limit);
        all = all ? build_and(e, all, own) : own;
    }
    return all;
}

/* Of two conditions: both where each must hold, or where one of them suffices. */
static value both_agree(struct emit *e, struct condition c, const struct ir_insn *i, bool is_and)
{
    struct condition x = {i->a, c.at, c.wanted, c.depth + 1}, y = {i->b, c.at, c.wanted, c.depth + 1};
    value of_x = all_agree(e, x), of_y = all_agree(e, y);
    if (of_x && of_y)
        return is_and == c.wanted ? build_and(e, of_x, of_y) : build_or(e, of_x, of_y);
    return is_and == c.wanted ? NULL : of_x ? of_x : of_y;
}

static value all_agree(struct emit *e, struct condition c)
{
    struct cursor here = *e->here;
    if (ir_ref_kind(c.r) != REF_REG || c.depth > MAX_DEPTH)
        return NULL;
    if (fn_ref_shape(e->fn, c.r) != SHAPE_DIVERGENT) {
        if (!cursor_keeps(here, c.r, c.at))
            return NULL;
        value holds = reg_read_scalar(e, c.r);
        return c.wanted ? holds : build_not(e, holds);
    }
    uint32_t k = cursor_find_writer(here, c.r, c.at);
    if (k == NO_WRITER || !cursor_is_plain_writer(here, k, c.r))
        return NULL;
    const struct ir_insn *i = fn_insn_at(here, k);
    enum lane_is is = ir_is(i);
    c.at = k;
    if (is == IS_NOT)
        return all_agree(e, (struct condition){i->a, k, !c.wanted, c.depth + 1});
    if (is == IS_AND || is == IS_OR)
        return both_agree(e, c, i, is == IS_AND);
    if (is < IS_EQ || !cursor_keeps(here, i->a, k) || !cursor_keeps(here, i->b, k))
        return NULL;
    return comparison_agrees(e, i, c.wanted ? is : lane_inverse(is));
}

value emit_agreement(struct emit *e, const struct ir_insn *branch, bool taken)
{
    if (e->fn->target->has_mask_registers)
        return NULL;
    return all_agree(e, (struct condition){branch->guard, e->here->index, taken != branch->guard_negated, 0});
}
