/* Loop versioning with hoisted bounds checks.
 *
 * A loop that is one block of code, with addresses that are linear in its iterations, gets a second version without bounds checks.
 * The test before it looks at the first and the last iteration; the trip count follows from the comparison at the loop's end. If the
 * addresses of both iterations are inside and aligned, and no 32-bit index wraps on the way, so are those between: the way from the
 * first to the last cannot wrap (base/checked.h), since it has fewer than 2^31 iterations and steps of at most 2^32. If the test
 * fails, the engine runs an iteration and notes where the accesses are, so that the next test may succeed. Lanes of a ragged edge may
 * be outside in the last iteration alone: then all other iterations go without checks, and the last is tested again.
 *
 * Addresses are linear if they are, in the instructions of the block, sums of what does not change in the loop, of registers to
 * which each iteration adds the same (affine induction), and of multiples of these. See load_store.h.
 */
#include "base/checked.h"
#include "jit/emit/load_store.h"

#include <string.h>

/* A register in the first iteration, and what each iteration adds: in iteration n it is first + n * step, modulo 2^32 or 2^64,
 * whatever sums and products that is made of. Only what is widened, or is the address, must not wrap on the way. */
struct affine {
    value first, step;
};

struct loop {
    struct emit *e;
    const struct ir_block *block;
    unsigned piece;                 /* of the warp */
    bool all_pieces;                /* each is asked for, one after the other */
    value iterations;               /* i64: how many follow the first; NULL as long as that is not known */
    value holds;                    /* i1: all that has been required */
    uint32_t widened[8], n_widened; /* instructions that do so on the way to the present address */
    uint32_t looked_at;             /* how many registers, so far */
};

/* A factor of a widened index: so small a one is the same number with a sign and without. */
enum { MOST_FACTOR = 1024 };

/* Registers that are looked at: in a chain of sums of a register and itself each is, as often as the address has it. */
enum { MOST_LOOKS = 1 << 13 };

static void require(struct loop *p, value condition)
{
    p->holds = p->holds ? LLVMBuildAnd(p->e->b, p->holds, condition, "") : condition;
}

/* ---- where registers come from ---- */

static bool is_written(const struct loop *p, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG && cursor_find_writer(emit_here(p->e), r, p->block->n) != NO_WRITER;
}

static value read_fixed(struct loop *p, ir_ref r, row_ref row)
{
    return reg_read_piece(p->e, r, row, p->piece);
}

static bool is_fixed_scalar(const struct loop *p, ir_ref r)
{
    return r && !is_written(p, r) && fn_ref_shape(p->e->fn, r) == SHAPE_UNIFORM;
}

/* Is q, read at k, what r is at the start of the iteration and so much more? */
static bool find_distance(struct loop *p, ir_ref r, ir_ref q, uint32_t k, value *distance)
{
    struct emit *e = p->e;
    uint32_t at = ir_ref_kind(q) == REF_REG ? cursor_find_writer(emit_here(p->e), q, k) : NO_WRITER;
    if (at == NO_WRITER) {
        *distance = const_int(e, type_of_width(e, fn_ref_width(e->fn, r)), 0);
        return q == r;
    }
    if (!cursor_is_plain_writer(emit_here(p->e), at, q))
        return false;
    const struct ir_insn *i = insn_at(emit_here(p->e), at);
    const struct op *o = op_at(emit_here(p->e), at);
    switch (i->lane) {
    case LANE_mov_b32:
    case LANE_mov_b64: return find_distance(p, r, i->a, at, distance);
    case LANE_add_b32:
    case LANE_add_b64: {
        bool first = is_fixed_scalar(p, i->b);
        if (!(first || is_fixed_scalar(p, i->a)) || !find_distance(p, r, first ? i->a : i->b, at, distance))
            return false;
        value more = first ? read_fixed(p, i->b, o->b) : read_fixed(p, i->a, o->a);
        *distance = LLVMBuildAdd(e->b, *distance, more, "");
        return true;
    }
    case LANE_sub_b32:
    case LANE_sub_b64:
        if (!is_fixed_scalar(p, i->b) || !find_distance(p, r, i->a, at, distance))
            return false;
        *distance = LLVMBuildSub(e->b, *distance, read_fixed(p, i->b, o->b), "");
        return true;
    default: return false;
    }
}

