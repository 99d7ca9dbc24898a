/* Modules, libraries and their kernels, behind the driver's functions. Private to cuda/. */
#ifndef HEDDLE_CUDA_MODULE_H
#define HEDDLE_CUDA_MODULE_H

#include "cuda/state.h"

/* 90: sm_90. */
unsigned device_arch(struct device *d);

/* What cuModuleLoadDataEx and cuLinkCreate are told (CUjit_option). */
struct jit_options {
    char *info, *error; /* logs, or NULL */
    size_t info_bytes, error_bytes;
    void **info_size, **error_size; /* where the options' values stand: they get the lengths */
    void **wall_time;
    const char *const *names; /* of variables, and which addresses of the host's they get */
    void *const *addresses;
    unsigned n_names, max_registers; /* 0: no limit */
};
CUresult jit_read(struct jit_options *o, unsigned n, const CUjit_option *options, void **values);
void jit_log(struct jit_options *o, bool error, const char *text);
void jit_done(struct jit_options *o);
/* Writes into PTX what the options say of the code that comes of it; leaves what has mistakes. */
CUresult jit_limit_registers(const struct jit_options *o, struct image_text *texts, size_t n);

/* Loads an image as a module of the context, or, where that is NULL, as a library. `bytes` is SIZE_MAX where it is not
 * known, `name` what messages call it, `jit` may be NULL. */
CUresult module_new(CUcontext c, const void *image, size_t bytes, const char *name, struct jit_options *jit,
                    struct CUmod_st **module);
/* The same from a file. */
CUresult module_open(CUcontext c, const char *path, struct jit_options *jit, struct CUmod_st **module);
bool is_module(const struct CUmod_st *m, bool library);
/* No kernel of it may be running. */
void module_drop(struct CUmod_st *m);
/* The module on a device, loaded there if it is not yet. */
CUresult module_on(struct CUmod_st *m, struct device *d, struct jit_options *jit, hd_module **module);
/* Libraries forget what they have on a device. */
void libraries_leave(struct device *d);

/* The kernel of a name; errors: CUDA_ERROR_NOT_FOUND. */
CUresult function_get(struct CUmod_st *m, struct device *d, const char *name, struct CUfunc_st **function);
bool is_function(const struct CUfunc_st *f);
/* The kernel, ready to be launched on a device. */
CUresult function_on(struct CUfunc_st *f, struct device *d, hd_kernel **kernel);

#endif
