/* A function as analyses see it and leave it: all that is known of it before code is emitted, and that emission does not change.
 *
 * What an analysis asks of one place takes a cursor, by value: no analysis moves another's.
 */
#ifndef HEDDLE_JIT_FUNCTION_H
#define HEDDLE_JIT_FUNCTION_H

#include "exec/machine.h"
#include "jit/request.h"
#include "jit/target.h"

struct lane_library; /* lane_library.h */

/* Accesses of a block through one register: the first tests for all. Offsets of bytes from the address of its lane
 * that comes first. */
struct check_group {
    int64_t from, to;
    uint32_t all;   /* of the widest access: bytes of a lane */
    uint32_t first; /* index of the instruction that tests */
    uint32_t n;
    struct interleave_group *interleaved; /* that this instruction is of, or NULL: access_groups.c */
    unsigned number;                      /* in it, of the instruction's first value */
};

/* Words that are moved together: access_groups.c finds them, interleaved.c moves them. */
enum { MAX_VALUES = 8, MAX_ELEMENTS = MAX_VALUES * WARP_LANES };
struct interleave_group {
    uint32_t id;                  /* from 0 in the function */
    uint32_t first, last;         /* instructions of the block */
    int64_t from;                 /* where it begins, as of a check group */
    unsigned n, elements;         /* values: an element of each lane; from the first element to the last */
    unsigned at[MAX_VALUES];      /* by value: element of the lane that comes first */
    unsigned lane_at[WARP_LANES]; /* elements behind that lane's */
    bool is_inside;               /* no member needs a test */
};

/* Warps that run together: gang_plan.c, gang.c. */
enum { MAX_GANG = 8 };
struct gang_plan {
    unsigned n;       /* warps of a gang; 0: there are none */
    bool is_block;    /* these are all warps of the block: they stay together at barriers */
    bool is_straight; /* it runs barrier phases that lead from one to the next */
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
    const struct code *code;
    const struct ir_func *ir;
    const struct ir_shapes *shapes;
    bool one_lane;     /* the "warp" is one lane: all registers are scalars of its own */
    bool loops, spins; /* some branch goes back; to a loop that spins */
    struct gang_plan plan;
    struct check_group *check_groups; /* by instruction: access_groups.c */
    uint32_t n_interleave_groups;     /* so far */
    uint64_t *through;                /* by block: live_through() */
    const uint8_t *nontemporal;       /* by instruction: it may store past the caches (nontemporal.c); or NULL */
};

/* An instruction of a block, by its place in the order. */
struct cursor {
    const struct function *fn;
    uint32_t block, index;
    bool is_full;                     /* all 32 lanes run there */
    struct check_group *check_groups; /* of the block, by instruction */
};

static inline const struct ir_block *block_at(const struct function *fn, uint32_t order)
{
    return &fn->ir->blocks.at[fn->ir->order[order]];
}
/* Instruction k of the cursor's block, and its operation. */
static inline const struct ir_insn *insn_at(struct cursor here, uint32_t k)
{
    return &here.fn->ir->insns.at[block_at(here.fn, here.block)->first + k];
}
static inline const struct op *op_at(struct cursor here, uint32_t k)
{
    return &here.fn->code->ops[here.fn->code->blocks[here.block].first + k];
}

/* Fills what all analyses find out of function `index` of the request. */
void function_analyse(struct function *fn, uint32_t index);

/* ---- query.c ---- */

unsigned fn_ref_width(const struct function *fn, ir_ref r);
uint16_t fn_ref_shape(const struct function *fn, ir_ref r);
/* How many scalars what is not divergent has, and the number of a piece's first lane. */
unsigned fn_pieces(const struct function *fn, uint16_t shape);
unsigned fn_piece_lane(const struct function *fn, unsigned piece);
/* Is lane 0's value of a register that is not divergent the same number in every warp of the grid? */
bool fn_is_grid_uniform(const struct function *fn, ir_ref r);
/* Is an operand a constant? And its lower 32 bits, where they are wanted. */
bool fn_constant(const struct function *fn, ir_ref r, int64_t *v);
bool fn_constant_low(const struct function *fn, ir_ref r, uint32_t *v);
/* A shuffle between lanes that are known, which is done without the engine. */
bool fn_is_plain_shuffle(const struct function *fn, const struct ir_insn *i);
/* Is a counter the rest of a division by a small power of 2, as in the loop that compilers put beside one of four iterations at
 * a time? Its few iterations are not worth a version of their own. */
bool fn_counts_a_remainder(const struct function *fn, ir_ref counter);

