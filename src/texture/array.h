/* Arrays (CUDA Driver API, "Memory Management": CUarray, CUmipmappedArray): texels in memory of the
 * machine, one level after the other, each of them rows without padding. */
#ifndef HEDDLE_TEXTURE_ARRAY_H
#define HEDDLE_TEXTURE_ARRAY_H

#include <stdatomic.h>

#include "mem/space.h"
#include "texture/format.h"

enum { TEXTURE_LEVELS = 18, LEVEL_ALIGN_BYTES = MEM_ALIGN_BYTES };

/* Numbers of CUDA_ARRAY3D_...; others are refused. */
enum array_flags { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4, ARRAY_GATHER = 8 };

/* A picture, a volume, or pictures in layers. Sizes are 1 where there is no such dimension. */
struct level {
    uint64_t start; /* its first texel */
    uint32_t width, height, depth;
    uint64_t pitch, slice; /* bytes from a row, a slice or layer, to the next */
};

struct array {
    _Atomic uint32_t refs;
    _Atomic bool freed; /* its memory is gone, or another's */
    struct mem *mem;
    struct texel_format format;
    unsigned number; /* the CUarray_format */
    unsigned flags, n_levels;
    /* As asked for: 0 where there is no such dimension; depth: layers, too. */
    uint32_t width, height, depth;
    uint64_t bytes;
    void *memory;
    struct level levels[TEXTURE_LEVELS];
};

/* How many levels there can be at most. */
unsigned array_most_levels(uint32_t width, uint32_t height, uint32_t depth, unsigned flags);
/* From a record whose sizes, format, flags and n_levels are set, in place: its levels, as offsets,
 * and its bytes. */
void array_lay_out(struct array *a);
/* Gives it memory. NULL where that is exhausted; the record is copied, and has one reference. */
struct array *array_new(struct mem *mem, const struct array *shape);
/* Its memory is free; the record stays as long as there are references. */
void array_free(struct array *a);
void array_hold(struct array *a);
void array_release(struct array *a); /* NULL is allowed */

#endif
