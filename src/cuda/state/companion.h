/* Packs of PTX (cuda/image/pack.h) for modules that contain only machine code. HEDDLE_KERNELS names
 * the files, or folders of them, separated by colons. A kernel or variable is looked up by name
 * when it is first needed; its slice becomes a module of its own behind the one that the program
 * knows. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_COMPANION_H
#define HEDDLE_CUDA_STATE_COMPANION_H

#include "cuda/image/pack.h"
#include "cuda/state/state.h"

struct companion;

/* Finds the packs for an image without PTX. NULL: no pack belongs to the object that contains it;
 * if one belongs to another build of the object, `why` says so. */
struct companion *companion_new(const void *image, size_t bytes, unsigned arch, char *why, size_t size);
/* Ends its modules; called when its own module ends. */
void companion_end(struct companion *c);
void companion_free(struct companion *c);

/* Finds the module that contains the kernel or the variable, and its name there.
 * CUDA_ERROR_NOT_FOUND: there is no variable of that name. CUDA_ERROR_NO_BINARY_FOR_GPU: there is
 * no such kernel, or it has other parameters; the user is told once, and the current context has
 * this fault from then on. */
CUresult companion_find(struct CUmod_st *m, enum pack_kind kind, const char *name, struct CUmod_st **slice,
                        const char **literal);

#endif
