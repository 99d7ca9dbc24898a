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
    /* By instruction: was its access, or its widened index, tested before the loop? */
    bool *covered;
    LLVMBasicBlockRef block; /* this version's code while it is emitted; or NULL */
    /* i64: the iterations after the first; the iterations that were tested. */
    value all, iterations;
    value left;     /* alloca: how many tested iterations are left */
    value accesses; /* struct compiled_access of the engine's iterations */
    uint32_t n;
};

struct gang; /* gang.h */

/* The values of an interleave group, loaded or to be stored: vectors of 32, or allocas of these. */
struct interleaved_values {
    value of[MAX_GANG][MAX_VALUES]; /* by warp of the gang */
};

enum { COPY_VECTORS = 8 }; /* vectors for 16 bytes of each lane */

struct emit;
struct side_exit;
struct transfer; /* load_store.h */
struct atom;     /* atom.h */

/* A mode: the lanes for which code is emitted, and all that depends on them. Code that all modes
 * share calls these functions and never asks which mode it is.
 * - warp_mode: a warp;
 * - lane_mode: a single lane, all of whose registers are scalars;
 * - gang_mode: one of a gang's warps, all of whose lanes run;
 * - side_region_mode: one of a gang's warps by itself, in the lanes e->lanes.within.
 */
struct lanes_mode {
    /* lanes */
    /* Do all 32 lanes run there, in every warp? */
    bool (*is_full)(const struct function *fn, uint32_t block);
    /* The same at this point, for this warp. */
    bool (*all_run)(const struct emit *e);
    /* May lanes be pending at other blocks? */
    bool (*has_pending)(const struct emit *e);
    /* may pending lanes need the register's value? */
    bool (*is_pending_live)(const struct emit *e, uint32_t reg);
    value (*mask)(struct emit *e); /* the running lanes; NULL if all lanes always run */
    /* registers and their rows */
    void (*spill)(struct emit *e, uint32_t reg, value mask);
    void (*reload)(struct emit *e, uint32_t reg, value mask);
    /* a special register that is a single number in this mode */
    value (*read_sreg)(struct emit *e, LLVMTypeRef type, ir_ref r);
    /* exits: exit_emit_at(); stores the warp's position, for the code at e->f->leave or in the
     * warp's record; and (or NULL) marks that the next instruction cannot be repeated, so the
     * block cannot be restarted after it */
    void (*leave_at)(struct emit *e, uint32_t index);
    void (*record_exit)(struct emit *e, const struct side_exit *x);
    void (*has_effects)(struct emit *e);
    /* Calls of the engine for: an access; an IR_ASYNC; an IR_GROUP that has work to do, which
     * then goes to `done`. Behind an access, first_anew (or NULL): values that were computed
     * before may be unavailable. */
    void (*access_by_engine)(struct emit *e, const struct transfer *t);
    void (*async_by_engine)(struct emit *e, const struct ir_insn *i);
    void (*group_by_engine)(struct emit *e, const struct ir_insn *i, LLVMBasicBlockRef done);
    void (*first_anew)(struct emit *e, struct transfer *t);
    /* Emits an access if it is known that the running lanes are in bounds; otherwise returns
     * false. Or NULL. And performs an atomic operation on locations in bounds. */
    bool (*transfer_known)(struct emit *e, struct transfer *t);
    void (*perform_atom)(struct emit *e, const struct atom *t);
    /* Do vectors move the data of all lanes at one address of local memory, which is a row? Is
     * the number of atomic operations limited to what LLVM can compile in time? Are fences
     * delayed where the CPU keeps the order of stores (fence.c)? */
    bool moves_local, bounds_atomics, delays_fences;
};
extern const struct lanes_mode warp_mode, lane_mode;
bool mode_is_pending_live(const struct emit *e, uint32_t reg);

/* What all functions of a kernel are emitted into; const after compile.c has made it. */
struct code_module {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, ptr, void_type;
};

