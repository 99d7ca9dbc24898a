/* Modules, libraries and their kernels, behind the driver's functions. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_MODULE_H
#define HEDDLE_CUDA_STATE_MODULE_H

#include "cuda/state/state.h"

/* 90: sm_90. */
unsigned device_arch(struct device *d);

/* The options of cuModuleLoadDataEx and cuLinkCreate (CUjit_option). */
struct jit_options {
    char *info, *error; /* logs, or NULL */
    size_t info_bytes, error_bytes;
    void **info_size, **error_size; /* the options' values, which receive the lengths */
    void **wall_time;
    const char *const *names; /* names of variables, and the host addresses that they get */
    void *const *addresses;
    unsigned n_names, max_registers; /* 0: no limit */
};
CUresult jit_read(struct jit_options *o, unsigned n, const CUjit_option *options, void **values);
void jit_log(struct jit_options *o, bool error, const char *text);
void jit_done(struct jit_options *o);
/* Writes options about code generation into PTX; leaves invalid PTX as it is. */
CUresult from_image(enum image_result r);
CUresult jit_limit_registers(const struct jit_options *o, struct image_text *texts, size_t n);

/* Loads an image as a module of the context, or as a library if that is NULL. `bytes`: SIZE_MAX if
 * unknown; `name`: for messages; `jit` may be NULL. */
CUresult module_new(CUcontext c, const void *image, size_t bytes, const char *name, struct jit_options *jit,
                    struct CUmod_st **module);
/* The same from a file. */
CUresult module_open(CUcontext c, const char *path, struct jit_options *jit, struct CUmod_st **module);
/* By handle; NULL if it is invalid. */
struct CUmod_st *module_of(const void *handle, bool library);
/* Ends a module: its handle and those of its kernels become invalid. Records that running calls and
 * launches use stay until these end. */
void module_drop(struct CUmod_st *m);
/* The same for a module whose handle was taken. */
void module_end(struct CUmod_st *m);
/* The module on a device; loads it there on first use. */
CUresult module_on(struct CUmod_st *m, struct device *d, struct jit_options *jit, hd_module **module);
/* Unloads all libraries from a device. */
void libraries_leave(struct device *d);

/* The kernel of a name; errors: CUDA_ERROR_NOT_FOUND. */
CUresult function_get(struct CUmod_st *m, struct device *d, const char *name, struct CUfunc_st **function);
/* By handle; NULL if it is invalid. */
struct CUfunc_st *function_of(const void *handle);
/* The kernel, ready for launches on a device; the second takes the function's handle. */
CUresult function_on(struct CUfunc_st *f, struct device *d, hd_kernel **kernel);
CUresult function_find(CUfunction handle, struct device *d, struct CUfunc_st **f, hd_kernel **kernel);

#endif
