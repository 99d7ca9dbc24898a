/* Emitting LLVM for one function: what the parts of the compiler share. Private to heddle-jit.
 *
 * Registers are allocas that LLVM promotes: <32 x iN> where a register is divergent, one scalar (the value of lane 0) where
 * it is uniform or affine, one for each piece of the warp where it is piecewise affine, an i32 mask or an i1 for
 * predicates. Pending lanes are i32 masks, too, one for each block where any may be. See docs/JIT.md.
 */
#ifndef HEDDLE_JIT_EMIT_H
#define HEDDLE_JIT_EMIT_H

#include <llvm-c/Core.h>

#include "jit/analysis/access.h"

/* Of a loop that has a version without bounds checks (loop_version.c). */
struct unchecked {
    bool *covered;           /* by instruction: the test of the access, or of the widened index, has been made before */
    LLVMBasicBlockRef block; /* that version, while it is emitted; or NULL */
    value all, iterations;   /* i64: how many iterations follow the first, and how many have been tested */
    value left;              /* the alloca of how many of these are still to come */
    value accesses;          /* struct compiled_access of the engine's iterations */
    uint32_t n;
};

struct gang; /* gang.h */

/* What has been loaded, or is to be stored: vectors of 32, or their allocas. */
struct interleaved_values {
    value of[MAX_GANG][MAX_VALUES]; /* by the gang's warp */
};

struct access;
struct emit;

/* For which lanes code is emitted, and what that changes: all else is the same for all of them. warp_mode: a warp; lane_mode: a
 * single lane, of which all registers are scalars (fn->one_lane); gang_mode: one of several warps, whose lanes all run;
 * side_region_mode: such a warp by itself, in the lanes e->within. */
struct lanes_mode {
    bool (*is_full)(const struct emit *e);                       /* do all 32 lanes run here? */
    bool (*has_pending)(const struct emit *e);                   /* may lanes be pending elsewhere? */
    bool (*is_pending_live)(const struct emit *e, uint32_t reg); /* may such lanes need the register as it is? */
    value (*mask)(struct emit *e);                               /* the lanes that run; NULL where all always do */
    void (*spill)(struct emit *e, uint32_t reg, value mask);
    void (*reload)(struct emit *e, uint32_t reg, value mask);
    void (*leave_at)(struct emit *e, uint32_t index); /* emit_exit() */
    void (*access_by_engine)(struct emit *e, const struct access *a);
    void (*has_effects)(struct emit *e); /* what comes next can not be done again */
};
extern const struct lanes_mode warp_mode, lane_mode;
bool mode_is_pending_live(const struct emit *e, uint32_t reg);

/* Types of the functions of struct compiled_calls. */
struct call_types {
    LLVMTypeRef op, access, park, holds, fill, serial, back_off, iteration;
};

/* What a function has of its launch, its block, its warp (context.c). */
struct context {
    value ops, block, launch, worker, inline_caches;
    value shared, shared_bytes, local, local_bytes, params, frame;
    value lockstep; /* i1: exec/lockstep.c */
};

/* The loop over warps in lockstep (work_group_loop.c), and where gangs begin. */
struct warp_loop {
    LLVMBasicBlockRef begin, next; /* next: in lockstep */
    value start[4], done;          /* what they begin with: a warp's own, as the function's; the one before */
    LLVMBasicBlockRef gang, alone; /* for warps that may begin as a gang, and for others */
    value enter_alone;             /* what is entered there */
};

/* Allocas: what a warp has left of its budget, and how it spins (exec/quantum.c); what has been run. */
struct counts {
    value budget, spun, ahead, divided, phases, instructions, lane_instructions;
};

/* Of a serial part, allocas: how often the lane has gone back; for fence.c. */
struct lane_fences {
    value tries, has_stored, has_exchanged, waits;
};

struct emit {
    const struct function *fn;
    const struct lanes_mode *mode;
    struct arena *arena; /* for what lasts until the answer */

    /* of the module */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, ptr, void_type;
    struct call_types types;
    uint32_t n_inline_caches;
    uint32_t atomic_work; /* of LLVM, so far: atomic.c */

    /* of the function being emitted */
    value llvm_fn, w, a, calls;
    value enter_at, enter_with; /* the block and the lanes that the warp is entered with */
    LLVMBasicBlockRef entry, *block, fault, leave;
    LLVMBasicBlockRef *end; /* by block: what ends it, where a gang may dissolve; or NULL */
    struct context of;
    struct warp_loop warps;
    struct counts count;
    struct inline_caches *inline_caches;    /* where accesses were last: inline_cache.c */
    value *regs;                            /* by register and piece: its alloca, or NULL */
    value *pending;                         /* by block: the alloca of pending lanes, or NULL */
    value mask;                             /* the alloca of the lanes that run */
    value how, left_at;                     /* what `leave` returns, and the block it notes */
    value *lane_offsets;                    /* by shape: a constant array, or NULL */
    value base[4];                          /* of rows: enum row_base */
    value scratch[5];                       /* rows for calls of lane functions */
    struct interleaved_values *interleaved; /* by interleave group: access_groups.c */

