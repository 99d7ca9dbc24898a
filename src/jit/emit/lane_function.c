/* Pure instructions: the lane functions of src/isa, compiled by the build to bitcode for each CPU
 * level (isa/lanes.c), and copied into the code instruction by instruction.
 *
 * A lane function reads and writes rows; in the copy its loads become the operands' values, and its
 * stores the results. This works for functions that the C compiler has vectorised, nearly all. The
 * few that go through memory (tables, divisions by the host) are called in the library, on rows on
 * the stack. For values that are equal in all lanes a second library has the functions for one
 * lane.
 */
#include "jit/analysis/lane_library.h"
#include "isa/lane_ids.h"
#include "jit/emit/emit.h"

#include <stdlib.h>

enum { N_PARAMS = 6, PARAM_D = 0, PARAM_E = 1, PARAM_A = 2, PARAM_IMM = 5 };

/* ---- copying ---- */

struct copy {
    struct emit *e;
    value param[N_PARAMS]; /* operands; d and e: values loaded from there */
    value result[2];       /* d, e: allocas */
    value *from, *to;      /* hash map from values to their copies */
    unsigned size;
    LLVMBasicBlockRef old_block[64], new_block[64];
    unsigned n_blocks;
    LLVMBasicBlockRef end;
};

static unsigned hash(const struct copy *c, value v)
{
    return (unsigned)((uintptr_t)v >> 4) * 2654435761u & (c->size - 1);
}

static void map(struct copy *c, value from, value to)
{
    unsigned h = hash(c, from);
    while (c->from[h])
        h = (h + 1) & (c->size - 1);
    c->from[h] = from;
    c->to[h] = to;
}

/* A table of the library's module. */
static value table_in(struct emit *e, value from)
{
    size_t n;
    const char *name = LLVMGetValueName2(from, &n);
    value table = LLVMGetNamedGlobal(e->m->module, name);
    if (table)
        return table;
    table = LLVMAddGlobal(e->m->module, LLVMGlobalGetValueType(from), name);
    LLVMSetInitializer(table, LLVMGetInitializer(from));
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetAlignment(table, LLVMGetAlignment(from));
    return table;
}

static value mapped(struct copy *c, value v)
{
    if (LLVMIsAArgument(v)) {
        value fn = LLVMGetParamParent(v);
        return LLVMGetParam(fn, PARAM_IMM) == v ? c->param[PARAM_IMM] : v;
    }
    if (LLVMIsAFunction(v)) { /* an intrinsic, declared in the library's module */
        size_t n;
        const char *name = LLVMGetValueName2(v, &n);
        value declared = LLVMGetNamedFunction(c->e->m->module, name);
        return declared ? declared : LLVMAddFunction(c->e->m->module, name, LLVMGlobalGetValueType(v));
    }
    if (LLVMIsAGlobalVariable(v))
        return table_in(c->e, v);
    if (!LLVMIsAInstruction(v))
        return v; /* constants are shared */
    unsigned h = hash(c, v);
    while (c->from[h] && c->from[h] != v)
        h = (h + 1) & (c->size - 1);
    return c->to[h];
}

static LLVMBasicBlockRef mapped_block(const struct copy *c, LLVMBasicBlockRef b)
{
    for (unsigned i = 0; i < c->n_blocks; i++)
        if (c->old_block[i] == b)
            return c->new_block[i];
    return c->end;
}

static unsigned param_of(value argument)
{
    value fn = LLVMGetParamParent(argument);
    unsigned k = 0;
    while (LLVMGetParam(fn, k) != argument)
        k++;
    return k;
}

static bool is_integer(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind;
}

/* Reinterprets the bits as another type; integers are truncated or zero-extended. */
static value adapt(struct emit *e, value v, LLVMTypeRef type)
{
    LLVMTypeRef now = LLVMTypeOf(v);
    if (now == type)
        return v;
    if (is_integer(now) && is_integer(type))
        return build_int_cast(e, v, type, false);
    return build_bit_cast(e, v, type);
}

