/* What registers look like across the lanes of a warp, for an engine that keeps a warp in vectors
 * (src/jit).
 *
 * A register is *uniform* (the same in all lanes that run), *affine* (lane 0's value, and for each
 * lane a known offset from it: %tid.x of a block that is 32 wide, addresses made from it), or
 * *divergent* (anything else). Offsets are mostly a stride times the lane, and uniform is the
 * stride 0; other offsets (of `%tid.x ^ 3`) do as well. The shape of a block of threads must be
 * known; everything follows from there.
 *
 * Where blocks have 8 or 16 columns, the warp has pieces, one for each %tid.y in it, and a register
 * that is uniform or affine within each of them is *piecewise* affine: a value for each piece is
 * enough.
 *
 * An index of 32 bits that is widened stays affine unless the index wraps between the lanes. Where
 * that cannot be excluded it is *assumed*; who counts on the shape must test the widening
 * (`assumptions`), and must look at registers that others have written (`assumed`). Nothing uniform
 * is assumed, so control flow never hangs on an assumption.
 *
 * This holds for warps whose lanes run in order: always the first block of code that has pending
 * lanes, until they are at one place again. While lanes are pending elsewhere, a register that they
 * will need must not be written as a whole: it is `pending_live`. A register without lanes of its
 * own (uniform, affine) is stored as a scalar, so it cannot keep other values for such lanes: if it
 * is written while they need it, it is divergent.
 */
#ifndef HEDDLE_IR_SHAPE_H
#define HEDDLE_IR_SHAPE_H

#include "ir/def_use.h"

enum { SHAPE_UNIFORM = 0, SHAPE_DIVERGENT = UINT16_MAX, MAX_PIECES = 4 };

/* at[l]: the value of lane l minus that of the first lane (of its piece), modulo the register's
 * width, as a signed number. */
struct lane_offsets {
    int64_t at[WARP_LANES];
    int64_t piecewise; /* offsets count from the piece's first lane; else all from lane 0 */
};

/* An instruction that widens an index: its result is affine only if the index does not wrap, as an
 * unsigned or a signed number. */
enum ir_no_wrap { NO_WRAP_NOT_ASSUMED, NO_WRAP_UNSIGNED, NO_WRAP_SIGNED };

struct ir_range {
    int64_t lo, hi; /* of the value as a signed number; unknown where lo > hi */
};

struct ir_bits {
    uint8_t n; /* how many low bits are known */
    uint64_t v;
};

struct ir_known {
    uint32_t n_threads, n_warps;
    uint8_t **rows; /* by register: NULL, or a row for each warp */
};

/* What is known of one launch of a kernel. */
struct ir_launch {
    uint32_t grid[3]; /* blocks */
    const uint8_t *params;
    uint32_t param_bytes;
};

struct ir_shapes {
    uint32_t block[3];              /* threads */
    const struct ir_launch *launch; /* NULL: what is found holds for all launches of such blocks */
    const struct ir_defs *defs;
    /* Of a warp, within which shapes may be affine: 4 or 2 in blocks of 8 or 16 columns. */
    uint32_t pieces;
    VEC(struct lane_offsets) lane_offsets; /* the first is that of uniform values */
    uint16_t *regs;                        /* by register: SHAPE_DIVERGENT, or which lane_offsets */
    struct ir_range *ranges;               /* by register */
    struct ir_bits *bits;                  /* by register, of lane 0 */
    struct ir_bits *common;                /* the same, of all lanes */
    int64_t *steps;                        /* by register: ir_find_steps() */
    const uint8_t *claimed;                /* by register: ir_find_claimed() */
    uint8_t *assumptions;                  /* by instruction: enum ir_no_wrap */
    uint8_t *assumed;                      /* by register: its shape hangs on assumptions */
    uint16_t tid[3];
    uint16_t laneid;
    struct ir_live live;
    uint32_t block_words;
    /* By block in order: the blocks, as a set, where lanes may be pending while it runs. */
    uint64_t *pending;
    /* By block: the registers, by their numbers in `live`, that those lanes need. */
    uint64_t *pending_live;
    uint8_t *whole; /* by block: warps have 32 lanes, and none can have ended before */
    /* By block: a loop that lanes go around one after the other, as the engine has decided. */
    uint8_t *lane_serial;
};

