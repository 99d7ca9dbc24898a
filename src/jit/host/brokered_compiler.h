/* Compiled code for a process in the sandbox: the broker (sandbox/broker.h) asks the compiler, and
 * keeps what it answers on disk.
 *
 * What a sandboxed process has had compiled is found by sandboxed processes alone: whoever breaks
 * out of a kernel can ask for anything, and what breaks the compiler as well could give wrong code
 * to all that follows. In the sandbox that code can do what the kernel could do anyway.
 */
#ifndef HEDDLE_JIT_BROKERED_COMPILER_H
#define HEDDLE_JIT_BROKERED_COMPILER_H

#include "jit/host/compiler_process.h"

struct brokered_compiler {
    int fd;               /* of the connection; -1: not in the sandbox */
    pthread_mutex_t lock; /* of a question and its answer */
    const char *program;
    struct jit_process *process; /* used in the broker */
    bool keeps;                  /* what is compiled */
};

void brokered_init(struct brokered_compiler *o);
/* Adds the service; false with errno. What it is given stays where it is. */
bool brokered_open(struct brokered_compiler *o, const char *program, struct jit_process *process, bool keeps);
/* As code_cache_load(), for the bytes of a request. */
bool brokered_recall(struct brokered_compiler *o, enum jit_tier tier, const uint8_t *request, size_t bytes,
                     struct jit_result *result);
/* As process_ask(), but that result->error says why there is no compiler; false where the broker is
 * gone. */
bool brokered_compile(struct brokered_compiler *o, const struct wire_ask *ask, const uint8_t *request,
                      struct jit_result *result);
/* Lets the two, in another thread, return. */
void brokered_end(struct brokered_compiler *o);
void brokered_close(struct brokered_compiler *o);

#endif
