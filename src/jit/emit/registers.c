/* Registers and operands as LLVM values; see emit.h. */
#include "jit/emit/emit.h"

/* ---- rows ---- */

static value row_pointer(struct emit *e, row_ref row)
{
    value at = const_i64(e, row & ~3u);
    return build_gep(e, e->m->i8, e->warp.base[row & 3], at);
}

/* The address of a register's row. */
static value slot_pointer(struct emit *e, uint32_t reg)
{
    return row_pointer(e, e->fn->ir->regs.at[reg].slot | ROW_FRAME);
}

/* The address of the running lane's element in a row. */
static value lane_pointer(struct emit *e, LLVMTypeRef type, value row)
{
    return build_gep(e, type, row, e->lanes.lane);
}

value reg_load_lane(struct emit *e, LLVMTypeRef type, value row)
{
    if (type != e->m->i1)
        return build_load(e, type, lane_pointer(e, type, row));
    return build_trunc(e, build_lshr(e, emit_load_i32(e, row), build_trunc(e, e->lanes.lane, e->m->i32)), type);
}

void reg_store_lane(struct emit *e, value v, value row)
{
    if (LLVMTypeOf(v) == e->m->i1)
        build_store(e, emit_blend(e, 1, emit_lane_bit(e), build_sext(e, v, e->m->i32), emit_load_i32(e, row)), row);
    else
        build_store(e, v, lane_pointer(e, LLVMTypeOf(v), row));
}

value reg_read_sreg_lane(struct emit *e, LLVMTypeRef type, ir_ref r)
{
    value v = reg_load_lane(e, type, row_pointer(e, fn_row(e->fn, r)));
    if (type != e->m->i1)
        emit_mark_invariant(e, v);
    return v;
}

static value load_row(struct emit *e, LLVMTypeRef type, ir_ref r, unsigned align)
{
    value v = build_load_aligned(e, type, row_pointer(e, fn_row(e->fn, r)), align);
    emit_mark_invariant(e, v); /* rows other than registers' do not change while a block runs */
    return v;
}

value reg_read_sreg_row(struct emit *e, LLVMTypeRef type, ir_ref r)
{
    return type == e->m->i1 ? build_trunc(e, load_row(e, e->m->i32, r, 4), type) : load_row(e, type, r, 64);
}

/* ---- reading ---- */

static value *slot(const struct emit *e, uint32_t reg, unsigned piece)
{
    return &e->regs[(size_t)reg * MAX_PIECES + piece];
}

value reg_read_piece(struct emit *e, ir_ref r, unsigned piece)
{
    uint16_t shape = fn_ref_shape(e->fn, r);
    LLVMTypeRef type = type_of_width(e, fn_ref_width(e->fn, r));
    if (ir_is_piecewise(e->fn->shapes, shape))
        return build_load(e, type, *slot(e, ir_ref_index(r), piece));
    value first = reg_read_scalar(e, r);
    uint64_t over = (uint64_t)e->fn->shapes->lane_offsets.at[shape].at[fn_piece_lane(e->fn, piece)];
    return over ? build_add(e, first, const_int(type, over)) : first;
}

/* Is the register's value known for each lane? In a gang of a whole block the threads of each warp
 * are known, and so is what follows from their numbers. */
static bool is_known(const struct emit *e, uint32_t reg)
{
    return e->lanes.known && e->lanes.known->rows[reg];
}

static uint64_t known_value(const struct emit *e, uint32_t reg, unsigned lane)
{
    return ir_known_value(e->fn->ir, e->lanes.known, reg, e->lanes.place * WARP_LANES + lane);
}

static value known_lanes(struct emit *e, uint32_t reg)
{
    int64_t lanes[WARP_LANES];
    uint32_t mask = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        lanes[l] = (int64_t)known_value(e, reg, l);
        mask |= (uint32_t)(lanes[l] & 1) << l;
    }
    unsigned width = e->fn->ir->regs.at[reg].width;
    return width == 1 ? const_i32(e, mask) : const_lanes(e, width, lanes);
}

value reg_read_scalar(struct emit *e, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    LLVMTypeRef type = type_of_width(e, fn_ref_width(e->fn, r));
    switch (ir_ref_kind(r)) {
    case REF_REG:
        if (is_known(e, i))
            return const_int(type, known_value(e, i, 0));
        if (fn_is_grid_uniform(e->fn, r))
            return const_int(type, e->fn->shapes->bits[i].v);
        return build_load(e, type, *slot(e, i, 0));
    case REF_CONST:
        if (e->fn->ir->consts.at[i].base == BASE_NONE)
            return const_int(type, e->fn->ir->consts.at[i].lo);
        return load_row(e, type, r, 64);
    default:
        if (i / 4 == SREG_ntid && i % 4 < 3 && i < IR_ENVREG)
            return const_int(type, e->fn->shapes->block[i % 4]);
        return e->mode->read_sreg(e, type, r);
    }
}

