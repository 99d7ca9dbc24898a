/* What the compiler of kernels is asked, and what it answers.
 *
 * The compiler is a program of its own, heddle-jit (main.c, compile.c and what emits LLVM): no LLVM
 * comes into the process that runs kernels. A request crosses as bytes (wire.c); the answer's
 * object is loaded by elf_loader.c, kept by code_cache.c.
 */
#ifndef HEDDLE_JIT_REQUEST_H
#define HEDDLE_JIT_REQUEST_H

#include "exec/abi.h"
#include "ir/shape.h"

/* A kernel is compiled soon, and again with more effort where it runs for long: gang_plan.c and
 * compile.c say what differs. */
enum jit_tier { TIER_FIRST = 1, TIER_SECOND };
enum { JIT_TIERS = TIER_SECOND };

/* Of functions the compiler has what wire.c passes: the IR but for the places in the text, without
 * symbols. Where the interpreter has their operands and operations follows from it (exec/layout.h). */
struct jit_request {
    struct str name;  /* of the kernel: for dumps */
    struct str level; /* of the CPU: x86-64-v2 and so on */
    enum jit_tier tier;
    uint32_t block[3];
    uint32_t param_bytes; /* of the kernel */
    uint32_t static_shared_bytes;
    uint32_t n_functions;
    struct ir_func **functions;     /* NULL: not to be compiled. The first is the kernel itself */
    struct block_rows block_rows;   /* of the kernel */
    const struct ir_shapes *shapes; /* by function; regs is NULL where a function is not compiled */
};

struct jit_result {
    uint8_t *object; /* NULL where compilation failed; then `error` says why */
    size_t bytes;
    uint32_t n_inline_caches;
    bool is_overtime;                                               /* it failed for want of time */
    double shape_seconds, emit_seconds, pass_seconds, code_seconds; /* of the compiler's CPU */
    char *error, *ir, *llvm, *assembly;                             /* or NULL */
    char *cache_error; /* why something on disk was not used, or nothing was put there; or NULL */
};

void jit_release(struct jit_result *r);

/* Of a function in the object: its number, its name; and of its serial parts, whose number comes
 * behind those of all functions. */
#define JIT_FUNCTION_NAME "heddle.%u.%.*s"
#define JIT_SERIAL_NAME   "heddle.%u.%.*s.serial"

#endif