static void copy_branch(struct copy *c, value i)
{
    LLVMBuilderRef b = c->e->m->b;
    if (!LLVMIsConditional(i)) {
        LLVMBuildBr(b, mapped_block(c, LLVMGetSuccessor(i, 0)));
        return;
    }
    LLVMBuildCondBr(b, mapped(c, LLVMGetCondition(i)), mapped_block(c, LLVMGetSuccessor(i, 0)),
                    mapped_block(c, LLVMGetSuccessor(i, 1)));
}

static void copy_insn(struct copy *c, value i)
{
    LLVMBuilderRef b = c->e->m->b;
    if (lane_insn_calls(i, "llvm.assume"))
        return;
    if (lane_insn_loads_row(i)) {
        map(c, i, adapt(c->e, c->param[param_of(LLVMGetOperand(i, 0))], LLVMTypeOf(i)));
        return;
    }
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: {
        value to = c->result[param_of(LLVMGetOperand(i, 1))];
        LLVMBuildStore(b, adapt(c->e, mapped(c, LLVMGetOperand(i, 0)), LLVMGetAllocatedType(to)), to);
        return;
    }
    case LLVMRet: LLVMBuildBr(b, c->end); return;
    case LLVMBr: copy_branch(c, i); return;
    case LLVMPHI: map(c, i, LLVMBuildPhi(b, LLVMTypeOf(i), "")); return;
    default: break;
    }
    value n = LLVMInstructionClone(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        LLVMSetOperand(n, (unsigned)k, mapped(c, LLVMGetOperand(i, (unsigned)k)));
    LLVMInsertIntoBuilder(b, n);
    map(c, i, n);
}

static void fill_phis(struct copy *c, value fn)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (value i = LLVMGetFirstInstruction(b); i && LLVMGetInstructionOpcode(i) == LLVMPHI;
             i = LLVMGetNextInstruction(i))
            for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
                value v = mapped(c, LLVMGetIncomingValue(i, k));
                LLVMBasicBlockRef from = mapped_block(c, LLVMGetIncomingBlock(i, k));
                LLVMAddIncoming(mapped(c, i), &v, &from, 1);
            }
}