    /* where emission stands, and what goes with that */
    uint32_t at;                      /* the block being emitted, in order */
    uint32_t index;                   /* the instruction in it */
    struct check_group *check_groups; /* of the present block, by instruction: access_groups.c */
    uint64_t *clean_in, *clean; /* two sets by their numbers in shapes->live: by block, and now; dirty_registers.c */
    LLVMBasicBlockRef exit_through; /* where the present block is left for the interpreter; or NULL */
    LLVMBasicBlockRef together; /* the version of the present block's loop in which lanes do not go alone; or NULL */
    struct unchecked unchecked;

    /* of the mode */
    struct gang *gang;            /* of which this is one warp; or NULL */
    unsigned place;               /* in it */
    const struct ir_known *known; /* of the warp's threads, where it is known which these are; or NULL */
    value within;                 /* the lanes that run a side region */
    value lane;                   /* i64: the one that runs, of a single lane */
    struct lane_fences fences;
    struct cas_loop *cas_loop; /* of the part being emitted, where it has one: cas_loop.c */
    bool *tested; /* by instruction of the function: the test of an access was made for all lanes; or NULL */
};

/* ---- function.c ---- */

void emit_function(struct emit *e, const struct function *fn, const char *name);

/* ---- llvm_build.c ---- */

LLVMTypeRef type_of_width(struct emit *e, unsigned width);   /* iN; i1 for predicates */
LLVMTypeRef vector_of_width(struct emit *e, unsigned width); /* <32 x iN>; i32 for predicates */
LLVMTypeRef vector_of(LLVMTypeRef element, unsigned n);
value const_int(struct emit *e, LLVMTypeRef type, uint64_t v);
value const_lanes(struct emit *e, unsigned width, const int64_t v[WARP_LANES]);
value emit_splat(struct emit *e, value scalar, unsigned n);
value emit_is_zero(struct emit *e, value v);
value emit_blend(struct emit *e, unsigned width, value mask, value yes, value no);
value emit_mask_to_lanes(struct emit *e, value mask); /* i32 -> <32 x i1> */
value emit_lanes_to_mask(struct emit *e, value lanes);
value emit_lane_bit(struct emit *e); /* of the lane that runs: its mask */
value emit_intrinsic(struct emit *e, const char *name, LLVMTypeRef *types, unsigned n_types, value *args, unsigned n);
/* Memory: a field of a record; of the function's own, at its start or here; a constant. */
value emit_field_pointer(struct emit *e, value base, uint64_t offset);
value emit_load_field(struct emit *e, LLVMTypeRef type, value base, uint64_t offset, const char *name);
void emit_store_field(struct emit *e, value v, value base, uint64_t offset);
value emit_load_i32(struct emit *e, value from);
void emit_mark_invariant(struct emit *e, value load);
value emit_alloca(struct emit *e, LLVMTypeRef type);
value emit_alloca_of(struct emit *e, LLVMTypeRef type, value initial);
value emit_constant(struct emit *e, value array);
value emit_op_pointer(struct emit *e, const struct op *o);
LLVMBasicBlockRef emit_new_block(struct emit *e, const char *name);
void emit_at_end(struct emit *e, LLVMBasicBlockRef block);
/* A branch that is nearly always taken. */
void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);

/* ---- lane_masks.c ---- */

/* Where emission stands. */
struct cursor emit_here(const struct emit *e);
/* Do all 32 lanes run here? The lanes that do: all of them where that is known. */
bool emit_is_full(const struct emit *e);
value emit_mask(struct emit *e);

/* ---- context.c, counters.c ---- */

/* The head of the function; what it has of its launch and block, and of its warp; rows on the stack. */
void emit_declare(struct emit *e, const char *name);
void emit_context(struct emit *e);
void emit_warp(struct emit *e);
void emit_scratch(struct emit *e);
/* The counters of a block of code that so many warps run; adding one to the worker's. */
void emit_count(struct emit *e, unsigned warps);
void emit_add_to_counter(struct emit *e, value counter, uint64_t offset);

/* ---- registers.c ---- */

