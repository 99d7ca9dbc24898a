/* Matches the kernels of a pack with those of its library by name. Private to cuda/ and cli/.
 *
 * Two compilers may number the substitutions of a mangled name differently ("C++ ABI for Itanium",
 * 5.1.10: nvcc counts one component more in front of a local type of an anonymous namespace), and
 * may or may not mark internal functions (`L`). If the names of one kernel of the pack and one of
 * the library differ only in this, they are the same kernel.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_MATCH_H
#define HEDDLE_CUDA_IMAGE_PACK_MATCH_H

#include "cuda/image/cubin.h"
#include "cuda/image/pack_write.h"

struct pack_library {
    struct arena *arena;
    /* By common form; and by the form without the parts in which compilers differ. */
    struct map exact, loose;
};

void pack_library_add(struct pack_library *l, const char *name, const struct cubin_limits *limits);
/* Gives a kernel whose name the library does not have the library's name, if exactly one kernel on
 * each side fits. */
void pack_match(struct pack_writer *w, const struct pack_library *l);

#endif
