/* What lowering makes functions of (builder.c), for build.c (blocks and statements), lower.c (pure
 * instructions), lower_memory.c (memory, addresses), lower_call.c (calls, registers between
 * functions), lower_async.c (asynchronous copies, mbarriers), lower_tensor_map.c, lower_texture.c,
 * lower_video.c, immediate.c. Private to ir/. */
#ifndef HEDDLE_IR_BUILDER_H
#define HEDDLE_IR_BUILDER_H

#include "ir/ir.h"

enum {
    INSN_WORK = 512
}; /* of a function's share, for an instruction or a branch's target: so memory is bounded, too */

struct builder {
    struct ir_func *f;
    struct arena *arena;
    struct diags *diags;
    const struct ptx_func *func;
    const struct ptx_module *module;
    const struct ptx_insn *insn; /* being lowered; an empty one before the first */
    /* Of what is being lowered: the function's head, a variable, an instruction. */
    struct place place;
    const struct ptx_loc *loc;
    ir_ref guard;       /* of insn */
    uint32_t *reg_of;   /* ir register + 0 by PTX register number; 0 = none yet */
    uint32_t *block_of; /* block by statement index of a label */
    ir_ref carry;       /* CC.CF */
};

/* Reports an error at what is being lowered. */
void build_error(struct builder *b, const char *code, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- registers, constants, instructions ---- */

unsigned ir_width(enum isa_type type); /* of the register row that holds a type */
ir_ref ir_temp(struct builder *b, unsigned width);
ir_ref ir_const_of(struct builder *b, unsigned width, uint64_t bits);
ir_ref ir_const_base(struct builder *b, unsigned width, enum ir_base base, struct ptx_symbol *symbol, int64_t addend);
ir_ref ir_reg_of(struct builder *b, const struct ptx_reg *reg, uint32_t number);
/* That an operand names, which may be an element of a vector. */
ir_ref ir_named_reg(struct builder *b, const struct ptx_operand *o);
unsigned ir_ref_width(const struct builder *b, ir_ref r);
/* A new last instruction, without guard. */
struct ir_insn *ir_emit(struct builder *b, enum ir_kind kind);
/* The same with the guard of the PTX instruction. */
struct ir_insn *ir_emit_guarded(struct builder *b, enum ir_kind kind);
/* The same, d = lane(a, b, c). */
struct ir_insn *ir_emit_lanes(struct builder *b, lane_id lane, ir_ref d, ir_ref a, ir_ref b_, ir_ref c);
/* A new access, of n elements; and the same with that, whose address has that base. */
struct ir_access *ir_new_access(struct builder *b, enum ptx_space space, unsigned bytes, unsigned n);
struct ir_insn *ir_emit_access(struct builder *b, enum ir_kind kind, ir_ref base, struct ir_access *access);
/* Starts a new block unless the last one is still empty. */
void ir_cut(struct builder *b);
/* d = lane(a, b, c), unguarded; d is a new temporary of the lane's width. */
ir_ref ir_lanes(struct builder *b, lane_id lane, ir_ref a, ir_ref b_, ir_ref c);
/* Of a lane function of 32 and 64 bits the one that is as wide. */
#define LANE_AS_WIDE(function, width) ((width) == 64 ? LANE_##function##_b64 : LANE_##function##_b32)
/* d = a at another width; `sign` extends by the sign. */
ir_ref ir_resize(struct builder *b, ir_ref a, unsigned width, bool sign);

/* Room in the frame: where it begins. */
uint32_t ir_add_frame_bytes(struct builder *b, uint64_t size, uint32_t align);
/* Gives a variable a place in the frame, unless it has one. */
uint32_t ir_add_frame_var(struct builder *b, struct ptx_var *v);

/* ---- operands ---- */

/* A source as a value of the width of `type`. */
ir_ref ir_source(struct builder *b, const struct ptx_operand *o, enum isa_type type);
/* IR_SHARED_START, 32 or 64 bits wide. */
ir_ref ir_shared_start(struct builder *b, unsigned width);
/* Where a variable or function is, plus `disp`, in its own state space; in shared memory that
 * counts from the block's own. */
ir_ref ir_symbol_place(struct builder *b, struct ptx_symbol *s, int64_t disp, unsigned width);
/* A source predicate, not negated. */
ir_ref ir_predicate(struct builder *b, const struct ptx_operand *o);

/* A destination of `type`: `ref` is what the instruction writes; ir_finish copies it to the
 * register where the widths differ. */
struct ir_dest {
    ir_ref ref, reg;
    bool sign;
};
struct ir_dest ir_destination(struct builder *b, const struct ptx_operand *o, enum isa_type type);
void ir_finish(struct builder *b, struct ir_dest d);
/* reg = value, guarded. */
void ir_copy_guarded(struct builder *b, ir_ref reg, ir_ref value);
/* The same with a destination of `type`; nothing for the sink. */
void ir_write(struct builder *b, const struct ptx_operand *o, enum isa_type type, ir_ref value);

/* ---- lowering by kind ---- */

/* The mode that an instruction gets, by operations.def. */
uint8_t ir_mode_of(enum ir_kind kind, const struct isa_inst *inst);
/* The operands of an instruction with one destination at most, which come into being in the order
 * in which it names them. */
struct ir_operands {
    struct ir_dest d;
    ir_ref src[4];
    uint64_t imm;
};
struct ir_operands lower_operands(struct builder *b);
void lower_pure(struct builder *b);
/* Changes a pure instruction to what its immediates make of it on the hardware; see immediate.c. */
void ir_fold_immediates(struct builder *b, struct ir_insn *i);
void lower_compare(struct builder *b); /* set, setp */
void lower_lop3p(struct builder *b);
void lower_video(struct builder *b);
void lower_mov(struct builder *b);
void lower_memory(struct builder *b); /* ld, st, atom, red */
/* Of these, and of others with addresses: fills space and address of an access. The base register
 * is returned, or REF_NONE where the address is constant. */
ir_ref lower_place(struct builder *b, const struct ptx_operand *m, struct ir_access *a);
/* Adds to its displacement, which wraps, as the addresses do that it is added to. */
void lower_displace(struct ir_access *a, uint64_t by);
enum ptx_space lower_space(const struct builder *b, const struct isa_inst *inst);
unsigned lower_vector(const struct isa_inst *inst); /* elements */
enum atom_op lower_atom_op(const struct isa_inst *inst);
void lower_mbarrier(struct builder *b);
void lower_async(struct builder *b);      /* cp.async and its kind, st.async, red.async */
void lower_group(struct builder *b);      /* their groups */
void lower_tensor_map(struct builder *b); /* changes of tensor maps */
void lower_matrix(struct builder *b);
void lower_texture(struct builder *b);
void lower_address(struct builder *b); /* cvta, isspacep, mapa, getctarank, createpolicy.range */
void lower_call(struct builder *b);
/* A parameter of a .func that is a register: from its place in the frame, at the start; back to it,
 * at ret.
 */
void lower_register_params(struct builder *b, bool at_start);
/* The registers outside of functions that the instruction names: before it the values that it reads
 * come from the thread's memory, and behind it those that it has written go back. Functions that it
 * calls have them there, too. */
void lower_outer_registers(struct builder *b, bool load);

#endif
