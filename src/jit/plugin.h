/* Between libheddle and its compiler, libheddle-jit.so: the one symbol of the plug-in, and what passes through it.
 *
 * The plug-in turns functions of a kernel into a relocatable ELF object. It knows LLVM and nothing else; finding it,
 * loading objects and keeping them is engine.c's, object.c's and cache.c's, which know nothing of LLVM.
 */
#ifndef HEDDLE_JIT_PLUGIN_H
#define HEDDLE_JIT_PLUGIN_H

#include "exec/machine.h"
#include "ir/shape.h"

struct jit_request {
    const char *name; /* of the kernel: for dumps */
    struct code *const *functions;
    const struct ir_shapes *shapes; /* by function; regs is NULL where a function is not to be compiled */
    uint32_t n_functions;
    uint32_t param_bytes; /* of the kernel */
    const struct lane_info *(*lane_info)(enum lane_id id);
    bool dump_llvm, dump_asm;
};

struct jit_result {
    uint8_t *object; /* NULL where compilation failed; then `error` says why */
    size_t bytes;
    uint32_t n_sites;
    double emit_seconds, pass_seconds, code_seconds; /* of this thread's CPU */
    char *error, *llvm, *assembly;                   /* or NULL */
};

/* What both sides must agree on, as a number: compiled code reads and writes these records. */
enum {
    JIT_LAYOUT = ((((((sizeof(struct warp) * 31 + sizeof(struct activation)) * 31 + sizeof(struct block)) * 31 +
                     sizeof(struct launch)) *
                        31 +
                    sizeof(struct worker)) *
                       31 +
                   sizeof(struct op)) *
                      31 +
                  sizeof(struct compiled_calls) + sizeof(struct ir_shapes) * 7 + sizeof(struct jit_request) * 3 +
                  sizeof(struct jit_result) * 5 + LANE_COUNT * 11) &
                 INT32_MAX
};

struct jit_session; /* what lasts from one request to the next; for one thread at a time */

struct jit_plugin {
    const char *version; /* HEDDLE_VERSION and JIT_LAYOUT: must be those of the library */
    uint32_t layout;
    /* `level` of the CPU: x86-64-v2 and so on. NULL where the plug-in has no code for it. */
    struct jit_session *(*open)(const char *level);
    void (*close)(struct jit_session *s);
    void (*compile)(struct jit_session *s, const struct jit_request *request, struct jit_result *result);
    void (*release)(struct jit_result *result);
};

/* Of a function in the object: its number, its name. */
#define JIT_FUNCTION_NAME "heddle.%u.%.*s"

#define JIT_PLUGIN_SYMBOL "heddle_jit_plugin"

#endif
