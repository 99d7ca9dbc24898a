/* Surfaces; see surface.h. */
#include "texture/surface.h"

#include <math.h>
#include <string.h>

#include "isa/sem.h"

static int64_t clamped(int64_t x, int64_t n)
{
    return x < 0 ? 0 : x >= n ? n - 1 : x;
}

enum surface_where surface_find(const struct texture *t, enum texture_shape shape, const struct surface_at *at,
                                uint32_t bytes, bool formatted, bool clamps, uint64_t *address)
{
    const struct level *l = &t->levels[0];
    unsigned dims = shape_coordinates(shape);
    uint32_t unit = formatted ? t->format.bytes : 1, whole = formatted ? t->format.bytes : bytes;
    int64_t x = (int64_t)at->at[0] * unit, y = dims > 1 ? at->at[1] : 0, z = dims > 2 ? at->at[2] : 0;
    int64_t row = (int64_t)l->width * t->format.bytes;
    bool inside = x >= 0 && x + whole <= row && y >= 0 && y < l->height;
    if (shape_is_layered(shape))
        z = at->layer;
    inside &= z >= 0 && z < l->depth;
    if (!inside && clamps) {
        x = clamped(x / whole, row / whole) * whole;
        y = clamped(y, l->height);
        z = clamped(z, l->depth);
    }
    *address = l->start + (uint64_t)z * l->slice + (uint64_t)y * l->pitch + (uint64_t)x;
    if (!formatted && at->at[0] % (int64_t)whole)
        return SURFACE_MISALIGNED;
    return inside || clamps ? SURFACE_INSIDE : SURFACE_OUTSIDE;
}

/* ---- formats ---- */

/* What does not fit is cut off, of a NaN, too. */
static uint32_t half_of(uint32_t bits)
{
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return is_nan ? (bits >> 16 & 0x8000) | 0x7c00 | (bits >> 13 & 0x3ff) : f16_of_f32(f32_of(bits), RND_rz);
}

static uint32_t limited(const struct texel_format *f, uint32_t v)
{
    unsigned bits = f->channel_bytes * 8u;
    int64_t most = texel_is_signed(f) ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
            least = texel_is_signed(f) ? -most - 1 : 0;
    int64_t x = texel_is_signed(f) ? (int32_t)v : (int64_t)v;
    return (uint32_t)(x < least ? least : x > most ? most : x);
}

static uint32_t fraction(const struct texel_format *f, uint32_t v)
{
    double most = (1u << (8 * f->channel_bytes - texel_is_signed(f))) - 1.0, least = texel_is_signed(f) ? -1 : 0;
    float x;
    memcpy(&x, &v, 4);
    double in = x != x ? 0 : x > 1 ? 1 : x < least ? least : x;
    return (uint32_t)(int32_t)nearbyint(in * most);
}

uint32_t surface_texel(const struct texel_format *f, const uint32_t values[4], uint8_t texel[16])
{
    for (unsigned k = 0; k < f->channels; k++) {
        uint32_t v = f->type == TEXEL_F32   ? values[k]
                     : f->type == TEXEL_F16 ? half_of(values[k])
                     : f->normalized        ? fraction(f, values[k])
                                            : limited(f, values[k]);
        memcpy(texel + k * f->channel_bytes, &v, f->channel_bytes); /* little end first */
    }
    return f->bytes;
}
