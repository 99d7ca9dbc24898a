/* Emitting LLVM for one function: what the files of emit/ share. Private to jit/emit/ and
 * jit/compile.c. See docs/JIT.md.
 *
 * A register is an alloca that LLVM promotes: a divergent one is <32 x iN>, a uniform or affine one
 * a scalar (the value of lane 0), a piecewise affine one a scalar for each piece of the warp. A
 * predicate is an i32 mask, or an i1 where it is uniform. Pending lanes are i32 masks, too, one for
 * each block where lanes may be pending.
 */
#ifndef HEDDLE_JIT_EMIT_H
#define HEDDLE_JIT_EMIT_H

#include <llvm-c/Core.h>

#include "jit/analysis/access.h"

typedef LLVMValueRef value;

/* The version of a loop without bounds checks (loop_version.c). */
struct unchecked {
    bool *covered;           /* by instruction: its access, or its widened index, was tested before the loop */
    LLVMBasicBlockRef block; /* that version, while it is emitted; or NULL */
    value all, iterations;   /* i64: how many iterations follow the first, and how many have been tested */
    value left;              /* the alloca of how many of these are still to come */
    value accesses;          /* struct compiled_access of the engine's iterations */
    uint32_t n;
};

struct gang; /* gang.h */

/* The values of an interleave group, loaded or to be stored: vectors of 32, or their allocas. */
struct interleaved_values {
    value of[MAX_GANG][MAX_VALUES]; /* by the gang's warp */
};

enum { COPY_VECTORS = 8 }; /* that have the 16 bytes of each lane */

struct emit;
struct side_exit;
struct transfer; /* load_store.h */
struct atom;     /* atom.h */

/* A mode: the lanes for which code is emitted, and all that depends on which these are. What all
 * modes share asks here, and never which mode it is.
 * - warp_mode: a warp;
 * - lane_mode: a single lane, all of whose registers are scalars;
 * - gang_mode: one of a gang's warps, all of whose lanes run;
 * - side_region_mode: one of a gang's warps by itself, in the lanes e->lanes.within. */
struct lanes_mode {
    /* lanes */
    bool (*is_full)(const struct function *fn, uint32_t block);  /* do all 32 lanes run there, in every warp? */
    bool (*all_run)(const struct emit *e);                       /* the same here, of this warp */
    bool (*has_pending)(const struct emit *e);                   /* may lanes be pending elsewhere? */
    bool (*is_pending_live)(const struct emit *e, uint32_t reg); /* may such lanes need the register as it is? */
    value (*mask)(struct emit *e);                               /* the lanes that run; NULL where all always do */
    /* registers and their rows */
    void (*spill)(struct emit *e, uint32_t reg, value mask);
    void (*reload)(struct emit *e, uint32_t reg, value mask);
    value (*read_sreg)(struct emit *e, LLVMTypeRef type, ir_ref r); /* a special register that is one number here */
    /* exits: exit_emit_at(); notes where the warp stands, for the code at e->f->leave or in its
     * record; and, or NULL, that the next instruction cannot be repeated: the block cannot be
     * restarted behind it */
    void (*leave_at)(struct emit *e, uint32_t index);
    void (*record_exit)(struct emit *e, const struct side_exit *x);
    void (*has_effects)(struct emit *e);
    /* The engine performs: an access; an IR_ASYNC; an IR_GROUP that has something to do, and goes
     * to `done`. Behind an access, first_anew, or NULL: values found before it may not be available
     * any more. */
    void (*access_by_engine)(struct emit *e, const struct transfer *t);
    void (*async_by_engine)(struct emit *e, const struct ir_insn *i);
    void (*group_by_engine)(struct emit *e, const struct ir_insn *i, LLVMBasicBlockRef done);
    void (*first_anew)(struct emit *e, struct transfer *t);
    /* Emits an access if it is known that the lanes that run are inside; else false, or NULL.
     * Performs an atomic operation on cells that are. */
    bool (*transfer_known)(struct emit *e, struct transfer *t);
    void (*perform_atom)(struct emit *e, const struct atom *t);
    /* Do vectors move what all lanes have at one address of local memory, which is a row there? May
     * there be more atomic operations than LLVM can do in time? Do fences wait where the CPU keeps
     * the order of stores (fence.c)? */
    bool moves_local, bounds_atomics, delays_fences;
};
extern const struct lanes_mode warp_mode, lane_mode;
bool mode_is_pending_live(const struct emit *e, uint32_t reg);

