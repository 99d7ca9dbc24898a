/* Loop versioning with hoisted bounds checks.
 *
 * A loop of one block, with addresses that are linear in its iterations, gets a second version
 * without bounds checks. The test before it examines the first and the last iteration; the trip
 * count follows from the comparison at the loop's end. If the addresses of both iterations are in
 * bounds and aligned, and no 32-bit index wraps between them, all addresses between are in bounds:
 * the sum from the first to the last cannot wrap (base/checked.h), because there are fewer than
 * 2^31 iterations with steps of at most 2^32. If the test fails, the engine runs an iteration and
 * records the accesses' places, so that the next test may succeed. Lanes at a ragged edge may be
 * out of bounds in the last iteration only: then all other iterations run without checks, and the
 * last is tested again.
 *
 * The analysis in jit/analysis/loop_tests.c finds these loops, and the parts of their addresses,
 * before anything is emitted.
 */
#include "base/checked.h"
#include "jit/emit/load_store.h"

#include <string.h>

/* A register's first value and step: in iteration n it is first + n * step, modulo 2^32 or 2^64,
 * whatever sums and products compute it. Only a value that is widened, or used as an address, must
 * not wrap. */
struct linear {
    value first, step;
};

struct loop {
    struct emit *e;
    const struct ir_block *block;
    struct tested_loop tested;
    unsigned piece;   /* of the warp */
    value iterations; /* i64: the number of iterations after the first */
    value holds;      /* i1: all requirements so far */
};

static void require(struct loop *p, value condition)
{
    p->holds = p->holds ? build_and(p->e, p->holds, condition) : condition;
}

/* ---- widening ---- */

/* The lanes' extent below and above the one that stands for the piece. */
static void find_spread(const struct loop *p, ir_ref r, int64_t *least, int64_t *most)
{
    const struct emit *e = p->e;
    uint16_t shape = fn_ref_shape(e->fn, r);
    const int64_t *at = e->fn->shapes->lane_offsets.at[shape].at;
    bool piecewise = ir_is_piecewise(e->fn->shapes, shape);
    int64_t own = piecewise ? 0 : at[fn_piece_lane(e->fn, p->piece)];
    *least = *most = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        *least = at[l] - own < *least ? at[l] - own : *least;
        *most = at[l] - own > *most ? at[l] - own : *most;
    }
}

static void require_between(struct loop *p, value v, int64_t least, int64_t most)
{
    struct emit *e = p->e;
    value over = build_sub(e, v, const_i64(e, (uint64_t)least));
    require(p, build_ule(e, over, const_i64(e, (uint64_t)(most - least))));
}

static value last_of(struct loop *p, struct linear x)
{
    value way = build_mul(p->e, p->iterations, x.step);
    return build_add(p->e, x.first, way);
}

/* Widens 32 bits to 64, if neither the lanes of r (0: a scalar) nor the iterations wrap: fewer than
 * 2^31 iterations with 32-bit steps sum to less than 2^62, so the first and last values are exact,
 * and so is the comparison with two 34-bit bounds. */
static void widen(struct loop *p, struct linear *x, ir_ref r, bool is_signed)
{
    struct emit *e = p->e;
    int64_t least = 0, most = 0;
    if (r)
        find_spread(p, r, &least, &most);
    x->first = build_int_cast(e, x->first, e->m->i64, is_signed);
    x->step = build_int_cast(e, x->step, e->m->i64, true);
    int64_t from = (is_signed ? INT32_MIN : 0) - least, to = (is_signed ? INT32_MAX : (int64_t)UINT32_MAX) - most;
    require_between(p, x->first, from, to);
    require_between(p, last_of(p, *x), from, to);
}

/* ---- first numbers and steps ---- */

/* The value as LLVM's. */
static value read_fixed(struct loop *p, ir_ref r)
{
    return reg_read_piece(p->e, r, p->piece);
}

static value emit_step(struct loop *p, const struct ir_affine *x, LLVMTypeRef type)
{
    value step = const_int(type, x->over == EVOLVES_BY_STEP ? (uint64_t)x->step : 0);
    for (uint32_t n = x->over == EVOLVES_BY_ADDENDS ? x->n_addends : 0; n-- > 0;) {
        value more = read_fixed(p, x->addends[n].r);
        step = (x->addends[n].negative ? LLVMBuildSub : LLVMBuildAdd)(p->e->m->b, step, more, "");
    }
    return step;
}

