/* Compiled code for a process in the sandbox: the broker (sandbox/broker.h) asks the compiler, and keeps what it answers on disk.
 *
 * What a sandboxed process has had compiled is found by sandboxed processes alone: whoever breaks out of a kernel can ask for
 * anything, and what breaks the compiler as well could give wrong code to all that follows. In the sandbox that code can do
 * what the kernel could do anyway.
 */
#ifndef HEDDLE_JIT_OUTSIDE_H
#define HEDDLE_JIT_OUTSIDE_H

#include "jit/process.h"

struct outside {
    int fd;               /* of the connection; -1: not in the sandbox */
    pthread_mutex_t lock; /* of a question and its answer */
    const char *program;
    struct jit_process *process; /* used in the broker */
    bool keeps;                  /* what is compiled */
};

void outside_init(struct outside *o);
/* Adds the service; false with errno. What it is given stays where it is. */
bool outside_open(struct outside *o, const char *program, struct jit_process *process, bool keeps);
/* As cache_load(), for the bytes of a request. */
bool outside_recall(struct outside *o, enum jit_tier tier, const uint8_t *request, size_t bytes,
                    struct jit_result *result);
/* As process_ask(), but that result->error says why there is no compiler; false where the broker is gone. */
bool outside_compile(struct outside *o, const struct wire_ask *ask, const uint8_t *request, struct jit_result *result);
/* Lets the two, in another thread, return. */
void outside_end(struct outside *o);
void outside_close(struct outside *o);

#endif
