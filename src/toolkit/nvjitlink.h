/* A link of libnvJitLink, and what the files of that library share. Private to toolkit/. */
#ifndef HEDDLE_TOOLKIT_NVJITLINK_H
#define HEDDLE_TOOLKIT_NVJITLINK_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/image/fatbin.h"
#include "heddle.h"

typedef enum {
    NVJITLINK_SUCCESS,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
    NVJITLINK_ERROR_MISSING_ARCH,
    NVJITLINK_ERROR_INVALID_INPUT,
    NVJITLINK_ERROR_PTX_COMPILE,
    NVJITLINK_ERROR_NVVM_COMPILE,
    NVJITLINK_ERROR_INTERNAL,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
} nvJitLinkResult;

typedef enum {
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX,
    NVJITLINK_INPUT_LTOIR,
    NVJITLINK_INPUT_FATBIN,
    NVJITLINK_INPUT_OBJECT,
    NVJITLINK_INPUT_LIBRARY,
    NVJITLINK_INPUT_INDEX,
    NVJITLINK_INPUT_ANY = 10,
} nvJitLinkInputType;

struct log {
    char *at; /* ended by a zero that does not count; NULL: nothing */
    size_t n, capacity;
};

typedef struct nvJitLink {
    unsigned arch;
    hd_ptx_code code; /* -fma=0, -maxrregcount=N */
    char **options;   /* as given */
    uint32_t n_options;
    struct nvJitLink *theirs; /* of NVIDIA's library, where there is LTO-IR */
    char *ptx;                /* what it makes of that */
    struct image inputs;
    struct log errors, infos;
    void *linked; /* what nvJitLinkComplete has made */
    size_t bytes;
} *nvJitLinkHandle;

/* Adds a line. */
void link_log(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- nvjitlink_lto.c ---- */

nvJitLinkResult link_add_lto(nvJitLinkHandle h, nvJitLinkInputType type, const void *data, size_t bytes,
                             const char *name);
/* The PTX of all LTO-IR, in h->ptx. */
nvJitLinkResult link_finish_lto(nvJitLinkHandle h);
void link_end_lto(nvJitLinkHandle h);

#endif