/* The lanes of the instruction: those that run and whose guard holds. */
value emit_guarded_mask(struct emit *e, const struct ir_insn *i);
/* The value in all lanes; a mask for predicates. `row` is where the operand stands if it is not a register. */
value reg_read_lanes(struct emit *e, ir_ref r, row_ref row);
/* The value of lane 0, of what is not divergent; i1 for predicates. Of a piece's first lane. */
value reg_read_scalar(struct emit *e, ir_ref r, row_ref row);
value reg_read_piece(struct emit *e, ir_ref r, row_ref row, unsigned piece);
/* Writes a register in the lanes of `mask`, which may be NULL: all lanes that run. */
void reg_write_lanes(struct emit *e, ir_ref r, value lanes, value mask);
void reg_write_scalar(struct emit *e, ir_ref r, value scalar); /* in all pieces */
void reg_write_piece(struct emit *e, ir_ref r, value scalar, unsigned piece);
/* Memory of a row. */
value reg_slot_pointer(struct emit *e, ir_ref reg);
/* A register to its row, in the lanes of mask (NULL: all), unless it is clean; of one that is not divergent its seed alone: a
 * number for each piece of the warp, from which reg_reload() makes all. */
void reg_spill(struct emit *e, uint32_t reg, value mask);
void reg_spill_seed(struct emit *e, uint32_t reg);
/* From its row, as it is in the lanes of mask; and whether it has its shape there, as an i1. */
void reg_reload(struct emit *e, uint32_t reg, value mask);
value reg_has_shape(struct emit *e, uint32_t reg, value mask);
/* What the modes do for that. */
void reg_spill_row(struct emit *e, uint32_t reg, value mask);
void reg_spill_lane(struct emit *e, uint32_t reg, value mask);
void reg_reload_row(struct emit *e, uint32_t reg, value mask);
void reg_reload_lane(struct emit *e, uint32_t reg, value mask);

/* ---- dirty.c ---- */

/* What dirty_find_clean() has found, for code that is emitted from here on. */
void dirty_begin(struct emit *e, uint64_t *clean_in);
void dirty_start_clean(struct emit *e, uint32_t block);
/* Nothing is clean. */
void dirty_start_all(struct emit *e);
bool dirty_is_clean(const struct emit *e, uint32_t reg);
/* Of what is not divergent: does the row hold it as reg_spill_seed() leaves it? */
bool dirty_is_seed_clean(const struct emit *e, uint32_t reg);
void dirty_note(struct emit *e, uint32_t reg);

/* ---- exit.c ---- */

/* A side exit: the interpreter goes on at instruction `index` of the present block; in lockstep the next warp does, where that
 * instruction is one at which warps arrive. The mode's; that of one warp, or one lane. */
void emit_exit(struct emit *e, uint32_t index);
void exit_of_warp(struct emit *e, uint32_t index);
/* The warp gives way, at the start of a block. */
void exit_yielding(struct emit *e, uint32_t block, value mask);
/* Leaves for `block`, with registers in their rows, by way of code that exits share: `by`. */
void exit_with(struct emit *e, enum leave how, uint32_t block, value mask, LLVMBasicBlockRef by);
/* That code: of all exits of the function; and of those in the midst of the present block, which spills what is live through it. */
void exit_emit_common(struct emit *e);
void exit_emit_through(struct emit *e);

/* Registers that are live at instruction `index` of the present block, to their rows:
 * - live: all of all of them;
 * - seeds: of those that are not divergent the seeds, which the interpreter cannot read (so not while lanes are pending);
 * - cold: all but those that are live through the block, with code that is small and slow: while no lanes are pending the library
 *   makes rows of seeds (emit_fill_call); what is live through the block exit_spill_through() brings there. */
void exit_spill_live(struct emit *e, uint32_t index);
void exit_spill_seeds(struct emit *e, uint32_t index);
void exit_spill_cold(struct emit *e, uint32_t index);
void exit_spill_through(struct emit *e);
/* Of a set of ir_live all, in the lanes of mask (NULL: all); cold; and of what is live behind the present block, seeds. */
void exit_spill_set(struct emit *e, const uint64_t *set, value mask);
void exit_spill_set_cold(struct emit *e, const uint64_t *set, value mask);
void exit_spill_out_seeds(struct emit *e);
/* What is live there, from rows, in all lanes. */
void exit_reload_live(struct emit *e, uint32_t index);
/* struct compiled_shape of registers that are not divergent; NULL for none. */
value exit_shapes_table(struct emit *e, const struct reg_list *l);
/* Makes rows of their seeds. */
void emit_fill_call(struct emit *e, const struct reg_list *l);
/* Calls the engine for an operation whose operands are in their rows; returns in a new block, or leaves. */
void emit_call_op(struct emit *e, const struct op *o, value mask);

