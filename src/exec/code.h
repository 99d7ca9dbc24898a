/* Kernels prepared to run: all functions that a kernel can reach, decoded for the interpreter, with
 * addresses.
 *
 * A kernel has its own copy of each function, because the addresses of shared variables differ
 * between kernels. Operands are offsets from one of four bases. Blocks are numbered in execution
 * order and their operations are stored in that order, so that the next block follows the next
 * operation.
 */
#ifndef HEDDLE_EXEC_CODE_H
#define HEDDLE_EXEC_CODE_H

#include <stdatomic.h>

#include "exec/layout.h"
#include "exec/site.h"
#include "mem/space.h"

enum op_kind {
    OP_LANES1, /* d = fn(a) */
    OP_LANES2, /* d = fn(a, b) */
    OP_LANES,  /* all operands */
    OP_LD,
    OP_ST,
    OP_ATOM,
    OP_FRAME,
    OP_NOW,
    OP_ACTIVEMASK,
    OP_FENCE,
    OP_ASYNC,
    OP_GROUP,
    OP_TEXTURE,
    /* the load of a copy that compiled code performs at once: the interpreter skips it
     * (ir_is_copy()) */
    OP_FETCH,
    OP_ALLOCA,
    OP_STACKSAVE,
    OP_STACKRESTORE,
    /* Ends of blocks. `next` is the block to continue with if the guard does not hold, and after
     * waiting. */
    OP_FALL,
    OP_BRA,
    OP_BRX,
    OP_CALL,
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_BRKPT,
    OP_COLLECTIVE, /* shfl, vote, match, redux, elect, bar.warp.sync, matrices */
    OP_BAR,
    OP_MBARRIER,
    OP_NANOSLEEP,
    OP_STOP, /* struct op, runs_as: the debugger of the launch is called first (stops.h) */
};

enum op_flags {
    OPF_GUARD = 1,
    OPF_GUARD_NEGATED = 2,
    OPF_NO_MASK = 4 /* OP_COLLECTIVE of all active lanes */
};

/* A memory access and the places of its operands. */
struct op_access {
    struct mem_access mem;
    uint8_t base_width; /* of the address register: 32 or 64, 0 where the address is constant */
    uint8_t width[8];   /* of the registers: of IR_LD destinations and IR_ST sources */
    int64_t disp;       /* including the symbol's address */
    row_ref regs[8], operands[8];
    bool has_reg[8], has_operand[8];
};

struct op {
    uint8_t kind, flags;
    uint8_t width;   /* of d: 1, 16, 32, 64, 128 */
    uint8_t e_kind;  /* OP_LANES: use of the carry */
    uint8_t mode;    /* the instruction's: as in ir/ir.h */
    uint8_t runs_as; /* by the interpreter: its kind, or OP_STOP */
    bool breaks;     /* OP_STOP: a breakpoint is here */
    uint32_t site;   /* its number among all of the kernel's operations (site.h) */
    uint32_t target; /* OP_BRA: block where taken */
    uint32_t next;
    row_ref guard, d, e, a, b, c, f;
    lane_fn *fn;
    uint64_t imm;
    union {
        const struct op_access *access;
        const struct ir_call *call;
        const uint32_t *targets; /* OP_BRX */
    };
    uint32_t n_targets;
    bool has_d, has_e, has_b;
    union {
        struct code *callee;            /* OP_CALL, direct */
        const struct op_matrix *matrix; /* OP_COLLECTIVE of matrices */
        const struct op_texture *texture;
    };
    const struct ir_insn *origin;
};

struct code_block {
    uint32_t first;                  /* operation */
    uint32_t n;                      /* operations, the end included: what the counters count */
    bool spins, polls;               /* as in ir/ir.h, as are: */
    uint32_t serial_from, serial_to; /* blocks */
};

/* One function of a kernel. */
struct code {
    const struct ir_func *ir;
    uint32_t index; /* in kernel->functions */
    struct op *ops;
    uint32_t n_ops;
    uint32_t first_site; /* of ops[0] */
    struct code_block *blocks;
    uint32_t n_blocks;
    bool has_serial; /* parts */
    uint8_t *consts; /* rows */
    uint32_t frame_bytes, register_bytes;
    uint32_t depth_bytes; /* of local memory, with all callees; see code.c */
    bool depth_known;
    VEC(struct row_fill) zeroed; /* registers that may be read before they are written */
};

struct placed_var {
    const struct ptx_var *var;
    uint32_t at;
};

/* Facts from a kernel's machine code, for a thread. */
struct machine_code {
    uint32_t registers, frame_bytes;    /* frame: of local memory, arrays and spilled registers */
    uint32_t local_loads, local_stores; /* by words of 32 bits */
};

