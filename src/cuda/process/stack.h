/* The host's call stacks: where a program has called CUDA. Taking one is cheap (return addresses,
 * each stack kept once); what it says is found out when a finding needs it. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_PROCESS_STACK_H
#define HEDDLE_CUDA_PROCESS_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "heddle.h"

/* Return addresses; the same stack is the same pointer. It lives as long as the process. */
struct stack;

/* Of the calling thread. NULL where memory is exhausted. */
const struct stack *stack_here(void);

/* A library of ours has been loaded, perhaps after stacks had been taken. */
void stack_note_own(void);

/* Whether an address of code is one of our libraries'. */
bool stack_is_own(uintptr_t address);

/* Whether the program drops what CUDA's function returns there: nothing reads it. False where that
 * cannot be told. */
bool stack_drops_result(const struct stack *s);

/* What it says; of NULL, nothing. */
struct stack_text {
    const char *call;       /* CUDA's function that the program has called: "cudaMalloc" */
    const hd_frame *frames; /* the program's calls that led there, innermost first */
    size_t n;
    const char *place; /* the innermost: "at main.cu:27", "in solve of libsolver.so", "at an unknown place" */
};
struct stack_text stack_text(const struct stack *s);

#endif
