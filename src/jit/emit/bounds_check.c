/* Bounds checks: computes the address of an access, tests it, and calls the engine if the test
 * fails; see load_store.h. */
#include "base/checked.h"
#include "jit/emit/load_store.h"

static void add_register(struct reg_list *l, ir_ref r)
{
    if (ir_ref_kind(r) == REF_REG)
        l->regs[l->n++] = ir_ref_index(r);
}

static struct reg_list operands_of(struct emit *e, const struct ir_insn *i)
{
    enum { MOST = 4 + 2 * 8 };
    uint32_t n_reads = i->kind == IR_MATRIX ? i->matrix->n_reads : 0;
    struct reg_list l = {.regs = ARENA_ARRAY(e->arena, uint32_t, MOST + n_reads)};
    bool access = i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM || i->kind == IR_ASYNC;
    add_register(&l, i->a);
    add_register(&l, i->b);
    add_register(&l, i->c);
    add_register(&l, i->f);
    for (unsigned k = 0; access && k < 8; k++) {
        add_register(&l, i->access->operands[k]);
        if (i->kind == IR_ST || i->kind == IR_ASYNC)
            add_register(&l, i->access->regs[k]);
    }
    for (unsigned k = 0; k < n_reads; k++)
        add_register(&l, i->matrix->reads[k]);
    for (unsigned k = 0; i->kind == IR_TEXTURE && k < i->texture->n_reads; k++)
        add_register(&l, i->texture->reads[k]);
    return l;
}

void access_spill_operands(struct emit *e, const struct ir_insn *i)
{
    struct reg_list l = operands_of(e, i);
    for (uint32_t k = 0; k < l.n; k++)
        reg_spill(e, l.regs[k], NULL);
}

/* The same by small code; values that are not vectors are spilled only in the mask's lanes. */
static void spill_operands_cold(struct emit *e, const struct ir_insn *i, value mask)
{
    struct reg_list l = operands_of(e, i), vectors = live_among(e->fn, l, true), others = live_among(e->fn, l, false);
    for (uint32_t k = 0; k < vectors.n; k++)
        reg_spill(e, vectors.regs[k], NULL);
    exit_spill_cold(e, &others, mask);
}

static void take_result(struct emit *e, const struct ir_insn *i, ir_ref r, value mask)
{
    if (ir_ref_kind(r) != REF_REG)
        return;
    if (fn_ref_shape(e->fn, r) == SHAPE_DIVERGENT)
        reg_write_lanes(e, r, reg_load_row(e, ir_ref_index(r)), i->guard ? mask : NULL);
    else
        reg_reload(e, ir_ref_index(r), mask);
}

void access_take_results(struct emit *e, const struct ir_insn *i, value mask)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++)
        take_result(e, i, refs[k], mask);
}

LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask)
{
    return i->guard ? emit_unless(e, emit_is_zero(e, mask)) : NULL;
}

void emit_by_engine(struct emit *e, const struct ir_insn *i)
{
    if (e->mode->has_effects)
        e->mode->has_effects(e);
    value mask = emit_guarded_mask(e, i);
    LLVMBasicBlockRef done = access_skip_if_none(e, i, mask);
    fence_before_load(e);
    fence_note_store(e);
    access_spill_operands(e, i);
    emit_call_op(e, i, mask);
    access_take_results(e, i, mask);
    emit_go_on(e, done);
}

/* The slow path of an access: spills operands, calls the engine, reloads results, in the mode's
 * way. */
void access_by_engine(struct emit *e, const struct transfer *t)
{
    e->mode->access_by_engine(e, t);
    if (t->a->i->kind == IR_LD && copy_is_whole(e))
        copy_take_registers(e, t);
}

void access_end(struct emit *e, const struct transfer *t, LLVMBasicBlockRef slow, LLVMBasicBlockRef done)
{
    build_br(e, done);
    if (slow) {
        emit_at_end(e, slow);
        access_by_engine(e, t);
        build_br(e, done);
    }
    emit_at_end(e, done);
}

void access_call_engine(struct emit *e, const struct transfer *t)
{
    fence_before_load(e);
    fence_note_store(e);
    spill_operands_cold(e, t->a->i, t->mask);
    if (t->cache) {
        value args[6] = {e->warp.w, e->warp.a, emit_op_pointer(e, t->a->i), t->mask, t->cache, LLVMGetUndef(e->m->i64)};
        value ok = engine_call(e, abi.compiled_calls_access, e->m->i1, args, 6);
        inline_cache_note_call(e, t->a->i, ok);
        emit_require(e, ok, e->f->fault);
    } else {
        emit_call_op(e, t->a->i, t->mask);
    }
    access_take_results(e, t->a->i, t->mask);
}

value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type)
{
    if (!a->i->access->disp_const)
        return const_int(type, (uint64_t)a->disp);
    value x = emit_load_field(e, e->m->ptr, emit_op_pointer(e, a->i), abi.op_access);
    emit_mark_invariant(e, x);
    value v = emit_load_field(e, e->m->i64, x, abi.op_access_disp);
    emit_mark_invariant(e, v);
    return build_int_cast(e, v, type, false);
}

/* The address of a piece's first lane, plus `more`. */
static value scalar_address(struct emit *e, const struct access *a, unsigned piece, int64_t more)
{
    ir_ref r = a->i->a;
    LLVMTypeRef type = r && fn_ref_width(e->fn, r) == 32 ? e->m->i32 : e->m->i64;
    value v = build_add(e, access_displacement(e, a, type), const_int(type, (uint64_t)more));
    if (r)
        v = build_add(e, reg_read_piece(e, r, piece), v);
    else if (a->mem->frame)
        v = build_add(e, build_zext(e, e->warp.frame, e->m->i64), v);
    return build_int_cast(e, v, e->m->i64, false);
}

