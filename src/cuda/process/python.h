/* The Python calls of a thread, where the process is one of CPython. Private to cuda/process/. */
#ifndef HEDDLE_CUDA_PROCESS_PYTHON_H
#define HEDDLE_CUDA_PROCESS_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Writes the calling thread's Python calls, innermost first, a line each: a file in quotation
 * marks, its line, the function. Returns how many bytes, 0 where there are none. Takes no lock of
 * Python's: a thread's own calls stand still while it is here. */
size_t python_calls(char *text, size_t room);

struct python_call {
    const char *file, *function; /* in the arena */
    unsigned line;
};
/* Reads the next line of such a text; false at its end. Behind the calls stands the test that pytest runs, if any, which has
 * no file. */
bool python_next(const char **text, struct python_call *call, struct arena *arena);
/* Is it a library's, rather than the user's: of a package that was installed, or of Python itself? */
bool python_is_library(const char *file);

#endif