struct kernel {
    struct arena arena;
    struct ptx_func *func;
    struct code *entry;
    VEC(struct code *) functions;
    struct code **by_handle; /* functions by ptx_func.handle, where the kernel calls indirectly */
    uint32_t n_handles;
    VEC(struct placed_var) shared_vars;
    /* module-scope .local variables, at the start of local memory. */
    VEC(struct placed_var) local_vars;
    uint32_t static_shared_bytes, module_local_bytes;
    uint32_t param_bytes;
    /* Of a thread: frames of the deepest call chain, or the stack if that has no bound. */
    uint32_t local_bytes;
    /* the part of these that is cleared when a warp begins; the rest is cleared at its first use */
    uint32_t local_ready_bytes;
    bool unbounded_stack, suspends;
    bool clustered;                         /* as its functions: struct ir_func */
    bool has_async;                         /* IR_ASYNC, or a copy */
    bool launches_graphs, launches_kernels; /* by that */
    bool uses_heap, prints;                 /* malloc() or free(), printf() */
    bool nests;                             /* calls the device runtime: nested.h */
    uint32_t max_ntid, req_ntid[3];         /* 0 where not said */
    /* .reqnctapercluster, .maxclusterrank; 0 where not said. */
    uint32_t req_cluster[3], max_cluster_rank;
    bool explicit_cluster, blocks_are_clusters; /* the directives of these names */
    struct machine_code machine_code;           /* for the device; 0 registers: none is known */
    uint64_t instructions;
    struct block_rows block_rows;
    uint64_t code_window;
    void *compiled; /* the compiler's own: src/jit/host/unit.h */
    /* The shortest time of a block in the last launch, in nanoseconds; 0: unknown. */
    _Atomic uint32_t block_ns;
    /* Launches to hand over, after one took long: how many at a time; how many are left. */
    _Atomic uint32_t handed_over, to_hand_over;
    struct sites_of_kernel *_Atomic sites; /* site.h; or NULL: nobody has asked yet */
};

/* The settings for which a kernel is prepared. */
struct code_env {
    const struct ptx_image *image;
    const struct mem *mem;
    lane_fn *const *lanes;
    uint32_t stack_bytes; /* of a thread whose call depth has no bound */
    bool serial_walks;    /* as for ir_build() */
    bool keeps_registers; /* the same */
    /* The address of a .global or .const variable. */
    uint64_t (*address_of)(void *data, const struct ptx_var *v);
    void *data;
};

/* What an access does to memory. */
static inline bool op_stores_matrix(const struct op *o)
{
    const struct ir_matrix *m = o->origin->kind == IR_MATRIX ? o->origin->matrix : NULL;
    return m && (m->form.kind == MATRIX_STORE || m->form.kind == MATRIX_STORE_ROWS);
}
/* The bytes of a lane. */
static inline uint32_t op_bytes(const struct op *o)
{
    return (uint32_t)o->access->mem.bytes * o->access->mem.n;
}
static inline bool op_reads(const struct op *o)
{
    if (o->kind == OP_TEXTURE)
        return texture_reads(&o->origin->texture->form);
    if (o->kind == OP_COLLECTIVE)
        return !op_stores_matrix(o);
    return o->kind == OP_MBARRIER ? o->mode >= MBARRIER_ARRIVE : o->kind != OP_ST;
}
static inline bool op_writes(const struct op *o)
{
    if (o->kind == OP_TEXTURE)
        return texture_writes(&o->origin->texture->form);
    if (o->kind == OP_COLLECTIVE)
        return op_stores_matrix(o);
    return o->kind == OP_MBARRIER ? !mbarrier_tests(o->mode) : o->kind != OP_LD && o->kind != OP_FETCH;
}

/* Reports what the machine refuses; NULL after an error. To be freed by kernel_free. */
struct kernel *kernel_prepare(struct ptx_func *func, const struct code_env *env, struct diags *diags);
void kernel_free(struct kernel *k);
/* The registers of a thread on a device. *guessed (or NULL): it is an estimate, as there is no
 * machine code. */
uint32_t kernel_registers(const struct kernel *k, bool *guessed);
/* The maximum that its directives allow: .maxnreg, .maxntid, .minnctapersm (PTX ISA 11.4). */
uint32_t kernel_register_limit(const struct kernel *k);
/* Can it be launched in clusters of more than one block? Reports why not. */
bool kernel_runs_in_clusters(const struct kernel *k, struct diags *diags);

/* A function's address, as function pointers hold it; the function of an address, or NULL. */
uint64_t code_address(const struct mem *mem, const struct ptx_func *f);
struct code *code_at(const struct kernel *k, uint64_t address);
/* Of any of the image's, kernels included; or NULL. */
const struct ptx_func *code_function(const struct mem *mem, const struct ptx_image *image, uint64_t address);

#endif
