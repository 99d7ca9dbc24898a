/* Loads and stores; see emit.h.
 *
 * An access has a fast way, taken where one test shows that the bytes of all lanes lie in one place (the block's shared
 * memory, the thread's local memory, the allocation that this access was in before) and are aligned; else the engine
 * does it (exec/access.c), which also finds the fault. How the fast way loads and stores follows from the shape of the
 * address: one scalar, whole vectors and shuffles where lanes have a pattern, rows of 16 lanes or gathers where they
 * vary.
 */
#include "base/checked.h"
#include "exec/shuffle.h"
#include "jit/access.h"

#include <stddef.h>

/* ---- the engine's way ---- */

static void spill_register(struct emit *e, ir_ref r)
{
    if (ir_ref_kind(r) == REF_REG)
        spill(e, ir_ref_index(r), NULL);
}

static void spill_operands(struct emit *e, const struct ir_insn *i)
{
    bool access = i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM;
    spill_register(e, i->a);
    spill_register(e, i->b);
    spill_register(e, i->c);
    spill_register(e, i->f);
    for (unsigned k = 0; access && k < 8; k++) {
        spill_register(e, i->access->operands[k]);
        if (i->kind == IR_ST)
            spill_register(e, i->access->regs[k]);
    }
}

static void take_result(struct emit *e, const struct ir_insn *i, ir_ref r, value mask)
{
    if (ir_ref_kind(r) != REF_REG)
        return;
    unsigned width = ref_width(e, r);
    value at = slot_pointer(e, r);
    if (ref_shape(e, r) == SHAPE_VARYING) {
        value v = LLVMBuildLoad2(e->b, vector_of_width(e, width), at, "");
        LLVMSetAlignment(v, width == 1 ? 4 : 64);
        write_lanes(e, r, v, i->guard ? mask : NULL);
        return;
    }
    reload(e, ir_ref_index(r), mask);
}

static void take_results(struct emit *e, const struct ir_insn *i, value mask)
{
    take_result(e, i, i->d, mask);
    if (i->kind != IR_LANES)
        take_result(e, i, i->e, mask);
    for (unsigned k = 0; k < 8 && (i->kind == IR_LD || i->kind == IR_ATOM); k++)
        take_result(e, i, i->access->regs[k], mask);
}

/* Where no lane's guard holds, nothing is to be done: goes on in a new block where some does; returns the block after
 * it, to be gone to, or NULL without a guard. */
LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask)
{
    if (!i->guard)
        return NULL;
    LLVMBasicBlockRef some = emit_new_block(e, ""), done = emit_new_block(e, "");
    value none = LLVMBuildICmp(e->b, LLVMIntEQ, mask, const_int(e, e->i32, 0), "");
    LLVMBuildCondBr(e->b, none, done, some);
    emit_at_end(e, some);
    return done;
}

void emit_by_engine(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (e->gang)
        gang_changes(e);
    value mask = emit_guarded_mask(e, i);
    LLVMBasicBlockRef done = access_skip_if_none(e, i, mask);
    fence_before_load(e);
    fence_note_store(e);
    spill_operands(e, i);
    emit_call_op(e, o, mask);
    take_results(e, i, mask);
    if (done) {
        LLVMBuildBr(e->b, done);
        emit_at_end(e, done);
    }
}

uint32_t find_writer(const struct emit *e, ir_ref r, uint32_t k)
{
    while (k-- > 0)
        if (ir_defines(insn_at(e, k), r))
            return k;
    return NO_WRITER;
}

bool is_plain_writer(const struct emit *e, uint32_t k, ir_ref r)
{
    const struct ir_insn *i = insn_at(e, k);
    return i->kind == IR_LANES && !i->guard && i->d == r;
}

