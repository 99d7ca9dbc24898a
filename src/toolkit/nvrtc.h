/* Our NVRTC, in parts: nvrtc.c has the entry points, nvrtc_options.c reads the options,
 * nvrtc_compile.c has `heddle cc` compile. */
#ifndef HEDDLE_TOOLKIT_NVRTC_H
#define HEDDLE_TOOLKIT_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cuda/nvrtc.h"

typedef VEC(const char *) nvrtc_words;

struct nvrtc_header {
    const char *name, *text;
};

struct nvrtc_name {
    const char *expression;
    const char *lowered; /* once it is compiled; else NULL */
};

struct _nvrtcProgram {
    struct arena arena;
    const char *source, *name;
    VEC(struct nvrtc_header) headers;
    VEC(struct nvrtc_name) names;
    int (*callback)(void *payload, void *); /* asked while it is compiled: other than 0 cancels */
    void *payload;
    bool compiled; /* with whatever result */
    const char *log;
    const char *ptx; /* NULL: there is none */
    size_t ptx_bytes;
    /* Of the PTX, in the place of machine code, from malloc; NULL for a virtual architecture. */
    void *image;
    size_t image_bytes;
};

/* What the options of a compilation ask for. */
struct nvrtc_options {
    nvrtc_words cc;         /* for `heddle cc` */
    unsigned arch;          /* that it compiles for */
    bool real;              /* sm_N, and not compute_N: machine code is asked for */
    bool default_device;    /* functions without an execution space are the device's */
    bool no_source_include; /* the source's folder is not looked into */
    bool syntax_only;
};

/* The architectures that are taken, in ascending order; `*n` of them. */
const unsigned *nvrtc_archs(size_t *n);
/* NULL, or what is wrong, in the program's arena. */
const char *nvrtc_read_options(nvrtcProgram p, int n, const char *const *words, struct nvrtc_options *o);
/* Compiles to p->ptx, and finds the lowered names; p->log is what the compiler says. */
nvrtcResult nvrtc_compile(nvrtcProgram p, const struct nvrtc_options *o);

#endif