/* A register that the iteration writes after this place only: it has what the iteration before left. */
static bool find_carried(struct loop *p, ir_ref r, struct affine *x)
{
    if (!find_distance(p, r, r, p->block->n, &x->step))
        return false;
    x->first = read_fixed(p, r, 0);
    return true;
}

static bool find_affine(struct loop *p, ir_ref r, row_ref row, uint32_t k, struct affine *x);

/* ---- widening ---- */

/* How far lanes are below and above the one that stands for the piece. */
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
    value over = LLVMBuildSub(e->b, v, const_int(e, e->i64, (uint64_t)least), "");
    require(p, LLVMBuildICmp(e->b, LLVMIntULE, over, const_int(e, e->i64, (uint64_t)(most - least)), ""));
}

static value last_of(struct loop *p, struct affine x)
{
    value way = LLVMBuildMul(p->e->b, p->iterations, x.step, "");
    return LLVMBuildAdd(p->e->b, x.first, way, "");
}

/* 32 bits to 64, where neither the lanes of r (0: one value) nor the iterations wrap: fewer than 2^31 iterations of a step of 32
 * bits are less than 2^62, so the first and the last number are exact, and so is whether they are between two numbers of 34 bits. */
static void widen(struct loop *p, struct affine *x, ir_ref r, bool is_signed)
{
    struct emit *e = p->e;
    int64_t least = 0, most = 0;
    if (r)
        find_spread(p, r, &least, &most);
    x->first = LLVMBuildIntCast2(e->b, x->first, e->i64, is_signed, "");
    x->step = LLVMBuildIntCast2(e->b, x->step, e->i64, true, "");
    int64_t from = (is_signed ? INT32_MIN : 0) - least, to = (is_signed ? INT32_MAX : (int64_t)UINT32_MAX) - most;
    require_between(p, x->first, from, to);
    require_between(p, last_of(p, *x), from, to);
}

static bool find_widened(struct loop *p, const struct ir_insn *i, const struct op *o, uint32_t k, bool is_signed,
                         uint32_t factor, struct affine *x)
{
    struct emit *e = p->e;
    if (!p->iterations || factor > MOST_FACTOR || fn_ref_shape(e->fn, i->a) == SHAPE_DIVERGENT ||
        (!p->all_pieces && ir_is_piecewise(e->fn->shapes, fn_ref_shape(e->fn, i->a))) ||
        p->n_widened == sizeof p->widened / sizeof p->widened[0] || !find_affine(p, i->a, o->a, k, x))
        return false;
    widen(p, x, i->a, is_signed);
    p->widened[p->n_widened++] = k;
    x->first = LLVMBuildMul(e->b, x->first, const_int(e, e->i64, factor), "");
    x->step = LLVMBuildMul(e->b, x->step, const_int(e, e->i64, factor), "");
    return true;
}

/* ---- what is linear ---- */

static bool add(struct loop *p, struct affine *x, struct affine y, bool negative)
{
    x->first = (negative ? LLVMBuildSub : LLVMBuildAdd)(p->e->b, x->first, y.first, "");
    x->step = (negative ? LLVMBuildSub : LLVMBuildAdd)(p->e->b, x->step, y.step, "");
    return true;
}

static bool find_sum(struct loop *p, ir_ref a, row_ref a_row, ir_ref b, row_ref b_row, uint32_t k, bool negative,
                     struct affine *x)
{
    struct affine y;
    return find_affine(p, a, a_row, k, x) && find_affine(p, b, b_row, k, &y) && add(p, x, y, negative);
}