bool access_number(const struct emit *e, ir_ref r, int64_t *v)
{
    uint32_t index = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG) {
        *v = e->shapes->ranges[index].lo;
        return e->shapes->ranges[index].lo == e->shapes->ranges[index].hi;
    }
    if (ir_ref_kind(r) != REF_CONST || e->ir->consts.at[index].base != BASE_NONE)
        return false;
    uint64_t lo = e->ir->consts.at[index].lo;
    *v = e->ir->consts.at[index].width == 32 ? (int32_t)lo : (int64_t)lo;
    return true;
}

bool access_constant(const struct emit *e, ir_ref r, uint32_t *v)
{
    int64_t number;
    bool known = access_number(e, r, &number);
    if (known)
        *v = (uint32_t)number;
    return known;
}

bool is_plain_shuffle(struct emit *e, const struct ir_insn *i)
{
    uint32_t b, c, membermask = UINT32_MAX;
    return i->kind == IR_SHFL && !i->guard && access_constant(e, i->b, &b) && access_constant(e, i->c, &c) &&
           (!i->f || access_constant(e, i->f, &membermask)) && membermask == UINT32_MAX && ref_width(e, i->a) == 32;
}

/* A shuffle of all 32 lanes between known lanes. */
static bool emit_shuffle(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    uint32_t b, c, p = 0;
    value index[WARP_LANES];
    if (!emit_is_full(e) || !is_plain_shuffle(e, i) || !access_constant(e, i->b, &b) || !access_constant(e, i->c, &c))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        bool in_range;
        index[l] = const_int(e, e->i32, shuffle_source((enum collective)o->mode, l, b, c, &in_range));
        p |= (uint32_t)in_range << l;
    }
    value v = read_lanes(e, i->a, o->a);
    v = LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, WARP_LANES), "");
    if (i->d)
        write_lanes(e, i->d, v, NULL);
    if (i->e)
        write_lanes(e, i->e, const_int(e, e->i32, p), NULL);
    return true;
}

bool emit_collective(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (i->guard)
        return false;
    if (emit_shuffle(e, i, o))
        return true;
    value mask = emit_mask(e);
    spill_operands(e, i);
    value args[4] = {e->w, e->a, emit_op_pointer(e, o), mask};
    value call = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, meet), "");
    value met = LLVMBuildCall2(e->b, e->op_type, call, args, 4, "");
    LLVMBasicBlockRef on = emit_new_block(e, ""), out = emit_new_block(e, "");
    emit_likely(e, met, on, out);
    emit_at_end(e, out);
    emit_leave_at(e, e->index);
    emit_at_end(e, on);
    take_results(e, i, mask);
    return true;
}

/* The slow way of an access that has a fast one. */
void access_by_engine(struct emit *e, const struct access *a)
{
    if (e->gang && !e->within)
        gang_access(e, a);
    else
        access_call_engine(e, a);
}

void access_call_engine(struct emit *e, const struct access *a)
{
    fence_before_load(e);
    fence_note_store(e);
    spill_operands(e, a->i);
    if (a->site) {
        value args[6] = {e->w, e->a, emit_op_pointer(e, a->o), a->mask, a->site, LLVMGetUndef(e->i64)};
        value call = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, access), "");
        value ok = LLVMBuildCall2(e->b, e->access_type, call, args, 6, "");
        site_note_call(e, a->i, ok);
        LLVMBasicBlockRef next = emit_new_block(e, "");
        emit_likely(e, ok, next, e->fault);
        emit_at_end(e, next);
    } else {
        emit_call_op(e, a->o, a->mask);
    }
    take_results(e, a->i, a->mask);
}

/* ---- addresses ---- */

value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type)
{
    if (!a->i->access->disp_const)
        return const_int(e, type, (uint64_t)a->x->disp);
    value x = load_field(e, e->ptr, emit_op_pointer(e, a->o), offsetof(struct op, access), "");
    mark_invariant(e, x);
    value v = load_field(e, e->i64, x, offsetof(struct op_access, disp), "");
    mark_invariant(e, v);
    return LLVMBuildIntCast2(e->b, v, type, false, "");
}

