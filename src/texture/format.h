/* Formats of texels: the driver API's CUarray_format with 1, 2 or 4 channels (CUDA Driver API,
 * "Array Creation"). */
#ifndef HEDDLE_TEXTURE_FORMAT_H
#define HEDDLE_TEXTURE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* What a channel holds. */
enum texel_type { TEXEL_U8, TEXEL_U16, TEXEL_U32, TEXEL_S8, TEXEL_S16, TEXEL_S32, TEXEL_F16, TEXEL_F32, TEXEL_TYPES };

struct texel_format {
    uint8_t type;          /* enum texel_type */
    uint8_t channels;      /* 1, 2 or 4 */
    uint8_t channel_bytes; /* 1, 2 or 4 */
    uint8_t bytes;         /* of a texel */
    bool normalized;       /* always read as a fraction: CU_AD_FORMAT_UNORM_INT8X1 and the like */
};

/* By the number of a CUarray_format; channels are those of the format where it says how many. False
 * where there is no such format, or none that textures here have. */
bool texel_format_of(unsigned number, unsigned channels, struct texel_format *format);
/* "formats of compressed blocks", or what else a format is that is valid CUDA and refused; NULL
 * where it is none. */
const char *texel_format_refused(unsigned number);

static inline bool texel_is_float(const struct texel_format *f)
{
    return f->type == TEXEL_F16 || f->type == TEXEL_F32;
}
static inline bool texel_is_signed(const struct texel_format *f)
{
    return f->type >= TEXEL_S8 && f->type <= TEXEL_S32;
}

#endif