static bool find_shifted(struct loop *p, const struct ir_insn *i, const struct op *o, uint32_t k, struct affine *x)
{
    struct emit *e = p->e;
    uint32_t by;
    if (!fn_constant_low(e->fn, i->b, &by) || by >= (i->lane == LANE_shl_b64 ? 64 : 32) ||
        !find_affine(p, i->a, o->a, k, x))
        return false;
    value amount = const_int(e, LLVMTypeOf(x->first), by);
    x->first = LLVMBuildShl(e->b, x->first, amount, "");
    x->step = LLVMBuildShl(e->b, x->step, amount, "");
    return true;
}

/* a * b, modulo 2^32; b does not change. */
static bool find_product(struct loop *p, const struct ir_insn *i, const struct op *o, uint32_t k, struct affine *x)
{
    if (!is_fixed_scalar(p, i->b) || !find_affine(p, i->a, o->a, k, x))
        return false;
    value b = read_fixed(p, i->b, o->b);
    x->first = LLVMBuildMul(p->e->b, x->first, b, "");
    x->step = LLVMBuildMul(p->e->b, x->step, b, "");
    return true;
}

static bool find_result(struct loop *p, uint32_t k, struct affine *x)
{
    const struct ir_insn *i = insn_at(emit_here(p->e), k);
    const struct op *o = op_at(emit_here(p->e), k);
    uint32_t factor;
    struct affine c;
    switch (i->lane) {
    case LANE_mov_b32:
    case LANE_mov_b64: return find_affine(p, i->a, o->a, k, x);
    case LANE_add_b32:
    case LANE_add_b64: return find_sum(p, i->a, o->a, i->b, o->b, k, false, x);
    case LANE_sub_b32:
    case LANE_sub_b64: return find_sum(p, i->a, o->a, i->b, o->b, k, true, x);
    case LANE_shl_b32:
    case LANE_shl_b64: return find_shifted(p, i, o, k, x);
    case LANE_mul_b32: return find_product(p, i, o, k, x);
    case LANE_mad_b32: return find_product(p, i, o, k, x) && find_affine(p, i->c, o->c, k, &c) && add(p, x, c, false);
    case LANE_mulwide_u32:
    case LANE_mulwide_s32:
        return fn_constant_low(p->e->fn, i->b, &factor) &&
               find_widened(p, i, o, k, i->lane == LANE_mulwide_s32, factor, x);
    case LANE_madwide_u32:
    case LANE_madwide_s32:
        return fn_constant_low(p->e->fn, i->b, &factor) &&
               find_widened(p, i, o, k, i->lane == LANE_madwide_s32, factor, x) && find_affine(p, i->c, o->c, k, &c) &&
               add(p, x, c, false);
    case LANE_resize_b64_u32:
    case LANE_cvt_u64_u32: return find_widened(p, i, o, k, false, 1, x);
    case LANE_resize_b64_s32:
    case LANE_cvt_s64_s32: return find_widened(p, i, o, k, true, 1, x);
    default: return false;
    }
}

/* r as instruction k reads it, in the first lane of the piece; false where that is not linear. */
static bool find_affine(struct loop *p, ir_ref r, row_ref row, uint32_t k, struct affine *x)
{
    struct emit *e = p->e;
    if (!r || fn_ref_shape(e->fn, r) == SHAPE_DIVERGENT ||
        (fn_ref_width(e->fn, r) != 32 && fn_ref_width(e->fn, r) != 64) || ++p->looked_at > MOST_LOOKS)
        return false;
    if (!is_written(p, r)) {
        x->first = read_fixed(p, r, row);
        x->step = LLVMConstNull(LLVMTypeOf(x->first));
        return true;
    }
    uint32_t at = cursor_find_writer(emit_here(p->e), r, k);
    return at == NO_WRITER ? find_carried(p, r, x)
                           : cursor_is_plain_writer(emit_here(p->e), at, r) && find_result(p, at, x);
}

/* ---- how many iterations ---- */

/* LLVM has them in the same order. */
static LLVMIntPredicate predicate(enum lane_is is)
{
    _Static_assert((int)LLVMIntSLE - LLVMIntEQ == IS_SLE - IS_EQ, "");
    return (LLVMIntPredicate)(is - IS_EQ + LLVMIntEQ);
}