/* The address of a part's first lane, plus `more`. */
static value scalar_address(struct emit *e, const struct access *a, unsigned part, int64_t more)
{
    ir_ref r = a->i->a;
    LLVMTypeRef type = r && ref_width(e, r) == 32 ? e->i32 : e->i64;
    value v = LLVMBuildAdd(e->b, access_displacement(e, a, type), const_int(e, type, (uint64_t)more), "");
    if (r)
        v = LLVMBuildAdd(e->b, read_part(e, r, a->o->a, part), v, "");
    else if (a->x->frame)
        v = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, e->frame, e->i64, ""), v, "");
    return LLVMBuildIntCast2(e->b, v, e->i64, false, "");
}

/* Offsets of the lanes' bytes from the least address, and how far that is from lane 0's. A pattern is what lanes have over lane 0
 * modulo 2^64, as a signed number, so two of them may be up to 2^64 apart. */
void access_find_offsets(struct emit *e, struct access *a)
{
    const int64_t *p = e->shapes->patterns.at[a->shape].at;
    int64_t least = 0, most = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        least = p[l] < least ? p[l] : least;
        most = p[l] > most ? p[l] : most;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        a->offset[l] = (int64_t)((uint64_t)p[l] - (uint64_t)least);
    struct checked span = checked_sub(checked(most), checked(least));
    a->least = least;
    a->span = span.lost ? INT64_MAX : span.v;
    a->parts = parts_of(e, a->shape);
}

void access_find_first(struct emit *e, struct access *a)
{
    access_find_offsets(e, a);
    for (unsigned p = 0; p < a->parts; p++)
        a->first[p] = scalar_address(e, a, p, a->least);
}

bool access_is_aligned(const struct access *a)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (a->offset[l] % a->all)
            return false;
    return a->span < LANES_SPAN;
}

/* Rotated, an address that is not aligned is too large to be inside. */
static value rotate(struct emit *e, const struct access *a, value v)
{
    if (a->log2 == 0)
        return v;
    LLVMTypeRef type = LLVMTypeOf(v);
    value by = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                   ? splat(e, const_int(e, LLVMGetElementType(type), a->log2), WARP_LANES)
                   : const_int(e, type, a->log2);
    value args[3] = {v, v, by};
    return intrinsic(e, "llvm.fshr", &type, 1, args, 3);
}

/* How many places of `all` bytes there are for the first lane in `bytes` bytes, a number of 32 bits, as the span has to be. */
static value places(struct emit *e, const struct access *a, value bytes)
{
    LLVMTypeRef type = LLVMTypeOf(bytes);
    if (!checked_is_within(checked(a->span), 0, INT32_MAX))
        return LLVMConstNull(type);
    value args[2] = {bytes, const_int(e, type, (uint64_t)a->span)};
    return LLVMBuildLShr(e->b, intrinsic(e, "llvm.usub.sat", &type, 1, args, 2), const_int(e, type, a->log2), "");
}

static value site_field(struct emit *e, const struct access *a, uint64_t offset)
{
    return load_field(e, e->i64, a->site, offset, "");
}

value access_find_place(struct emit *e, const struct access *a, value address, value lo)
{
    return rotate(e, a, LLVMBuildSub(e->b, address, lo, ""));
}

value access_test_part(struct emit *e, struct access *a, unsigned part, enum ptx_space space)
{
    value limit, off = a->first[part];
    if (a->before) /* less than GROUP_SPAN; a first byte before 0 is far outside, as a number without a sign */
        off = LLVMBuildSub(e->b, off, const_int(e, e->i64, (uint64_t)a->before), "");
    if (space == SPACE_SHARED) {
        limit = LLVMBuildZExt(e->b, places(e, a, e->shared_bytes), e->i64, "");
    } else if (space == SPACE_LOCAL) {
        limit = LLVMBuildZExt(e->b, places(e, a, e->local_bytes), e->i64, "");
    } else {
        if (!a->site)
            access_find_site(e, a);
        off = LLVMBuildSub(e->b, off, site_field(e, a, offsetof(struct compiled_site, lo)), "");
        limit = site_field(e, a, offsetof(struct compiled_site, n));
    }
    return LLVMBuildICmp(e->b, LLVMIntULT, rotate(e, a, off), limit, "");
}