/* Values of the launch and the block that the function loads once (context.c). */
struct context {
    value ops, block, launch, worker, inline_caches;
    value shared, shared_bytes, local_bytes, params;
    value lockstep; /* i1: exec/lockstep.c */
};

/* The same for a warp: its record, its activation's record, its local memory, its frame there,
 * and its rows (by enum row_base; also those of its block and of constants). */
struct warp_values {
    value w, a, local, frame, base[4];
};

/* The loop over warps in lockstep (work_group_loop.c), and where gangs begin. */
struct warp_loop {
    LLVMBasicBlockRef begin, next; /* `next`: in lockstep */
    /* phis: the function's arguments for the warp that begins; the previous warp. */
    value start[4], done;
    LLVMBasicBlockRef gang, alone; /* code for warps that may begin as a gang, and for others */
    value enter_alone;             /* the block at which `alone` is entered */
};

/* Allocas: the rest of the warp's budget, its spinning (exec/quantum.c), the number of executed
 * instructions, and of those that absent lanes would have executed (NULL for one lane). */
struct counts {
    value budget, spun, ahead, divided, phases, instructions, absent;
};

/* Allocas of a serial part: how often the lane has gone back (tries); the others belong to
 * fence.c. */
struct lane_fences {
    value tries, has_stored, has_exchanged, waits;
};

/* The LLVM function being emitted. It is const after its head is emitted, which declares it and
 * loads what it needs. */
struct code_function {
    value llvm_fn, calls;
    LLVMBasicBlockRef entry, fault, leave;
    LLVMBasicBlockRef *end; /* by block: its terminator, if a gang may dissolve there; or NULL */
    struct context of;
    struct warp_loop warps;
    struct counts count;
    struct inline_caches *inline_caches; /* the inline caches of its accesses: inline_cache.c */
    value *pending;                      /* by block: the alloca of pending lanes, or NULL */
    value mask;                          /* alloca: the running lanes */
    /* The value that `leave` returns, and the block that it stores. */
    value how, left_at;
    value *lane_offsets;                    /* by shape: a constant array, or NULL */
    value scratch[5];                       /* rows for calls of lane functions */
    value seeds;                            /* seeds of registers that the engine spills */
    struct interleaved_values *interleaved; /* by interleave group: access_groups.c */
};

/* The running lanes: data of a mode's functions. */
struct lanes {
    /* for gangs */
    struct gang *gang; /* the gang of this warp */
    unsigned place;    /* the warp's index in the gang; else 0 */
    /* known values of the warp's threads, if it is known which threads these are; or NULL */
    const struct ir_known *known;
    value within; /* the lanes in a side region */
    /* for a single lane */
    value lane; /* i64: its number */
    struct lane_fences fences;
    struct cas_loop *cas_loop; /* of the serial part being emitted, if it is one: cas_loop.c */
    /* By instruction of the function: was its access tested for all lanes? Or NULL. */
    bool *tested;
};

struct emit {
    const struct code_module *m;
    const struct function *fn;
    const struct lanes_mode *mode;
    struct arena *arena; /* for data that lives until the answer */

    /* counts of the module, so far */
    uint32_t n_inline_caches;
    uint32_t atomic_work; /* LLVM's work for atomic operations: atomic.c */

    /* the function being emitted, shared by all warps of a gang; then this warp's part */
    const struct code_function *f;
    struct warp_values warp;
    value enter_at, enter_with; /* the block and the lanes with which the warp is entered */
    LLVMBasicBlockRef *block;
    value *regs; /* by register and piece: its alloca, or NULL */

    const struct cursor *here; /* the current position. Emitters read it and do not move it */

