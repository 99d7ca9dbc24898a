/* The places of a function's operands and operations in the interpreter's code (code.h). They
 * follow from the IR alone, so the compiler of kernels derives the same places.
 *
 * A row holds a register, a constant or a special register for the 32 lanes of a warp.
 */
#ifndef HEDDLE_EXEC_LAYOUT_H
#define HEDDLE_EXEC_LAYOUT_H

#include "ir/ir.h"

/* A row: byte offset (a multiple of 4) | enum row_base. */
typedef uint32_t row_ref;
enum row_base {
    ROW_FRAME, /* the activation's registers */
    ROW_CONST, /* the function's constants */
    ROW_WARP,  /* special registers of the warp: see WARP_ROWS_BYTES */
    ROW_BLOCK, /* those of the block and the launch */
};

/* Rows of a warp: %tid.x, .y, .z, %warpid. */
enum { WARP_ROWS_BYTES = 4 * 128 };

/* A row to fill before a function or block starts. */
struct row_fill {
    uint32_t at; /* byte offset */
    uint8_t width;
    uint32_t sreg; /* enum of ir/ir.h, for special registers */
};

/* The special registers that a kernel uses, in ROW_BLOCK, in the order in which its functions name
 * them. */
struct block_rows {
    VEC(struct row_fill) list;
    uint32_t bytes;
};

struct code_layout {
    uint32_t *consts; /* by constant: the byte offset of its row in ROW_CONST */
    uint32_t const_bytes;
    /* By block in the order of execution: the number of its first operation; and behind the
     * last, how many there are. */
    uint32_t *blocks;
    uint32_t *ops; /* by instruction: the number of its operation */
    uint32_t frame_bytes;
};

void layout_find(struct code_layout *l, const struct ir_func *ir, struct arena *arena);
/* Gives a special register its row, where it has none yet. */
void block_rows_add(struct block_rows *rows, const struct ir_func *ir, ir_ref r, struct arena *arena);
/* The row of an operand. */
row_ref layout_row(const struct code_layout *l, const struct ir_func *ir, const struct block_rows *rows, ir_ref r);
/* The width of an operand: 1, 16, 32, 64, 128; 0 of none. */
uint8_t layout_width(const struct ir_func *ir, ir_ref r);

/* Does a block's last instruction end it? Otherwise an operation after it continues with the
 * next block. */
static inline bool layout_has_end(const struct ir_func *ir, const struct ir_block *b)
{
    return b->n && ir_ends_block((enum ir_kind)ir->insns.at[b->first + b->n - 1].kind);
}

/* The number of instructions that a block counts as. */
static inline uint32_t layout_operations(const struct ir_block *b)
{
    return b->n ? b->n : 1;
}

/* A block's place in the order of execution, NO_BLOCK of none. */
static inline uint32_t layout_order(const struct ir_func *ir, uint32_t block)
{
    return block < ir->blocks.n ? ir->blocks.at[block].order : NO_BLOCK;
}

#endif