/* ---- work_group_loop.c ---- */

/* Goes to where a warp begins; to the next warp, from the present one. */
void warp_loop_go_to_start(struct emit *e, value start[4]);
void warp_loop_go_to_next(struct emit *e);
/* In lockstep, and with all lanes of the warp, the next warp goes on; else the code behind this does. Registers are in
 * their rows. */
void emit_arrival(struct emit *e, const struct op *o, uint32_t arrived);
/* Records that all lanes have come there. */
void warp_loop_record_arrival(struct emit *e, const struct op *o, uint32_t arrived);
/* The block's next warp goes on where it begins; after the last, and where all have come to one barrier, the first. */
void emit_next_warp(struct emit *e);

/* ---- branch.c ---- */

/* A branch at the end of a block. */
void branch_emit(struct emit *e, const struct ir_insn *i, const struct op *o);
/* The lanes of `mask`, all that run, go to a block; pending lanes of an earlier one come first. */
void emit_go_to(struct emit *e, uint32_t target, value mask);

/* ---- insn.c ---- */

/* Makes e->at the present block. */
void emit_begin_block(struct emit *e);
/* False where the instruction ends the block. */
bool emit_insn(struct emit *e, const struct ir_insn *i, const struct op *o);

/* ---- entry.c ---- */

void emit_entries(struct emit *e);

/* ---- critical_section.c ---- */

/* The serial parts of a function (ir/serial_parts.c), as one of their own, where it has any. */
void emit_serial(struct emit *e, const struct function *fn, const char *name);
/* A block of such a part, in the function itself. */
void emit_serial_call(struct emit *e);

/* ---- lane_serial.c ---- */

/* A loop that lanes go around one after the other: goes on before the branch at its end, where that goes back only if the budget is
 * spent; or to `together`, where nothing has been done. */
void emit_lane_serial(struct emit *e, const struct ir_block *block, LLVMBasicBlockRef together);

/* ---- gang.c ---- */

/* Where a warp begins: to the gang's code, if the warp and those behind it can be one; else code goes on here. */
void emit_gang_start(struct emit *e);
void emit_gang(struct emit *e);

/* ---- lane_function.c ---- */

void emit_lanes(struct emit *e, const struct ir_insn *i, const struct op *o);
/* A lane function of a and b with one integer result of `width` bits, for one lane: of those that are a few instructions. */
value emit_lane_function(struct emit *e, uint16_t lane, unsigned width, value a, value b);

/* ---- fence.c ---- */

void emit_fence(struct emit *e, const struct op *o);
/* For serial parts: what comes next is a load of memory that others write, or a call of who may do that; a full fence of the
 * host's was done, as by a locked instruction; a store that others may see. */
void fence_before_load(struct emit *e);
void fence_is_done(struct emit *e);
void fence_note_store(struct emit *e);
void fence_note_exchange(struct emit *e); /* that is a store */
void fence_before_leaving(struct emit *e);
/* The order of a locked instruction that is all fences that wait: LLVM is to keep to it, too. */
LLVMAtomicOrdering fence_with(const struct emit *e, LLVMAtomicOrdering order);

/* ---- atomic.c ---- */

void emit_atom(struct emit *e, const struct ir_insn *i, const struct op *o);

/* ---- loop_version.c ---- */

/* Where the present block is a loop, and its accesses can be tested before it: emits that test, and returns it, an i1;
 * else NULL. */
value loop_test(struct emit *e, const struct ir_block *block);
/* Goes to one of both, as the test says, or to the test for one iteration less. */
void loop_choose(struct emit *e, value holds, LLVMBasicBlockRef unchecked, LLVMBasicBlockRef other);
/* An iteration by the engine, up to the branch; it notes where the accesses were, for the next test. */
void loop_iteration_by_engine(struct emit *e, const struct ir_block *block);

/* ---- inline_cache.c ---- */

/* Of the function's accesses; and what is known of them at its end. */
void inline_caches_begin(struct emit *e);
void inline_caches_end(struct emit *e);

/* ---- load_store.c, bounds_check.c ---- */

void emit_load(struct emit *e, const struct ir_insn *i, const struct op *o);
void emit_store(struct emit *e, const struct ir_insn *i, const struct op *o);
/* What lanes do together, where all of them are there; false where the instruction is left to the interpreter. */
bool emit_collective(struct emit *e, const struct ir_insn *i, const struct op *o);
/* Any operation, by the engine: operands to rows, the call, results back. */
void emit_by_engine(struct emit *e, const struct ir_insn *i, const struct op *o);
/* Has the test of the present instruction been made before the loop, or before the lanes of a serial part? */
bool access_is_unchecked(const struct emit *e);

#endif
