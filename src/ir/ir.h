/* A function as the engines run it: basic blocks of simple instructions on virtual registers.
 *
 * ir_build() lowers a parsed and verified function. What is implicit in PTX is explicit here:
 * separate instructions resize operands that are wider or narrower than their instruction, vectors
 * are packed and unpacked, addresses of variables are constants, and parameters live in the frame.
 * A block ends wherever lanes may diverge or wait. Blocks are ordered so that loops are contiguous
 * and every other branch goes forward (block_order.c). So an engine that always runs the first
 * block with pending lanes reconverges by itself.
 */
#ifndef HEDDLE_IR_IR_H
#define HEDDLE_IR_IR_H

#include "base/map.h"
#include "ir/mem_access.h"
#include "isa/lanes.h"
#include "isa/matrix.h"
#include "isa/texture.h"
#include "ptx/link.h"

/* An operand: kind in the top 3 bits, index below. 0 means none. */
typedef uint32_t ir_ref;
enum ir_ref_kind { REF_NONE, REF_REG, REF_CONST, REF_SREG };

static inline ir_ref ir_make_ref(enum ir_ref_kind kind, uint32_t index)
{
    return (uint32_t)kind << 29 | index;
}
static inline enum ir_ref_kind ir_ref_kind(ir_ref r)
{
    return (enum ir_ref_kind)(r >> 29);
}
static inline uint32_t ir_ref_index(ir_ref r)
{
    return r & ((1u << 29) - 1);
}

/* Special registers with a row (all but WHEN_NOW) are referred to as sreg * 4 + component; %envreg
 * has its number in place of a component, from IR_ENVREG on. IR_PARAM_BASE is the generic address
 * of the kernel's parameters. IR_SHARED_START is where the block's shared memory begins among that
 * of all its cluster's blocks (struct ir_func, clustered). */
enum { IR_ENVREG = SREG_COUNT * 4, IR_PARAM_BASE = IR_ENVREG + 32, IR_SHARED_START };

/* A constant, the same in all lanes. If `symbol` is set, the symbol's address is added when the
 * kernel is prepared.
 */
enum ir_base {
    BASE_NONE,
    BASE_SYMBOL,        /* the symbol's address in its own state space */
    BASE_SHARED_WINDOW, /* start of the window of shared memory in generic addresses */
    BASE_LOCAL_WINDOW,
    BASE_SHARED_WINDOW_SIZE,
    BASE_CLUSTER_WINDOW_SIZE,
    BASE_LOCAL_WINDOW_SIZE,
    BASE_CONST_START, /* the region of .const variables; its size */
    BASE_CONST_SIZE,
};

/* The bits of a shared address within one block of a cluster: as many as on an H200. */
enum { SHARED_WINDOW_LOG2 = 24 };

struct ir_const {
    uint8_t width; /* 1, 16, 32, 64, 128 */
    uint8_t base;  /* enum ir_base */
    uint64_t lo;   /* a 128-bit constant has 0 in its upper half */
    struct ptx_symbol *symbol;
};

enum ir_kind {
    IR_LANES, /* d, e = lane(a, b, c, imm) */
    IR_LD,    /* access; a = address base; d.. = access->regs */
    IR_ST,
    /* access; a = address base; access->operands; results, or REF_NONE, in access->regs. */
    IR_ATOM,
    IR_FRAME, /* d = address of the activation's frame + imm, in .local space */
    IR_NOW,   /* d = a special register read now: imm = enum isa_sreg */
    IR_ACTIVEMASK,
    IR_FENCE,
    /* access: what is written, or an mbarrier; a = address base, access->operands by enum
     * async_operand. */
    IR_ASYNC,
    IR_GROUP,   /* imm = how many of its newest groups a thread does not wait for */
    IR_TEXTURE, /* texture: reads, or writes, of textures and surfaces */
    IR_ALLOCA,  /* d = address, a = bytes, imm = alignment */
    IR_STACKSAVE,
    IR_STACKRESTORE,
    /* From here on: the last instructions of blocks. These make lanes wait or meet. */
    IR_SHFL,     /* d, e (predicate) = a, b, c; membermask in f */
    IR_VOTE,     /* d = vote on a; membermask in f */
    IR_MATCH,    /* d, e = lanes that agree on a */
    IR_REDUX,    /* d = reduction of a */
    IR_ELECT,    /* d = leader, e = am I it? */
    IR_WARPSYNC, /* bar.warp.sync; membermask in f */
    IR_MATRIX,   /* matrix; access where it loads or stores, a = address base; membermask in f */
    /* a = barrier (none: the cluster's), b = threads or none, c = predicate; d or e = result. */
    IR_BAR,
    /* access; a = address base, b = count, state or parity; d = state or result; imm = enum
     * ir_order. */
    IR_MBARRIER,
    IR_NANOSLEEP, /* a = nanoseconds */
    /* Lanes may diverge at these. If the guard is false, a lane falls through (BRA without a guard
     * never does). */
    IR_BRA, /* to targets[0] */
    IR_BRX, /* a = index into targets */
    IR_CALL,
    IR_RET,
    IR_EXIT,
    IR_TRAP,
    IR_BRKPT,
    IR_JUMP, /* to `next`, which need not follow in block order */
};

