/* Addresses of code as places in the source: what libheddle-symbols.so answers, which needs
 * elfutils' libdw. libcuda.so.1 loads it when a stack is to be shown for the first time
 * (cuda/process/stack.c), so that a program in which nothing is found carries none of this. Private
 * to cuda/.
 */
#ifndef HEDDLE_CUDA_PROCESS_SYMBOLS_H
#define HEDDLE_CUDA_PROCESS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
    const char *function; /* mangled, or NULL */
    const char *file;     /* or NULL */
    const char *folder;   /* where the name of the file is from, if it is not absolute; or NULL */
    unsigned line;
};

/* What stands at an address of this process's code: the function whose code was inlined there, if
 * any, then the one that it was inlined into, and so on. Returns how many there are, at most n. The
 * strings live as long as the process. Not to be called by several threads at once. */
size_t heddle_symbols_at(uintptr_t address, struct symbol *symbols, size_t n);

#endif
