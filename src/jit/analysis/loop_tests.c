/* Chooses loops to be versioned, with bounds checks hoisted before them: see access.h,
 * emit/loop_version.c.
 *
 * Such a loop is one block of code. It ends by a comparison of an induction variable with a
 * loop-invariant value, and its addresses are affine in its iterations (ir/affine.h).
 */
#include "base/checked.h"
#include "jit/analysis/access.h"

/* The limit for a widened index's factor: one that is small enough to be the same signed and
   unsigned. */
enum { MOST_FACTOR = 1024 };

/* The limit for examined registers: a chain of sums of a register with itself contains it as often
 * as the address does. */
enum { MOST_LOOKS = 1 << 13 };

struct query {
    const struct function *fn;
    struct tested_loop *t;
    bool may_widen;     /* the trip count is known, so an index can be tested at both ends */
    bool all_pieces;    /* each piece of the warp is examined in turn */
    uint32_t looked_at; /* the number of registers examined so far */
};

static bool is_fixed_scalar(const struct query *q, ir_ref r)
{
    return r && ir_is_fixed(&q->t->loop, r) && fn_ref_shape(q->fn, r) == SHAPE_UNIFORM;
}

/* May a 32-bit index be widened? The test before the loop then shows that its first and last values
   do not wrap. */
static bool can_widen(const struct query *q, const struct ir_mad *m)
{
    bool is_piecewise = ir_is_piecewise(q->fn->shapes, fn_ref_shape(q->fn, m->a));
    return q->may_widen && m->extend >= EXTEND_SIGN && m->from == 32 && m->width == 64 && !m->b && m->factor >= 0 &&
           m->factor <= MOST_FACTOR && (q->all_pieces || !is_piecewise);
}

static bool adds_scalars(const struct query *q, const struct ir_affine *x)
{
    for (uint32_t n = 0; n < x->n_addends; n++)
        if (!is_fixed_scalar(q, x->addends[n].r))
            return false;
    return x->over <= EVOLVES_BY_ADDENDS;
}

/* Is it a first value and a step that can be computed before the loop? */
static bool is_linear(struct query *q, const struct ir_affine *x)
{
    unsigned width = x->r ? fn_ref_width(q->fn, x->r) : 0;
    if ((width != 32 && width != 64) || fn_ref_shape(q->fn, x->r) == SHAPE_DIVERGENT || ++q->looked_at > MOST_LOOKS)
        return false;
    if (x->made == AFFINE_BASE)
        return adds_scalars(q, x);
    const struct ir_mad *m = &x->mad;
    return x->made == AFFINE_MAD && (!m->extend || can_widen(q, m)) && (!m->b || is_fixed_scalar(q, m->b)) &&
           is_linear(q, x->a) && (!m->c || is_linear(q, x->c));
}

/* Finds the condition for another iteration, from the branch at the loop's end. */
static bool find_condition(struct cursor here, struct query *q, const struct ir_block *block)
{
    struct tested_loop *t = q->t;
    const struct ir_insn *branch = fn_insn_at(here, block->n - 1);
    uint32_t at = cursor_find_writer(here, branch->guard, block->n - 1);
    if (at == NO_WRITER || !cursor_is_plain_writer(here, at, branch->guard) || ir_is(fn_insn_at(here, at)) < IS_EQ)
        return false;
    const struct ir_insn *i = fn_insn_at(here, at);
    bool swapped = is_fixed_scalar(q, i->a);
    bool goes_on = (fn_target(here.fn, here.block) == here.block) != branch->guard_negated;
    enum lane_is is = goes_on ? ir_is(i) : lane_inverse(ir_is(i));
    ir_ref counter = swapped ? i->b : i->a, bound = swapped ? i->a : i->b;
    t->is = swapped ? lane_mirrored(is) : is;
    t->counter = ir_affine_of(&t->loop, counter, block->first + at);
    t->bound = ir_affine_of(&t->loop, bound, block->first + at);
    bool steps = t->counter->over == EVOLVES_BY_STEP;
    return t->is != IS_EQ && fn_ref_shape(here.fn, counter) == SHAPE_UNIFORM &&
           !fn_counts_a_remainder(here.fn, counter) && is_fixed_scalar(q, bound) && is_linear(q, t->counter) &&
           is_linear(q, t->bound) && (t->is != IS_NE || (steps && t->counter->step));
}

