/* The interface of a compiler of kernels, as exec/ uses it. A machine has one if code above has
 * installed it (src/jit/host/engine.c). */
#ifndef HEDDLE_EXEC_COMPILER_H
#define HEDDLE_EXEC_COMPILER_H

#include <stdbool.h>

struct machine;
struct launch;
struct worker;
struct kernel;
struct diags;

/* The compiler of kernels (src/jit), if there is one: the machine's functions that run launches
 * call these. */
struct compiler {
    /* Before the first block: puts existing code into l->compiled, and sets l->consider_at.
     * False with a diagnostic if the launch demands compiled code that cannot exist. */
    bool (*begin)(struct machine *m, struct launch *l, struct diags *diags);
    /* After a worker has given its blocks a turn and run l->consider_at warp instructions. */
    void (*consider)(struct launch *l, const struct worker *k);
    void (*end)(struct launch *l);                       /* after its last block */
    void (*forget)(struct machine *m, struct kernel *k); /* which is about to be freed */
    bool (*wants_serial_walks)(const struct machine *m); /* code_env.serial_walks */
    /* The process is about to enter the sandbox: adds to the broker what is needed outside
     * (sandbox/broker.h). False with errno. */
    bool (*confine)(struct machine *m);
    void (*close)(struct machine *m);
};

#endif