    /* data of the current block */
    /* two sets by their numbers in shapes->live: at each block's start, and now;
     * dirty_registers.c */
    uint64_t *clean_in, *clean;
    /* The exit from the current block to the interpreter; or NULL. */
    LLVMBasicBlockRef exit_through;
    /* Allocas of the data that a copy has loaded (copy.c); or NULL. */
    value copied[COPY_VECTORS];
    /* The vector version of the current block's lane-serial loop; or NULL. */
    LLVMBasicBlockRef together;
    struct unchecked unchecked;

    struct lanes lanes;
};

/* Is this the warp that runs what runs once for several warps? Does an instruction of the
 * function run once? Does this code run all warps of the block? */
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

/* Each emits one LLVM instruction, whose name it has. */
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
value build_gep(struct emit *e, LLVMTypeRef type, value base, value index); /* with `inbounds` */
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
value emit_all_run(struct emit *e, value mask); /* does it have all lanes? An i1 */
value emit_lane_bit(struct emit *e);            /* the mask of the running lane */
/* An intrinsic with the type of x; y: or NULL. emit_intrinsic_of: any intrinsic. */
value emit_intrinsic(struct emit *e, const char *name, value x, value y);
value emit_intrinsic_of(struct emit *e, const char *name, LLVMTypeRef *types, unsigned n_types, value *args,
                        unsigned n);