/* What all functions of a kernel are emitted into, and with: const once it is made (compile.c). */
struct code_module {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, ptr, void_type;
};

/* Values that the function loads once, of its launch and its block (context.c). */
struct context {
    value ops, block, launch, worker, inline_caches;
    value shared, shared_bytes, local_bytes, params;
    value lockstep; /* i1: exec/lockstep.c */
};

/* The same of a warp: its record, its activation's, its local memory, its frame there, and its rows
 * (by enum row_base; those of its block and of constants, too). */
struct warp_values {
    value w, a, local, frame, base[4];
};

/* The loop over warps in lockstep (work_group_loop.c), and where gangs begin. */
struct warp_loop {
    LLVMBasicBlockRef begin, next; /* next: in lockstep */
    value start[4], done;          /* phis: the function's arguments for the warp that begins; the warp before it */
    LLVMBasicBlockRef gang, alone; /* for warps that may begin as a gang, and for others */
    value enter_alone;             /* what is entered there */
};

/* Allocas: the rest of the warp's budget, its spinning (exec/quantum.c), and how much has been
 * executed. */
struct counts {
    value budget, spun, ahead, divided, phases, instructions, lane_instructions;
};

/* Allocas of a serial part: how often the lane has gone back (tries); the others are fence.c's. */
struct lane_fences {
    value tries, has_stored, has_exchanged, waits;
};

/* The LLVM function that is being emitted: const once its head is there, which declares it and
 * loads what it needs. */
struct code_function {
    value llvm_fn, calls;
    LLVMBasicBlockRef entry, fault, leave;
    LLVMBasicBlockRef *end; /* by block: its terminator, where a gang may dissolve; or NULL */
    struct context of;
    struct warp_loop warps;
    struct counts count;
    struct inline_caches *inline_caches;    /* where accesses were last: inline_cache.c */
    value *pending;                         /* by block: the alloca of pending lanes, or NULL */
    value mask;                             /* the alloca of the lanes that run */
    value how, left_at;                     /* what `leave` returns, and the block it notes */
    value *lane_offsets;                    /* by shape: a constant array, or NULL */
    value scratch[5];                       /* rows for calls of lane functions */
    value seeds;                            /* of registers that the engine spills */
    struct interleaved_values *interleaved; /* by interleave group: access_groups.c */
};

/* Which lanes run: what a mode's functions work with. */
struct lanes {
    /* of several warps */
    struct gang *gang;            /* that this is one warp of */
    unsigned place;               /* of the warp in the gang; else 0 */
    const struct ir_known *known; /* of the warp's threads, where it is known which threads these are; or NULL */
    value within;                 /* the lanes that run a side region */
    /* of a single lane */
    value lane; /* i64: its number */
    struct lane_fences fences;
    struct cas_loop *cas_loop; /* of the serial part being emitted, if it has one: cas_loop.c */
    bool *tested;              /* by instruction of the function: its access was tested for all lanes; or NULL */
};

struct emit {
    const struct code_module *m;
    const struct function *fn;
    const struct lanes_mode *mode;
    struct arena *arena; /* for what lasts until the answer */

    /* of the module, so far */
    uint32_t n_inline_caches;
    uint32_t atomic_work; /* of LLVM: atomic.c */

