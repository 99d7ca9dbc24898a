/* Compiled code for launches: when kernels are compiled, and for whom.
 *
 * Compiled code belongs to a kernel and a shape of its blocks of threads. A launch takes what is
 * there; `auto` lets a kernel run in the interpreter at first, and compiles it in the background
 * once it has run long enough to be worth it; blocks that run meanwhile change over between two
 * blocks of code. A kernel that then runs for long is compiled again, with more effort, and workers
 * change over to that: a second tier, which nobody waits for.
 */
#ifndef HEDDLE_JIT_ENGINE_H
#define HEDDLE_JIT_ENGINE_H

struct machine;

/* Gives the machine a compiler. Nothing is loaded before it is needed. */
void jit_attach(struct machine *m);

#endif
