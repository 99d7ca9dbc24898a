/* What exec/ asks of a compiler of kernels: the machine has one if somebody above has given it one
 * (src/jit/host/engine.c). */
#ifndef HEDDLE_EXEC_COMPILER_H
#define HEDDLE_EXEC_COMPILER_H

#include <stdbool.h>

struct machine;
struct launch;
struct worker;
struct kernel;
struct diags;

/* The compiler of kernels, where there is one (src/jit): the machine's functions that run launches
 * call these. */
struct compiler {
    /* Before the first block: code that is ready is put into l->compiled, l->consider_at is set.
     * False with a diagnostic where the launch asks for compiled code and there can be none. */
    bool (*begin)(struct machine *m, struct launch *l, struct diags *diags);
    /* A worker has let its blocks have a turn, and has run l->consider_at instructions of warps. */
    void (*consider)(struct launch *l, const struct worker *k);
    void (*end)(struct launch *l);                       /* after its last block */
    void (*forget)(struct machine *m, struct kernel *k); /* which is about to be freed */
    bool (*wants_serial_walks)(const struct machine *m); /* code_env.serial_walks */
    /* The process is about to enter the sandbox: what is needed outside is added to the broker
     * (sandbox/broker.h). False with errno. */
    bool (*confine)(struct machine *m);
    void (*close)(struct machine *m);
};

#endif