static struct linear emit_linear(struct loop *p, const struct ir_affine *x)
{
    struct emit *e = p->e;
    const struct ir_mad *m = &x->mad;
    struct linear y;
    if (x->made == AFFINE_BASE) {
        y.first = read_fixed(p, x->r);
        y.step = emit_step(p, x, LLVMTypeOf(y.first));
        return y;
    }
    y = emit_linear(p, x->a);
    if (m->extend) {
        widen(p, &y, m->a, m->extend == EXTEND_SIGN);
        e->unchecked.covered[x->insn - p->block->first] = true;
    }
    if (ir_mad_multiplies(m)) {
        value factor = m->b ? read_fixed(p, m->b) : const_int(LLVMTypeOf(y.first), (uint64_t)m->factor);
        y.first = build_mul(e, y.first, factor);
        y.step = build_mul(e, y.step, factor);
    }
    if (m->c) {
        struct linear z = emit_linear(p, x->c);
        y.first = (m->subtracts ? LLVMBuildSub : LLVMBuildAdd)(e->m->b, y.first, z.first, "");
        y.step = (m->subtracts ? LLVMBuildSub : LLVMBuildAdd)(e->m->b, y.step, z.step, "");
    }
    return y;
}

/* ---- how many iterations ---- */

/* Counts iterations while an increasing x is below y, in the order of `is`, and requires that it
 * does not wrap before. */
static value count_rising(struct loop *p, value x, value y, value step, enum lane_is is)
{
    struct emit *e = p->e;
    bool equal = is == IS_ULE || is == IS_SLE;
    uint64_t largest = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(LLVMTypeOf(x)) + (is >= IS_SGT));
    LLVMTypeRef type = LLVMTypeOf(x);
    value one = const_int(type, 1), none = const_int(type, 0);
    step = LLVMBuildFreeze(e->m->b, step, "");
    require(p, build_sgt(e, step, none));
    step = build_select(e, build_eq(e, step, none), one, step);
    value room = build_sub(e, const_int(type, largest), y);
    value needed = equal ? step : build_sub(e, step, one);
    require(p, build_uge(e, room, needed));
    value way = build_sub(e, y, x);
    if (!equal)
        way = build_sub(e, way, one);
    value n = build_add(e, build_udiv(e, way, step), one);
    return build_select(e, LLVMBuildICmp(e->m->b, emit_predicate(is), x, y, ""), n, none);
}

/* A decreasing x is an increasing -x - 1, in both orders. */
static value count_ordered(struct loop *p, value x, value y, value step, enum lane_is is)
{
    struct emit *e = p->e;
    if (is == IS_ULT || is == IS_ULE || is == IS_SLT || is == IS_SLE)
        return count_rising(p, x, y, step, is);
    return count_rising(p, build_not(e, x), build_not(e, y), LLVMBuildNeg(e->m->b, step, ""), lane_mirrored(is));
}

/* Counts iterations until x equals y, and requires that it does not pass y. */
static value count_unequal(struct loop *p, value x, value y, value step)
{
    struct emit *e = p->e;
    int64_t n = LLVMConstIntGetSExtValue(step);
    value way = n > 0 ? build_sub(e, y, x) : build_sub(e, x, y);
    value by = const_int(LLVMTypeOf(x), n > 0 ? (uint64_t)n : -(uint64_t)n);
    require(p, emit_is_zero(e, build_urem(e, way, by)));
    return build_udiv(e, way, by);
}

/* Computes p->iterations from the branch at the loop's end. */
static void count_iterations(struct loop *p)
{
    struct emit *e = p->e;
    enum lane_is is = p->tested.is;
    struct linear x = emit_linear(p, p->tested.counter), y = emit_linear(p, p->tested.bound);
    value n = is == IS_NE ? count_unequal(p, x.first, y.first, x.step) : count_ordered(p, x.first, y.first, x.step, is);
    p->iterations = build_int_cast(e, n, e->m->i64, false);
    require(p, build_ult(e, p->iterations, const_i64(e, 1ull << ITERATIONS_LOG2)));
}

/* ---- accesses ---- */

/* If the bytes at both ends are in bounds, so are those between (base/checked.h), because steps are
 * too small to wrap; they are aligned if each step is. */