/* Is it always the last instruction of its block? */
static inline bool ir_ends_block(enum ir_kind kind)
{
    return kind >= IR_SHFL;
}

/* Memory access of IR_LD, IR_ST, IR_ATOM, IR_MBARRIER, IR_ASYNC, IR_MATRIX. Address: a + disp, or
 * frame + disp, or disp alone. */
struct ir_access {
    struct mem_access mem;
    int64_t disp;
    ir_ref disp_const; /* a constant with a base that disp is added to, or REF_NONE */
    ir_ref regs[8];    /* IR_LD destinations, IR_ST sources, IR_ATOM destinations */
    /* IR_ATOM vector sources; scalar ones too: operands[0], and [1] for cas; IR_ASYNC, copies:
     * async_operand. */
    ir_ref operands[8];
};

/* IR_MATRIX: what it computes or moves. Its reads are, in this order: the registers (or descriptor)
 * of A; those of B; a stride, metadata and scale-d, as far as it has them; the registers of C. In
 * products of a warp, C comes before the metadata. */
struct ir_matrix {
    struct matrix form;
    struct str name; /* the opcode */
    uint16_t n_reads, n_writes;
    /* Among reads: B, C, the predicate scale-d, metadata or stride. */
    uint16_t at_b, at_c, at_scale, at_rest;
    bool has_rest, a_by_descriptor;
    bool negates_a, negates_b, transposes_a, transposes_b; /* of wgmma */
    uint8_t selector;
    ir_ref *reads, *writes;
};

/* IR_TEXTURE: a texture or surface operation and its registers. reads[0] is a handle (64 bits).
 * at_* is the index in `reads` of the sampler's handle, of layer and coordinates, of level or
 * gradients, of offsets, of values; 0: it has none. */
enum { IR_TEXTURE_READS = 20, IR_TEXTURE_WRITES = 5 };
struct ir_texture {
    struct texture_form form;
    struct str name; /* the opcode */
    uint8_t atom;    /* SURFACE_REDUCE: enum atom_op */
    uint8_t n_reads, n_writes;
    uint8_t at_sampler, at_coordinates, at_lod, at_offsets, at_values;
    bool tells_resident; /* the last of writes: a predicate */
    ir_ref *reads, *writes;
};

/* The functions that the machine itself provides to kernels. */
enum ir_syscall {
    SYSCALL_NONE,
#define SYSCALL(id, name, ...)    SYSCALL_##id,
#define NESTED(id, name, ...)     SYSCALL_##id,
#define OWN_STREAM(id, name, ...) SYSCALL_##id##_PTSZ,
#include "ir/syscalls.def"
#undef SYSCALL
#undef NESTED
#undef OWN_STREAM
};
/* A function of the device runtime, which launches kernels. */
static inline bool ir_is_nested(enum ir_syscall s)
{
    return s > SYSCALL_ASSERTFAIL;
}

/* A piece of the caller's frame that a call copies: parameters in, results back. */
struct ir_copy {
    uint32_t caller_at, bytes;
};

struct ir_call {
    struct ptx_func *callee; /* NULL: indirect, by the address in a */
    enum ir_syscall syscall;
    VEC(struct ir_copy) params;
    VEC(struct ir_copy) results;
};

/* What lanes of a warp do together. Lanes meet if they agree on this and on the membermask; their
 * instructions may differ. */
