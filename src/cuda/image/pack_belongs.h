/* What a pack belongs to: the facts of it that name a library's objects, and whether an object of a
 * process is one of them. Private to cuda/ and cli/.
 *
 *     object=FILE [BUILD-ID]   a shared object, or a program, whose kernels these are; with the build ID of its linker, where it has one
 *     beside=PATH              a text file, from the folder of the object on,
 *     says=LINE                that has this line
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_BELONGS_H
#define HEDDLE_CUDA_IMAGE_PACK_BELONGS_H

#include "cuda/image/pack.h"

enum belongs {
    BELONGS_NOT,    /* it names another object, */
    BELONGS_NEARLY, /* this one, of another build or version: `why` says what differs, */
    BELONGS         /* or exactly this one */
};

/* `path`: of the object's file. */
enum belongs pack_belongs(const struct pack *p, const char *path, char *why, size_t size);
/* Do its facts identify the library well enough? */
bool pack_is_told_apart(const struct pack *p);
/* The value of the fact `object` for a file, from malloc. NULL: it is not an ELF file, or memory is
 * exhausted. */
char *pack_object(const char *path);

#endif