static value from_scalar(struct emit *e, value scalar, unsigned width, uint16_t shape)
{
    if (width == 1)
        return build_sext(e, scalar, e->m->i32);
    value lanes = emit_splat(e, scalar);
    if (shape == SHAPE_UNIFORM)
        return lanes;
    return build_add(e, lanes, const_lanes(e, width, e->fn->shapes->lane_offsets.at[shape].at));
}

/* A vector of a register's piece values, each in the lanes of its piece. */
static value from_pieces(struct emit *e, ir_ref r, unsigned width, uint16_t shape)
{
    value lanes = emit_splat(e, reg_read_piece(e, r, 0));
    int index[WARP_LANES];
    for (unsigned p = 1; p < e->fn->shapes->pieces; p++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l < fn_piece_lane(e->fn, p) ? l : WARP_LANES + l);
        lanes = emit_shuffle(e, lanes, emit_splat(e, reg_read_piece(e, r, p)), index, WARP_LANES);
    }
    return build_add(e, lanes, const_lanes(e, width, e->fn->shapes->lane_offsets.at[shape].at));
}

value reg_read_lanes(struct emit *e, ir_ref r)
{
    unsigned width = fn_ref_width(e->fn, r);
    uint16_t shape = fn_ref_shape(e->fn, r);
    if (ir_is_piecewise(e->fn->shapes, shape))
        return from_pieces(e, r, width, shape);
    if (shape != SHAPE_DIVERGENT)
        return from_scalar(e, reg_read_scalar(e, r), width, shape);
    if (ir_ref_kind(r) == REF_REG && is_known(e, ir_ref_index(r)))
        return known_lanes(e, ir_ref_index(r));
    if (ir_ref_kind(r) == REF_REG)
        return build_load(e, vector_of_width(e, width), *slot(e, ir_ref_index(r), 0));
    return load_row(e, vector_of_width(e, width), r, 64);
}

/* ---- writing ---- */

void reg_write_lanes(struct emit *e, ir_ref r, value lanes, value mask)
{
    uint32_t i = ir_ref_index(r);
    if (!mask && e->mode->is_pending_live(e, i))
        mask = emit_mask(e);
    if (mask)
        lanes = emit_blend(e, fn_ref_width(e->fn, r), mask, lanes, reg_read_lanes(e, r));
    build_store(e, lanes, *slot(e, i, 0));
    if (e->fn->written_through[i])
        reg_spill_row(e, i, e->here->is_full ? NULL : emit_mask(e));
    dirty_note(e, i);
}

void reg_write_piece(struct emit *e, ir_ref r, value scalar, unsigned piece)
{
    build_store(e, scalar, *slot(e, ir_ref_index(r), piece));
    dirty_note(e, ir_ref_index(r));
}

void reg_write_scalar(struct emit *e, ir_ref r, value scalar)
{
    uint16_t shape = fn_ref_shape(e->fn, r);
    if (shape == SHAPE_DIVERGENT)
        reg_write_lanes(e, r, from_scalar(e, scalar, fn_ref_width(e->fn, r), SHAPE_UNIFORM), NULL);
    for (unsigned p = 0; shape != SHAPE_DIVERGENT && p < fn_pieces(e->fn, shape); p++)
        reg_write_piece(e, r, scalar, p);
}

/* ---- between registers and rows ---- */

static unsigned row_align(unsigned width)
{
    return width == 1 ? 4 : 64;
}

value reg_load_row(struct emit *e, uint32_t reg)
{
    unsigned width = e->fn->ir->regs.at[reg].width;
    return build_load_aligned(e, vector_of_width(e, width), slot_pointer(e, reg), row_align(width));
}

void reg_store_row(struct emit *e, uint32_t reg, value lanes)
{
    build_store_aligned(e, lanes, slot_pointer(e, reg), row_align(e->fn->ir->regs.at[reg].width));
}

void reg_spill_lane(struct emit *e, uint32_t reg, value mask)
{
    (void)mask;
    reg_store_lane(e, reg_read_scalar(e, ir_make_ref(REF_REG, reg)), slot_pointer(e, reg));
}

void reg_spill(struct emit *e, uint32_t reg, value mask)
{
    if (!dirty_is_clean(e, reg))
        e->mode->spill(e, reg, mask);
}

void reg_spill_row(struct emit *e, uint32_t reg, value mask)
{
    unsigned width = e->fn->ir->regs.at[reg].width;
    value lanes = reg_read_lanes(e, ir_make_ref(REF_REG, reg));
    if (mask && width > 1 && e->fn->target->has_mask_registers) {
        emit_masked_store(e, lanes, slot_pointer(e, reg), row_align(width), emit_mask_to_lanes(e, mask));
        return;
    }
    if (mask)
        lanes = emit_blend(e, width, mask, lanes, reg_load_row(e, reg));
    reg_store_row(e, reg, lanes);
}