enum collective {
    COLLECTIVE_SYNC,
    COLLECTIVE_SHFL_UP,
    COLLECTIVE_SHFL_DOWN,
    COLLECTIVE_SHFL_BFLY,
    COLLECTIVE_SHFL_IDX,
    COLLECTIVE_VOTE_ALL,
    COLLECTIVE_VOTE_ANY,
    COLLECTIVE_VOTE_UNI,
    COLLECTIVE_BALLOT,
    COLLECTIVE_MATCH_ANY32,
    COLLECTIVE_MATCH_ANY64,
    COLLECTIVE_MATCH_ALL32,
    COLLECTIVE_MATCH_ALL64,
    COLLECTIVE_REDUX_ADD,
    COLLECTIVE_REDUX_MIN_U32,
    COLLECTIVE_REDUX_MAX_U32,
    COLLECTIVE_REDUX_MIN_S32,
    COLLECTIVE_REDUX_MAX_S32,
    COLLECTIVE_REDUX_AND,
    COLLECTIVE_REDUX_OR,
    COLLECTIVE_REDUX_XOR,
    COLLECTIVE_REDUX_MIN_F32,
    COLLECTIVE_REDUX_MAX_F32,
    COLLECTIVE_REDUX_MIN_NAN_F32,
    COLLECTIVE_REDUX_MAX_NAN_F32,
    COLLECTIVE_ELECT,
    COLLECTIVE_MATRIX, /* at one instruction */
};

enum mbarrier_mode {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    /* Whether the operand is a count or a number of transactions to expect (.expect_tx) follows
     * from the instruction. */
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_EXPECT_TX,
    MBARRIER_COMPLETE_TX,
    MBARRIER_TEST_WAIT,
    MBARRIER_TRY_WAIT,
};
static inline bool mbarrier_tests(uint8_t mode)
{
    return mode == MBARRIER_TEST_WAIT || mode == MBARRIER_TRY_WAIT;
}

/* What is done asynchronously (9.7.9.25). */
enum async_mode {
    ASYNC_NONE, /* IR_LD and IR_ST of their own */
    /* cp.async. A copy that reads all of its source is an IR_LD and an IR_ST, both with this mode:
     * ir_is_copy(). */
    ASYNC_COPY,
    ASYNC_ARRIVE,       /* cp.async.mbarrier.arrive */
    ASYNC_ARRIVE_NOINC, /* the same with .noinc */
    ASYNC_STORE,        /* st.async, red.async */
    /* cp.async.bulk, cp.reduce.async.bulk: to shared memory, of the cluster's blocks, too. */
    ASYNC_BULK_FROM_GLOBAL,
    ASYNC_BULK_SHARED, /* from a block's shared memory to another's */
    ASYNC_BULK_TO_GLOBAL,
    /* cp.async.bulk.tensor: the address is that in shared memory, ASYNC_SOURCE that of the map;
     * regs: coordinates. */
    ASYNC_TENSOR_LOAD,
    ASYNC_TENSOR_STORE,
    ASYNC_TENSOR_REDUCE, /* the map has the type */
};
enum { ASYNC_OFFSETS = 5 }; /* in regs, behind the coordinates: im2col's: 16 bits */
enum async_operand {
    ASYNC_SOURCE, /* an address: 64 bits */
    /* Bytes: 32 bits. ASYNC_COPY: the bytes that are read; the rest is zero. */
    ASYNC_SIZE,
    /* An address, in the state space of the access, or of ASYNC_BULK_* in .shared. */
    ASYNC_MBARRIER,
    ASYNC_MASK,                 /* multicast: the blocks of the cluster: 16 bits */
    ASYNC_VALUE,                /* ASYNC_STORE: up to 4 elements */
    ASYNC_IGNORE = ASYNC_VALUE, /* ASYNC_COPY: a predicate: nothing is read */
};
enum group_mode {
    GROUP_COMMIT,
    GROUP_WAIT,
    GROUP_WAIT_ALL,
    GROUP_BULK_COMMIT,
    GROUP_BULK_WAIT,
    GROUP_BULK_WAIT_READ,
    /* wgmma. The machine performs products at once; only the checker uses these groups. */
    GROUP_WGMMA_FENCE,
    GROUP_WGMMA_COMMIT,
    GROUP_WGMMA_WAIT,
};

enum bar_mode { BAR_SYNC, BAR_ARRIVE, BAR_CLUSTER_ARRIVE, BAR_CLUSTER_WAIT, BAR_POPC, BAR_AND, BAR_OR };

struct ir_insn {
    uint8_t kind; /* enum ir_kind */
    bool guard_negated;
    uint8_t mode; /* enum collective, bar_mode, mbarrier_mode, async_mode, group_mode */
    uint16_t lane;
    ir_ref guard, d, e, a, b, c, f;
    uint64_t imm;
    union {
        struct ir_access *access;
        struct ir_call *call;
        struct {
            uint32_t n_targets;
            uint32_t *targets; /* block numbers in the text's order */
        };
    };
    struct ir_matrix *matrix;        /* IR_MATRIX */
    struct ir_texture *texture;      /* IR_TEXTURE */
    const struct ptx_insn *origin;   /* its PTX instruction; or NULL */
    const struct ptx_module *module; /* of origin */
    const struct ptx_loc *loc;       /* source line, or NULL */
};

