/* Texts that programs pass to NVTX. */
#ifndef HEDDLE_CUDA_WATCH_NVTX_TEXT_H
#define HEDDLE_CUDA_WATCH_NVTX_TEXT_H

#include <wchar.h>

/* A domain's name, or a registered string; they live as long as the process. */
struct nvtx_name {
    char *text;
};

/* Wide characters as UTF-8, from malloc. */
char *nvtx_utf8(const wchar_t *wide);
/* Takes ownership of the text, from malloc; NULL gives NULL. */
struct nvtx_name *nvtx_new_name(char *text);
const char *nvtx_name_of(const void *handle);
/* A message in NVTX's structures (nvtxMessageType_t) as text from malloc; NULL if there is none. */
char *nvtx_text(unsigned type, const void *message);

#endif