/* Of rising x below y, in the order of `is`: iterations until it is so no more, and that it does not wrap before. */
static value count_rising(struct loop *p, value x, value y, value step, enum lane_is is)
{
    struct emit *e = p->e;
    bool equal = is == IS_ULE || is == IS_SLE;
    uint64_t largest = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(LLVMTypeOf(x)) + (is >= IS_SGT));
    LLVMTypeRef type = LLVMTypeOf(x);
    value one = const_int(e, type, 1), none = const_int(e, type, 0);
    step = LLVMBuildFreeze(e->b, step, "");
    require(p, LLVMBuildICmp(e->b, LLVMIntSGT, step, none, ""));
    step = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, step, none, ""), one, step, "");
    value room = LLVMBuildSub(e->b, const_int(e, type, largest), y, "");
    value needed = equal ? step : LLVMBuildSub(e->b, step, one, "");
    require(p, LLVMBuildICmp(e->b, LLVMIntUGE, room, needed, ""));
    value way = LLVMBuildSub(e->b, y, x, "");
    if (!equal)
        way = LLVMBuildSub(e->b, way, one, "");
    value n = LLVMBuildAdd(e->b, LLVMBuildUDiv(e->b, way, step, ""), one, "");
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, predicate(is), x, y, ""), n, none, "");
}

/* Falling x is rising -x - 1, in either order. */
static value count_ordered(struct loop *p, value x, value y, value step, enum lane_is is)
{
    struct emit *e = p->e;
    if (is == IS_ULT || is == IS_ULE || is == IS_SLT || is == IS_SLE)
        return count_rising(p, x, y, step, is);
    return count_rising(p, LLVMBuildNot(e->b, x, ""), LLVMBuildNot(e->b, y, ""), LLVMBuildNeg(e->b, step, ""),
                        lane_mirrored(is));
}

/* Until x is y: it must come there without going past. */
static value count_unequal(struct loop *p, value x, value y, value step)
{
    struct emit *e = p->e;
    LLVMTypeRef type = LLVMTypeOf(x);
    if (!LLVMIsConstant(step) || !LLVMConstIntGetSExtValue(step))
        return NULL;
    int64_t n = LLVMConstIntGetSExtValue(step);
    value way = n > 0 ? LLVMBuildSub(e->b, y, x, "") : LLVMBuildSub(e->b, x, y, "");
    value by = const_int(e, type, n > 0 ? (uint64_t)n : -(uint64_t)n);
    require(p, emit_is_zero(e, LLVMBuildURem(e->b, way, by, "")));
    return LLVMBuildUDiv(e->b, way, by, "");
}

/* p->iterations, from the branch at the end; false where nothing is known of it. */
static bool count_iterations(struct loop *p)
{
    struct emit *e = p->e;
    const struct ir_insn *branch = insn_at(emit_here(p->e), p->block->n - 1);
    uint32_t at = cursor_find_writer(emit_here(p->e), branch->guard, p->block->n - 1);
    if (at == NO_WRITER || !cursor_is_plain_writer(emit_here(p->e), at, branch->guard))
        return false;
    const struct ir_insn *i = insn_at(emit_here(p->e), at);
    const struct op *o = op_at(emit_here(p->e), at);
    enum lane_is is = ir_is(i);
    struct affine x, y;
    bool swapped = is_fixed_scalar(p, i->a);
    ir_ref counter = swapped ? i->b : i->a, bound = swapped ? i->a : i->b;
    if (is < IS_EQ || fn_ref_shape(e->fn, counter) != SHAPE_UNIFORM || fn_counts_a_remainder(e->fn, counter) ||
        !is_fixed_scalar(p, bound) || !find_affine(p, counter, swapped ? o->b : o->a, at, &x) ||
        !find_affine(p, bound, swapped ? o->a : o->b, at, &y))
        return false;
    bool goes_on = (op_at(emit_here(p->e), p->block->n - 1)->target == e->at) != branch->guard_negated;
    is = goes_on ? is : lane_inverse(is);
    is = swapped ? lane_mirrored(is) : is;
    if (is == IS_EQ)
        return false;
    value n = is == IS_NE ? count_unequal(p, x.first, y.first, x.step) : count_ordered(p, x.first, y.first, x.step, is);
    if (!n)
        return false;
    p->iterations = LLVMBuildIntCast2(e->b, n, e->i64, false, "");
    require(p, LLVMBuildICmp(e->b, LLVMIntULT, p->iterations, const_int(e, e->i64, 1ull << ITERATIONS_LOG2), ""));
    return true;
}

