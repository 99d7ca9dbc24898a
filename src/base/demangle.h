/* Names of C++ symbols as their source has them. */
#ifndef HEDDLE_BASE_DEMANGLE_H
#define HEDDLE_BASE_DEMANGLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* "scale" for "_Z5scalePff", "matmul<16>" for "_Z6matmulILi16EEvPKf": without parameters, which
 * kernels' names do without. What is not mangled, as it is. In the arena. */
const char *demangle(struct str symbol, struct arena *arena);

/* Is it a kernel's name as numba mangles it? Their names are Python's: "app.solve", "solve" of the
 * script. */
bool is_python_symbol(const char *symbol);

#endif