/* A cp.async that reads all of its source is two instructions: a load and a store through registers
 * that have no other use. If it has a size in a register, or a predicate, these are for the lanes
 * that read everything, and an IR_ASYNC is for the others. Compiled code performs both at once. The
 * interpreter skips the load; its store performs the copy from operands[ASYNC_SOURCE]. */
static inline bool ir_is_copy(const struct ir_insn *i)
{
    return (i->kind == IR_LD || i->kind == IR_ST) && i->mode == ASYNC_COPY;
}

static inline bool ir_has_access(const struct ir_insn *i)
{
    return i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM || i->kind == IR_MBARRIER ||
           i->kind == IR_ASYNC || (i->kind == IR_MATRIX && i->access);
}

struct ir_block {
    uint32_t first, n; /* instructions */
    /* Where lanes continue that do not branch elsewhere; NO_BLOCK: there are none. */
    uint32_t next;
    uint32_t order;   /* place in the order of execution */
    bool loop_header; /* some branch goes back to it */
    bool spins;       /* a loop whose exit depends on memory of others, a vote or a clock */
    bool polls;       /* it follows a call whose result decides whether such a loop ends */
    /* The first block of a serial part and the block after it (serial_parts.c); else both 0. */
    uint32_t serial_from, serial_to;
};

enum { NO_BLOCK = UINT32_MAX };

/* Sets of registers, or of blocks, by bit. */
static inline bool ir_in_set(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}
static inline void ir_set_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= 1ull << (i % 64);
}
static inline void ir_set_remove(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(1ull << (i % 64));
}

struct ir_reg {
    uint8_t width;
    uint32_t slot;                /* byte offset of its row in the frame of registers */
    const struct ptx_reg *origin; /* or NULL for temporaries */
    uint32_t number;              /* the number of `origin` in its function */
};

struct ir_func {
    struct ptx_func *func;
    struct arena *arena;
    VEC(struct ir_insn) insns;
    VEC(struct ir_block) blocks; /* in the text's order */
    /* Block numbers in the order of execution: those that can be reached. */
    uint32_t *order;
    uint32_t n_ordered;
    VEC(struct ir_reg) regs;     /* index 0 is not used */
    VEC(struct ir_const) consts; /* index 0 is not used */
    uint32_t frame_bytes;        /* of local memory */
    /* By number of a variable of the function: 1 + its place in the frame, or 0. */
    uint32_t *frame_at;
    uint32_t register_bytes; /* of the frame of registers */
    /* Shared addresses distinguish the blocks of a cluster (9.7.9.23). As values, they include
     * IR_SHARED_START; an access with an address in a register subtracts it again. All other
     * shared addresses are relative to the block's own memory. */
    bool clustered;
    /* It has an instruction with such addresses, or a barrier of clusters. */
    bool needs_clustered;
    bool suspends;                  /* has barriers, warp operations, calls or spinning loops */
    bool uses_dynamic_stack;        /* alloca */
    bool keeps_registers;           /* IR_KEEPS_REGISTERS */
    VEC(struct ptx_func *) callees; /* called directly or address taken */
    VEC(struct ptx_var *) vars;     /* module variables whose address is used */
    VEC(uint32_t) zeroed;           /* registers that may be read before they are written */
    uint64_t *work_left;            /* the passes' remaining steps; NULL: no limit */
};

/* By its place in the order of execution. */
static inline const struct ir_block *ir_block_at(const struct ir_func *f, uint32_t order)
{
    return &f->blocks.at[f->order[order]];
}

/* Passes take time in proportion to a function, but for what grows with the depth of loops, or with
 * registers times blocks. Of that they take the steps from what is left of the function's share.
 * False where it is spent: the pass gives up, and so does ir_build. */
static inline bool ir_spend(const struct ir_func *f, uint64_t steps)
{
    if (!f->work_left)
        return true;
    bool enough = *f->work_left >= steps;
    *f->work_left -= enough ? steps : *f->work_left;
    return enough;
}

enum ir_options {
    /* Threads that walk lists of their own and try for what they find do so one after the other
     * (serial_parts.c). */
    IR_SERIAL_WALKS = 1,
    /* For who looks at them: each register has a row of its own, which begins as 0. */
    IR_KEEPS_REGISTERS = 2,
};

/* Lowers one function with a body. Reports what the machine refuses (with place) and returns NULL
 * on errors. `options`: of enum ir_options. `clustered`: as in struct ir_func; all functions of a
 * kernel have to agree in it. */