    /* of the function being emitted: what all its warps share, and the one whose code it is */
    const struct code_function *f;
    struct warp_values warp;
    value enter_at, enter_with; /* the block and the lanes that the warp is entered with */
    LLVMBasicBlockRef *block;
    value *regs; /* by register and piece: its alloca, or NULL */

    const struct cursor *here; /* of who goes through the code: emitters ask where they are, and move it nowhere */

    /* what belongs to the present block */
    uint64_t *clean_in, *clean; /* two sets by their numbers in shapes->live: by block, and now; dirty_registers.c */
    LLVMBasicBlockRef exit_through; /* where the present block is left for the interpreter; or NULL */
    value copied[COPY_VECTORS];     /* allocas of what a copy has loaded (copy.c); or NULL */
    LLVMBasicBlockRef together;     /* the vector version of the present block's lane-serial loop; or NULL */
    struct unchecked unchecked;

    struct lanes lanes;
};

/* Is this the warp that does what is done once for several? Is an instruction of the function done
 * so? Are all warps of the block here? */
static inline bool mode_is_first(const struct emit *e)
{
    return !e->lanes.place;
}

static inline bool mode_is_once(const struct emit *e, uint32_t insn)
{
    return e->lanes.gang && e->fn->plan.once[insn];
}

static inline bool mode_is_block(const struct emit *e)
{
    return e->lanes.gang && e->fn->plan.is_block;
}

/* ---- function.c ---- */

void emit_function(struct emit *e, const struct function *fn, const char *name);

/* ---- llvm_build.c ---- */

/* One of LLVM's instructions each, by its name there. */
typedef value build_binary(struct emit *e, value x, value y);
typedef value build_cast(struct emit *e, value v, LLVMTypeRef to);
build_binary build_add, build_sub, build_mul, build_udiv, build_urem, build_and, build_or, build_xor, build_shl,
    build_lshr;
