/* Which textures are pictures that are read in vectors, and who reads them at each CPU level; see
 * pictures.h. */
#include "texture/pictures.h"

#include "isa/by_level.h"
#include "texture/sample.h"

DEFINE_BY_LEVEL(struct picture_fns, pictures)

bool picture_of(const struct texture *t, const struct sampler *s, uint64_t shift, struct picture *p)
{
    const struct level *l = &t->levels[0];
    const struct texel_format *f = &t->format;
    bool floats = f->type == TEXEL_F32 || f->type == TEXEL_F16;
    bool fractions =
        (f->type == TEXEL_U8 || f->type == TEXEL_U16 || f->type == TEXEL_S16) && (f->normalized || !s->as_integer);
    bool raw = !texture_gives_floats(t, s) && !s->linear;
    if (t->shape != SHAPE_2D || t->n_levels != 1 || !l->width || !l->height || l->width > PICTURE_MOST ||
        l->height > PICTURE_MOST || !(floats || fractions || raw) || (s->srgb && f->type == TEXEL_U8))
        return false;
    for (int i = 0; i < 2; i++)
        if (s->address[i] != ADDRESS_CLAMP && s->address[i] != ADDRESS_WRAP)
            return false;
    *p = (struct picture){.start = l->start + shift,
                          .pitch = l->pitch,
                          .width = l->width,
                          .height = l->height,
                          .format = *f,
                          .linear = s->linear,
                          .raw = raw,
                          .normalized = s->normalized,
                          .wraps = {s->address[0] == ADDRESS_WRAP, s->address[1] == ADDRESS_WRAP}};
    return true;
}
