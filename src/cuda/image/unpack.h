/* Entries of fat binaries: their texts, compressed or not, and what their machine code says.
 * Private to cuda/image/. */
#ifndef HEDDLE_CUDA_IMAGE_UNPACK_H
#define HEDDLE_CUDA_IMAGE_UNPACK_H

#include <stdint.h>

#include "cuda/image/fatbin.h"

/* Of all texts of an image together: a few kilobytes can be unpacked to as much as anybody likes. */
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

/* What is wrong becomes the image's `why`. */
enum image_result image_broken(struct image *image, const char *what);
enum image_result image_too_much(struct image *image);
enum image_result image_no_memory(struct image *image);

/* A text with a zero behind it; NULL: no memory. */
char *image_copy_text(const void *from, size_t bytes);
/* Takes the text, which may be NULL. False where memory is exhausted. */
bool image_add_text(struct image *image, char *text, size_t bytes, unsigned arch);

/* Adds the text of PTX. */
enum image_result entry_unpack(struct image *image, const struct candidate *c);
/* Machine code as it is, malloc'ed; NULL where it cannot be read. */
void *entry_code(const struct candidate *c, size_t *bytes);
/* Adds what machine code says of its kernels. What cannot be read says nothing: the PTX alone
 * counts. */
void entry_read_code(struct image *image, const struct candidate *c);

#endif