void access_find_first(struct emit *e, struct transfer *t)
{
    for (unsigned p = 0; p < t->a->pieces; p++)
        t->first[p] = scalar_address(e, t->a, p, t->a->least);
}

/* Rotates an offset by the log2 of a lane's bytes: a misaligned offset becomes too large to be
 * inside. */
static value rotate(struct emit *e, const struct access *a, value v)
{
    if (a->log2 == 0)
        return v;
    LLVMTypeRef type = LLVMTypeOf(v);
    value by = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? emit_splat(e, const_int(LLVMGetElementType(type), a->log2))
                                                           : const_int(type, a->log2);
    return emit_intrinsic_of(e, "llvm.fshr", &type, 1, (value[]){v, v, by}, 3);
}

/* The number of positions of a->all bytes for the first lane within `bytes` bytes. Both `bytes` and
 * the span fit in 32 bits. */
static value places(struct emit *e, const struct transfer *t, value bytes)
{
    LLVMTypeRef type = LLVMTypeOf(bytes);
    if (!checked_is_within(checked(t->tested.span), 0, INT32_MAX))
        return LLVMConstNull(type);
    value rest = emit_intrinsic(e, "llvm.usub.sat", bytes, const_int(type, (uint64_t)t->tested.span));
    return build_lshr(e, rest, const_int(type, t->a->log2));
}

static value cache_field(struct emit *e, const struct transfer *t, uint64_t offset)
{
    return emit_load_field(e, e->m->i64, t->cache, offset);
}

value access_find_place(struct emit *e, const struct access *a, value address, value lo)
{
    return rotate(e, a, build_sub(e, address, lo));
}

value access_test_piece(struct emit *e, struct transfer *t, unsigned piece)
{
    value limit, off = t->first[piece];
    /* Less than CHECK_GROUP_SPAN; a first byte below 0 is far outside, as an unsigned number. */
    if (t->tested.before)
        off = build_sub(e, off, const_i64(e, (uint64_t)t->tested.before));
    if (t->a->mem->space == SPACE_SHARED) {
        limit = build_zext(e, places(e, t, e->f->of.shared_bytes), e->m->i64);
    } else if (t->a->mem->space == SPACE_LOCAL) {
        limit = build_zext(e, places(e, t, e->f->of.local_bytes), e->m->i64);
    } else {
        if (!t->cache)
            access_find_cache(e, t);
        off = build_sub(e, off, cache_field(e, t, abi.inline_cache_lo));
        limit = cache_field(e, t, abi.inline_cache_n);
    }
    return build_ult(e, rotate(e, t->a, off), limit);
}

value access_test_place(struct emit *e, struct transfer *t, value address, value *place, value *places)
{
    access_find_cache(e, t);
    value off = build_sub(e, address, cache_field(e, t, abi.inline_cache_lo));
    *place = rotate(e, t->a, off);
    *places = cache_field(e, t, abi.inline_cache_n);
    return build_ult(e, *place, *places);
}

void access_branch_on_first(struct emit *e, struct transfer *t, LLVMBasicBlockRef inside, LLVMBasicBlockRef outside)
{
    for (unsigned p = 0; p < t->a->pieces; p++) {
        LLVMBasicBlockRef on = p + 1 < t->a->pieces ? emit_new_block(e, "") : inside;
        emit_likely(e, access_test_piece(e, t, p), on, outside);
        emit_at_end(e, on);
    }
}

void access_set_pointers(struct emit *e, struct transfer *t)
{
    for (unsigned p = 0; p < t->a->pieces; p++)
        t->pointer[p] = access_pointer(e, t->a, t->first[p]);
}

/* Are the addresses of all active lanes inside? An i1. */
static value test_lanes(struct emit *e, struct transfer *t)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(t->lanes));
    value off, limit;
    if (t->a->mem->space == SPACE_SHARED || t->a->mem->space == SPACE_LOCAL) {
        bool is_shared = t->a->mem->space == SPACE_SHARED;
        off = t->lanes;
        limit = build_int_cast(e, places(e, t, is_shared ? e->f->of.shared_bytes : e->f->of.local_bytes), type, false);
    } else {
        t->lanes = build_int_cast(e, t->lanes, vector_of(e->m->i64, WARP_LANES), false);
        access_find_cache(e, t);
        value lo = cache_field(e, t, abi.inline_cache_lo);
        off = build_sub(e, t->lanes, emit_splat(e, lo));
        limit = cache_field(e, t, abi.inline_cache_n);
    }
    value in = build_ult(e, rotate(e, t->a, off), emit_splat(e, limit));
    value out = build_and(e, build_not(e, emit_lanes_to_mask(e, in)), t->mask);
    return emit_is_zero(e, out);
}

void access_branch_on_lanes(struct emit *e, struct transfer *t, LLVMBasicBlockRef outside)
{
    LLVMTypeRef type = fn_ref_width(e->fn, t->a->i->a) == 32 ? e->m->i32 : e->m->i64;
    value disp = emit_splat(e, access_displacement(e, t->a, type));
    t->lanes = build_add(e, reg_read_lanes(e, t->a->i->a), disp);
    if (access_is_inside(e->fn, t->a))
        return;
    emit_require(e, test_lanes(e, t), outside);
}

bool access_is_unchecked(const struct emit *e)
{
    if (e->lanes.tested)
        return e->lanes.tested[block_at(e->fn, e->here->block)->first + e->here->index];
    return e->unchecked.block && e->unchecked.covered[e->here->index];
}