/* Loads in some lanes (<n x i1>), from a pointer or a vector of pointers. */
value emit_masked_load(struct emit *e, LLVMTypeRef type, value at, unsigned align, value lanes);
void emit_masked_store(struct emit *e, value v, value at, unsigned align, value lanes);
/* The number of a mask's first lane, an i32; the mask of the other lanes. */
value emit_first_lane(struct emit *e, value mask);
value emit_other_lanes(struct emit *e, value mask);
/* A vector of n elements of two others, or of one (y: NULL); a negative index: any element. */
value emit_shuffle(struct emit *e, value x, value y, const int *index, unsigned n);
/* Pointers: a pointer plus some bytes; a field of a record; an alloca; an alloca that holds v,
 * and its value; a constant. */
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
/* A case of a switch: code continues in its new block. */
void emit_case(struct emit *e, value choose, uint32_t number, const char *name);
/* Branches to a block (or NULL), where code continues. */
void emit_go_on(struct emit *e, LLVMBasicBlockRef block);
/* A branch that nearly always goes to `yes`; the same, where code continues in `yes`. */
void emit_likely(struct emit *e, value condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
void emit_require(struct emit *e, value condition, LLVMBasicBlockRef other);
/* Code continues if a condition holds; if it does not; if it rarely does not. They return the
 * block for the other case. */
LLVMBasicBlockRef emit_if(struct emit *e, value condition);
LLVMBasicBlockRef emit_unless(struct emit *e, value condition);
LLVMBasicBlockRef emit_rarely(struct emit *e, value usual);

/* ---- context.c, counters.c, counters.c ---- */

/* Begin a function in a mode: emit its head and its registers; load the values of its launch and
 * block, and scratch rows; load those of its warp. */
void emit_declare(struct emit *e, const struct function *fn, const struct lanes_mode *mode, struct code_function *f,
                  const char *name);
void emit_context(struct emit *e, struct code_function *f);
void emit_warp(struct emit *e);
/* emit_count: counts one execution of the current block by `warps` warps. emit_add_counts: adds
 * the counts to the worker's. */
void emit_count(struct emit *e, unsigned warps);
void emit_add_counts(struct emit *e);
void emit_add_to(struct emit *e, value counter, value n); /* adds n to an i64 in memory */

/* ---- registers.c ---- */

/* The mask of the running lanes, a constant if all run; the mask of the lanes that execute the
 * instruction, whose guard holds as well. */
value emit_mask(struct emit *e);
value emit_guarded_mask(struct emit *e, const struct ir_insn *i);

/* A register's value in all lanes; a mask for predicates. */
value reg_read_lanes(struct emit *e, ir_ref r);
/* For a uniform or affine register: the value of lane 0 (an i1 for predicates); the value of a
 * piece's first lane. */
value reg_read_scalar(struct emit *e, ir_ref r);
value reg_read_piece(struct emit *e, ir_ref r, unsigned piece);
/* Writes a register in the lanes of `mask` (NULL: all running lanes). */
void reg_write_lanes(struct emit *e, ir_ref r, value lanes, value mask);
void reg_write_scalar(struct emit *e, ir_ref r, value scalar); /* the same value in all pieces */
void reg_write_piece(struct emit *e, ir_ref r, value scalar, unsigned piece);
/* Loads a register's whole row. */
value reg_load_row(struct emit *e, uint32_t reg);
void reg_store_row(struct emit *e, uint32_t reg, value lanes);
/* The running lane's element of a row. */
value reg_load_lane(struct emit *e, LLVMTypeRef type, value row);
void reg_store_lane(struct emit *e, value v, value row);
/* Spills a register to its row, in the lanes of mask (NULL: all), unless it is clean.
 * reg_spill_seed() is for uniform and affine registers: it stores one number for each piece of
 * the warp, from which reg_reload() recomputes all lanes. */
void reg_spill(struct emit *e, uint32_t reg, value mask);
void reg_spill_seed(struct emit *e, uint32_t reg);
/* Loads a register from its row, for the lanes of mask. reg_has_shape: does the row have the
 * register's shape in these lanes? An i1. */
void reg_reload(struct emit *e, uint32_t reg, value mask);
value reg_has_shape(struct emit *e, uint32_t reg, value mask);
/* The modes' functions to spill and reload: whole rows; one lane. */
void reg_spill_row(struct emit *e, uint32_t reg, value mask);
void reg_spill_lane(struct emit *e, uint32_t reg, value mask);
void reg_reload_row(struct emit *e, uint32_t reg, value mask);
void reg_reload_lane(struct emit *e, uint32_t reg, value mask);
value reg_read_sreg_row(struct emit *e, LLVMTypeRef type, ir_ref r);
value reg_read_sreg_lane(struct emit *e, LLVMTypeRef type, ir_ref r);

/* ---- dirty.c ---- */

/* From here on, the clean registers are those that dirty_find_clean() has found. */
void dirty_begin(struct emit *e, uint64_t *clean_in);
/* Sets which registers are clean: those at the block's start; none; all, because the engine has run
 * the block on rows. */
void dirty_start_clean(struct emit *e, uint32_t block);
void dirty_start_all(struct emit *e);
void dirty_start_spilled(struct emit *e, uint32_t block);
bool dirty_is_clean(const struct emit *e, uint32_t reg);
/* For a uniform or affine register: does the row hold its seed? */
bool dirty_is_seed_clean(const struct emit *e, uint32_t reg);
void dirty_note(struct emit *e, uint32_t reg);

/* ---- exit.c ---- */

/* Live state: the registers that the code which continues needs, in the form that it needs. */
enum spill_form {
    SPILL_ROWS, /* whole rows */
    /* for compiled code: whole rows of divergent registers, seeds of the others. Wrong while
     * lanes are pending, as the interpreter cannot read seeds */
    SPILL_SEEDS,
    /* whole rows, for rare exits, by small and slow code: the engine makes rows of seeds
     * (exit_spill_cold) */
    SPILL_COLD,
};
struct live_state {
    struct reg_list regs;
    enum spill_form form;
    value mask; /* the lanes in which they are live; NULL: all */
};
/* The live state at instruction `index` of the current block. SPILL_COLD leaves out what is live
 * through the block, which exit_spill_through() adds once for all exits. After the current
 * block, as seeds. Of a set of ir_live. */
struct live_state live_state_at(struct emit *e, uint32_t index, enum spill_form form);
struct live_state live_state_behind(struct emit *e);
struct live_state live_state_of_set(struct emit *e, const uint64_t *set, enum spill_form form, value mask);
void exit_spill(struct emit *e, const struct live_state *s);
enum { MAX_SEEDS = 64 }; /* the maximum for one call of the engine */
/* Spills registers, in the lanes of a mask or in all (NULL), by little code: vectors as usual,
 * others by the engine. */
void exit_spill_cold(struct emit *e, const struct reg_list *l, value mask);
void exit_spill_through(struct emit *e);

/* A side exit: a warp stops here, and the interpreter or another warp continues. */
enum { NO_OP = UINT32_MAX };
struct side_exit {
    struct live_state live;
    enum leave reason;
    /* The position: an operation of the current block, or NO_OP: the start of a block. */
    uint32_t block, op;
    /* fn_arrival(), or 0. In lockstep, if all lanes of the warp are here, the next warp
     * continues instead. */
    uint32_t arrived;
    value lanes;          /* the lanes at that position; NULL: all running lanes */
    LLVMBasicBlockRef by; /* shared code that exits the function; NULL: the caller branches */
};
/* Spills registers and records the exit, in the mode's way. */
void exit_emit(struct emit *e, const struct side_exit *x);
/* The mode's exit before instruction `index` of the current block; that of a single warp or
 * lane. */
void exit_emit_at(struct emit *e, uint32_t index);
void exit_of_warp(struct emit *e, uint32_t index);
void exit_record_for_leave(struct emit *e, const struct side_exit *x);
/* Emit the shared code: of all exits of the function, e->f->leave; of the exits inside the
 * current block, e->exit_through, which also spills what is live through the block. */
void exit_emit_common(struct emit *e);
void exit_emit_through(struct emit *e);

/* Reloads the registers that are live at instruction `index`, in all lanes. */
void exit_reload_live(struct emit *e, uint32_t index);
/* An array of struct compiled_shape, for uniform and affine registers; NULL if there are none. */
value exit_shapes_table(struct emit *e, const struct reg_list *l);
/* Calls the engine to make whole rows of their seeds. */
void exit_fill_rows(struct emit *e, const struct reg_list *l);
/* Calls a function of struct compiled_calls, by its offset there; park() for lanes that are
 * pending at a block. */
value engine_call(struct emit *e, uint64_t function, LLVMTypeRef result, value *args, unsigned n);
void engine_park(struct emit *e, uint32_t block, value lanes);
/* The same for an operation whose operands are in their rows. emit_call_op: continues in a new
 * block, or exits. */
value engine_call_op(struct emit *e, uint64_t function, const struct ir_insn *i, value mask);
void emit_call_op(struct emit *e, const struct ir_insn *i, value mask);

/* ---- work_group_loop.c ---- */

/* Branch to the start of a warp; from the current warp to the next. */
void warp_loop_go_to_start(struct emit *e, value start[4]);
void warp_loop_go_to_next(struct emit *e);
/* The warp arrives at a barrier or at its end, with registers in their rows. In lockstep, if all
 * its lanes are there, the next warp runs; otherwise code continues here. */
void emit_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived);
/* Records that all lanes of the warp have arrived. */
void warp_loop_record_arrival(struct emit *e, const struct ir_insn *i, uint32_t arrived);
/* The block's next warp continues at its start; after the last warp the first one does, if all
 * have arrived at one barrier. */
