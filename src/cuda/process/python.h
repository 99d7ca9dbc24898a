/* The Python call stack of a thread, in a CPython process. Private to cuda/process/. */
#ifndef HEDDLE_CUDA_PROCESS_PYTHON_H
#define HEDDLE_CUDA_PROCESS_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Writes the calling thread's Python calls, innermost first, one per line: a file in quotation
 * marks, its line, the function. Returns the number of bytes, 0 if there are no calls. It takes no
 * lock of Python's, because a thread's own stack does not change meanwhile. */
size_t python_calls(char *text, size_t room);

struct python_call {
    const char *file, *function; /* in the arena */
    unsigned line;
};
/* Reads the next line of such a text; false at its end. After the calls comes the test that pytest
 * runs, if any, without a file. */
bool python_next(const char **text, struct python_call *call, struct arena *arena);
/* Is it a library's, rather than the user's: of a package that was
 * installed, or of Python itself? */
bool python_is_library(const char *file);

#endif