build_binary build_eq, build_ne, build_ult, build_ule, build_ugt, build_uge, build_sgt, build_sge;
build_cast build_zext, build_sext, build_trunc, build_bit_cast, build_int_to_ptr;
value build_int_cast(struct emit *e, value v, LLVMTypeRef to, bool is_signed);
value build_not(struct emit *e, value v);
value build_select(struct emit *e, value when, value yes, value no);
value build_extract(struct emit *e, value v, value index);
value build_insert(struct emit *e, value v, value element, value index);
value build_extract_value(struct emit *e, value v, unsigned index);
value build_gep(struct emit *e, LLVMTypeRef type, value base, value index); /* inbounds */
value build_load(struct emit *e, LLVMTypeRef type, value at);
value build_store(struct emit *e, value v, value at);
value build_load_aligned(struct emit *e, LLVMTypeRef type, value at, unsigned align);
value build_store_aligned(struct emit *e, value v, value at, unsigned align);
value build_phi(struct emit *e, LLVMTypeRef type);
value build_br(struct emit *e, LLVMBasicBlockRef to);
value build_cond_br(struct emit *e, value when, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
value build_ret(struct emit *e, value v);

LLVMTypeRef type_of_width(struct emit *e, unsigned width);   /* iN; i1 for predicates */
LLVMTypeRef vector_of_width(struct emit *e, unsigned width); /* <32 x iN>; i32 for predicates */
LLVMTypeRef vector_of(LLVMTypeRef element, unsigned n);
value const_int(LLVMTypeRef type, uint64_t v);
value const_i1(struct emit *e, bool v);
value const_i32(struct emit *e, uint64_t v);
value const_i64(struct emit *e, uint64_t v);
value const_lanes(struct emit *e, unsigned width, const int64_t v[WARP_LANES]);
value emit_splat(struct emit *e, value scalar);
value emit_is_zero(struct emit *e, value v);
value emit_blend(struct emit *e, unsigned width, value mask, value yes, value no);
value emit_mask_to_lanes(struct emit *e, value mask); /* i32 -> <32 x i1> */
value emit_lanes_to_mask(struct emit *e, value lanes);
value emit_all_run(struct emit *e, value mask); /* are all lanes in it? An i1 */
value emit_lane_bit(struct emit *e);            /* of the lane that runs: its mask */
/* An intrinsic of the type of x; y: or NULL. emit_intrinsic_of: any. */
value emit_intrinsic(struct emit *e, const char *name, value x, value y);
value emit_intrinsic_of(struct emit *e, const char *name, LLVMTypeRef *types, unsigned n_types, value *args,
                        unsigned n);
/* In some lanes (<n x i1>), at a pointer or at a vector of them. */
value emit_masked_load(struct emit *e, LLVMTypeRef type, value at, unsigned align, value lanes);
void emit_masked_store(struct emit *e, value v, value at, unsigned align, value lanes);
/* Of a mask: the number of its first lane, an i32; the mask of the others. */
value emit_first_lane(struct emit *e, value mask);
value emit_other_lanes(struct emit *e, value mask);
/* A vector of n elements out of two others, or of one (y: NULL); negative index: any will do. */
value emit_shuffle(struct emit *e, value x, value y, const int *index, unsigned n);
/* Memory: so many bytes on; a field of a record; of the function's own; the same that holds v, and
 * what it holds; a constant. */
value emit_pointer_at(struct emit *e, value pointer, uint64_t offset);
value emit_load_field(struct emit *e, LLVMTypeRef type, value base, uint64_t offset);
void emit_store_field(struct emit *e, value v, value base, uint64_t offset);
value emit_load_i32(struct emit *e, value from);
void emit_mark_invariant(struct emit *e, value load);
value emit_alloca(struct emit *e, LLVMTypeRef type);
value emit_keep(struct emit *e, value v);
value emit_kept(struct emit *e, value kept);
value emit_constant(struct emit *e, value array);
value emit_op_pointer(struct emit *e, const struct ir_insn *i);
LLVMBasicBlockRef emit_new_block(struct emit *e, const char *name);
void emit_at_end(struct emit *e, LLVMBasicBlockRef block);
/* A case of a switch: code goes on in its new block. */
void emit_case(struct emit *e, value choose, uint32_t number, const char *name);
/* Goes to a block, if there is one, where code goes on. */
void emit_go_on(struct emit *e, LLVMBasicBlockRef block);
/* A branch that nearly always goes to `yes`; the same, where code goes on. */
void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
void emit_require(struct emit *e, value condition, LLVMBasicBlockRef other);
/* Code goes on where a condition holds; where it does not; where it rarely does not. They return
 * the block for the other case. */
LLVMBasicBlockRef emit_if(struct emit *e, value condition);
LLVMBasicBlockRef emit_unless(struct emit *e, value condition);
LLVMBasicBlockRef emit_rarely(struct emit *e, value usual);

/* ---- context.c, counters.c, counters.c ---- */

/* Begin a function, in a mode: its head and its registers; the values of its launch and block, and
 * scratch rows; those of its warp. */
void emit_declare(struct emit *e, const struct function *fn, const struct lanes_mode *mode, struct code_function *f,
                  const char *name);
void emit_context(struct emit *e, struct code_function *f);
void emit_warp(struct emit *e);
/* emit_count: counts the present block, executed by so many warps. emit_add_counts: adds what has
 * been counted to the worker's. */
void emit_count(struct emit *e, unsigned warps);
void emit_add_counts(struct emit *e);
void emit_add_to(struct emit *e, value counter, value n); /* i64, at a place */

/* ---- registers.c ---- */

/* The mask of the lanes that run, a constant if all do; of those that execute the instruction:
 * whose guard holds, too. */
value emit_mask(struct emit *e);
value emit_guarded_mask(struct emit *e, const struct ir_insn *i);
/* The value in all lanes; a mask for predicates. */
value reg_read_lanes(struct emit *e, ir_ref r);
/* Of a register that is not divergent: the value of lane 0 (an i1 for predicates); the value of a
 * piece's first lane. */
value reg_read_scalar(struct emit *e, ir_ref r);
value reg_read_piece(struct emit *e, ir_ref r, unsigned piece);
/* Writes a register in the lanes of `mask` (NULL: all lanes that run). */
void reg_write_lanes(struct emit *e, ir_ref r, value lanes, value mask);
void reg_write_scalar(struct emit *e, ir_ref r, value scalar); /* the same in all pieces */
void reg_write_piece(struct emit *e, ir_ref r, value scalar, unsigned piece);
/* All of the register's row. */
value reg_load_row(struct emit *e, uint32_t reg);
void reg_store_row(struct emit *e, uint32_t reg, value lanes);
/* The value of the lane that runs, in any row. */
value reg_load_lane(struct emit *e, LLVMTypeRef type, value row);
void reg_store_lane(struct emit *e, value v, value row);
/* Spills a register to its row, in the lanes of mask (NULL: all), unless it is clean.
 * reg_spill_seed() is for registers that are not divergent: it stores one number for each piece of
 * the warp, from which reg_reload() rematerialises all lanes. */
void reg_spill(struct emit *e, uint32_t reg, value mask);
void reg_spill_seed(struct emit *e, uint32_t reg);
/* Loads a register from its row, as it is in the lanes of mask. reg_has_shape: does the row have
 * the register's shape in these lanes? An i1. */
void reg_reload(struct emit *e, uint32_t reg, value mask);
value reg_has_shape(struct emit *e, uint32_t reg, value mask);
/* The modes' ways to spill and reload: whole rows; one lane. */
void reg_spill_row(struct emit *e, uint32_t reg, value mask);
void reg_spill_lane(struct emit *e, uint32_t reg, value mask);
void reg_reload_row(struct emit *e, uint32_t reg, value mask);
void reg_reload_lane(struct emit *e, uint32_t reg, value mask);
value reg_read_sreg_row(struct emit *e, LLVMTypeRef type, ir_ref r);
value reg_read_sreg_lane(struct emit *e, LLVMTypeRef type, ir_ref r);

/* ---- dirty.c ---- */

/* From here on, clean registers are those that dirty_find_clean() has found. */
void dirty_begin(struct emit *e, uint64_t *clean_in);
/* Sets which registers are clean: those that are where the block begins; none. */
void dirty_start_clean(struct emit *e, uint32_t block);
void dirty_start_all(struct emit *e);
bool dirty_is_clean(const struct emit *e, uint32_t reg);
/* Of a register that is not divergent: does the row hold its seed? */
bool dirty_is_seed_clean(const struct emit *e, uint32_t reg);
void dirty_note(struct emit *e, uint32_t reg);

/* ---- exit.c ---- */

/* Live state: the registers that whoever goes on needs, in the form that it needs them in. */
enum spill_form {
    SPILL_ROWS, /* whole */
    SPILL_SEEDS, /* divergent ones whole, of the others the seeds: for compiled code. Wrong while lanes are pending: the interpreter
                    cannot read seeds */
    SPILL_COLD, /* whole, for rare exits, by small and slow code: the engine makes rows of seeds (exit_spill_cold) */
};
struct live_state {
    struct reg_list regs;
    enum spill_form form;
    value mask; /* lanes in which they are live; NULL: all */
};
/* At instruction `index` of the present block; SPILL_COLD: but for what is live through the block,
 * which exit_spill_through() adds once for all exits. Behind the present block, as seeds. Of a set
 * of ir_live. */
struct live_state live_state_at(struct emit *e, uint32_t index, enum spill_form form);
struct live_state live_state_behind(struct emit *e);
struct live_state live_state_of_set(struct emit *e, const uint64_t *set, enum spill_form form, value mask);
void exit_spill(struct emit *e, const struct live_state *s);
enum { MAX_SEEDS = 64 }; /* for one call of the engine */
/* Spills registers, in the lanes of a mask or in all (NULL), by little code: vectors as ever,
 * others by the engine. */
void exit_spill_cold(struct emit *e, const struct reg_list *l, value mask);
void exit_spill_through(struct emit *e);

/* A side exit: a warp stops here, and somebody else goes on with it. */
enum { NO_OP = UINT32_MAX };
struct side_exit {
    struct live_state live;
    enum leave reason;
    uint32_t block, op; /* where: an operation of the present block, or NO_OP: the start of a block */
    /* fn_arrival(), or 0: in lockstep, if all lanes of the warp are here, the next warp goes on
     * instead. */
    uint32_t arrived;
    value lanes;          /* that are there; NULL: all that run here */
    LLVMBasicBlockRef by; /* shared code that leaves the function; NULL: the caller branches */
};
/* Spills and records the exit, in the mode's way. */
void exit_emit(struct emit *e, const struct side_exit *x);
/* The mode's exit before instruction `index` of the present block; that of a single warp or lane. */
void exit_emit_at(struct emit *e, uint32_t index);
void exit_of_warp(struct emit *e, uint32_t index);
void exit_record_for_leave(struct emit *e, const struct side_exit *x);
/* Emit that shared code: of all exits of the function, e->f->leave; of those in the midst of the
 * present block, e->exit_through, which also spills what is live through the block. */
void exit_emit_common(struct emit *e);
void exit_emit_through(struct emit *e);

/* Reloads the registers that are live at instruction `index`, in all lanes. */
void exit_reload_live(struct emit *e, uint32_t index);
/* An array of struct compiled_shape, for registers that are not divergent; NULL for none. */
value exit_shapes_table(struct emit *e, const struct reg_list *l);
/* Calls the library to make whole rows of their seeds. */
void exit_fill_rows(struct emit *e, const struct reg_list *l);
/* Calls a function of struct compiled_calls, by its place there; park() for lanes that are pending
 * at a block. */
value engine_call(struct emit *e, uint64_t function, LLVMTypeRef result, value *args, unsigned n);
void engine_park(struct emit *e, uint32_t block, value lanes);
/* The same for an operation whose operands are in their rows. emit_call_op: returns in a new block,
 * or leaves. */
value engine_call_op(struct emit *e, uint64_t function, const struct ir_insn *i, value mask);
void emit_call_op(struct emit *e, const struct ir_insn *i, value mask);

/* ---- work_group_loop.c ---- */

/* Branch to where a warp begins; from the present warp to the next. */
void warp_loop_go_to_start(struct emit *e, value start[4]);
void warp_loop_go_to_next(struct emit *e);
/* The warp arrives at a barrier or its end, with registers in their rows. In lockstep, and if all
 * its lanes are there, the next warp goes on; otherwise the code behind this does. */
void emit_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived);
/* Records that all lanes of the warp have arrived. */
void warp_loop_record_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived);
/* The block's next warp goes on where it begins; after the last warp the first does, if all have
 * arrived at one barrier. */
