/* Jumps written over the entries of functions. Private to preload.c and patch.c. */
#ifndef HEDDLE_CUDA_PROCESS_PRELOAD_H
#define HEDDLE_CUDA_PROCESS_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATCH_BYTES = 5 }; /* a function's least size */

/* Begins to replace at most n functions between `begin` and `end` by those of a library of ours.
 * NULL if there are none, if no memory is near, or if the code cannot be made writable. */
struct patches *patches_begin(uintptr_t begin, uintptr_t end, size_t n, const char *library);
void patches_add(struct patches *p, uintptr_t function, const char *name);
/* Ends that: the code is read-only again. */
void patches_end(struct patches *p);

/* Makes a function that does nothing call `hook` instead; false where it does something or is too
 * short. */
bool patch_empty_function(uintptr_t function, void (*hook)(void));

#endif
