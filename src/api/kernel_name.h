/* Finds kernels by the names that people type. */
#ifndef HEDDLE_API_KERNEL_NAME_H
#define HEDDLE_API_KERNEL_NAME_H

#include "base/arena.h"
#include "heddle.h"

/* A kernel's name as in the source (base/demangle.h), in the arena. */
const char *kernel_readable(const char *name, struct arena *arena);

/* Was this kernel's name typed: mangled, or readable (kernel_readable()), with or without scopes
 * and template arguments? */
bool kernel_is_called(const char *name, const char *readable, const char *typed);

/* The name of the module's kernel that `typed` means: an exact match, or the only one that reads
 * so, with or without template arguments. NULL if there is none, with *error in the arena. A NULL
 * `typed` means the only kernel. */
const char *kernel_find(const hd_module *module, const char *typed, const char **error, struct arena *arena);

/* Does the word look like a kernel's name, for kernel_find to judge, rather than an argument? */
bool kernel_is_name(const char *word);

#endif
