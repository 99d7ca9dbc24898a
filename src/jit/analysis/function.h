/* A function and all facts about it. Analyses fill it before code is emitted; emission does not
 * change it.
 *
 * An analysis of one place takes a cursor, by value. Emission has a cursor of its own, which
 * only the code that walks through the function moves (struct emit, here).
 */
#ifndef HEDDLE_JIT_FUNCTION_H
#define HEDDLE_JIT_FUNCTION_H

#include "jit/request.h"
#include "jit/target.h"

struct lane_library; /* lane_library.h */
struct frame_access; /* access.h */

/* A check group: accesses of a block through one register. The first of them tests for all.
 * Offsets are in bytes from the lowest lane's address. */
struct check_group {
    int64_t from, to;
    uint32_t all;   /* bytes of a lane in the widest access */
    uint32_t first; /* the instruction that tests */
    uint32_t n;
    struct interleave_group *interleaved; /* of this instruction, or NULL: access_groups.c */
    /* The number of the instruction's first value in the interleave group. */
    unsigned number;
};

/* An interleave group: loads, or stores, whose words are moved together. access_groups.c finds
 * it, interleaved.c emits it. */
enum { MAX_VALUES = 8, MAX_ELEMENTS = MAX_VALUES * WARP_LANES };
struct interleave_group {
    uint32_t id;          /* its number in the function, from 0 */
    uint32_t first, last; /* its first and last instruction in the block */
    int64_t from;         /* its start, counted as in a check group */
    /* the number of values (each has one element of each lane); the distance from the first
     * element to the last */
    unsigned n, elements;
    unsigned at[MAX_VALUES];      /* by value: the element of the lowest lane */
    unsigned lane_at[WARP_LANES]; /* by lane: the distance from the lowest lane, in elements */
    bool is_inside;               /* no member needs a test */
};

/* Which warps run together as a gang, and in which blocks: gang_plan.c finds it, gang.c emits
 * it. */
enum { MAX_GANG = 8 };
struct gang_plan {
    unsigned n;       /* warps of a gang; 0: there are no gangs */
    bool is_block;    /* they are all warps of the block, and stay together at barriers */
    bool is_straight; /* it runs barrier phases without branches between them */
    /* where their data exceeds the CPU's registers: so many warps run what they can before the
     * next warps do; else 0 */
    unsigned turn;
    uint8_t *inside;  /* by block: does a gang run it? */
    uint8_t *entries; /* by block: can a gang begin there? */
    /* by block: the block after its branch that each warp runs by itself, in the lanes that take
     * the branch; or 0 */
    uint32_t *side_region;
    uint8_t *is_side_region; /* by block: is it a side region, so not a block of the gang? */
    /* known values of the block's threads; NULL: a gang may consist of any warps of the block */
    struct ir_known *known;
    uint8_t *common; /* by register: is it the same in all warps of a gang? */
    uint8_t *once;   /* by instruction: does it run once for the gang? */
};

struct function {
    const struct jit_request *request;
    const struct jit_target *target;
    struct lane_library *lanes;
    struct arena *arena; /* for data that lives until the answer */
    const struct ir_func *ir;
    /* Layout of the interpreter's code, which compiled code calls and exits to. */
    struct code_layout layout;
    const struct ir_shapes *shapes;
    bool one_lane;     /* the "warp" is a single lane, whose registers are all scalars */
    bool loops, spins; /* it has a backward branch; one of a loop that spins */
    struct gang_plan plan;
    struct check_group *check_groups;     /* by instruction: access_groups.c */
    uint32_t n_interleave_groups;         /* their number so far */
    uint64_t *through;                    /* by block: live_through() */
    const struct frame_access **in_frame; /* by instruction: frame_places.c; or NULL */
    /* By instruction: may it store past the caches (nontemporal.c)? Or NULL. */
    const uint8_t *nontemporal;
    /* By register: is its only NaN the canonical one (canonical_nans.c)? */
    const uint8_t *canonical;
    /* by register: is each write stored in the row at once (dirty_registers.c)? */
    const uint8_t *written_through;
};

/* A position: an instruction of a block, and the block by its number in block order. */
struct cursor {
    const struct function *fn;
    uint32_t block, index;
    bool is_full;                     /* do all 32 lanes run there? */
    struct check_group *check_groups; /* those of the block, by instruction */
};

static inline const struct ir_block *block_at(const struct function *fn, uint32_t order)
{
    return ir_block_at(fn->ir, order);
}
/* Instruction k of a block; of the cursor's block. */
static inline const struct ir_insn *fn_insn(const struct function *fn, uint32_t order, uint32_t k)
{
    return &fn->ir->insns.at[block_at(fn, order)->first + k];
}
static inline const struct ir_insn *fn_insn_at(struct cursor here, uint32_t k)
{
    return fn_insn(here.fn, here.block, k);
}
/* The last instruction of a non-empty block. */
static inline const struct ir_insn *last_insn(const struct function *fn, const struct ir_block *b)
{
    return &fn->ir->insns.at[b->first + b->n - 1];
}

