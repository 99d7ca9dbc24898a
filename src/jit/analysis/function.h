/* A function as analyses see it and leave it: all that is known of it before code is emitted, and
 * that emission does not change.
 *
 * What an analysis asks of one place takes a cursor, by value: no analysis moves another's.
 * Emission has one, too, which only those move who go through the code (struct emit, here).
 */
#ifndef HEDDLE_JIT_FUNCTION_H
#define HEDDLE_JIT_FUNCTION_H

#include "jit/request.h"
#include "jit/target.h"

struct lane_library; /* lane_library.h */
struct frame_access; /* access.h */

/* A check group: accesses of a block through one register, the first of which tests for all.
 * Offsets count bytes from the first lane's address. */
struct check_group {
    int64_t from, to;
    uint32_t all;   /* bytes of a lane, of the widest access */
    uint32_t first; /* index of the instruction that tests */
    uint32_t n;
    struct interleave_group *interleaved; /* that this instruction is of, or NULL: access_groups.c */
    unsigned number;                      /* the instruction's first value, by its number in the interleave group */
};

/* An interleave group: words that are moved together. access_groups.c finds it, interleaved.c moves
 * it. */
enum { MAX_VALUES = 8, MAX_ELEMENTS = MAX_VALUES * WARP_LANES };
struct interleave_group {
    uint32_t id;                  /* from 0 in the function */
    uint32_t first, last;         /* instructions of the block */
    int64_t from;                 /* where it begins, counted as in a check group */
    unsigned n, elements;         /* values: an element of each lane; from the first element to the last */
    unsigned at[MAX_VALUES];      /* by value: element of the lane that comes first */
    unsigned lane_at[WARP_LANES]; /* elements behind that lane's */
    bool is_inside;               /* no member needs a test */
};

/* Which warps run together, and where: gang_plan.c finds it, gang.c emits it. */
enum { MAX_GANG = 8 };
struct gang_plan {
    unsigned n;       /* warps of a gang; 0: there are none */
    bool is_block;    /* these are all warps of the block: they stay together at barriers */
    bool is_straight; /* it runs barrier phases that lead from one to the next */
    bool is_in_turns; /* what they have does not fit the registers: a warp runs what cannot fail before the next does */
    uint8_t *inside;  /* by block: gangs run it */
    uint8_t *entries; /* by block: they begin there */
    uint32_t *
        side_region; /* by block: the one behind its branch that each warp runs for itself, in the lanes that go there; or 0 */
    uint8_t *is_side_region; /* by block: it is one, and no block of the gang's own */
    struct ir_known *known;  /* of the block's threads; NULL: the warps of a gang may be any of the block */
    uint8_t *common;         /* by register: it is the same in all warps of a gang */
    uint8_t *once;           /* by instruction: it is run once for the gang */
};

struct function {
    const struct jit_request *request;
    const struct jit_target *target;
    struct lane_library *lanes;
    struct arena *arena; /* for what lasts until the answer */
    const struct ir_func *ir;
    struct code_layout layout; /* of the interpreter's code, which compiled code calls and leaves to */
    const struct ir_shapes *shapes;
    bool one_lane;     /* the "warp" is one lane: all registers are scalars of its own */
    bool loops, spins; /* some branch goes back; to a loop that spins */
    struct gang_plan plan;
    struct check_group *check_groups;     /* by instruction: access_groups.c */
    uint32_t n_interleave_groups;         /* so far */
    uint64_t *through;                    /* by block: live_through() */
    const struct frame_access **in_frame; /* by instruction: frame_places.c; or NULL */
    const uint8_t *nontemporal;           /* by instruction: it may store past the caches (nontemporal.c); or NULL */
    const uint8_t *canonical;             /* by register: its only NaN is the canonical one (canonical_nans.c) */
    const uint8_t *written_through; /* by register: what is written is stored in the row at once (dirty_registers.c) */
};

/* A place: an instruction of a block, and the block by its number in the order. */
struct cursor {
    const struct function *fn;
    uint32_t block, index;
    bool is_full;                     /* all 32 lanes run there */
    struct check_group *check_groups; /* of the block, by instruction */
};

