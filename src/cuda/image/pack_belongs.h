/* The libraries that a pack belongs to: its facts name objects, and an object of a process is
 * compared with them. Private to cuda/ and cli/.
 *
 *     object=FILE [BUILD-ID]   a shared object, or a program, that has these kernels; with its
 * linker's build ID, if there is one
 *     beside=PATH              a text file, relative to the object's folder,
 *     says=LINE                which contains this line
 *
 * Other facts say what to do for a library some of whose kernels are missing:
 *
 *     environment=NAME=VALUE     set this variable for the program, unless it is set
 *     call=GETTER SETTER VALUE   call SETTER(GETTER(), VALUE), functions that the objects export,
 *                                when the first of them registers kernels
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_BELONGS_H
#define HEDDLE_CUDA_IMAGE_PACK_BELONGS_H

#include "cuda/image/pack.h"

enum belongs {
    BELONGS_NOT, /* it belongs to another object */
    /* It belongs to another build or version of this object: `why` names the difference. */
    BELONGS_NEARLY,
    BELONGS /* it belongs to exactly this object */
};

/* `path`: of the object's file. */
enum belongs pack_belongs(const struct pack *p, const char *path, char *why, size_t size);
/* Do its facts identify the library sufficiently? */
bool pack_is_told_apart(const struct pack *p);
/* The value of the fact `object` for a file, from malloc. NULL: it is not an ELF file, or memory is
 * exhausted. */
char *pack_object(const char *path);

#endif
