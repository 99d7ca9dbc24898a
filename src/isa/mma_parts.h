/* What the sources of one CPU level have of each other (mma.c). */
#ifndef HEDDLE_ISA_MMA_PARTS_H
#define HEDDLE_ISA_MMA_PARTS_H

#include "isa/mma.h"
#include "isa/mma_vectors.h"

/* ---- mma_fragments.c ---- */

void MMA_OF_LEVEL(mma_take)(const struct mma_map *map, const u32 *const *rows, u32 *to);
void MMA_OF_LEVEL(mma_put)(const struct mma_map *map, const u32 *from, u32 *const *rows);
void MMA_OF_LEVEL(mma_load_halves)(const u8 *const lane[4], const u64 *piece, unsigned n, u32 *const *rows);
void MMA_OF_LEVEL(mma_load_quads)(const u8 *const lane[8], const u64 *piece, unsigned n, u32 *const *rows);

/* ---- mma_floats.c ---- */

void MMA_OF_LEVEL(mma_multiply_floats)(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                                       const u8 *selected);
bool MMA_OF_LEVEL(mma_multiply_in_place)(const struct mma_places *x, const u32 *const *left, const u32 *const *right,
                                         const u32 *const *c, u32 *const *d);

#endif