value access_test_place(struct emit *e, struct access *a, value address, value *place, value *places)
{
    access_find_site(e, a);
    value off = LLVMBuildSub(e->b, address, site_field(e, a, offsetof(struct compiled_site, lo)), "");
    *place = rotate(e, a, off);
    *places = site_field(e, a, offsetof(struct compiled_site, n));
    return LLVMBuildICmp(e->b, LLVMIntULT, *place, *places, "");
}

/* One address, or a pattern: goes to one of two blocks. */
void access_branch_on_first(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef inside,
                            LLVMBasicBlockRef outside)
{
    for (unsigned p = 0; p < a->parts; p++) {
        LLVMBasicBlockRef on = p + 1 < a->parts ? emit_new_block(e, "") : inside;
        emit_likely(e, access_test_part(e, a, p, space), on, outside);
        emit_at_end(e, on);
    }
}

void access_set_pointers(struct emit *e, struct access *a, enum ptx_space space)
{
    for (unsigned p = 0; p < a->parts; p++)
        a->pointer[p] = space == SPACE_SHARED ? LLVMBuildInBoundsGEP2(e->b, e->i8, e->shared, &a->first[p], 1, "")
                                              : LLVMBuildIntToPtr(e->b, a->first[p], e->ptr, "");
}

/* Are those of all active lanes inside? */
static value test_lanes(struct emit *e, struct access *a, enum ptx_space space)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(a->lanes));
    value off, limit;
    if (space == SPACE_SHARED) {
        off = a->lanes;
        limit = LLVMBuildIntCast2(e->b, places(e, a, e->shared_bytes), type, false, "");
    } else {
        a->lanes = LLVMBuildIntCast2(e->b, a->lanes, vector_of(e->i64, WARP_LANES), false, "");
        access_find_site(e, a);
        value lo = site_field(e, a, offsetof(struct compiled_site, lo));
        off = LLVMBuildSub(e->b, a->lanes, splat(e, lo, WARP_LANES), "");
        limit = site_field(e, a, offsetof(struct compiled_site, n));
    }
    value in = LLVMBuildICmp(e->b, LLVMIntULT, rotate(e, a, off), splat(e, limit, WARP_LANES), "");
    value out = LLVMBuildAnd(e->b, LLVMBuildNot(e->b, lanes_to_mask(e, in), ""), a->mask, "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, out, const_int(e, e->i32, 0), "");
}

/* Addresses that vary, in a->lanes: goes on where those of all active lanes are inside, else to another block. */
void access_branch_on_lanes(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef outside)
{
    LLVMTypeRef type = ref_width(e, a->i->a) == 32 ? e->i32 : e->i64;
    value disp = splat(e, access_displacement(e, a, type), WARP_LANES);
    a->lanes = LLVMBuildAdd(e->b, read_lanes(e, a->i->a, a->o->a), disp, "");
    if (access_is_inside(e, a))
        return;
    LLVMBasicBlockRef inside = emit_new_block(e, "");
    emit_likely(e, test_lanes(e, a, space), inside, outside);
    emit_at_end(e, inside);
}

/* ---- which way ---- */

bool access_is_simple(const struct emit *e, const struct ir_insn *i, const struct op_access *x)
{
    bool known = x->space == SPACE_GLOBAL || x->space == SPACE_CONST || x->space == SPACE_GENERIC ||
                 x->space == SPACE_SHARED || x->space == SPACE_LOCAL;
    for (unsigned k = 0; k < x->n; k++)
        if (i->kind == IR_LD && ir_ref_kind(i->access->regs[k]) != REF_REG)
            return false;
    if (access_is_whole(x) && (unsigned)x->bytes * x->n > e->whole_bytes)
        return false;
    return known && x->order != ORDER_SC && x->bytes <= 8 && (x->bytes >= 4 || x->n == 1) && x->bytes * x->n <= 32;
}

