/* Kernels by the names that people type. */
#ifndef HEDDLE_API_KERNEL_NAME_H
#define HEDDLE_API_KERNEL_NAME_H

#include "base/arena.h"
#include "heddle.h"

/* A kernel's name as the source has it (base/demangle.h). In the arena. */
const char *kernel_readable(const char *name, struct arena *arena);

/* Does a kernel of this name have the name that was typed: mangled, or as kernel_readable() has it,
 * with or without scopes and template arguments? */
bool kernel_is_called(const char *name, const char *readable, const char *typed);

/* The name in the module that `typed` means: the same, or the only one that reads so, with or
 * without its template arguments. NULL where there is none; then *error tells, in the arena. A NULL
 * `typed` means the only kernel. */
const char *kernel_find(const hd_module *module, const char *typed, const char **error, struct arena *arena);

/* Is the word one that kernel_find should judge, rather than an argument? */
bool kernel_is_name(const char *word);

#endif
