/* Making a pack (pack.h). Private to cuda/ and cli/. */
#ifndef HEDDLE_CUDA_IMAGE_PACK_WRITE_H
#define HEDDLE_CUDA_IMAGE_PACK_WRITE_H

#include "base/map.h"
#include "cuda/image/pack_slices.h"

struct pack_entry {
    const char *name, *literal; /* the common form, and the PTX's */
    struct pack_symbol symbol;
    uint32_t hash; /* of its slice, where another of the same name may have another body: a file's own kernel; else 0 */
};

struct pack_writer {
    struct arena *arena;
    VEC(struct pack_entry) entries;
    VEC(struct pack_slice) slices;
    VEC(struct pack_block) blocks; /* at: from the first on */
    VEC(struct str) packed;
    struct map known;           /* 1 + an entry's number, as a pointer, by its name */
    VEC(const char *) left_out; /* names of kernels that two files have, and not the same */
    char *block;                /* that is not yet full */
    size_t block_bytes, packed_bytes, ptx_bytes;
};

/* Takes the slices of a file, whose name is part of its own kernels' names; a slice whose kernels
 * are all there already is not taken. False: no memory, or a slice is too large. */
bool pack_add(struct pack_writer *w, const struct slices *slices, const char *path);
/* The whole file, `facts` (lines) among it, in the arena; NULL: no memory. */
char *pack_finish(struct pack_writer *w, struct str facts, size_t *bytes);
void pack_writer_free(struct pack_writer *w);

#endif