struct access access_begin(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    const struct op_access *x = o->access;
    unsigned all = (unsigned)x->bytes * x->n;
    return (struct access){.i = i,
                           .o = o,
                           .x = x,
                           .bytes = x->bytes,
                           .n = x->n,
                           .all = all,
                           .log2 = (unsigned)__builtin_ctz(all),
                           .shape = i->a ? ref_shape(e, i->a) : SHAPE_UNIFORM};
}

/* Has the CPU stores of some lanes? Those of bytes came with AVX-512. */
bool access_can_mask(const struct emit *e, const struct access *a)
{
    return e->has_masked_stores && (a->bytes >= 4 || e->has_gather);
}

/* A pattern that is served as one; others are as addresses that vary. */
bool access_pattern_is_simple(const struct emit *e, const struct access *a)
{
    if (!access_is_aligned(a) || access_is_whole(a->x))
        return false;
    if (a->i->kind == IR_LD)
        return is_consecutive(a) || has_clusters(a);
    return is_consecutive(a) && ((emit_is_full(e) && !a->i->guard) || (a->n == 1 && access_can_mask(e, a)));
}

/* Are lanes of each half one behind the other, or at one place? */
static bool has_rows(const struct access *a)
{
    bool rows = true, halves = true;
    for (unsigned l = 1; l < WARP_LANES; l++) {
        rows &= l % ROW_LANES == 0 || (uint64_t)a->offset[l] == (uint64_t)a->offset[l - 1] + a->all;
        halves &= l % ROW_LANES == 0 || a->offset[l] == a->offset[l - 1];
    }
    return a->parts > 1 || rows || halves;
}

/* ---- what needs no test ---- */

/* Shared memory of the kernel's own variables, at addresses whose range is known: all lanes are inside, and aligned. Lanes
 * that are no threads have no range, but may stand in a vector that is loaded whole. Ranges are of numbers that have not wrapped
 * (ir/range.c gives up those that may have); with a displacement of 32 bits the sum is exact in 64, and where that is inside, so
 * is the address of 32 bits. */
bool access_is_inside(const struct emit *e, const struct access *a)
{
    const struct ir_shapes *s = e->shapes;
    const struct ir_insn *i = a->i;
    struct ir_range at = {0, 0};
    struct ir_bits low = {.n = 64, .v = 0};
    if (a->x->space != SPACE_SHARED || i->access->disp_const || s->block[0] * s->block[1] * s->block[2] % WARP_LANES)
        return false;
    if (i->a) {
        at = ir_range_of(e->ir, s->ranges, s->block, i->a);
        low = ir_bits_of(e->ir, s->common, s->block, true, i->a);
    }
    if (at.lo > at.hi || at.lo < INT32_MIN || at.hi > INT32_MAX || a->x->disp < INT32_MIN || a->x->disp > INT32_MAX)
        return false;
    return low.n >= a->log2 && ((low.v + (uint64_t)a->x->disp) & (a->all - 1)) == 0 && at.lo + a->x->disp >= 0 &&
           at.hi + a->x->disp + a->all <= e->request->static_shared_bytes;
}

/* Where the lanes are known that run a piece of code, and so are their addresses: the same of those lanes alone, as of
 * `part[t - 1]` of all threads but the first. */
static bool is_inside_within(const struct emit *e, const struct access *a)
{
    bool known = e->within && LLVMIsAConstantInt(a->mask) && LLVMIsAConstantInt(a->first[0]);
    if (!known || a->x->space != SPACE_SHARED || a->parts > 1 || a->n > 1 || op_access_is_strong(a->x) ||
        !access_can_mask(e, a) || !is_consecutive(a) || ref_width(e, a->i->a) > 32)
        return false;
    uint32_t mask = (uint32_t)LLVMConstIntGetZExtValue(a->mask),
             first = (uint32_t)LLVMConstIntGetZExtValue(a->first[0]);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t at = first + (uint32_t)a->offset[l];
        if (mask >> l & 1 && (at % a->all || (uint64_t)at + a->all > e->request->static_shared_bytes))
            return false;
    }
    return true;
}

