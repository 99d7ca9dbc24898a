/* The compiler as a separate process, seen from the program whose kernels it compiles.
 *
 * It is started by the first request and serves all later ones. The program does not notice it:
 * it is not a child of the program (wait() does not find it, no SIGCHLD comes), has its own
 * session (Ctrl-C does not reach it), and has none of the program's files open. It ends when the
 * program does, however that ends, or after some idle time. If it crashes or hangs, the kernel
 * stays in the interpreter.
 */
#ifndef HEDDLE_JIT_COMPILER_PROCESS_H
#define HEDDLE_JIT_COMPILER_PROCESS_H

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#include "jit/wire.h"

enum { PROGRAM_BYTES = PATH_MAX + 64 };

struct jit_process {
    pthread_mutex_t lock; /* protects fd */
    int fd;               /* our end of the connection; -1: none */
    /* Identity of fd: the program may have closed it and opened another file with its number. */
    dev_t device;
    ino_t inode;
    pid_t pid; /* of the compiler, and its start time: proc(5) */
    unsigned long long started;
    bool keep_stderr;
    _Atomic bool ended; /* set by process_end */
    bool refused;       /* it cannot be started; `why` has the reason */
    char why[256];
};

/* The compiler's program, or "": HEDDLE_JIT; else the one next to the library or program that
 * contains this code, or its installed place. In a program with the rights of another user
 * (AT_SECURE), neither the environment nor the program's folder decides what is run, as the
 * caller chooses both. */
void process_find_program(char program[PROGRAM_BYTES]);
/* keep_stderr: LLVM's messages at a crash go to the program's stderr; else they are dropped. */
void process_init(struct jit_process *p, bool keep_stderr);
/* Lets `program` compile a request. False with p->why if it cannot be started or has ended; then
 * *result is empty. One thread at a time. */
bool process_ask(struct jit_process *p, const char *program, const struct wire_ask *ask, const uint8_t *request,
                 struct jit_result *result);
/* Ends the compiler; process_ask returns in another thread. */
void process_end(struct jit_process *p);
void process_close(struct jit_process *p);
/* In the child of a fork: gives up the process, which belongs to the parent. */
void process_leave_to_parent(struct jit_process *p);

#endif