static inline const struct ir_block *block_at(const struct function *fn, uint32_t order)
{
    return ir_block_at(fn->ir, order);
}
/* Instruction k of a block; of the cursor's. */
static inline const struct ir_insn *fn_insn(const struct function *fn, uint32_t order, uint32_t k)
{
    return &fn->ir->insns.at[block_at(fn, order)->first + k];
}
static inline const struct ir_insn *fn_insn_at(struct cursor here, uint32_t k)
{
    return fn_insn(here.fn, here.block, k);
}
/* The last instruction of a block that is not empty. */
static inline const struct ir_insn *last_insn(const struct function *fn, const struct ir_block *b)
{
    return &fn->ir->insns.at[b->first + b->n - 1];
}

/* Runs all analyses of function `index` of the request, and fills *fn. */
void function_analyse(struct function *fn, uint32_t index);

/* ---- query.c, entries.c ---- */

unsigned fn_ref_width(const struct function *fn, ir_ref r);
uint16_t fn_ref_shape(const struct function *fn, ir_ref r);
/* How many scalars a register of a shape that is not divergent has; the number of a piece's first
 * lane. */
unsigned fn_pieces(const struct function *fn, uint16_t shape);
unsigned fn_piece_lane(const struct function *fn, unsigned piece);
/* Is lane 0's value of a register that is not divergent the same number in every warp of the grid? */
bool fn_is_grid_uniform(const struct function *fn, ir_ref r);
/* Is an operand a number that is known (ir_number)? If so, *v is its lower 32 bits. */
bool fn_constant_low(const struct function *fn, ir_ref r, uint32_t *v);
/* Is it a collective that compiled code has done where all its lanes are there, and goes on behind? */
bool fn_is_collective(const struct ir_insn *i);
/* Is it a shuffle between lanes that are known, or a vote? Such a one is done without the engine
 * where all 32 lanes are there and name each other; *names_all: where they are there, they do. */
bool fn_is_plain_collective(const struct function *fn, const struct ir_insn *i, bool *names_all);
/* A shuffle whose membermask is known to be all. */
bool fn_is_plain_shuffle(const struct function *fn, const struct ir_insn *i);
/* Is a counter the remainder of a division by a small power of 2, as in the loop that compilers put
 * behind an unrolled one? The few iterations of such a loop are not worth a version of their own. */
bool fn_counts_a_remainder(const struct function *fn, ir_ref counter);

enum { NO_WRITER = UINT32_MAX };
/* The last instruction of the block before k that writes r, or NO_WRITER. */
uint32_t cursor_find_writer(struct cursor here, ir_ref r, uint32_t k);
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
/* The block in which warps go on behind the barrier at the end of block `at`, if all 32 lanes come
 * there, and always did; else NO_BLOCK. Registers that are not divergent are then spilled as seeds,
 * and made rows where the interpreter takes over. */
uint32_t fn_seed_block(const struct function *fn, uint32_t at);
bool fn_is_seed_block(const struct function *fn, uint32_t block); /* is it such a block? */
/* Finds the blocks where compiled code can be entered, by block: those that lanes come to from the
 * interpreter. */
void fn_find_entries(const struct function *fn, uint8_t *entries);

/* ---- live_state.c ---- */

/* A set of ir_live: is an operand in it? Adds it; removes it. Only registers that cross blocks have
 * a place there. */
bool live_has(const struct function *fn, const uint64_t *set, ir_ref r);
void live_add(const struct function *fn, uint64_t *set, ir_ref r);
void live_remove(const struct function *fn, uint64_t *set, ir_ref r);

/* A list of registers. */
struct reg_list {
    uint32_t *regs, n;
};

/* Registers that are live before instruction `index` of the block: read from there on before they
 * are written, or behind the block. (No other register may be spilled: its row can be that of
 * another register by now.) live_of_set: those of a set of ir_live; live_among: of a list, those
 * that are divergent, or those that are not. */