void reg_spill_seed(struct emit *e, uint32_t reg)
{
    ir_ref r = ir_make_ref(REF_REG, reg);
    uint16_t shape = fn_ref_shape(e->fn, r);
    unsigned width = fn_ref_width(e->fn, r);
    if (shape == SHAPE_DIVERGENT || width == 1) {
        reg_spill(e, reg, NULL);
        return;
    }
    for (unsigned p = 0; p < fn_pieces(e->fn, shape) && !dirty_is_seed_clean(e, reg); p++) {
        value lane = const_i64(e, fn_piece_lane(e->fn, p)), row = slot_pointer(e, reg);
        build_store(e, reg_read_piece(e, r, p), build_gep(e, type_of_width(e, width), row, lane));
    }
}

/* The first lane of a piece that is in the mask; some lane of the piece if none is. */
static value first_lane(struct emit *e, value mask, unsigned piece, unsigned n_pieces)
{
    unsigned from = fn_piece_lane(e->fn, piece), last = from + WARP_LANES / n_pieces - 1;
    mask = build_and(e, mask, const_i32(e, UINT32_MAX << from));
    return emit_first_lane(e, build_or(e, mask, const_i32(e, 1u << last)));
}

static value load_scalar(struct emit *e, uint32_t reg, value lane)
{
    unsigned width = e->fn->ir->regs.at[reg].width;
    uint16_t shape = e->fn->shapes->regs[reg];
    value at = slot_pointer(e, reg);
    LLVMTypeRef type = type_of_width(e, width);
    if (width == 1) {
        value mask = emit_load_i32(e, at);
        return build_trunc(e, build_lshr(e, mask, lane), e->m->i1);
    }
    value v = build_load(e, type, build_gep(e, type, at, lane));
    if (shape == SHAPE_UNIFORM)
        return v;
    value over = const_lanes(e, width, e->fn->shapes->lane_offsets.at[shape].at);
    return build_sub(e, v, build_extract(e, over, lane));
}

void reg_reload(struct emit *e, uint32_t reg, value mask)
{
    e->mode->reload(e, reg, mask);
}

void reg_reload_lane(struct emit *e, uint32_t reg, value mask)
{
    (void)mask;
    LLVMTypeRef type = type_of_width(e, e->fn->ir->regs.at[reg].width);
    build_store(e, reg_load_lane(e, type, slot_pointer(e, reg)), *slot(e, reg, 0));
}

/* The same value, marked: its only NaN is the canonical one. In loops LLVM's code keeps a plain
 * value beside it, and needs the canonical one only where the loop is left (nan.c). */
static value say_canonical(struct emit *e, value row)
{
    LLVMTypeRef floats = vector_of(LLVMFloatTypeInContext(e->m->context), WARP_LANES);
    value x = build_bit_cast(e, row, floats), zero = LLVMConstNull(floats);
    value nan = LLVMConstBitCast(emit_splat(e, const_i32(e, 0x7fffffff)), floats);
    x = build_select(e, LLVMBuildFCmp(e->m->b, LLVMRealUNO, x, zero, ""), nan, x);
    return build_bit_cast(e, x, LLVMTypeOf(row));
}

void reg_reload_row(struct emit *e, uint32_t reg, value mask)
{
    ir_ref r = ir_make_ref(REF_REG, reg);
    uint16_t shape = fn_ref_shape(e->fn, r);
    if (shape == SHAPE_DIVERGENT) {
        value row = reg_load_row(e, reg);
        build_store(e, e->fn->canonical[reg] ? say_canonical(e, row) : row, *slot(e, reg, 0));
        dirty_note(e, reg); /* another path may produce other NaNs */
        return;
    }
    for (unsigned p = 0; p < fn_pieces(e->fn, shape); p++)
        reg_write_piece(e, r, load_scalar(e, reg, first_lane(e, mask, p, fn_pieces(e->fn, shape))), p);
}

value reg_has_shape(struct emit *e, uint32_t reg, value mask)
{
    value expected = reg_read_lanes(e, ir_make_ref(REF_REG, reg));
    value other = emit_lanes_to_mask(e, build_ne(e, reg_load_row(e, reg), expected));
    return emit_is_zero(e, build_and(e, other, mask));
}

value emit_mask(struct emit *e)
{
    return e->here->is_full ? const_i32(e, UINT32_MAX) : e->mode->mask(e);
}

value emit_guarded_mask(struct emit *e, const struct ir_insn *i)
{
    value mask = emit_mask(e);
    if (!i->guard)
        return mask;
    value g = reg_read_lanes(e, i->guard);
    return build_and(e, mask, i->guard_negated ? build_not(e, g) : g);
}
