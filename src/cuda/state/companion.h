/* Packs of PTX (cuda/image/pack.h) for modules that have machine code alone: HEDDLE_KERNELS names
 * the files, or folders of them, with colons in between. A kernel or a variable is looked up by its
 * name when it is first asked for; its slice becomes a module of its own, behind the one that the
 * program knows. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_COMPANION_H
#define HEDDLE_CUDA_STATE_COMPANION_H

#include "cuda/image/pack.h"
#include "cuda/state/state.h"

struct companion;

/* For an image without PTX: NULL where no pack belongs to the object that it is in; where one
 * belongs to another build of it, that is added to `why`. */
struct companion *companion_new(const void *image, size_t bytes, unsigned arch, char *why, size_t size);
/* Its modules end as its own does. */
void companion_end(struct companion *c);
void companion_free(struct companion *c);

/* The module that has the kernel or the variable, and what it is called there.
 * CUDA_ERROR_NOT_FOUND: no variable of that name; CUDA_ERROR_NO_BINARY_FOR_GPU: no such kernel, or
 * one with other parameters, which the user is told once, and which is the current context's fault
 * from then on. */
CUresult companion_find(struct CUmod_st *m, enum pack_kind kind, const char *name, struct CUmod_st **slice,
                        const char **literal);

#endif
