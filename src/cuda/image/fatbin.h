/* Finds the PTX in images, which programs pass to the driver for loading.
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
    char *text; /* from malloc, ends with a zero */
    size_t bytes;
    unsigned arch; /* 90: sm_90; 0: not recorded */
};

/* What the machine code beside the PTX records about a kernel, if there is any for the device. */
struct image_kernel {
    char *name; /* malloc'ed, mangled */
    struct cubin_kernel code;
};

struct image {
    VEC(struct image_kernel) kernels;
    VEC(struct image_text) texts;
    size_t bytes;  /* of all texts together */
    char why[512]; /* a message about what is wrong, if a result is not IMAGE_OK */
};

/* Selects all PTX of a container, not only what fits a device best. */
enum { IMAGE_EVERY_ARCH = 0 };
/* `bytes`: SIZE_MAX where the caller does not know. `arch`: of the device, or IMAGE_EVERY_ARCH. */
enum image_result image_read(const void *data, size_t bytes, unsigned arch, struct image *image);
void image_free(struct image *image);

/* Moves the texts of `from` to the end of `to`, up to the limit of an image. The caller still frees
 * both. */
enum image_result image_take(struct image *to, struct image *from);

/* Calls `each` with the machine code of every container of an image or a section: the code for the
 * device, else any. Skips what cannot be read. */
void image_each_code(const void *data, size_t bytes, unsigned arch, void (*each)(void *to, const void *code, size_t n),
                     void *to);

/* Reads a file; a zero follows its bytes. The caller frees them; NULL if it cannot be read. */
void *image_file(const char *path, size_t *bytes);

/* The sections of an executable or an object file that hold its containers (.nv_fatbin,
 * __nv_relfatbin). */
enum { MAX_IMAGE_SECTIONS = 2 };
struct image_section {
    const void *data;
    size_t bytes;
};
size_t image_sections(const struct elf *e, struct image_section sections[MAX_IMAGE_SECTIONS]);

/* Do they have only machine code? (One piece is always the linker's own and empty.) Then `why`
 * names it and the remedy. */
bool image_sections_lack_ptx(const struct image_section *sections, size_t n, unsigned arch, char *why, size_t size);

/* The lowest device for which every container with PTX has PTX; 0 if none has PTX. */
unsigned image_section_needs(const struct image_section *section);

/* Containers with PTX are numbered from 1 across sections; *number counts on from one section to
 * the next. Returns the number of the container at `offset` of this section, or 0. */
unsigned image_section_number(const struct image_section *section, size_t offset, unsigned *number);
/* Finds the PTX in the container of this number that fits a device best; IMAGE_NO_BINARY if there
 * is no such container. */
enum image_result image_section_text(const struct image_section *section, unsigned wanted, unsigned arch,
                                     unsigned *number, struct image *image);

/* Makes an image that takes the place of machine code: its texts are linked when it is loaded.
 * NULL: memory is exhausted. */
void *image_of_texts(const struct image_text *texts, size_t n, size_t *bytes);

#endif