/* Copies the body of a lane function to the builder's position; false if it has too many blocks. */
static bool copy_function(struct copy *c, value fn)
{
    struct emit *e = c->e;
    LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(fn);
    unsigned n = 64;
    for (LLVMBasicBlockRef b = first; b; b = LLVMGetNextBasicBlock(b)) {
        if (c->n_blocks == 64)
            return false;
        c->old_block[c->n_blocks++] = b;
        for (value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    }
    for (c->size = 64; c->size < 2 * n;)
        c->size *= 2;
    c->from = calloc(c->size, sizeof *c->from);
    c->to = calloc(c->size, sizeof *c->to);
    c->new_block[0] = LLVMGetInsertBlock(e->m->b);
    for (unsigned i = 1; i < c->n_blocks; i++)
        c->new_block[i] = emit_new_block(e, "");
    c->end = emit_new_block(e, "");
    for (unsigned i = 0; i < c->n_blocks; i++) {
        emit_at_end(e, c->new_block[i]);
        for (value v = LLVMGetFirstInstruction(c->old_block[i]); v; v = LLVMGetNextInstruction(v))
            copy_insn(c, v);
    }
    fill_phis(c, fn);
    free(c->from);
    free(c->to);
    emit_at_end(e, c->end);
    return true;
}

/* ---- instructions ---- */

struct operands {
    ir_ref ref[N_PARAMS]; /* for d, e, a, b, c */
    uint64_t imm;
    bool reads_e, writes_e, uniform;
};

static void find_operands(struct emit *e, const struct ir_insn *i, struct operands *x)
{
    const struct lane_info *info = lane_info(i->lane);
    *x = (struct operands){.ref = {i->d, i->e, i->a, i->b, i->c, REF_NONE}, .imm = i->imm};
    x->reads_e = info->e & (CARRY_IN | CARRY_FOURTH);
    x->writes_e = info->e & CARRY_OUT;
    x->uniform = true;
    for (unsigned k = x->reads_e ? PARAM_E : PARAM_A; k < PARAM_IMM; k++)
        if (x->ref[k])
            x->uniform &= fn_ref_shape(e->fn, x->ref[k]) == SHAPE_UNIFORM;
}

/* The target of a copy: all lanes, or the first lane of a piece. */
struct copy_for {
    bool single;
    unsigned piece;
    value a; /* replaces the instruction's first operand, or NULL */
};
static const struct copy_for all_lanes = {.single = false};

static struct copy_for piece_alone(unsigned piece)
{
    return (struct copy_for){.single = true, .piece = piece};
}

/* Copies a lane function; its results go to allocas. */
static bool copy_one(struct emit *e, uint16_t lane, const struct operands *x, struct copy_for what,
                     const value result[2])
{
    value fn = lane_library_find(e->fn->lanes, what.single, lane);
    if (!fn)
        return false;
    struct copy c = {.e = e, .result = {result[0], result[1]}};
    for (unsigned k = x->reads_e ? PARAM_E : PARAM_A; k < PARAM_IMM; k++)
        if (x->ref[k])
            c.param[k] = what.a && k == PARAM_A ? what.a
                         : what.single          ? reg_read_piece(e, x->ref[k], what.piece)
                                                : reg_read_lanes(e, x->ref[k]);
    c.param[PARAM_IMM] = const_i64(e, x->imm);
    return copy_function(&c, fn);
}

static bool emit_copy(struct emit *e, const struct ir_insn *i, const struct operands *x, struct copy_for what,
                      value out[2])
{
    value result[2] = {NULL, NULL};
    for (unsigned k = 0; k < (x->writes_e ? 2u : 1u); k++) {
        unsigned width = fn_ref_width(e->fn, x->ref[k]);
        result[k] = emit_alloca(e, what.single ? type_of_width(e, width) : vector_of_width(e, width));
    }
    if (!copy_one(e, i->lane, x, what, result))
        return false;
    for (unsigned k = 0; k < (x->writes_e ? 2u : 1u); k++)
        out[k] = emit_kept(e, result[k]);
    return true;
}

value emit_lane_function(struct emit *e, uint16_t lane, unsigned width, value a, value b, value c)
{
    value zero = const_i64(e, 0), fn = lane_library_find(e->fn->lanes, 1, lane);
    struct copy copy = {.e = e, .param = {[PARAM_A] = a, [PARAM_A + 1] = b, [PARAM_A + 2] = c, [PARAM_IMM] = zero}};
    copy.result[0] = emit_alloca(e, type_of_width(e, width));
    return fn && copy_function(&copy, fn) ? build_load(e, type_of_width(e, width), copy.result[0]) : NULL;
}

/* Calls the library's function on rows on the stack. */
static void emit_call(struct emit *e, const struct ir_insn *i, const struct operands *x, value out[2])
{
    LLVMTypeRef params[N_PARAMS] = {e->m->ptr, e->m->ptr, e->m->ptr, e->m->ptr, e->m->ptr, e->m->i64};
    LLVMTypeRef type = LLVMFunctionType(e->m->void_type, params, N_PARAMS, false);
    value args[N_PARAMS];
    for (unsigned k = 0; k < PARAM_IMM; k++)
        args[k] = e->f->scratch[k];
    args[PARAM_IMM] = const_i64(e, i->imm);
    for (unsigned k = x->reads_e ? PARAM_E : PARAM_A; k < PARAM_IMM; k++)
        if (x->ref[k])
            build_store(e, reg_read_lanes(e, x->ref[k]), e->f->scratch[k]);
    value fn = emit_load_field(e, e->m->ptr, emit_op_pointer(e, i), abi.op_fn);
    emit_mark_invariant(e, fn);
    LLVMBuildCall2(e->m->b, type, fn, args, N_PARAMS, "");
    for (unsigned k = 0; k < (x->writes_e ? 2u : 1u); k++)
        out[k] = build_load(e, vector_of_width(e, fn_ref_width(e->fn, x->ref[k])), e->f->scratch[k]);
}

static value lane_of(struct emit *e, value lanes, unsigned width, unsigned lane)
{
    return width == 1 ? build_trunc(e, lanes, e->m->i1) : build_extract(e, lanes, const_i32(e, lane));
}

/* A register that is not divergent is written under a guard that is equal in all lanes. */
static void write_one(struct emit *e, const struct ir_insn *i, ir_ref d, value scalar, unsigned piece)
{
    if (i->guard) {
        value g = reg_read_scalar(e, i->guard);
        value old = reg_read_piece(e, d, piece);
        scalar = i->guard_negated ? build_select(e, g, old, scalar) : build_select(e, g, scalar, old);
    }
    reg_write_piece(e, d, scalar, piece);
}

/* For a result that is not divergent: computes its pieces' values from those of the operands. */
static void emit_pieces(struct emit *e, const struct ir_insn *i, const struct operands *x)
{
    unsigned n = fn_pieces(e->fn, fn_ref_shape(e->fn, i->d));
    value out[MAX_PIECES][2], all[2] = {NULL, NULL};
    for (unsigned p = 0; p < n && !all[0]; p++)
        if (!emit_copy(e, i, x, piece_alone(p), out[p]) && !emit_copy(e, i, x, all_lanes, all))
            emit_call(e, i, x, all);
    for (unsigned k = 0; k < (x->writes_e ? 2u : 1u); k++) {
        ir_ref d = x->ref[k];
        if (fn_ref_shape(e->fn, d) == SHAPE_DIVERGENT) {
            value lanes = all[0]                        ? all[k]
                          : fn_ref_width(e->fn, d) == 1 ? build_sext(e, out[0][k], e->m->i32)
                                                        : emit_splat(e, out[0][k]);
            reg_write_lanes(e, d, lanes, i->guard ? emit_guarded_mask(e, i) : NULL);
            continue;
        }
        for (unsigned p = 0; p < n; p++) {
            value v = all[0] ? lane_of(e, all[k], fn_ref_width(e->fn, d), fn_piece_lane(e->fn, p)) : out[p][k];
            write_one(e, i, d, v, p);
        }
    }
}

/* For a widened index: does nothing wrap between the lanes of a piece? If something does, the
 * interpreter continues. */
static void test_piece(struct emit *e, ir_ref r, unsigned piece, bool is_signed)
{
    const int64_t *at = e->fn->shapes->lane_offsets.at[fn_ref_shape(e->fn, r)].at;
    unsigned n = fn_pieces(e->fn, fn_ref_shape(e->fn, r)), from = fn_piece_lane(e->fn, piece);
    int64_t least = at[from], most = at[from];
    for (unsigned l = from; l < from + WARP_LANES / n; l++) {
        least = at[l] < least ? at[l] : least;
        most = at[l] > most ? at[l] : most;
    }
    value first = build_add(e, reg_read_piece(e, r, piece), const_i32(e, (uint64_t)least));
    const char *name = is_signed ? "llvm.sadd.with.overflow" : "llvm.uadd.with.overflow";
    value sum = emit_intrinsic(e, name, first, const_i32(e, (uint64_t)(most - least)));
    LLVMBasicBlockRef fits = emit_rarely(e, build_not(e, build_extract_value(e, sum, 1)));
    exit_emit_at(e, e->here->index);
    emit_at_end(e, fits);
}

static void test_assumption(struct emit *e, const struct ir_insn *i)
{
    bool is_signed = e->fn->shapes->assumptions[i - e->fn->ir->insns.at] == NO_WRAP_SIGNED;
    bool first = fn_ref_shape(e->fn, i->a) != SHAPE_UNIFORM; /* the other is a constant */
    ir_ref r = first ? i->a : i->b;
    for (unsigned p = 0; p < fn_pieces(e->fn, fn_ref_shape(e->fn, r)); p++)
        test_piece(e, r, p, is_signed);
}

/* Functions that have a simple form for a range of inputs: the range test, and the simple form. For
 * a quotient, the divisor is tested, and the simple form multiplies by its reciprocal. */
static const struct plain {
    uint16_t lane, holds, plain, product;
} plains[] = {
    {LANE_div_approx_f32, LANE_rcp_is_plain, LANE_rcp_plain, LANE_mul_f32_rn},
    {LANE_div_approx_f32_ftz, LANE_rcp_is_plain, LANE_rcp_plain, LANE_mul_f32_rn_ftz},
    {LANE_div_full_f32, LANE_rcp_is_plain, LANE_rcp_plain, LANE_mul_f32_rn},
    {LANE_div_full_f32_ftz, LANE_rcp_is_plain, LANE_rcp_plain, LANE_mul_f32_rn_ftz},
    {LANE_rcp_approx_f32, LANE_rcp_is_plain, LANE_rcp_plain, 0},
    {LANE_rcp_approx_f32_ftz, LANE_rcp_is_plain, LANE_rcp_plain, 0},
    {LANE_sqrt_approx_f32, LANE_sqrt_is_plain, LANE_sqrt_plain, 0},
    {LANE_sqrt_approx_f32_ftz, LANE_sqrt_is_plain, LANE_sqrt_plain, 0},
    {LANE_rsqrt_approx_f32, LANE_sqrt_is_plain, LANE_rsqrt_plain, 0},
    {LANE_rsqrt_approx_f32_ftz, LANE_sqrt_is_plain, LANE_rsqrt_plain, 0},
    {LANE_ex2_approx_f32, LANE_ex2_is_plain, LANE_ex2_plain, 0},
    {LANE_ex2_approx_f32_ftz, LANE_ex2_is_plain, LANE_ex2_plain, 0},
    {LANE_lg2_approx_f32, LANE_sqrt_is_plain, LANE_lg2_plain, 0},
    {LANE_lg2_approx_f32_ftz, LANE_sqrt_is_plain, LANE_lg2_plain, 0},
    {LANE_sin_approx_f32, LANE_sincos_is_plain, LANE_sin_plain, 0},
    {LANE_cos_approx_f32, LANE_sincos_is_plain, LANE_cos_plain, 0},
};

static const struct plain *find_plain(const struct emit *e, uint16_t lane)
{
    for (size_t k = 0; k < sizeof plains / sizeof plains[0]; k++)
        if (plains[k].lane == lane && lane_library_find(e->fn->lanes, false, plains[k].plain) &&
            lane_library_find(e->fn->lanes, false, plains[k].holds) &&
            (!plains[k].product || lane_library_find(e->fn->lanes, false, plains[k].product)))
            return &plains[k];
    return NULL;
}

/* Reads an operand whose NaN may be any NaN: nan.c. */
static value read_any_nan(struct emit *e, ir_ref operand)
{
    LLVMTypeRef floats = vector_of(LLVMFloatTypeInContext(e->m->context), WARP_LANES);
    value v = reg_read_lanes(e, operand);
    return LLVMBuildFreeze(e->m->b, adapt(e, v, floats), "");
}

/* Multiplies the first operand by `result`, and replaces that. */
static void multiply(struct emit *e, uint16_t product, const struct operands *x, LLVMTypeRef type, value result)
{
    struct copy c = {.e = e, .result = {result}};
    c.param[PARAM_A] = reg_read_lanes(e, x->ref[PARAM_A]);
    c.param[PARAM_A + 1] = build_load(e, type, result);
    c.param[PARAM_IMM] = const_i64(e, 0);
    copy_function(&c, lane_library_find(e->fn->lanes, false, product));
}

/* Copies the simple function if the range test holds; else calls the full one. */
static bool emit_plain(struct emit *e, const struct ir_insn *i, const struct operands *x, value out[2])
{
    const struct plain *p = find_plain(e, i->lane);
    if (!p)
        return false;
    LLVMBasicBlockRef simple = emit_new_block(e, ""), other = emit_new_block(e, ""), done = emit_new_block(e, "");
    LLVMTypeRef type = vector_of_width(e, 32);
    value result = emit_alloca(e, type), holds = emit_alloca(e, e->m->i32);
    const struct copy_for any_nan = {/* The range excludes NaNs. */
                                     .a = read_any_nan(e, x->ref[p->product ? PARAM_A + 1 : PARAM_A])};
    copy_one(e, p->holds, x, any_nan, (value[2]){holds});
    value without = build_and(e, build_not(e, emit_load_i32(e, holds)), emit_mask(e));
    emit_likely(e, emit_is_zero(e, without), simple, other);
    emit_at_end(e, simple);
    copy_one(e, p->plain, x, any_nan, (value[2]){result});
    if (p->product)
        multiply(e, p->product, x, type, result);
    build_br(e, done);
    emit_at_end(e, other);
    emit_call(e, i, x, out);
    build_store(e, out[0], result);
    emit_go_on(e, done);
    out[0] = build_load(e, type, result);
    return true;
}

/* Does the value increase by one from lane to lane, as a signed or an unsigned number? */
static bool counts_lanes(const struct emit *e, ir_ref r)
{
    uint16_t shape = r ? fn_ref_shape(e->fn, r) : SHAPE_DIVERGENT;
    struct ir_range range = ir_range_of(e->fn->ir, e->fn->shapes, r);
    if (shape == SHAPE_DIVERGENT || ir_is_piecewise(e->fn->shapes, shape) || range.lo > range.hi || range.lo < 0)
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (e->fn->shapes->lane_offsets.at[shape].at[l] != l)
            return false;
    return true;
}

/* A mask of the first lanes: as many as `limit` exceeds lane 0's number by; 64 bits prevent
   wrapping. */
static value first_lanes(struct emit *e, value number, value limit, bool is_signed, bool one_more)
{
    value over =
        build_sub(e, build_int_cast(e, limit, e->m->i64, is_signed), build_int_cast(e, number, e->m->i64, is_signed));
    over = build_add(e, over, const_i64(e, one_more));
    over = emit_intrinsic(e, "llvm.smax", over, const_i64(e, 0));
    over = emit_intrinsic(e, "llvm.smin", over, const_i64(e, WARP_LANES));
    value behind = build_shl(e, LLVMConstInt(e->m->i64, ~0ull, true), over);
    return build_not(e, build_trunc(e, behind, e->m->i32));
}

/* A comparison of a number that counts lanes with a scalar: holds for the first lanes, or for all
 * others. */
static bool emit_comparison(struct emit *e, const struct ir_insn *i, value out[2])
{
    enum lane_is is = ir_is(i);
    if (is < IS_UGT || fn_ref_width(e->fn, i->a) != 32)
        return false;
    bool counts_first = counts_lanes(e, i->a) && fn_ref_shape(e->fn, i->b) == SHAPE_UNIFORM;
    if (!counts_first && (!counts_lanes(e, i->b) || fn_ref_shape(e->fn, i->a) != SHAPE_UNIFORM))
        return false;
    /* The comparison with the counting number on the left. */
    is = counts_first ? is : lane_mirrored(is);
    bool less = is == IS_ULT || is == IS_ULE || is == IS_SLT || is == IS_SLE;
    /* Are lanes with equal values among the first? */
    bool one_more = is == IS_ULE || is == IS_SLE || is == IS_UGT || is == IS_SGT;
    value a = reg_read_scalar(e, i->a), b = reg_read_scalar(e, i->b);
    value first = first_lanes(e, counts_first ? a : b, counts_first ? b : a, is >= IS_SGT, one_more);
    out[0] = less ? first : build_not(e, first);
    return true;
}

void emit_lanes(struct emit *e, const struct ir_insn *i)
{
    struct operands x;
    value out[2] = {NULL, NULL};
    find_operands(e, i, &x);
    if (fn_ref_shape(e->fn, i->d) != SHAPE_DIVERGENT) {
        if (e->fn->shapes->assumptions[i - e->fn->ir->insns.at] && !access_is_unchecked(e))
            test_assumption(e, i);
        if (fn_is_grid_uniform(e->fn, i->d))
            reg_write_scalar(e, i->d, reg_read_scalar(e, i->d));
        else
            emit_pieces(e, i, &x);
        return;
    }
    bool scalar = x.uniform && emit_copy(e, i, &x, piece_alone(0), out);
    if (!scalar && !emit_comparison(e, i, out) && !emit_plain(e, i, &x, out) && !emit_copy(e, i, &x, all_lanes, out))
        emit_call(e, i, &x, out);
    value mask = i->guard ? emit_guarded_mask(e, i) : NULL;
    for (unsigned k = 0; k < (x.writes_e ? 2u : 1u); k++) {
        ir_ref d = x.ref[k];
        unsigned width = fn_ref_width(e->fn, d);
        if (scalar)
            out[k] = width == 1 ? build_sext(e, out[k], e->m->i32) : emit_splat(e, out[k]);
        if (fn_ref_shape(e->fn, d) == SHAPE_DIVERGENT)
            reg_write_lanes(e, d, out[k], mask);
        else
            write_one(e, i, d, lane_of(e, out[k], width, 0), 0);
    }
}