void emit_next_warp(struct emit *e);

/* ---- branch.c ---- */

/* As emit_if(), of an instruction's guard that is the same in all lanes. */
LLVMBasicBlockRef emit_if_guard(struct emit *e, const struct ir_insn *i);
/* Emits the branch at the end of a block. */
void branch_emit(struct emit *e, const struct ir_insn *i);
/* The lanes of `mask`, which are all that run, go to a block. Lanes that are pending in an earlier
 * block run first. */
void emit_go_to(struct emit *e, uint32_t target, value mask);

/* ---- insn.c ---- */

/* Move a cursor to the start of a block: from there on it is where code is emitted, e->here.
 * emit_begin_block: that block is emitted next, as the present one. */
void emit_stand_at(struct emit *e, struct cursor *here, uint32_t block);
void emit_begin_block(struct emit *e, struct cursor *here, uint32_t block);
/* False where the instruction ends the block. */
bool emit_insn(struct emit *e, const struct ir_insn *i);

/* ---- entry.c ---- */

void emit_entries(struct emit *e, struct cursor *here, struct warp_loop *warps);

/* ---- critical_section.c ---- */

/* Emits the serial parts of a function (ir/serial_parts.c) as a function of their own, if there are
 * any. */
void emit_serial(struct emit *e, const struct function *fn, const char *name);
/* Emits a block of a serial part in the function itself: a call of the engine. */
void emit_serial_call(struct emit *e);

