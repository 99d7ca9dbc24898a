/* Compiled code for launches: decides when kernels are compiled.
 *
 * Compiled code belongs to a kernel and the shape of its blocks. A launch takes the code that
 * exists. With `auto` a kernel starts in the interpreter and is compiled in the background after
 * it has run long enough; running blocks change to the compiled code between two basic blocks. A
 * kernel that then runs for long is compiled again with more effort, the second tier, and
 * workers change to that. Nobody waits for it.
 */
#ifndef HEDDLE_JIT_ENGINE_H
#define HEDDLE_JIT_ENGINE_H

struct machine;

/* Gives the machine a compiler. Nothing is loaded before it is needed. */
void jit_attach(struct machine *m);

#endif
