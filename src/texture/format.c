/* Formats of texels; see format.h. */
#include "texture/format.h"

#include <stddef.h>

/* CUarray_format's numbers. */
enum { FORMAT_UNORM_FIRST = 0xc0, FORMAT_UNORM_LAST = 0xcb, FORMAT_BC_FIRST = 0x91, FORMAT_BC_LAST = 0x9e };

static const uint8_t bytes_of[TEXEL_TYPES] = {[TEXEL_U8] = 1,  [TEXEL_U16] = 2, [TEXEL_U32] = 4, [TEXEL_S8] = 1,
                                              [TEXEL_S16] = 2, [TEXEL_S32] = 4, [TEXEL_F16] = 2, [TEXEL_F32] = 4};

static bool type_of(unsigned number, enum texel_type *type)
{
    switch (number) {
    case 0x01: *type = TEXEL_U8; return true;
    case 0x02: *type = TEXEL_U16; return true;
    case 0x03: *type = TEXEL_U32; return true;
    case 0x08: *type = TEXEL_S8; return true;
    case 0x09: *type = TEXEL_S16; return true;
    case 0x0a: *type = TEXEL_S32; return true;
    case 0x10: *type = TEXEL_F16; return true;
    case 0x20: *type = TEXEL_F32; return true;
    default: return false;
    }
}

bool texel_format_of(unsigned number, unsigned channels, struct texel_format *format)
{
    static const enum texel_type unorm[4] = {TEXEL_U8, TEXEL_U16, TEXEL_S8, TEXEL_S16};
    enum texel_type type;
    bool normalized = number >= FORMAT_UNORM_FIRST && number <= FORMAT_UNORM_LAST;
    if (normalized) {
        unsigned own = 1u << (number - FORMAT_UNORM_FIRST) % 3;
        if (channels != own)
            return false;
        type = unorm[(number - FORMAT_UNORM_FIRST) / 3];
    } else if (!type_of(number, &type)) {
        return false;
    }
    if (channels != 1 && channels != 2 && channels != 4)
        return false;
    *format = (struct texel_format){.type = (uint8_t)type,
                                    .channels = (uint8_t)channels,
                                    .channel_bytes = bytes_of[type],
                                    .bytes = (uint8_t)(bytes_of[type] * channels),
                                    .normalized = normalized};
    return true;
}

const char *texel_format_refused(unsigned number)
{
    if (number >= FORMAT_BC_FIRST && number <= FORMAT_BC_LAST)
        return "formats of compressed blocks (CU_AD_FORMAT_BC1_UNORM and the like) are not supported";
    if ((number >= 0x9f && number <= 0xb5) || number == 0x50)
        return "formats of video and of packed bits (CU_AD_FORMAT_NV12 and the like) are not supported";
    return NULL;
}