/* Is the step so small that the sum from first to last iteration cannot wrap? A variable step is
 * tested at run time. */
static bool has_small_step(const struct ir_affine *x)
{
    const int64_t most = 1ll << STEP_LOG2;
    return x->over > EVOLVES_BY_STEP || checked_is_within(checked(x->step), -most, most);
}

static bool can_test(struct cursor here, struct query *q, uint32_t k)
{
    struct tested_bytes bytes;
    const struct access *a = access_begin_tested(here, k, &bytes);
    if (!a)
        return false;
    const struct ir_affine *x = loop_tests_address(here, q->t, k);
    q->all_pieces = a->pieces > 1;
    return is_linear(q, x) && has_small_step(x);
}

const struct ir_affine *loop_tests_address(struct cursor here, struct tested_loop *t, uint32_t k)
{
    return ir_affine_of(&t->loop, fn_insn_at(here, k)->a, block_at(here.fn, here.block)->first + k);
}

bool loop_tests_access(struct cursor here, uint32_t k, bool is_first)
{
    const struct ir_insn *i = fn_insn_at(here, k);
    bool first_does = !is_first && here.fn->plan.once[block_at(here.fn, here.block)->first + k];
    return (i->kind == IR_LD || i->kind == IR_ST) && here.check_groups[k].first == k && !first_does &&
           !access_needs_no_test(here, k);
}

/* Is it a block that branches to itself, for all lanes or none, and do its registers have the
 * shapes that compiled code relies on, whichever engine runs an iteration? */
static bool is_loop(struct cursor here, const struct ir_block *block)
{
    const struct function *fn = here.fn;
    if (block->n < 2 || block->n > LIMIT_loop_version || block->spins)
        return false;
    const struct ir_insn *branch = fn_insn_at(here, block->n - 1);
    if (branch->kind != IR_BRA || ir_ref_kind(branch->guard) != REF_REG ||
        fn_target(fn, here.block) == fn_next(fn, here.block) || !fn_goes_to(fn, here.block, here.block) ||
        fn_ref_shape(fn, branch->guard) == SHAPE_DIVERGENT)
        return false;
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = fn_insn_at(here, k);
        if (i->kind == IR_ATOM && histogram_takes(&i->access->mem, i->access->regs[0]))
            return false; /* its cache may end the assumptions of others: exec/histogram.c */
    }
    const struct ir_live *live = &fn->shapes->live;
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(live_out(fn, here.block), n) && fn->shapes->assumed[live->regs[n]])
            return false;
    return true;
}

bool loop_tests_find(struct cursor here, bool is_first, struct tested_loop *t)
{
    const struct ir_block *block = block_at(here.fn, here.block);
    struct query q = {.fn = here.fn, .t = t};
    bool uses_caches = false;
    if (!is_loop(here, block))
        return false;
    t->loop =
        ir_loop_of(here.fn->ir, here.fn->shapes, here.fn->shapes->defs, here.block, here.block + 1, here.fn->arena);
    if (!find_condition(here, &q, block))
        return false;
    q.may_widen = true;
    for (uint32_t k = 0; k + 1 < block->n; k++) {
        if (!loop_tests_access(here, k, is_first))
            continue;
        if (!can_test(here, &q, k))
            return false;
        uses_caches |= fn_insn_at(here, k)->access->mem.space != SPACE_SHARED;
    }
    return uses_caches || !is_first;
}
