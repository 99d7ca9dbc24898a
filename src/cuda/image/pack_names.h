/* The common form of a kernel's name in builds of one source by two compilers. Private to cuda/ and
 * cli/.
 *
 * For names that are internal to a file, nvcc writes a hash and the file's name into the mangled
 * name, in place of an anonymous namespace (`_GLOBAL__N__0de8ae4a_7_Copy_cu_69ab9089_23831`) or as
 * an additional namespace (`_INTERNAL_0de8ae4a_7_Copy_cu_69ab9089`); clang writes `_GLOBAL__N_1`,
 * or nothing. The common form is clang's, with an `@` and the file behind the name: `..@Copy_cu`.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_NAMES_H
#define HEDDLE_CUDA_IMAGE_PACK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The common form of a name, from malloc. `file`: the source's name if the name itself does not
 * contain it, or NULL. Returns NULL if memory is exhausted. */
char *pack_name(const char *name, const char *file);
/* "Copy_cu" for "a/Copy.cu" and "a/Copy.ptx", as nvcc writes it; from malloc. */
char *pack_file_name(const char *path);

#endif