/* ---- lane_serial.c ---- */

/* Emits a lane-serial loop. Code goes on before the branch at the loop's end, which then goes back
 * only if the budget is spent; or to `together`, the vector version, if a test has failed and no
 * lane has changed anything. */
void emit_lane_serial(struct emit *e, const struct ir_block *block, LLVMBasicBlockRef together);

/* ---- gang.c, gang_begin.c ---- */

/* Where a warp begins: branches to the gang's code if this warp and those behind it can be a gang;
 * else code goes on here. */
void emit_gang_start(struct emit *e, struct warp_loop *warps);
void emit_gang(struct emit *e, struct cursor *here);

/* ---- lane_function.c ---- */

void emit_lanes(struct emit *e, const struct ir_insn *i);
/* A lane function of a, b and c (or NULL) for one lane, with one integer result of `width` bits.
 * The function must be a few instructions. */
value emit_lane_function(struct emit *e, uint16_t lane, unsigned width, value a, value b, value c);

/* ---- fence.c ---- */

void emit_fence(struct emit *e, const struct ir_insn *i);
/* Serial parts tell of: a load that comes next, of memory that others write, or a call that may do
 * such a load; a full fence of the host that has been done, as by a locked instruction; a store
 * that others may see. */
bool fence_is_delayed(const struct emit *e); /* do fences wait for these? */
void fence_before_load(struct emit *e);
void fence_is_done(struct emit *e);
void fence_note_store(struct emit *e);
void fence_note_exchange(struct emit *e); /* that is a store */
void fence_before_leaving(struct emit *e);
/* LLVM's order for a locked instruction that also serves as all delayed fences. */
LLVMAtomicOrdering fence_with(const struct emit *e, LLVMAtomicOrdering order);