/* Lanes that do not run may be before the block's memory. */
static void transfer_within(struct emit *e, struct access *a)
{
    a->first[0] = LLVMBuildSExt(e->b, LLVMBuildTrunc(e->b, a->first[0], e->i32, ""), e->i64, "");
    access_set_pointers(e, a, SPACE_SHARED);
    if (a->i->kind == IR_LD)
        load_masked(e, a);
    else
        store_masked(e, a);
}

/* ---- loads and stores ---- */

/* Parameters of the kernel, at an address that is known. */
static bool load_param(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    struct access a = access_begin(e, i, o);
    if (o->access->space != SPACE_PARAM || i->a || i->access->disp_const || i->guard || a.bytes > 8 || a.x->disp < 0 ||
        (uint64_t)a.x->disp + a.all > e->request->param_bytes)
        return false;
    a.mask = emit_mask(e);
    for (unsigned k = 0; k < a.n; k++) {
        value v = load_vector(e, &a, pointer_at(e, e->params, a.x->disp + (int64_t)(k * a.bytes)), 1);
        mark_invariant(e, v);
        put_scalar(e, &a, k, v);
    }
    return true;
}

/* In the frame of the activation, at an address that is known. */
static bool is_frame(const struct emit *e, const struct access *a)
{
    return a->x->frame && !a->i->a && !a->i->access->disp_const && a->x->disp >= 0 && a->x->disp % a->all == 0 &&
           (uint64_t)a->x->disp + a->all <= e->code->frame_bytes;
}

static void transfer_one(struct emit *e, struct access *a, enum ptx_space space)
{
    bool loads = a->i->kind == IR_LD;
    if (space == SPACE_LOCAL) {
        loads ? load_local(e, a) : store_local(e, a);
        return;
    }
    access_set_pointers(e, a, space);
    if (e->groups[e->index].run)
        transfer_run(e, a);
    else if (a->shape == SHAPE_UNIFORM)
        loads ? load_uniform(e, a) : store_uniform(e, a);
    else if (loads)
        load_by_pattern(e, a);
    else if (access_is_nontemporal(e, a))
        store_nontemporal(e, a, emit_is_full(e) && !a->i->guard ? store_consecutive : store_masked);
    else if (emit_is_full(e) && !a->i->guard)
        store_consecutive(e, a);
    else
        store_masked(e, a);
}

/* Shared or local memory. Where all lanes run, what is not inside ends the compiled part, as it does for a group: the
 * interpreter takes the rest of the block, and finds the fault. Of some lanes the test may fail for those that do not run:
 * `part[t - 1]` of all threads but the first. Then the engine does it. */
static void access_window(struct emit *e, struct access *a, enum ptx_space space, unsigned members)
{
    LLVMBasicBlockRef fast = emit_new_block(e, ""), out = emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_first(e, a, space, fast, out);
    emit_at_end(e, out);
    if (members > 1 || emit_is_full(e)) {
        emit_leave_at(e, e->index);
    } else {
        access_by_engine(e, a);
        LLVMBuildBr(e->b, done);
    }
    emit_at_end(e, fast);
    transfer_one(e, a, space);
    LLVMBuildBr(e->b, done);
    emit_at_end(e, done);
}

/* The test of a group's first is for all of it. */
static void test_for_group(struct access *a, const struct group *g)
{
    if (g->n) {
        a->before = a->x->disp + a->least - g->from;
        a->span = g->to - g->from - a->all;
    }
}