/* Runs all analyses of function `index` of the request and fills *fn. */
void function_analyse(struct function *fn, uint32_t index);

/* ---- query.c, entries.c ---- */

unsigned fn_ref_width(const struct function *fn, ir_ref r);
uint16_t fn_ref_shape(const struct function *fn, ir_ref r);
/* How many scalars a register of a shape that is not divergent has; the number of a piece's first
 * lane. */
unsigned fn_pieces(const struct function *fn, uint16_t shape);
unsigned fn_piece_lane(const struct function *fn, unsigned piece);
/* Is lane 0's value of a register that is not divergent the same number
 * in every warp of the grid? */
bool fn_is_grid_uniform(const struct function *fn, ir_ref r);
/* Is an operand a number that is known (ir_number)? If so, *v is its lower 32 bits. */
bool fn_constant_low(const struct function *fn, ir_ref r, uint32_t *v);
/* Is it a collective that compiled code has done where all its lanes are
 * there, and goes on behind? */
bool fn_is_collective(const struct ir_insn *i);
/* Is it a shuffle between lanes that are known, or a vote? Such a one is done without the engine
 * where all 32 lanes are there and name each other; *names_all: where they are there, they do. */
bool fn_is_plain_collective(const struct function *fn, const struct ir_insn *i, bool *names_all);
/* A shuffle whose membermask is known to be all. */
bool fn_is_plain_shuffle(const struct function *fn, const struct ir_insn *i);
/* Is a counter the remainder of a division by a small power of 2, as in the loop that
 * compilers put behind an unrolled one? The few iterations of such a loop are not
 * worth a version of their own. */
bool fn_counts_a_remainder(const struct function *fn, ir_ref counter);

enum { NO_WRITER = UINT32_MAX };
/* The last instruction of the block before k that writes r, or NO_WRITER. */
uint32_t cursor_find_writer(struct cursor here, ir_ref r, uint32_t k);
/* Has r at the cursor the value that instruction k of the block has read? */
bool cursor_keeps(struct cursor here, ir_ref r, uint32_t k);
/* Does the instruction write r in all lanes, by a lane function? */
bool cursor_is_plain_writer(struct cursor here, uint32_t k, ir_ref r);

/* Registers that are live where a block begins, and behind it: sets of ir_live. */
const uint64_t *live_in(const struct function *fn, uint32_t block);
const uint64_t *live_out(const struct function *fn, uint32_t block);
/* Does some branch go back to the block, or to one before it? */
bool cursor_is_in_loop(struct cursor here);
/* The instruction that ends a block, by its number there; as many as it has where it just goes on.
 * The instruction; or NULL. */
uint32_t fn_block_end(const struct function *fn, uint32_t order);
const struct ir_insn *fn_end_insn(const struct function *fn, uint32_t order);
/* Where lanes go on behind a block that no branch takes elsewhere, and where its branch takes them:
 * by the numbers of blocks in order; NO_BLOCK where they do not. */
uint32_t fn_next(const struct function *fn, uint32_t order);
uint32_t fn_target(const struct function *fn, uint32_t order);
/* Does a block go on with another, by its branch or without one? */
bool fn_goes_to(const struct function *fn, uint32_t order, uint32_t to);
/* The place of an operand in the rows that the interpreter has; the number of an instruction's
 * operation there. */
row_ref fn_row(const struct function *fn, ir_ref r);
uint32_t fn_op(const struct function *fn, const struct ir_insn *i);
/* Where a warp arrives by this instruction, if lockstep goes on behind it: ARRIVED_END or a
 * barrier's bit; 0 for all else. */
uint32_t fn_arrival(const struct function *fn, const struct ir_insn *i);
uint32_t fn_arrival_at(const struct function *fn, uint32_t order); /* the end of a block */
/* The block after the barrier at the end of block `at`, if all 32 lanes reach it and none were
 * ever missing; else NO_BLOCK. There uniform and affine registers are spilled as seeds, and
 * become rows where the interpreter takes over. */
uint32_t fn_seed_block(const struct function *fn, uint32_t at);
bool fn_is_seed_block(const struct function *fn, uint32_t block); /* is it such a block? */
/* Finds, by block, where compiled code can be entered: the blocks that lanes reach from the
 * interpreter. */
void fn_find_entries(const struct function *fn, uint8_t *entries);

/* ---- live_state.c ---- */

/* For a set of ir_live: is an operand in it? Adds one; removes one. Only registers that cross
 * blocks have a place in such a set. */
bool live_has(const struct function *fn, const uint64_t *set, ir_ref r);
void live_add(const struct function *fn, uint64_t *set, ir_ref r);
void live_remove(const struct function *fn, uint64_t *set, ir_ref r);