enum { NO_WRITER = UINT32_MAX };
/* The last instruction of the block before k that writes r, or NO_WRITER. */
uint32_t cursor_find_writer(struct cursor here, ir_ref r, uint32_t k);
/* Is it a plain one, of all lanes: r = lane(...)? */
bool cursor_is_plain_writer(struct cursor here, uint32_t k, ir_ref r);

/* Registers that are live where a block begins: a set of ir_live. */
const uint64_t *live_in(const struct function *fn, uint32_t block);
/* Does some branch go back to the block, or to one before it? */
bool cursor_is_in_loop(struct cursor here);
/* The number of the operation that ends a block, be it none of the instructions. */
uint32_t fn_block_end(const struct function *fn, uint32_t order);
/* What a warp has arrived at, where lockstep goes on behind it: ARRIVED_END, a barrier; 0 for all else. */
uint32_t fn_arrival(const struct function *fn, const struct ir_insn *i, const struct op *o);
/* The block in which warps go on behind the barrier at the end of block `at`, where all 32 lanes come there, and always
 * did; else NO_BLOCK. What is not divergent is then kept as a seed, and made a row where the interpreter takes over. */
uint32_t fn_seed_block(const struct function *fn, uint32_t at);
bool fn_is_seed_block(const struct function *fn, uint32_t block); /* is it such a block? */

/* ---- live_state.c ---- */

/* Registers. */
struct reg_list {
    uint32_t *regs, n;
};

/* Registers that are live before instruction `index` of the block: read from there on before they are written, or behind the
 * block. (Nothing else may go to its row, which can be that of another register by now.) Those of a set of ir_live; of a list
 * those that are not divergent. */
struct reg_list live_at(struct cursor here, uint32_t index);
struct reg_list live_of_set(const struct function *fn, const uint64_t *set);
struct reg_list live_scalars(const struct function *fn, struct reg_list among);
/* Registers that are needed behind the block and are not written in it: wherever it is left they are to be spilled, so there is one
 * piece of code for that. A set of ir_live; fn->through has those of all blocks. */
const uint64_t *live_through(const struct function *fn, uint32_t block);
void live_find_through(struct function *fn);

/* ---- critical_sections.c ---- */

/* Where lanes go behind serial parts, by block; behind those among blocks from one to another. */
void serial_find_exits(const struct function *fn, uint8_t *exits);
void serial_add_exits(const struct function *fn, uint32_t from, uint32_t to, uint8_t *exits);
bool serial_has_parts(const struct function *fn, uint32_t *longest);
/* A second version of all that is in parts would take LLVM long: what it needs for a function grows faster than the function. */
bool serial_has_many_blocks(const struct function *fn);
/* Is a block in the part that `from` is in? And the part's registers: those that it writes, and all. */
bool serial_is_inside(const struct function *fn, uint32_t from, uint32_t block);
void serial_find_registers(const struct function *fn, uint32_t order, uint64_t *written, uint64_t *touched);
/* Shapes of a warp of one lane. */
struct ir_shapes serial_shapes_of_lane(const struct function *fn, const struct ir_shapes *s);

/* ---- lane_serial_loops.c ---- */

/* Fills fn->shapes->lane_serial. */
void lane_serial_find(struct function *fn);
/* What is read is the register as it was at the start of the iteration, and so much more; that has a step more in each iteration. */
struct walk {
    ir_ref root;
    int64_t added, step;
};
/* Of q as instruction k of the block, a loop, reads it: false where it is not such. */
bool lane_serial_find_walk(struct cursor here, ir_ref q, uint32_t k, struct walk *w);

/* ---- gang_plan.c ---- */

/* Fills fn->plan for function `index` of the kernel. */
void gang_find(struct function *fn, uint32_t index);
bool gang_may_dissolve(const struct function *fn, uint32_t block);
bool gang_may_restart(const struct function *fn, uint32_t block);
/* Where a block's side region and those who skip it go on. */
uint32_t gang_side_region_end(const struct function *fn, uint32_t block);
/* Is the barrier at the end of a block in a loop? Then warps that pass it may do so again. */
bool gang_barrier_is_passed_again(const struct function *fn, uint32_t block);

/* ---- dirty_registers.c ---- */

/* By block, what is clean where it begins: two sets by the numbers in shapes->live, one behind the other, of so many words in all.
 * For code that is entered at the blocks in `entries` (by block), of single warps, or of gangs that pass barriers. */
uint64_t *dirty_find_clean(const struct function *fn, const uint8_t *entries, bool passes_barriers);
uint32_t dirty_words(const struct function *fn);
/* What is written is clean no more. */
void dirty_clear(const struct function *fn, uint64_t *sets, ir_ref r);

/* ---- nontemporal.c ---- */

/* Stores that may go past the caches: fn->nontemporal. */
void nontemporal_find(struct function *fn);

#endif