/* Behind the engine's way, which the warps of a gang share: what one of them has found before is not there. */
static void find_anew(struct emit *e, struct access *a)
{
    if (!e->gang)
        return;
    a->site = NULL;
    access_find_first(e, a);
    test_for_group(a, &e->groups[e->index]);
}

/* Global memory: the engine does what the test does not pass, and notes where it was. The others of a group count on
 * the test, so it must hold then; those of a run on what the first has loaded, too. */
static void access_global(struct emit *e, struct access *a, unsigned members)
{
    bool is_run = e->groups[e->index].run;
    LLVMBasicBlockRef fast = emit_new_block(e, ""), slow = emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_first(e, a, SPACE_GLOBAL, fast, slow);
    emit_at_end(e, slow);
    access_by_engine(e, a);
    if (members > 1) {
        LLVMBasicBlockRef out = emit_new_block(e, "");
        struct access again = *a; /* `fast` counts on what was found before */
        find_anew(e, &again);
        access_branch_on_first(e, &again, SPACE_GLOBAL, is_run ? fast : done, out);
        emit_at_end(e, out);
        emit_leave_at(e, e->index + 1);
    } else {
        LLVMBuildBr(e->b, done);
    }
    emit_at_end(e, fast);
    if (members > 1 && is_run)
        find_anew(e, a);
    if (!access_is_nontemporal(e, a))
        prefetch(e, a);
    transfer_one(e, a, SPACE_GLOBAL);
    LLVMBuildBr(e->b, done);
    emit_at_end(e, done);
}

bool access_begin_tested(struct emit *e, uint32_t k, struct access *a)
{
    const struct ir_insn *i = insn_at(e, k);
    if ((i->kind != IR_LD && i->kind != IR_ST) || i->guard || !i->a || i->access->disp_const || e->groups[k].first != k)
        return false;
    *a = access_begin(e, i, op_at(e, k));
    if (!access_is_simple(e, i, a->x) || a->x->space == SPACE_LOCAL || a->shape == SHAPE_VARYING)
        return false;
    access_find_offsets(e, a);
    test_for_group(a, &e->groups[k]);
    return a->shape == SHAPE_UNIFORM || e->groups[k].run || access_pattern_is_simple(e, a);
}

static void access_one(struct emit *e, struct access *a, enum ptx_space space)
{
    const struct group *g = &e->groups[e->index];
    access_find_first(e, a);
    if (g->first != e->index || (space == SPACE_LOCAL && is_frame(e, a)) || is_untested(e) ||
        access_needs_no_test(e, e->index)) {
        if (space != SPACE_SHARED && space != SPACE_LOCAL && g->first == e->index && !access_is_nontemporal(e, a))
            prefetch(e, a);
        transfer_one(e, a, space);
        return;
    }
    if (is_inside_within(e, a)) {
        transfer_within(e, a);
        return;
    }
    test_for_group(a, g);
    if (space == SPACE_SHARED || space == SPACE_LOCAL)
        access_window(e, a, space, g->n);
    else
        access_global(e, a, g->n);
}

/* Goes to a new block where the test holds, and returns one for where it does not. */
static LLVMBasicBlockRef branch(struct emit *e, value test)
{
    LLVMBasicBlockRef yes = emit_new_block(e, ""), no = emit_new_block(e, "");
    LLVMBuildCondBr(e->b, test, yes, no);
    emit_at_end(e, yes);
    return no;
}

bool has_many_accesses(const struct emit *e)
{
    enum { MANY = 64 };
    uint32_t n = 0;
    for (uint32_t k = 0; k < e->ir->insns.n && n <= MANY; k++) {
        const struct ir_insn *i = &e->ir->insns.at[k];
        n += (i->kind == IR_LD || i->kind == IR_ST) && i->a && ref_shape(e, i->a) == SHAPE_VARYING;
    }
    return n > MANY;
}