void emit_next_warp(struct emit *e);

/* ---- branch.c ---- */

/* As emit_if(), for an instruction's guard that is the same in all lanes. */
LLVMBasicBlockRef emit_if_guard(struct emit *e, const struct ir_insn *i);
/* Emits the branch at the end of a block. */
void branch_emit(struct emit *e, const struct ir_insn *i);
/* The lanes of `mask`, which are all running lanes, go to a block. Lanes that are pending in an
 * earlier block run first. */
void emit_go_to(struct emit *e, uint32_t target, value mask);

/* ---- agreement.c ---- */

/* An i1: it is known from scalars that all lanes of the warp take a branch, or that none does (for
 * `taken`). False may be either. NULL: scalars do not tell, or masks are cheap on the CPU. */
value emit_agreement(struct emit *e, const struct ir_insn *branch, bool taken);
LLVMIntPredicate emit_predicate(enum lane_is is); /* of a comparison of integers */

/* ---- insn.c ---- */

/* Move a cursor to the start of a block, where code is emitted from then on (e->here).
 * emit_begin_block: that block is emitted next, as the current one. */
void emit_stand_at(struct emit *e, struct cursor *here, uint32_t block);
void emit_begin_block(struct emit *e, struct cursor *here, uint32_t block);
/* False if the instruction ends the block. */
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

