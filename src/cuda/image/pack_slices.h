/* Divides a PTX text into slices. Each slice is a complete text: a kernel and everything that it
 * uses. Kernels that share a variable which the host or one of them may write are in one slice.
 * Constant data, such as the strings of messages, is copied into each slice. Private to cuda/ and
 * cli/.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_SLICES_H
#define HEDDLE_CUDA_IMAGE_PACK_SLICES_H

#include "base/diag.h"
#include "base/str.h"
#include "base/vec.h"
#include "cuda/image/pack.h"

struct slice_symbol {
    struct str name; /* as in the text */
    enum pack_kind kind;
    uint32_t slice, bytes, threads; /* struct pack_symbol */
};

struct slices {
    VEC(struct str) texts;
    VEC(struct slice_symbol) symbols;
};

/* Everything is in the arena; the names are views into the text. False: the PTX has mistakes, which
 * are in `diags`. */
bool slices_of(struct arena *arena, const struct source *source, struct diags *diags, struct slices *slices);

#endif