/* By the engine, and on to the same place. */
static void go_by_engine(struct emit *e, const struct access *a, LLVMBasicBlockRef slow, LLVMBasicBlockRef done)
{
    emit_at_end(e, slow);
    access_by_engine(e, a);
    LLVMBuildBr(e->b, done);
}

/* Addresses that vary: rows of lanes, halves at one place, or every lane for itself. */
static void access_lanes(struct emit *e, struct access *a, enum ptx_space space)
{
    bool loads = a->i->kind == IR_LD, whole = access_is_whole(a->x);
    bool waits = e->waits_in_gathers && space != SPACE_SHARED && !whole && !has_many_accesses(e);
    bool by_cpu = e->has_gather && (a->bytes >= 4 || loads) && !whole && !(waits && !loads && a->all <= 4);
    bool has_slow = !access_is_inside(e, a);
    LLVMBasicBlockRef slow = has_slow ? emit_new_block(e, "") : NULL, done = emit_new_block(e, ""), other;
    access_branch_on_lanes(e, a, space, slow);
    if (!a->is_wild && !whole && !has_many_accesses(e)) {
        other = branch(e, test_rows(e, a, a->all));
        loads ? load_rows(e, a, space) : store_rows(e, a, space);
        LLVMBuildBr(e->b, done);
        emit_at_end(e, other);
        if (loads) {
            other = branch(e, test_rows(e, a, 0));
            load_halves(e, a, space);
            LLVMBuildBr(e->b, done);
            emit_at_end(e, other);
        }
    }
    struct access in_order = loads ? *a : store_in_order(e, a);
    if (!by_cpu)
        transfer_in_turns(e, &in_order);
    else if (loads && waits)
        gather_by_loads(e, a);
    else if (loads)
        load_gather(e, a, space);
    else
        store_scatter(e, &in_order, space);
    LLVMBuildBr(e->b, done);
    if (has_slow)
        go_by_engine(e, a, slow, done);
    emit_at_end(e, done);
}

/* Before and after a strong access: LLVM takes it for what happens once, there. An order is a fence of the host's, as in
 * exec/access.c. */
static void fence(struct emit *e, const struct op_access *x, uint8_t order, LLVMAtomicOrdering as)
{
    bool ordered = x->order == order || x->order == ORDER_ACQ_REL;
    if (op_access_is_strong(x))
        LLVMBuildFence(e->b, ordered ? as : LLVMAtomicOrderingSequentiallyConsistent, !ordered, "");
}

static void emit_access(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    struct access a = access_begin(e, i, o);
    enum ptx_space space = a.x->space;
    if (!access_is_simple(e, i, a.x) || (space == SPACE_LOCAL && (a.shape != SHAPE_UNIFORM || e->lane))) {
        emit_by_engine(e, i, o);
        return;
    }
    a.mask = emit_guarded_mask(e, i);
    LLVMBasicBlockRef skipped = access_skip_if_none(e, i, a.mask);
    if (a.shape != SHAPE_VARYING && a.shape != SHAPE_UNIFORM) {
        access_find_offsets(e, &a);
        if (!e->groups[e->index].run && !access_pattern_is_simple(e, &a)) {
            a.shape = SHAPE_VARYING;
            a.is_wild = !has_rows(&a);
        }
        a.span = 0;
    }
    fence(e, a.x, ORDER_RELEASE, LLVMAtomicOrderingRelease);
    if (i->kind == IR_LD)
        fence_before_load(e);
    else
        fence_note_store(e);
    if (a.shape != SHAPE_VARYING)
        access_one(e, &a, space);
    else if (i->kind != IR_LD || space == SPACE_SHARED || !load_indexed(e, &a))
        access_lanes(e, &a, space);
    fence(e, a.x, ORDER_ACQUIRE, LLVMAtomicOrderingAcquire);
    if (skipped) {
        LLVMBuildBr(e->b, skipped);
        emit_at_end(e, skipped);
    }
}

void emit_load(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (!load_param(e, i, o))
        emit_access(e, i, o);
}

void emit_store(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    emit_access(e, i, o);
}