/* False where the function is too large to be worth it. */
bool ir_find_shapes(const struct ir_func *f, const uint32_t block[3], struct arena *arena, struct ir_shapes *s);
uint16_t ir_shape(const struct ir_shapes *s, ir_ref r);

static inline bool ir_is_piecewise(const struct ir_shapes *s, uint16_t shape)
{
    return shape != SHAPE_DIVERGENT && s->lane_offsets.at[shape].piecewise;
}
/* The first lane of the piece that a lane is in. */
static inline unsigned ir_piece_start(const struct ir_shapes *s, unsigned lane)
{
    return lane & ~(WARP_LANES / s->pieces - 1);
}
/* May lanes be pending elsewhere while block b runs? */
static inline bool ir_has_pending(const struct ir_shapes *s, uint32_t b)
{
    for (uint32_t w = 0; w < s->block_words; w++)
        if (s->pending[(size_t)b * s->block_words + w])
            return true;
    return false;
}
/* All 32 lanes run the block, whenever it runs. */
static inline bool ir_is_full(const struct ir_shapes *s, uint32_t b)
{
    return s->whole[b] && !ir_has_pending(s, b);
}
static inline bool ir_is_pending_live(const struct ir_shapes *s, uint32_t block, uint32_t reg)
{
    uint32_t n = s->live.number[reg];
    return n && ir_in_set(s->pending_live + (size_t)block * s->live.words, n - 1);
}

/* %tid along an axis. Lanes that are no threads have the numbers that they would have in a larger
 * block: one with more %tid.y, or, if there is one %tid.y only, a longer one. */
static inline uint32_t ir_thread_number(const uint32_t block[3], uint32_t thread, unsigned axis)
{
    if (block[1] * block[2] == 1)
        return axis == 0 ? thread : 0;
    return axis == 0 ? thread % block[0] : axis == 1 ? thread / block[0] % block[1] : thread / block[0] / block[1];
}

/* Finds registers that follow from constants and the thread's number in its block alone, for all
 * threads of the block: known.c. */
void ir_find_known(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena, struct ir_known *known);
/* The value of a known register in a thread, or in a lane of the last warp that is no thread. */
uint64_t ir_known_value(const struct ir_func *f, const struct ir_known *known, uint32_t reg, uint32_t thread);

/* Value ranges of registers, as far as they follow from known registers, constants and special
 * registers: range.c. */
void ir_find_ranges(const struct ir_func *f, const struct ir_known *known, struct arena *arena, struct ir_shapes *s);
/* The same of one launch, of a kernel's own function, and nothing but ranges. */
void ir_find_ranges_of_launch(const struct ir_func *f, const uint32_t block[3], const struct ir_launch *launch,
                              struct arena *arena, struct ir_shapes *s);
struct ir_range ir_range_of(const struct ir_func *f, const struct ir_shapes *s, ir_ref r);

/* Known bits: the low bits of lane 0's value, or those that are the same in all lanes, as far as
 * they follow from constants and special registers: bits.c. In a block whose warps each begin at a
 * multiple of 32, `%tid.x & 31` is affine, and `%tid.x >> 5` is uniform. */
void ir_find_bits(const struct ir_func *f, const struct ir_known *known, bool all_lanes, struct arena *arena,
                  struct ir_shapes *s);
struct ir_bits ir_bits_of(const struct ir_func *f, const struct ir_shapes *s, bool all_lanes, ir_ref r);

/* By register, the stride between blocks: how much more it holds in the same lane of the grid's
 * next block of threads along x; UNKNOWN_STEP where that does not follow. A hint: it is taken for
 * granted that nothing wraps. */
#define UNKNOWN_STEP INT64_MIN
void ir_find_steps(const struct ir_func *f, struct arena *arena, struct ir_shapes *s);
/* By register, whether it depends on work that a block has claimed while it runs, from an atomic
 * operation or its shared memory: on a ticket, for example. Where the next block will work does not
 * follow from that. */
uint8_t *ir_find_claimed(const struct ir_func *f, struct arena *arena);

#endif
