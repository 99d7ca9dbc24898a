/* The texture unit: what a read of a texture or a surface gives, and a write changes, of one thread
 * (PTX ISA 9.7.10, 9.7.11). Both engines call it.
 *
 * An H200's answers are in tests/textures, its rules in docs/TEXTURES.md, and where those are not
 * known. Where a texel's bytes are is for the caller to have found out (exec/texture.c): this file
 * reads what the levels of a descriptor say.
 */
#ifndef HEDDLE_TEXTURE_SAMPLE_H
#define HEDDLE_TEXTURE_SAMPLE_H

#include "texture/texture.h"

/* Where the texels are that a read has looked at. */
enum { MOST_TEXELS = 16 };
struct texture_reads {
    uint32_t n;
    uint64_t at[MOST_TEXELS];
};

/* What a lane asks for. Coordinates are in the order x, y, z; as floats, or integers of texels. */
struct texture_at {
    union {
        float f[3];
        int32_t i[3];
    } at;
    uint32_t layer;
    float lod;                   /* LOD_LEVEL */
    float ddx[3], ddy[3];        /* LOD_GRADIENTS */
    int32_t offset[3];           /* of texels */
    uint64_t shift;              /* from the texture's addresses to where they are read */
    struct texture_reads *reads; /* or NULL: nobody wants to know */
};

/* Four channels as 32 bits each: floats, or integers where the sampler reads them as they are. */
void texture_sample(const struct texture *t, const struct sampler *s, bool by_integers, enum texture_lod lod,
                    const struct texture_at *at, uint32_t out[4]);
/* tld4: a channel (0 to 3) of the four texels that a linear filter would mix. */
void texture_gather(const struct texture *t, const struct sampler *s, unsigned channel, const struct texture_at *at,
                    uint32_t out[4]);
/* A channel as an f16. */
uint32_t texel_half(uint32_t channel, bool is_float);
/* Are out's channels floats? */
bool texture_gives_floats(const struct texture *t, const struct sampler *s);

#endif
