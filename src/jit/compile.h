/* Compiles a request to an ELF object. Private to jit/compile.c and jit/main.c. */
#ifndef HEDDLE_JIT_COMPILE_H
#define HEDDLE_JIT_COMPILE_H

#include "jit/wire.h"

/* To be called once, first. */
void jit_compile_init(void);
/* Fills *result, to be released by the caller. Jumps to the arena's on_oom where memory is
 * exhausted. */
void jit_compile(struct jit_request *request, const struct wire_ask *ask, struct arena *arena,
                 struct jit_result *result);

#endif
