/* Names of a pack's kernels beside those of the library that the pack is for. Private to cuda/ and cli/.
 *
 * Two compilers may number what a mangled name repeats otherwise ("C++ ABI for Itanium", 5.1.10: nvcc counts one component more
 * in front of a local type of an anonymous namespace), and mark a function that is a file's own, or not (`L`). Where one
 * kernel of the pack and one of the library differ in nothing else, they are the same kernel.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_MATCH_H
#define HEDDLE_CUDA_IMAGE_PACK_MATCH_H

#include "cuda/image/cubin.h"
#include "cuda/image/pack_write.h"

struct pack_library {
    struct arena *arena;
    struct map exact, loose; /* of the kernels' names, in the common form and without what compilers differ in */
};

void pack_library_add(struct pack_library *l, const char *name, const struct cubin_limits *limits);
/* Kernels whose names the library does not have get its name, where exactly one on each side is meant. */
void pack_match(struct pack_writer *w, const struct pack_library *l);

#endif
