/* See layout.h. */
#include "exec/layout.h"

enum { LINE_BYTES = 64 };

static uint32_t whole_lines(uint32_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Full lines, so that no two rows share one. */
static uint32_t row_lines_bytes(unsigned width)
{
    return width == 1 ? LINE_BYTES : whole_lines(row_bytes(width));
}

enum { LEAST_FRAME_BYTES = 16 }; /* frames are multiples of it */

void layout_find(struct code_layout *l, const struct ir_func *ir, struct arena *arena)
{
    *l = (struct code_layout){.consts = ARENA_ARRAY(arena, uint32_t, ir->consts.n),
                              .blocks = ARENA_ARRAY(arena, uint32_t, ir->n_ordered + 1),
                              .ops = ARENA_ARRAY(arena, uint32_t, ir->insns.n)};
    for (uint32_t i = 1; i < ir->consts.n; i++) {
        l->consts[i] = l->const_bytes;
        l->const_bytes += row_lines_bytes(ir->consts.at[i].width);
    }
    for (uint32_t i = 0; i < ir->n_ordered; i++) {
        const struct ir_block *b = &ir->blocks.at[ir->order[i]];
        for (uint32_t k = 0; k < b->n; k++)
            l->ops[b->first + k] = l->blocks[i] + k;
        l->blocks[i + 1] = l->blocks[i] + b->n + !layout_has_end(ir, b);
    }
    /* As on a GPU, a call takes room for where it returns to at the least: no recursion is free. */
    l->frame_bytes = ir->frame_bytes || ir->func->entry ? ir->frame_bytes : LEAST_FRAME_BYTES;
}

uint8_t layout_width(const struct ir_func *ir, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: return ir->regs.at[i].width;
    case REF_CONST: return ir->consts.at[i].width;
    case REF_SREG:
        if (i >= IR_ENVREG)
            return i == IR_PARAM_BASE ? 64 : 32;
        return (uint8_t)isa_type_bits(isa_sreg_info((enum isa_sreg)(i / 4))->type);
    default: return 0;
    }
}

/* Special registers that each warp has for itself. */
static bool is_of_warp(uint32_t sreg, row_ref *row)
{
    bool is_tid = sreg / 4 == SREG_tid && sreg % 4 < 3;
    *row = (is_tid ? sreg % 4 : 3) * 128 | ROW_WARP;
    return is_tid || sreg == SREG_warpid * 4;
}

void block_rows_add(struct block_rows *rows, const struct ir_func *ir, ir_ref r, struct arena *arena)
{
    uint32_t sreg = ir_ref_index(r);
    row_ref row;
    bool is_there = ir_ref_kind(r) != REF_SREG || is_of_warp(sreg, &row);
    for (uint32_t i = 0; i < rows->list.n && !is_there; i++)
        is_there = rows->list.at[i].sreg == sreg;
    if (is_there)
        return;
    struct row_fill fill = {rows->bytes, layout_width(ir, r), sreg};
    *VEC_PUSH(arena, &rows->list) = fill;
    rows->bytes += row_lines_bytes(fill.width);
}

row_ref layout_row(const struct code_layout *l, const struct ir_func *ir, const struct block_rows *rows, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    row_ref row = 0;
    switch (ir_ref_kind(r)) {
    case REF_REG: return ir->regs.at[i].slot | ROW_FRAME;
    case REF_CONST: return l->consts[i] | ROW_CONST;
    case REF_SREG:
        if (is_of_warp(i, &row))
            return row;
        for (uint32_t k = 0; k < rows->list.n; k++)
            if (rows->list.at[k].sreg == i)
                row = rows->list.at[k].at | ROW_BLOCK;
        return row;
    default: return 0;
    }
}
