/* The interface of libheddle-symbols.so, which finds the source places of code addresses by
 * elfutils' libdw. libcuda.so.1 loads it when it shows a stack for the first time
 * (cuda/process/stack.c), so that a program without findings never loads it. Private to cuda/.
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

/* The functions at an address of this process's code: the innermost inlined function, if any, then
 * the one that it was inlined into, and so on. Returns their number, at most n. The strings live as
 * long as the process. Only one thread at a time may call this. */
size_t heddle_symbols_at(uintptr_t address, struct symbol *symbols, size_t n);

#endif
