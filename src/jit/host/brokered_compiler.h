/* Compiled code for a process in the sandbox: the broker (sandbox/broker.h) asks the compiler and
 * keeps its answers on disk.
 *
 * Only sandboxed processes find code that was compiled for a sandboxed process. An attacker who
 * breaks out of a kernel can request anything, and if a request also breaks the compiler, the
 * code for all later requests could be wrong. In the sandbox such code can do no more than the
 * kernel itself.
 */
#ifndef HEDDLE_JIT_BROKERED_COMPILER_H
#define HEDDLE_JIT_BROKERED_COMPILER_H

#include "jit/host/compiler_process.h"

struct brokered_compiler {
    int fd;               /* the connection; -1: not in the sandbox */
    pthread_mutex_t lock; /* held during a question and its answer */
    const char *program;
    struct jit_process *process; /* used by the broker */
    bool keeps;                  /* keeps compiled code on disk */
};

void brokered_init(struct brokered_compiler *o);
/* Adds the service; false with errno. The arguments must stay valid. */
bool brokered_open(struct brokered_compiler *o, const char *program, struct jit_process *process, bool keeps);
/* As code_cache_load(), for the bytes of a request. */
bool brokered_recall(struct brokered_compiler *o, enum jit_tier tier, const uint8_t *request, size_t bytes,
                     struct jit_result *result);
/* As process_ask(), except that result->error says why there is no compiler; false if the broker
 * is gone. */
bool brokered_compile(struct brokered_compiler *o, const struct wire_ask *ask, const uint8_t *request,
                      struct jit_result *result);
/* Lets calls of these two in other threads return. */
void brokered_end(struct brokered_compiler *o);
void brokered_close(struct brokered_compiler *o);

#endif