/* ---- accesses ---- */

/* Each iteration goes on by so little that no way wraps. */
static bool require_small_step(struct loop *p, value step)
{
    const int64_t most = 1ll << STEP_LOG2;
    if (LLVMIsConstant(step))
        return checked_is_within(checked(LLVMConstIntGetSExtValue(step)), -most, most);
    require_between(p, step, -most, most);
    return true;
}

/* The bytes of both ends of the way are inside, and so are those between (base/checked.h); they are aligned where each step is. */
static bool require_piece(struct loop *p, struct access *a, uint32_t k)
{
    struct emit *e = p->e;
    struct affine x;
    if (!find_affine(p, a->i->a, a->o->a, k, &x))
        return false;
    value more = const_int(e, LLVMTypeOf(x.first), (uint64_t)a->x->disp + (uint64_t)a->least);
    x.first = LLVMBuildAdd(e->b, x.first, more, "");
    if (LLVMTypeOf(x.first) == e->i32)
        widen(p, &x, REF_NONE, false);
    if (!require_small_step(p, x.step))
        return false;
    value ends[2] = {x.first, last_of(p, x)};
    for (unsigned n = 0; n < 2; n++) {
        a->first[p->piece] = ends[n];
        require(p, access_test_piece(e, a, p->piece, a->x->space));
    }
    require(p, emit_is_zero(e, LLVMBuildAnd(e->b, x.step, const_int(e, e->i64, a->all - 1), "")));
    return true;
}

/* Requires that the bytes of instruction k's access are inside; false where that cannot be said. A new cache has its
 * number. */
static bool require_access(struct loop *p, uint32_t k, struct access *a)
{
    struct emit *e = p->e;
    if (!access_begin_tested(emit_here(e), k, a))
        return false;
    p->n_widened = 0;
    p->all_pieces = a->pieces > 1;
    for (p->piece = 0; p->piece < a->pieces; p->piece++)
        if (!require_piece(p, a, k))
            return false;
    p->piece = 0;
    e->unchecked.covered[k] = true;
    for (uint32_t n = 0; n < p->n_widened; n++)
        e->unchecked.covered[p->widened[n]] = true;
    return true;
}

/* All accesses; those of global memory are noted for the engine's iterations. */
static bool require_accesses(struct loop *p)
{
    struct emit *e = p->e;
    uint32_t noted[p->block->n], n = 0;
    for (uint32_t k = 0; k + 1 < p->block->n; k++) {
        const struct ir_insn *i = insn_at(emit_here(p->e), k);
        struct access a;
        bool first_does = e->place && e->fn->plan.once[p->block->first + k];
        if ((i->kind != IR_LD && i->kind != IR_ST) || e->check_groups[k].first != k || first_does ||
            access_needs_no_test(emit_here(e), k))
            continue;
        if (!require_access(p, k, &a))
            return false;
        if (a.cache)
            noted[n++] = p->block->first + k;
    }
    e->unchecked.n = n;
    e->unchecked.accesses = n ? inline_cache_table(e, noted, n, p->block->first) : NULL;
    return n > 0 || e->place;
}

/* One block that goes back to itself, for all lanes or none; and has what it leaves in the shape that the code counts on,
 * whoever runs it. */
