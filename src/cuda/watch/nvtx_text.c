/* See nvtx_text.h. */
#include "cuda/watch/nvtx_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/nvtx3/nvToolsExt.h"

char *nvtx_utf8(const wchar_t *wide)
{
    size_t n = wide ? wcslen(wide) : 0;
    char *text = malloc(4 * n + 1), *to = text;
    for (size_t i = 0; text && i < n; i++) {
        uint32_t c = (uint32_t)wide[i];
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
        } else if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        } else {
            *to++ = (char)(0xf0 | (c >> 18 & 7));
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        }
        if (c >= 0x80)
            *to++ = (char)(0x80 | (c & 0x3f));
    }
    if (text)
        *to = 0;
    return text;
}

struct nvtx_name *nvtx_new_name(char *text)
{
    struct nvtx_name *name = text ? malloc(sizeof *name) : NULL;
    if (name)
        name->text = text;
    else
        free(text);
    return name;
}

const char *nvtx_name_of(const void *handle)
{
    const struct nvtx_name *name = handle;
    return name ? name->text : NULL;
}

char *nvtx_text(unsigned type, const void *message)
{
    const char *text = type == NVTX_MESSAGE_TYPE_ASCII        ? message
                       : type == NVTX_MESSAGE_TYPE_REGISTERED ? nvtx_name_of(message)
                                                              : NULL;
    return type == NVTX_MESSAGE_TYPE_UNICODE && message ? nvtx_utf8(message) : text ? strdup(text) : NULL;
}
