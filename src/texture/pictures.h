/* Reads of pictures by a warp at once: what sample.c does lane by lane, for the most frequent
 * textures, in vectors. Compiled once per CPU level. */
#ifndef HEDDLE_TEXTURE_PICTURES_H
#define HEDDLE_TEXTURE_PICTURES_H

#include "isa/lanes.h"
#include "texture/texture.h"

/* Texels a side: an H200 has 131,072 (CUDA C++ Programming Guide, "Compute Capabilities"). */
enum { PICTURE_MOST = 1 << 20 };

/* A level of a picture, and how it is read: clamped or repeated, by whole texels or linearly. */
struct picture {
    uint64_t start; /* where it is read */
    uint64_t pitch;
    uint32_t width, height;
    struct texel_format format;
    bool linear, normalized, wraps[2];
    bool raw; /* integers as they are */
};

/* False where sample.c has to. */
bool picture_of(const struct texture *t, const struct sampler *s, uint64_t shift, struct picture *p);

struct picture_fns {
    /* Four channels of all lanes, whatever their coordinates are; returns the lanes whose texels it
     * cannot mix exactly (subnormals, infinities, NaNs). */
    uint32_t (*read)(const struct picture *p, const float *x, const float *y, uint32_t out[4][WARP_LANES]);
};
const struct picture_fns *pictures_for_level(const char *level);

#endif