/* ---- atomic.c ---- */

void emit_atom(struct emit *e, const struct ir_insn *i);

/* ---- loop_version.c ---- */

/* If the present block is a loop whose accesses can be tested before it: emits that test and
 * returns it, an i1; else NULL. */
value loop_test(struct emit *e, const struct ir_block *block);
/* Branches to one of two versions by the test's result, or to the test for one iteration less. */
void loop_choose(struct emit *e, value holds, LLVMBasicBlockRef unchecked, LLVMBasicBlockRef other);
/* Has the engine run an iteration, up to the branch; it fills the inline caches for the next test. */
void loop_iteration_by_engine(struct emit *e, const struct ir_block *block);

/* ---- inline_cache.c ---- */

/* Begin: numbers the caches of the function's accesses. End: fills in their spans, which are known
 * by then. */
struct inline_caches *inline_caches_begin(struct emit *e);
void inline_caches_end(struct emit *e);

/* ---- load_store.c, bounds_check.c, collective.c ---- */

void emit_access(struct emit *e, const struct ir_insn *i);
/* A collective that completes at once, as all its lanes are there; false where the instruction is
 * left to the interpreter. */
bool emit_collective(struct emit *e, const struct ir_insn *i);
/* Any operation, performed by the engine: spills operands, calls, reloads results. */
void emit_by_engine(struct emit *e, const struct ir_insn *i);
/* Was the present instruction's access tested before the loop, or before the lanes of a serial
 * part? */
bool access_is_unchecked(const struct emit *e);

#endif