/* Emits a lane-serial loop. Code continues before the branch at the loop's end, which then goes
 * back only if the budget is spent; or it goes to `together`, the vector version, if a test has
 * failed and no lane has changed anything. */
void emit_lane_serial(struct emit *e, const struct ir_block *block, LLVMBasicBlockRef together);

/* ---- gang.c, gang_begin.c ---- */

/* At the start of a warp: branches to the gang's code if this warp and the following ones can be
 * a gang; otherwise code continues here. */
void emit_gang_start(struct emit *e, struct warp_loop *warps);
void emit_gang(struct emit *e, struct cursor *here);

/* ---- lane_function.c ---- */

void emit_lanes(struct emit *e, const struct ir_insn *i);
/* Inlines a lane function of a, b and c (or NULL) for one lane, with one integer result of
 * `width` bits. The function must be a few instructions. */
value emit_lane_function(struct emit *e, uint16_t lane, unsigned width, value a, value b, value c);

/* ---- fence.c ---- */

void emit_fence(struct emit *e, const struct ir_insn *i);
/* To be called in serial parts: before a load of memory that others write, or a call that may
 * make one; after a full fence of the host, such as a locked instruction; after a store that
 * others may see. */
bool fence_is_delayed(const struct emit *e); /* are fences delayed until one of these? */
void fence_before_load(struct emit *e);
void fence_is_done(struct emit *e);
void fence_note_store(struct emit *e);
void fence_note_exchange(struct emit *e); /* a locked instruction that is a store */
void fence_before_leaving(struct emit *e);
/* LLVM's ordering for a locked instruction that also performs all delayed fences. */
LLVMAtomicOrdering fence_with(const struct emit *e, LLVMAtomicOrdering order);

/* ---- atomic.c ---- */

void emit_atom(struct emit *e, const struct ir_insn *i);

/* ---- loop_version.c ---- */

/* If the current block is a loop whose accesses can be tested before it: emits that test and
 * returns its result, an i1; else NULL. */
value loop_test(struct emit *e, const struct ir_block *block);
/* Branches to one of two versions by the test's result, or repeats the test for one iteration
 * less. */
void loop_choose(struct emit *e, value holds, LLVMBasicBlockRef unchecked, LLVMBasicBlockRef other);
/* Lets the engine run an iteration, up to the branch; that fills the inline caches for the next
 * test. */
void loop_iteration_by_engine(struct emit *e, const struct ir_block *block);

/* ---- inline_cache.c ---- */

/* Begin: numbers the caches of the function's accesses. End: fills in their spans, which are
 * then known. */
struct inline_caches *inline_caches_begin(struct emit *e);
void inline_caches_end(struct emit *e);

/* ---- load_store.c, bounds_check.c, collective.c ---- */

void emit_access(struct emit *e, const struct ir_insn *i);
/* Emits a collective that completes immediately, because all its lanes are there; false if the
 * interpreter must do it. */
bool emit_collective(struct emit *e, const struct ir_insn *i);
/* Emits a call of the engine for any operation: spills operands, calls, reloads results. */
void emit_by_engine(struct emit *e, const struct ir_insn *i);
/* Was the current instruction's access tested before the loop, or before the lanes of a serial
 * part? */
bool access_is_unchecked(const struct emit *e);

#endif
