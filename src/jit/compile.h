/* Compiles a request to an ELF object. Private to jit/compile.c and jit/main.c. */
#ifndef HEDDLE_JIT_COMPILE_H
#define HEDDLE_JIT_COMPILE_H

#include "jit/wire.h"

/* Call it once, before anything else. */
void jit_compile_init(void);
/* Fills *result, which the caller releases. Jumps to the arena's on_oom if memory is exhausted. */
void jit_compile(struct jit_request *request, const struct wire_ask *ask, struct arena *arena,
                 struct jit_result *result);

#endif
