/* Texts as programs hand them to NVTX. */
#ifndef HEDDLE_CUDA_WATCH_NVTX_TEXT_H
#define HEDDLE_CUDA_WATCH_NVTX_TEXT_H

#include <wchar.h>

/* A domain's name, or a string that was registered in one; they live as long as the process. */
struct nvtx_name {
    char *text;
};

/* UTF-8 of a text of wide characters, from malloc. */
char *nvtx_utf8(const wchar_t *wide);
/* Takes the text, which is from malloc; NULL of NULL. */
struct nvtx_name *nvtx_new_name(char *text);
const char *nvtx_name_of(const void *handle);
/* Of a message as NVTX's structures have it (nvtxMessageType_t), from malloc; NULL: there is none. */
char *nvtx_text(unsigned type, const void *message);

#endif
