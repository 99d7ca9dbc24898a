/* The question to the compiler of kernels, and its answer.
 *
 * The compiler is a separate program, heddle-jit (main.c, compile.c and the files that emit
 * LLVM), so that LLVM is not in the process that runs kernels. A request is sent as bytes
 * (wire.c). elf_loader.c loads the object of the answer, code_cache.c keeps it.
 */
#ifndef HEDDLE_JIT_REQUEST_H
#define HEDDLE_JIT_REQUEST_H

#include "exec/abi.h"
#include "ir/shape.h"

/* A kernel is compiled early, and again with more effort if it runs for long: gang_plan.c and
 * compile.c say what differs. */
enum jit_tier { TIER_FIRST = 1, TIER_SECOND };
enum { JIT_TIERS = TIER_SECOND };

/* The compiler gets functions as wire.c passes them: the IR without its places in the text and
 * without symbols. The interpreter's layout of operands and operations follows from it
 * (exec/layout.h). */
struct jit_request {
    struct str name;  /* of the kernel, for dumps */
    struct str level; /* of the CPU: x86-64-v2 and higher */
    enum jit_tier tier;
    uint32_t block[3];
    uint32_t param_bytes; /* of the kernel */
    uint32_t static_shared_bytes;
    uint32_t n_functions;
    struct ir_func **functions;   /* NULL: not to be compiled; the first one is the kernel */
    struct block_rows block_rows; /* of the kernel */
    /* By function; regs is NULL for a function that is not compiled. */
    const struct ir_shapes *shapes;
};

struct jit_result {
    uint8_t *object; /* NULL if compilation failed; `error` says why */
    size_t bytes;
    uint32_t n_inline_caches;
    /* It failed because it took too long. */
    bool is_overtime;
    /* The compiler's processor time. */
    double shape_seconds, emit_seconds, pass_seconds, code_seconds;
    char *error, *ir, *llvm, *assembly; /* or NULL */
    /* Why something on disk was not used or not stored; or NULL. */
    char *cache_error;
};

void jit_release(struct jit_result *r);

/* The name of a function in the object, by number and name; and of its serial parts, whose
 * numbers follow those of all functions. */
#define JIT_FUNCTION_NAME "heddle.%u.%.*s"
#define JIT_SERIAL_NAME   "heddle.%u.%.*s.serial"

#endif