static bool is_loop(const struct emit *e, const struct ir_block *block)
{
    enum { LONGEST = 128 };
    if (block->n < 2 || block->n > LONGEST || e->fn->code->blocks[e->at].spins)
        return false;
    const struct ir_insn *branch = &e->fn->ir->insns.at[block->first + block->n - 1];
    const struct op *o = &e->fn->code->ops[e->fn->code->blocks[e->at].first + block->n - 1];
    if (branch->kind != IR_BRA || ir_ref_kind(branch->guard) != REF_REG || o->target == o->next ||
        (o->target != e->at && o->next != e->at) || fn_ref_shape(e->fn, branch->guard) == SHAPE_DIVERGENT)
        return false;
    for (uint32_t k = 0; k < block->n; k++)
        if (histogram_takes(&e->fn->code->ops[e->fn->code->blocks[e->at].first +
                                              k])) /* its cache may end what others say: exec/histogram.c */
            return false;
    const struct ir_live *live = &e->fn->shapes->live;
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(live->out + (size_t)e->at * live->words, n) && e->fn->shapes->assumed[live->regs[n]])
            return false;
    return true;
}

/* The number of iterations is one that is known when the test begins: of all, or, where that fails, of all but the last, in
 * which lanes that are not there may be outside. */
value loop_test(struct emit *e, const struct ir_block *block)
{
    memset(e->unchecked.covered, 0, block->n * sizeof e->unchecked.covered[0]);
    struct loop p = {.e = e, .block = block};
    if (!is_loop(e, block) || !count_iterations(&p))
        return NULL;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), test = emit_new_block(e, "test");
    LLVMBuildBr(e->b, test);
    emit_at_end(e, test);
    e->unchecked.all = p.iterations;
    e->unchecked.iterations = p.iterations = LLVMBuildPhi(e->b, e->i64, "iterations");
    LLVMAddIncoming(p.iterations, &e->unchecked.all, &from, 1);
    return require_accesses(&p) ? p.holds : NULL;
}

void loop_choose(struct emit *e, value holds, LLVMBasicBlockRef unchecked, LLVMBasicBlockRef other)
{
    struct unchecked *u = &e->unchecked;
    LLVMBasicBlockRef test = LLVMGetInsertBlock(e->b), yes = emit_new_block(e, ""), no = emit_new_block(e, "");
    emit_likely(e, holds, yes, no);
    emit_at_end(e, no);
    value fewer = LLVMBuildSub(e->b, u->all, const_int(e, e->i64, 1), "");
    value again = LLVMBuildAnd(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, u->iterations, u->all, ""),
                               LLVMBuildNot(e->b, emit_is_zero(e, u->all), ""), "");
    LLVMAddIncoming(u->iterations, &fewer, &no, 1);
    LLVMBuildCondBr(e->b, again, test, other);
    emit_at_end(e, yes);
    u->left = emit_alloca(e, e->i64);
    LLVMBuildStore(e->b, u->iterations, u->left);
    LLVMBuildBr(e->b, unchecked);
}

void loop_iteration_by_engine(struct emit *e, const struct ir_block *block)
{
    struct loop p = {.e = e, .block = block};
    const struct ir_live *live = &e->fn->shapes->live;
    value mask = emit_mask(e);
    exit_spill_set_cold(e, live_in(e->fn, e->at), mask);
    value args[6] = {
        e->w, e->a, const_int(e, e->i32, e->at), mask, e->unchecked.accesses, const_int(e, e->i32, e->unchecked.n)};
    value iteration = emit_load_field(e, e->ptr, e->calls, abi.compiled_calls_iteration, "");
    value ok = LLVMBuildCall2(e->b, e->types.iteration, iteration, args, 6, "");
    LLVMBasicBlockRef next = emit_new_block(e, "");
    emit_likely(e, ok, next, e->fault);
    emit_at_end(e, next);
    for (uint32_t n = 0; n < live->n; n++) {
        ir_ref r = ir_make_ref(REF_REG, live->regs[n]);
        bool wanted = ir_in_set(live->out + (size_t)e->at * live->words, n);
        if (wanted && is_written(&p, r))
            reg_reload(e, live->regs[n], mask);
    }
    reg_reload(e, ir_ref_index(insn_at(emit_here(e), block->n - 1)->guard), mask);
}