struct ir_func *ir_build(struct arena *arena, struct ptx_func *func, unsigned options, bool clustered,
                         struct diags *diags);

/* The offset of a parameter, result or local variable in the frame. */
uint32_t ir_frame_offset(const struct ir_func *f, const struct ptx_var *v);

/* The passes behind ir_build; false where the function's share of work is spent. */
bool ir_order_blocks(struct ir_func *f); /* block_order.c */
bool ir_find_spins(struct ir_func *f);   /* spin.c */
/* callee_source.c: may a function, or one that it calls, bring in a value that other threads
 * decide? What is found out is kept for the next question. */
struct callee_sources {
    struct arena *arena;
    struct map sources, others;
};
static inline void callee_sources_init(struct callee_sources *c, struct arena *arena)
{
    c->arena = arena;
    map_init(&c->sources, arena);
    map_init(&c->others, arena);
}
bool ir_callee_is_source(struct callee_sources *known, const struct ir_func *f, struct ptx_func *callee);
/* serial_parts.c; after ir_drop_unread. *has_cut: blocks have been cut: then order, spins and parts
 * are to be found anew. */
bool ir_find_serial(struct ir_func *f, bool serial_walks, bool *has_cut);
/* dead.c: results of atomics that nobody reads, as `atom` is then what `red` is; copies in
 * fragments. */
void ir_drop_unread(struct ir_func *f);
/* contract.c: mul and add become fma where ptxas contracts them. */
bool ir_contract(struct ir_func *f);
bool ir_assign_slots(struct ir_func *f); /* slots.c */
/* Registers that are needed across blocks: numbered from 0, and sets of them by block in the order
 * of execution. */
struct ir_live {
    uint32_t n, words;  /* of a set: uint64_t */
    uint32_t *number;   /* by register: 1 + its number; 0 for those that live within one block */
    uint32_t *regs;     /* by number */
    uint64_t *in, *out; /* needed where the block begins, and ends */
};
bool ir_find_live(const struct ir_func *f, struct arena *arena, struct ir_live *live); /* live.c */
/* dead.c: drops pure instructions whose results nobody needs, but those that `keeps` names; what is
 * live then. */
typedef bool ir_keeps_fn(const struct ir_insn *i);
bool ir_drop_dead(struct ir_func *f, ir_keeps_fn *keeps, struct arena *arena, struct ir_live *live);
/* dead.c: drops those whose registers nobody reads; of chains what stands
 * in the order of the text. */
void ir_drop_unused(struct ir_func *f);

/* ---- cfg.c ---- */

/* The operands that an instruction reads, its guard and address included, and those that it writes;
 * returns how many. */
enum { IR_MAX_REFS = 160 }; /* wgmma: 128 accumulators, and what it has besides */
unsigned ir_reads(const struct ir_insn *i, ir_ref out[IR_MAX_REFS]);
unsigned ir_writes(const struct ir_insn *i, ir_ref out[IR_MAX_REFS]);
bool ir_defines(const struct ir_insn *i, ir_ref r); /* is r among what it writes? */
/* What it is to the analyses, IS__ where it is none of lanes. */
static inline enum lane_is ir_is(const struct ir_insn *i)
{
    return i->kind == IR_LANES ? lane_info(i->lane)->is : IS__;
}
/* The blocks that may follow block b: how many, and the number of the k-th. One may be there
 * several times. */
uint32_t ir_successor_count(const struct ir_func *f, uint32_t b);
uint32_t ir_successor(const struct ir_func *f, uint32_t b, uint32_t k);
/* The same by the order of blocks: how many successors the block at a place has, and at which place
 * the k-th stands. */
uint32_t ir_count_from(const struct ir_func *f, uint32_t order);
uint32_t ir_order_from(const struct ir_func *f, uint32_t order, uint32_t k);
/* The branch that ends a block, IR_BRA or IR_BRX, or NULL. */
const struct ir_insn *ir_branch_of(const struct ir_func *f, const struct ir_block *b);
/* May what ends the block go on behind it, with no branch? */
bool ir_falls_through(const struct ir_func *f, const struct ir_block *b);
/* By block in order: where it heads a loop, the loop's last block, which need not be one that
 * branches back to it: a loop that begins inside may go on behind those. Else the block itself. */
uint32_t *ir_find_loop_ends(const struct ir_func *f, struct arena *arena);
/* Does .pragma "nounroll" hold for the loop that this block heads (PTX ISA 23.1)? */
bool ir_keeps_rolled(const struct ir_func *f, uint32_t order);

#endif
