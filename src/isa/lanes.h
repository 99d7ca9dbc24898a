/* Lane functions: the meaning of pure instructions, applied to the 32 lanes of a warp.
 *
 * lanes.def has one row a meaning; each becomes a function that reads rows of registers and writes rows. A
 * row is the value of one register in all 32 lanes: 32 values of 16, 32, 64 or 128 bits one after the other,
 * aligned to 64 bytes; a predicate is one 32-bit mask. Every lane is computed, also the inactive ones: no
 * lane function traps, touches memory besides its rows, or depends on the floating-point environment. d may
 * be the same row as a source of its width; rows never overlap otherwise.
 *
 * The same source is compiled once per CPU level (lanes.c); lane_table() picks the best for this machine. The
 * JIT inlines the same functions from bitcode.
 */
#ifndef HEDDLE_ISA_LANES_H
#define HEDDLE_ISA_LANES_H

#include "base/str.h"

enum { WARP_LANES = 32 };

/* d is the destination. e is the carry of extended-precision arithmetic (a 32-bit row of 0 or 1), read or
 * written or both; or the fourth source of bfi. */
typedef void lane_fn(void *d, void *e, const void *a, const void *b, const void *c, uint64_t imm);

enum lane_id {
    LANE_none,
#include "lane_names.h" // made by the build: LANE_add_b16, LANE_add_b32, ...
    LANE_COUNT
};

/* Widths of the rows: 0 none, 1 predicate mask, else bits of a value. */
struct lane_info {
    const char *name;
    uint8_t d, a, b, c;
    enum { CARRY_NONE, CARRY_IN = 1, CARRY_OUT = 2, CARRY_INOUT = 3, CARRY_FOURTH = 4 } e;
};

const struct lane_info *lane_info(enum lane_id id);

/* Lane functions by id, compiled for the best CPU level that this machine has; `level`, if not NULL, names one
 * ("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", "armv8-a+lse", "generic"): NULL is returned where the machine lacks
 * it. */
lane_fn *const *lane_table(const char *level, const char **name);
/* The levels that this machine has, best first; NULL behind the last. */
const char *lane_level(size_t i);

/* Bytes of a row. */
static inline unsigned row_bytes(unsigned width)
{
    return width == 1 ? 4 : WARP_LANES * width / 8;
}

#endif