/* A list of registers. */
struct reg_list {
    uint32_t *regs, n;
};

/* The registers that are live before instruction `index` of the block: read later in the block
 * before they are written, or live after the block. No other register may be spilled, because
 * its row may already belong to another register. live_of_set: those of a set of ir_live.
 * live_among: those of a list that are divergent, or those that are not. */
struct reg_list live_at(struct cursor here, uint32_t index);
struct reg_list live_of_set(const struct function *fn, const uint64_t *set);
struct reg_list live_among(const struct function *fn, struct reg_list among, bool divergent);
/* The registers that are live after the block and not written in it, as a set of ir_live. Every
 * exit from the block must spill them, so one piece of code does it for all exits. fn->through
 * has the sets of all blocks. */
const uint64_t *live_through(const struct function *fn, uint32_t block);
void live_find_through(struct function *fn);

/* ---- critical_sections.c ---- */

/* By block: do lanes go there after a serial part? serial_parts_add_exits: only for parts among
 * the blocks from `from` to `to`. */
void serial_parts_find_exits(const struct function *fn, uint8_t *exits);
void serial_parts_add_exits(const struct function *fn, uint32_t from, uint32_t to, uint8_t *exits);
/* Does the function have a serial part? */
bool serial_parts_exist(const struct function *fn);
/* Do serial parts have too many blocks for a second version of them? LLVM's time grows faster
 * than the size of a function. */
bool serial_parts_have_many_blocks(const struct function *fn);
/* Is a block in the same serial part as `from`? The registers that the part of a block writes,
 * and all registers of the part. */
bool serial_part_holds(const struct function *fn, uint32_t from, uint32_t block);
void serial_parts_find_registers(const struct function *fn, uint32_t order, uint64_t *written, uint64_t *touched);
/* The function for a warp of one lane, with the shapes *one. */
struct function function_of_one_lane(const struct function *fn, struct ir_shapes *one);

/* ---- lane_serial_loops.c ---- */

/* Fills fn->shapes->lane_serial. */
void lane_serial_find(struct function *fn);
/* A value in a loop: `root`, a register at the start of the iteration, plus `added`. The root
 * grows by `step` in each iteration. */
struct walk {
    ir_ref root;
    int64_t added, step;
};
/* Is q such a value, where instruction k of the block reads it? The block is a loop. */
bool lane_serial_find_walk(struct cursor here, ir_ref q, uint32_t k, struct walk *w);

/* ---- gang_plan.c ---- */

/* Fills fn->plan for function `index` of the kernel. */
void gang_find(struct function *fn, uint32_t index);
bool gang_may_dissolve(const struct function *fn, uint32_t block);
bool gang_may_restart(const struct function *fn, uint32_t block);
/* May the instruction exit to the interpreter, or call the engine? */
bool gang_may_fail(const struct function *fn, const struct ir_insn *i);
/* The block where warps continue after a block's side region, and to which lanes go that skip
 * it. */
uint32_t gang_side_region_end(const struct function *fn, uint32_t block);
/* Is the barrier at the end of a block inside a loop, so that warps may pass it again? */
bool gang_barrier_is_passed_again(const struct function *fn, uint32_t block);

/* ---- dirty_registers.c ---- */

/* Finds fn->written_through. */
void dirty_find_written_through(struct function *fn);
/* By block, the registers that are clean at its start: two sets by the numbers in shapes->live,
 * for rows and then for seeds, dirty_words() words in all. The code is entered at the blocks in
 * `entries` (by block). It is code of single warps, or of gangs that pass barriers. */
uint64_t *dirty_find_clean(const struct function *fn, const uint8_t *entries, bool passes_barriers);
uint32_t dirty_words(const struct function *fn);
/* r has been written: it is no longer clean, unless it is written through. */
void dirty_clear(const struct function *fn, uint64_t *sets, ir_ref r);

/* ---- gang_blocks.c ---- */

/* The number of instructions of a block, from `from` on, that some warps of a gang in turns can run
 * before the next warps do; or 0. None of them leaves the gang, unless single warps can begin the
 * block again (`restarts`). An instruction that runs once, after the first warp, writes no register
 * that one of these uses before, and loads nothing that one of these may have stored. */
uint32_t gang_count_in_turns(const struct function *fn, uint32_t block, uint32_t from, bool restarts);
/* Does the instruction change more than registers, so that single warps could not begin the block
 * again behind it? */
bool gang_changes(const struct function *fn, uint32_t block, uint32_t index);

/* ---- canonical_nans.c ---- */

/* Finds the f32 registers whose only NaN is the canonical one: fn->canonical. */
void canonical_nans_find(struct function *fn);

/* ---- nontemporal.c ---- */

/* Finds the stores that may be non-temporal: fn->nontemporal. */
void nontemporal_find(struct function *fn);

#endif
