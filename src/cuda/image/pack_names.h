/* Names of kernels as two compilers' builds of one source have them in common. Private to cuda/ and
 * cli/.
 *
 * Of what a file has for itself, nvcc writes a hash and the file's name into the mangled name, in
 * the place of an anonymous namespace (`_GLOBAL__N__0de8ae4a_7_Copy_cu_69ab9089_23831`) or as a
 * namespace more (`_INTERNAL_0de8ae4a_7_Copy_cu_69ab9089`); clang writes `_GLOBAL__N_1`, and
 * nothing. The common form has clang's, and behind the name an `@` and the file: `..@Copy_cu`.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_NAMES_H
#define HEDDLE_CUDA_IMAGE_PACK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The common form of a name, malloc'ed; `file`, or NULL: what the source is called, where the name
 * itself does not say. NULL: no memory. */
char *pack_name(const char *name, const char *file);
/* "Copy_cu" of "a/Copy.cu" and of "a/Copy.ptx", as nvcc writes it; malloc'ed. */
char *pack_file_name(const char *path);

#endif
