/* Surfaces: where an access is, and values in a surface's format (PTX ISA 9.7.11). */
#ifndef HEDDLE_TEXTURE_SURFACE_H
#define HEDDLE_TEXTURE_SURFACE_H

#include "texture/texture.h"

/* Where `bytes` bytes of a surface are; x counts bytes, or texels where they are formatted. */
struct surface_at {
    int32_t at[3];
    uint32_t layer;
};
enum surface_where { SURFACE_INSIDE, SURFACE_OUTSIDE, SURFACE_MISALIGNED };
/* *address: of the bytes, or of the nearest ones where coordinates are clamped. */
enum surface_where surface_find(const struct texture *t, enum texture_shape shape, const struct surface_at *at,
                                uint32_t bytes, bool formatted, bool clamps, uint64_t *address);

/* Four values of 32 bits as a texel; returns its bytes. */
uint32_t surface_texel(const struct texel_format *f, const uint32_t values[4], uint8_t texel[16]);

#endif