static void require_piece(struct loop *p, struct transfer *t, uint32_t k)
{
    const int64_t most = 1ll << STEP_LOG2;
    struct emit *e = p->e;
    const struct ir_affine *address = loop_tests_address(*e->here, &p->tested, k);
    struct linear x = emit_linear(p, address);
    value more = const_int(LLVMTypeOf(x.first), (uint64_t)t->a->disp + (uint64_t)t->a->least);
    x.first = build_add(e, x.first, more);
    if (LLVMTypeOf(x.first) == e->m->i32)
        widen(p, &x, REF_NONE, false);
    if (address->over > EVOLVES_BY_STEP) /* the analysis has checked constant steps */
        require_between(p, x.step, -most, most);
    value ends[2] = {x.first, last_of(p, x)};
    for (unsigned n = 0; n < 2; n++) {
        t->first[p->piece] = ends[n];
        require(p, access_test_piece(e, t, p->piece));
    }
    require(p, emit_is_zero(e, build_and(e, x.step, const_i64(e, t->a->all - 1))));
}

/* Tests all accesses of the loop. Accesses to global memory are recorded for iterations by the
 * engine; a new inline cache gets its number here. */
static void require_accesses(struct loop *p)
{
    struct emit *e = p->e;
    uint32_t noted[p->block->n], n = 0;
    for (uint32_t k = 0; k + 1 < p->block->n; k++) {
        struct transfer t = {.a = NULL};
        if (loop_tests_access(*e->here, k, mode_is_first(e)))
            t.a = access_begin_tested(*e->here, k, &t.tested);
        if (!t.a)
            continue;
        for (p->piece = 0; p->piece < t.a->pieces; p->piece++)
            require_piece(p, &t, k);
        p->piece = 0;
        e->unchecked.covered[k] = true;
        if (t.cache)
            noted[n++] = p->block->first + k;
    }
    e->unchecked.n = n;
    e->unchecked.accesses = n ? inline_cache_table(e, noted, n, p->block->first) : NULL;
}

/* The iterations that are tested: all, or, if that fails, all but the last, in which absent lanes
 * may be out of bounds. */
value loop_test(struct emit *e, const struct ir_block *block)
{
    memset(e->unchecked.covered, 0, block->n * sizeof e->unchecked.covered[0]);
    struct loop p = {.e = e, .block = block};
    if (!loop_tests_find(*e->here, mode_is_first(e), &p.tested))
        return NULL;
    count_iterations(&p);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b), test = emit_new_block(e, "test");
    emit_go_on(e, test);
    e->unchecked.all = p.iterations;
    e->unchecked.iterations = p.iterations = LLVMBuildPhi(e->m->b, e->m->i64, "iterations");
    LLVMAddIncoming(p.iterations, &e->unchecked.all, &from, 1);
    require_accesses(&p);
    return p.holds;
}

void loop_choose(struct emit *e, value holds, LLVMBasicBlockRef unchecked, LLVMBasicBlockRef other)
{
    struct unchecked *u = &e->unchecked;
    LLVMBasicBlockRef test = LLVMGetInsertBlock(e->m->b), yes = emit_new_block(e, ""), no = emit_new_block(e, "");
    emit_likely(e, holds, yes, no);
    emit_at_end(e, no);
    value fewer = build_sub(e, u->all, const_i64(e, 1));
    value again = build_and(e, build_eq(e, u->iterations, u->all), build_not(e, emit_is_zero(e, u->all)));
    LLVMAddIncoming(u->iterations, &fewer, &no, 1);
    build_cond_br(e, again, test, other);
    emit_at_end(e, yes);
    u->left = emit_keep(e, u->iterations);
    build_br(e, unchecked);
}

void loop_iteration_by_engine(struct emit *e, const struct ir_block *block)
{
    const struct ir_live *live = &e->fn->shapes->live;
    value mask = emit_mask(e);
    struct live_state at_head = live_state_of_set(e, live_in(e->fn, e->here->block), SPILL_COLD, mask);
    exit_spill(e, &at_head);
    value args[6] = {
        e->warp.w, e->warp.a, const_i32(e, e->here->block), mask, e->unchecked.accesses, const_i32(e, e->unchecked.n)};
    emit_require(e, engine_call(e, abi.compiled_calls_iteration, e->m->i1, args, 6), e->f->fault);
    for (uint32_t n = 0; n < live->n; n++) {
        ir_ref r = ir_make_ref(REF_REG, live->regs[n]);
        bool wanted = ir_in_set(live_out(e->fn, e->here->block), n);
        if (wanted && cursor_find_writer(*e->here, r, block->n) != NO_WRITER)
            reg_reload(e, live->regs[n], mask);
    }
    reg_reload(e, ir_ref_index(fn_insn_at(*e->here, block->n - 1)->guard), mask);
    dirty_start_spilled(e, e->here->block);
}