struct reg_list live_at(struct cursor here, uint32_t index);
struct reg_list live_of_set(const struct function *fn, const uint64_t *set);
struct reg_list live_among(const struct function *fn, struct reg_list among, bool divergent);
/* Registers that are live behind the block and not written in it. Each exit from the block has to
 * spill them, so one piece of code does it for all exits. A set of ir_live; fn->through has those
 * of all blocks. */
const uint64_t *live_through(const struct function *fn, uint32_t block);
void live_find_through(struct function *fn);

/* ---- critical_sections.c ---- */

/* By block: do lanes go there behind a serial part? serial_parts_add_exits: behind the parts among
 * the blocks from `from` to `to`. */
void serial_parts_find_exits(const struct function *fn, uint8_t *exits);
void serial_parts_add_exits(const struct function *fn, uint32_t from, uint32_t to, uint8_t *exits);
/* Is there a serial part? */
bool serial_parts_exist(const struct function *fn);
/* Are there too many blocks in serial parts for a second version of them? LLVM's time grows faster
 * than a function. */
bool serial_parts_have_many_blocks(const struct function *fn);
/* Is a block in the serial part that `from` is in? The registers of the part that a block is in:
 * those that it writes, and all. */
bool serial_part_holds(const struct function *fn, uint32_t from, uint32_t block);
void serial_parts_find_registers(const struct function *fn, uint32_t order, uint64_t *written, uint64_t *touched);
/* The same function for a warp of one lane, whose shapes are *one. */
struct function function_of_one_lane(const struct function *fn, struct ir_shapes *one);

/* ---- lane_serial_loops.c ---- */

/* Fills fn->shapes->lane_serial. */
void lane_serial_find(struct function *fn);
/* A value in a loop: register `root` as it is at the start of the iteration, plus `added`; the root
 * grows by `step` in each iteration. */
struct walk {
    ir_ref root;
    int64_t added, step;
};
/* Is q, as instruction k of the block reads it, such a value? The block is a loop. */
bool lane_serial_find_walk(struct cursor here, ir_ref q, uint32_t k, struct walk *w);

/* ---- gang_plan.c ---- */

/* Fills fn->plan for function `index` of the kernel. */
void gang_find(struct function *fn, uint32_t index);
bool gang_may_dissolve(const struct function *fn, uint32_t block);
bool gang_may_restart(const struct function *fn, uint32_t block);
/* May it leave to the interpreter, or have the engine do it? */
bool gang_may_fail(const struct function *fn, const struct ir_insn *i);
/* The block where warps go on behind a block's side region, and where those go that skip it. */
uint32_t gang_side_region_end(const struct function *fn, uint32_t block);
/* Is the barrier at the end of a block in a loop? Then warps that pass it may do so again. */
bool gang_barrier_is_passed_again(const struct function *fn, uint32_t block);

/* ---- dirty_registers.c ---- */

/* Finds fn->written_through. */
void dirty_find_written_through(struct function *fn);
/* By block, the registers that are clean where it begins: two sets by the numbers in shapes->live,
 * rows and then seeds, of dirty_words() words in all. The code is entered at the blocks in
 * `entries` (by block); it is that of single warps, or of gangs that pass barriers. */
uint64_t *dirty_find_clean(const struct function *fn, const uint8_t *entries, bool passes_barriers);
uint32_t dirty_words(const struct function *fn);
/* r has been written: it is clean no more, unless it is written through. */
void dirty_clear(const struct function *fn, uint64_t *sets, ir_ref r);

/* ---- gang_blocks.c ---- */

/* Instructions of a block, from `from` on, that each warp of a gang whose warps take turns can run
 * before the next one does: none of them leaves the gang. What is done once the first warp has done
 * for all: it writes no register that one of them has to do with before, and loads nothing that one
 * of them may have stored. Their number, or 0. */
uint32_t gang_count_in_turns(const struct function *fn, uint32_t block, uint32_t from);

/* ---- canonical_nans.c ---- */

/* Finds the registers of f32 whose rows hold one NaN alone: fn->canonical. */
void canonical_nans_find(struct function *fn);

/* ---- nontemporal.c ---- */

/* Finds the stores that may be non-temporal: fn->nontemporal. */
void nontemporal_find(struct function *fn);

#endif
