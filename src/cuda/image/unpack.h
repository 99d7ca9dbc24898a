/* Reads the entries of fat binaries: texts, compressed or not, and what machine code records about
 * kernels. Private to cuda/image/. */
#ifndef HEDDLE_CUDA_IMAGE_UNPACK_H
#define HEDDLE_CUDA_IMAGE_UNPACK_H

#include <stdint.h>

#include "cuda/image/fatbin.h"

/* Limit of all texts of an image together, because a few kilobytes may unpack to any size. */
#define MAX_TEXT_BYTES ((uint64_t)1 << 30)

struct entry {
    uint16_t kind, unknown;
    uint32_t header_bytes;
    uint64_t payload_bytes; /* with padding */
    uint32_t compressed_bytes;
    uint32_t options_at;
    uint32_t version;
    uint32_t arch;
    uint64_t unused;
    uint64_t flags;
    uint64_t unused2;
    uint64_t uncompressed_bytes;
};
_Static_assert(sizeof(struct entry) == 64, "as in the file");

/* An entry's place in memory; entries need not be aligned. */
struct candidate {
    const uint8_t *payload;
    struct entry entry;
};

/* Sets the image's `why` and returns IMAGE_INVALID. */
enum image_result image_broken(struct image *image, const char *what);
enum image_result image_too_much(struct image *image);
enum image_result image_no_memory(struct image *image);

/* A copy of a text with a zero behind it; NULL: memory is exhausted. */
char *image_copy_text(const void *from, size_t bytes);
/* Adds the text, which may be NULL, and owns it from then on. False: memory is exhausted. */
bool image_add_text(struct image *image, char *text, size_t bytes, unsigned arch);

/* Adds the text of PTX. */
enum image_result entry_unpack(struct image *image, const struct candidate *c);
/* The entry's machine code, unpacked, from malloc; NULL if it cannot be read. */
void *entry_code(const struct candidate *c, size_t *bytes);
/* Adds what machine code records about its kernels, if it can be read. */
void entry_read_code(struct image *image, const struct candidate *c);

#endif
