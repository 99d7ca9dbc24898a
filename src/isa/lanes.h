/* Lane functions: the meaning of pure instructions, applied to the 32 lanes of a warp.
 *
 * lanes.def has one entry a meaning; each becomes a function that reads rows of registers and
 * writes rows. A row is the value of one register in all 32 lanes: 32 values of 16, 32, 64 or 128
 * bits one after the other, aligned to 64 bytes; a predicate is one 32-bit mask. Every lane is
 * computed, also the inactive ones: no lane function traps, touches memory besides its rows, or
 * depends on the floating-point environment. d may be the same row as a source of its width; rows
 * never overlap otherwise.
 *
 * The same source is compiled once per CPU level (lanes.c); lane_table() picks the best for this
 * machine. The JIT inlines the same functions from bitcode.
 */
#ifndef HEDDLE_ISA_LANES_H
#define HEDDLE_ISA_LANES_H

#include "base/str.h"

enum { WARP_LANES = 32 };

/* d is the destination. e is the carry of extended-precision arithmetic (a 32-bit row of 0 or 1),
 * read or written or both; or the fourth source of bfi. */
typedef void lane_fn(void *d, void *e, const void *a, const void *b, const void *c, uint64_t imm);

/* A lane function: isa/lane_ids.h, which only those include that name one. */
typedef uint16_t lane_id;

/* What a pure instruction is to the analyses of values and addresses, modulo its width. Its
 * operands are as wide as its result, but those of conversions and of wide products, which are
 * extended (U: by zeros, S: by the sign) or truncated first. Comparisons are the last, from IS_EQ
 * on, which several analyses count on, in the order of LLVM's predicates. */
enum lane_is {
    IS__, /* nothing that they know */
    IS_COPY,
    IS_TRUNC,
    IS_SEXT,
    IS_ZEXT,
    IS_ADD,
    IS_SUB,
    IS_NEG,
    IS_MUL,
    IS_MAD, /* a * b + c */
    IS_MUL_WIDE_U,
    IS_MUL_WIDE_S,
    IS_MAD_WIDE_U,
    IS_MAD_WIDE_S,
    IS_SHL, /* shifts by the width or more: PTX ISA 9.7.8 */
    IS_LSHR,
    IS_ASHR,
    IS_AND,
    IS_OR,
    IS_XOR,
    IS_NOT,
    IS_EQ, /* comparisons of integers */
    IS_NE,
    IS_UGT,
    IS_UGE,
    IS_ULT,
    IS_ULE,
    IS_SGT,
    IS_SGE,
    IS_SLT,
    IS_SLE,
};

/* Which of a CPU's vector units it takes: of simple operations, of floating-point sums and
 * products, of products of integers. */
enum lane_unit { UNIT__, UNIT_fp, UNIT_imul };

/* Widths of the rows: 0 none, 1 predicate mask, else bits of a value. */
struct lane_info {
    const char *name;
    uint8_t d, a, b, c;
    enum { CARRY_NONE, CARRY_IN = 1, CARRY_OUT = 2, CARRY_INOUT = 3, CARRY_FOURTH = 4 } e;
    enum lane_is is;
    enum lane_unit unit;
};

const struct lane_info *lane_info(lane_id id);

/* Of comparisons: what holds where it does not, and what b is to a where it holds of a and b. */
static inline enum lane_is lane_inverse(enum lane_is is)
{
    return (enum lane_is)(is < IS_UGT ? IS_EQ + IS_NE - is : IS_UGT + ((is - IS_UGT) ^ 3));
}
static inline enum lane_is lane_mirrored(enum lane_is is)
{
    return (enum lane_is)(is < IS_UGT ? is : IS_UGT + ((is - IS_UGT) ^ 2));
}

/* Lane functions by id, compiled for the best CPU level that this machine has; `level`, if not
 * NULL, names one ("x86-64-v2" or "v2", "x86-64-v3", "x86-64-v4", "armv8-a", "armv8-a+lse",
 * "generic"): NULL is returned where the machine lacks it. */
lane_fn *const *lane_table(const char *level, const char **name);
/* The levels that this machine has, best first; NULL behind the last. */
const char *lane_level(size_t i);

/* Bytes of a row. */
static inline unsigned row_bytes(unsigned width)
{
    return width == 1 ? 4 : WARP_LANES * width / 8;
}

#endif
