/* The compiler as a process of its own, seen from the program whose kernels it compiles.
 *
 * It is started by the first request and serves all that follow. The program notices nothing of it:
 * it is nobody's child (wait() does not find it, no SIGCHLD comes), belongs to a session of its own
 * (no Ctrl-C reaches it), has none of the program's files open, and ends when the program does,
 * however that ends, or when it has had nothing to do for a while. If it crashes, or does not come
 * on, a kernel stays in the interpreter.
 */
#ifndef HEDDLE_JIT_COMPILER_PROCESS_H
#define HEDDLE_JIT_COMPILER_PROCESS_H

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#include "jit/wire.h"

enum { PROGRAM_BYTES = PATH_MAX + 64 };

struct jit_process {
    pthread_mutex_t lock; /* of fd */
    int fd;               /* our end of the connection; -1: none */
    dev_t device;         /* what fd is: a program may have closed it, and opened something else under its number */
    ino_t inode;
    pid_t pid; /* of the compiler, and when it was started: proc(5) */
    unsigned long long started;
    bool keep_stderr;
    _Atomic bool ended; /* by process_end */
    bool refused;       /* it cannot be started: `why` */
    char why[256];
};

/* The compiler's program, or "": HEDDLE_JIT; or next to the library or program that this code is
 * in, or where it is installed from there. In a program with the rights of another user (AT_SECURE)
 * neither the environment nor the program's folder says what is run: who starts it chooses both. */
void process_find_program(char program[PROGRAM_BYTES]);
/* keep_stderr: what LLVM says of itself when it crashes comes out on the program's stderr; else
 * nowhere. */
void process_init(struct jit_process *p, bool keep_stderr);
/* Lets `program` compile a request; false with p->why where it cannot be started, or has ended:
 * *result is empty then. One thread at a time. */
bool process_ask(struct jit_process *p, const char *program, const struct wire_ask *ask, const uint8_t *request,
                 struct jit_result *result);
/* Lets it end; process_ask, in another thread, returns. */
void process_end(struct jit_process *p);
void process_close(struct jit_process *p);
/* In the child of a fork: the process is the parent's. */
void process_leave_to_parent(struct jit_process *p);

#endif
