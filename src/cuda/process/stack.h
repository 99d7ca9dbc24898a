/* The host's call stacks: where a program has called CUDA. Taking one is cheap (return addresses
 * only; equal stacks are stored once). Names and lines are looked up when a finding needs them.
 * Private to cuda/.
 */
#ifndef HEDDLE_CUDA_PROCESS_STACK_H
#define HEDDLE_CUDA_PROCESS_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "heddle.h"

/* Return addresses; the same stack is the same pointer. It lives as long as the process. */
struct stack;

/* The calling thread's stack; NULL if memory is exhausted. */
const struct stack *stack_here(void);

/* Notes that a library of ours was loaded, possibly after stacks were taken. */
void stack_note_own(void);

/* Is the code address in one of our libraries? */
bool stack_is_own(uintptr_t address);

/* Does the program ignore the result of CUDA's function there, so that nothing reads it? False if
 * unknown. */
bool stack_drops_result(const struct stack *s);

/* A stack in words; empty for NULL. */
struct stack_text {
    const char *call;       /* the CUDA function that the program called: "cudaMalloc" */
    const hd_frame *frames; /* the program's calls that led there, innermost first */
    size_t n;
    /* The innermost: "at main.cu:27", "in solve of libsolver.so", "at an unknown place". */
    const char *place;
};
struct stack_text stack_text(const struct stack *s);

#endif
