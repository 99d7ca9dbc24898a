/* Images: what programs hand to the driver to be loaded. Finds the PTX in them.
 *
 * An image is a fat binary (a wrapper, a container, several containers one after the other in a
 * file), PTX text, or what Heddle makes in the place of machine code: an ELF file whose sections
 * `.heddle.ptx` have the PTX. Of each container comes the PTX that fits the claimed device best:
 * the highest architecture that is not above it. A wrapper of version 2 (nvcc -rdc=true) names a
 * list of containers, whose PTX has to be linked.
 */
#ifndef HEDDLE_CUDA_IMAGE_FATBIN_H
#define HEDDLE_CUDA_IMAGE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/elf.h"
#include "base/vec.h"
#include "cuda/image/cubin.h"

enum image_result {
    IMAGE_OK,
    IMAGE_INVALID,   /* neither PTX nor a fat binary, or a broken one */
    IMAGE_NO_BINARY, /* no PTX for the device */
    IMAGE_NO_MEMORY,
};

struct image_text {
    char *text; /* malloc'ed, a zero after its end */
    size_t bytes;
    unsigned arch; /* 90: sm_90; 0 where the image does not say */
};

/* What the machine code beside the PTX, if there is any for the device, says of a kernel. */
struct image_kernel {
    char *name; /* malloc'ed, mangled */
    struct cubin_kernel code;
};

struct image {
    VEC(struct image_kernel) kernels;
    VEC(struct image_text) texts;
    size_t bytes;  /* of all texts together */
    char why[512]; /* what is wrong with it, for people, where a result is not IMAGE_OK */
};

/* Of a container, all PTX, and not what fits a device best. */
enum { IMAGE_EVERY_ARCH = 0 };
/* `bytes`: SIZE_MAX where the caller does not know. `arch`: of the device, or IMAGE_EVERY_ARCH. */
enum image_result image_read(const void *data, size_t bytes, unsigned arch, struct image *image);
void image_free(struct image *image);

/* The texts of `from` become the last ones of `to`, which gets no more than an image may have.
 * Either is still to be freed. */
enum image_result image_take(struct image *to, struct image *from);

/* Calls `each` with the machine code of every container of an image, or of a section of them: what
 * runs on the device, else any. What cannot be read is passed over. */
void image_each_code(const void *data, size_t bytes, unsigned arch, void (*each)(void *to, const void *code, size_t n),
                     void *to);

/* A file's bytes and a zero, to be freed; NULL where it cannot be read. */
void *image_file(const char *path, size_t *bytes);

/* The sections of an executable or an object file that hold its containers (.nv_fatbin,
 * __nv_relfatbin). */
enum { MAX_IMAGE_SECTIONS = 2 };
struct image_section {
    const void *data;
    size_t bytes;
};
size_t image_sections(const struct elf *e, struct image_section sections[MAX_IMAGE_SECTIONS]);

/* Whether they have machine code alone, of which one piece is always the linker's own and empty;
 * then `why` says what they have and what helps. */
bool image_sections_lack_ptx(const struct image_section *sections, size_t n, unsigned arch, char *why, size_t size);

/* The least device that each of its containers has PTX for, of those that have some; 0 where none
 * has. */
unsigned image_section_needs(const struct image_section *section);

/* The containers of sections that have PTX are numbered from 1, in their order: `number` goes on
 * from what it is. The number of the one at `offset` of the section, or 0. */
unsigned image_section_number(const struct image_section *section, size_t offset, unsigned *number);
/* The PTX of the one of that number that fits a device best; IMAGE_NO_BINARY where there is none of
 * that number. */
enum image_result image_section_text(const struct image_section *section, unsigned wanted, unsigned arch,
                                     unsigned *number, struct image *image);

/* An image in the place of machine code: the texts, to be linked when it is loaded. NULL: no
 * memory. */
void *image_of_texts(const struct image_text *texts, size_t n, size_t *bytes);

#endif
