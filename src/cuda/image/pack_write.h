/* Making a pack (pack.h). Private to cuda/ and cli/. */
#ifndef HEDDLE_CUDA_IMAGE_PACK_WRITE_H
#define HEDDLE_CUDA_IMAGE_PACK_WRITE_H

#include "base/map.h"
#include "cuda/image/pack_slices.h"

struct pack_entry {
    const char *name, *literal; /* the common form, and the name in the PTX */
    struct pack_symbol symbol;
    uint32_t hash; /* of the slice, for a kernel that is internal to its file; else 0 */
};

struct pack_writer {
    struct arena *arena;
    VEC(struct pack_entry) entries;
    VEC(struct pack_slice) slices;
    VEC(struct pack_block) blocks; /* at: offset from the first block */
    VEC(struct str) packed;
    struct map known;           /* 1 + an entry's index, as a pointer, by name */
    VEC(const char *) left_out; /* names that stand for different kernels in two files */
    char *block;                /* the block being filled */
    size_t block_bytes, packed_bytes, ptx_bytes;
};

/* Adds the slices of a file, whose name is part of the names of its local kernels. Skips a slice
 * whose kernels are all known. False: memory is exhausted, or a slice is too large. */
bool pack_add(struct pack_writer *w, const struct slices *slices, const char *path);
/* Returns the whole file with `facts` (lines), in the arena; NULL: memory is exhausted. */
char *pack_finish(struct pack_writer *w, struct str facts, size_t *bytes);
void pack_writer_free(struct pack_writer *w);

#endif
